// ResNet-20 on CIFAR-10, one client alone: the half of a comparison whose other half is train_cifar.py.
//
//   train_cifar [--norm group|batch] [--epochs N] [--batch B] [--rows N] [--test-rows N] [--plan DIR] [--data DIR]
//               [--json]
//
// Inputs have mean 0 and deviation 1 for each channel; nothing is augmented. An epoch goes once through the shuffled
// rows; what does not fill a batch is left out. The step is 0.1, and 0.01 in the last epoch. The moving averages of
// batch normalisation move by the step (learning/model.hpp), so the last epoch also settles them.
// With --plan, DIR gets what the other half needs to do the same: start.f32, the parameters; batches.u32, the rows of
// all batches; steps.f32, the size of every step.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "bench/command.hpp"
#include "learning/data/named_sets.hpp"
#include "learning/models/dataset_learner.hpp"
#include "learning/models/model_catalogue.hpp"

namespace {

using namespace rubato;
using Clock = std::chrono::steady_clock;

constexpr float first_step = 0.1f, last_step = 0.01f;

struct Choice {
  std::string norm = "batch";
  std::uint32_t epochs = 4, batch = 64, rows = 0, test_rows = 0;
  std::filesystem::path plan;
};

struct Plan {
  Vector<float> start;
  Rows batches;  // one after the other
  std::vector<float> steps;
};

Rows first_rows(std::size_t available, std::uint32_t wanted) {
  Rows rows(wanted == 0 ? available : std::min<std::size_t>(available, wanted));
  std::iota(rows.begin(), rows.end(), 0u);
  return rows;
}

void shuffle(Rows& rows, Stream& stream) {
  for (std::size_t left = rows.size(); left > 1; --left) std::swap(rows[left - 1], rows[stream.below(left)]);
}

Plan make_plan(const Choice& choice, const Learner<float>& learner) {
  Plan plan{Vector<float>(learner.dimension()), {}, {}};
  Stream start(1, no_client, Purpose::init), order(1, no_client, Purpose::batch);
  learner.initialise(view(plan.start), start);
  Rows rows = first_rows(learner.samples(), 0);
  const std::size_t batches = rows.size() / choice.batch;
  if (batches == 0)
    throw std::invalid_argument("--rows leaves " + std::to_string(rows.size()) + " rows; a batch has " +
                                std::to_string(choice.batch));
  for (std::uint32_t epoch = 1; epoch <= choice.epochs; ++epoch) {
    shuffle(rows, order);
    for (std::size_t i = 0; i < batches * choice.batch; ++i) plan.batches.push_back(rows[i]);
    plan.steps.insert(plan.steps.end(), batches, epoch == choice.epochs ? last_step : first_step);
  }
  return plan;
}

template <class Number>
void write(const std::filesystem::path& file, std::span<const Number> numbers) {
  std::ofstream stream(file, std::ios::binary);
  stream.write(reinterpret_cast<const char*>(numbers.data()), static_cast<std::streamsize>(numbers.size_bytes()));
  if (!stream.flush()) throw std::runtime_error("cannot write " + file.string());
}

void write(const std::filesystem::path& folder, const Plan& plan) {
  std::filesystem::create_directories(folder);
  write<float>(folder / "start.f32", {plan.start.data(), static_cast<std::size_t>(plan.start.size())});
  write<std::uint32_t>(folder / "batches.u32", plan.batches);
  write<float>(folder / "steps.f32", plan.steps);
}

bench::Json train(const Choice& choice, const std::filesystem::path& data) {
  const auto dataset = load_dataset<float>("cifar10", data, {.normalise = Normalise::standard});
  const Normalisation kind = choice.norm == "batch" ? Normalisation::batch : Normalisation::group;
  const auto model = make_model<float>({.name = "resnet20", .normalisation = kind}, dataset->shape, dataset->classes);
  const DatasetLearner<float> learner(model, dataset, first_rows(dataset->train.size(), choice.rows),
                                      std::make_shared<const Rows>(first_rows(dataset->test.size(), choice.test_rows)));
  const Plan plan = make_plan(choice, learner);
  if (!choice.plan.empty()) write(choice.plan, plan);

  Vector<float> x = plan.start;
  Scratch<float> scratch;
  double loss = 0;  // of the last epoch
  const std::size_t batches = plan.steps.size() / choice.epochs;
  const Clock::time_point start = Clock::now();
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    if (i % batches == 0) loss = 0;
    const Picks picks(plan.batches.data() + i * choice.batch, choice.batch);
    loss += static_cast<double>(learner.descend(view(x), picks, plan.steps[i], scratch));
  }
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  const Score score = learner.score(read_only(x), Part::test, scratch);
  return {{"program", "train_cifar"},
          {"norm", choice.norm},
          {"parameters", model->dimension()},
          {"batches", plan.steps.size()},
          {"images_per_second", static_cast<double>(plan.batches.size()) / seconds},
          {"train_seconds", seconds},
          {"train_loss", loss / static_cast<double>(batches)},
          {"test_loss", score.mean_loss()},
          {"accuracy", score.accuracy()}};
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("ResNet-20 on CIFAR-10.", "train_cifar");
  bench::Command command;
  Choice choice;
  app.add_option("--norm", choice.norm, "what is normalised over; default: batch")->check(CLI::IsMember({"group", "batch"}));
  app.add_option("--epochs", choice.epochs, "default: 4")->check(CLI::Range(1, 1000));
  app.add_option("--batch", choice.batch, "samples of a batch; default: 64")->check(CLI::Range(1, 1024));
  app.add_option("--rows", choice.rows, "training rows; default: all");
  app.add_option("--test-rows", choice.test_rows, "rows that score the result; default: all");
  app.add_option("--plan", choice.plan, "folder to write start, batches and steps to");
  app.add_option("--data", command.data, "folder of the data sets; default: $RUBATO_DATA, then ./data");
  app.add_flag("--json", command.json, "print one JSON object");
  return bench::run_main(app, argc, argv, [&] {
    fix_eigen_blocking();
    bench::print(train(choice, command.data), command);
  });
}
