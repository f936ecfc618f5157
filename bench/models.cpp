// Time of one training step of our models, one thread, in microseconds: what rivals/torch_steps.py measures of PyTorch.
//
//   models [--resnet18] [--quick] [--json]
//
// A step is Model::descend on a fixed batch; gathering samples is not part of it. Blocks of the models alternate, so
// that a busy moment of the machine hits all of them; each time is the median of 5 blocks after a warm-up. Beside it:
// the arithmetic of a step (bench/multiply_adds.hpp) and its share of the core's peak, measured in the same run.
#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bench/command.hpp"
#include "bench/fma_peak.hpp"
#include "bench/multiply_adds.hpp"
#include "learning/models/model_catalogue.hpp"

namespace {

using namespace rubato;
using bench::Json;
using Clock = std::chrono::steady_clock;

constexpr std::size_t blocks = 5;
constexpr float step_size = 0.01f;
constexpr std::uint32_t classes = 10;
constexpr Shape digit{1, 28, 28}, picture{3, 32, 32};

struct Case {
  std::string name;
  ModelOptions options;
  Shape shape;
  Index batch;
};

std::vector<Case> cases(bool with_resnet18) {
  const auto batch_norm = [](const char* name) { return ModelOptions{.name = name, .normalisation = Normalisation::batch}; };
  const ModelOptions cnn{
      .name = "cnn", .layers = {"conv 16 5 same", "relu", "maxpool 2", "conv 32 5 same", "relu", "maxpool 2", "dense 64", "relu"}};
  std::vector<Case> all{
      {"softmax_b16", {.name = "softmax"}, digit, 16},
      {"svm_b16", {.name = "svm"}, digit, 16},
      {"mlp_b64", {.name = "mlp", .hidden = {128, 64}}, digit, 64},
      {"cnn_b16", cnn, digit, 16},
      {"cnn_b64", cnn, digit, 64},
      {"resnet20_b16", {.name = "resnet20"}, picture, 16},
      {"resnet20_batchnorm_b16", batch_norm("resnet20"), picture, 16},
  };
  if (!with_resnet18) return all;
  all.push_back({"resnet18_b16", {.name = "resnet18"}, picture, 16});
  all.push_back({"resnet18_batchnorm_b16", batch_norm("resnet18"), picture, 16});
  return all;
}

// As a network would say it.
std::vector<std::string> layers_of(const Case& measured) {
  const ModelOptions& options = measured.options;
  if (!options.layers.empty()) return options.layers;
  if (options.name.starts_with("resnet")) return preset_layers(options.name, measured.shape);
  std::vector<std::string> layers;
  for (const Index width : options.hidden) layers.push_back("dense " + std::to_string(width));
  return layers;
}

// A model, its parameters and its batch.
class Training {
 public:
  explicit Training(const Case& measured)
      : model_{make_model<float>(measured.options, measured.shape, classes)},
        x_(model_->dimension()),
        inputs_(measured.batch, measured.shape.size()),
        labels_(static_cast<std::size_t>(measured.batch)) {
    Stream start(0, no_client, Purpose::init), numbers(1, no_client, Purpose::noise);
    Stream picks(1, no_client, Purpose::batch);
    model_->initialise(view(x_), start);
    for (Index i = 0; i < inputs_.size(); ++i) inputs_.data()[i] = static_cast<float>(numbers.normal());
    for (Label& label : labels_) label = static_cast<Label>(picks.below(classes));
  }

  /// Microseconds of a step.
  double measure(std::size_t steps) {
    const Batch<float> batch{read_only(view(inputs_)), labels_};
    const Clock::time_point start = Clock::now();
    for (std::size_t i = 0; i < steps; ++i) model_->descend(view(x_), batch, step_size, scratch_);
    return 1e6 * std::chrono::duration<double>(Clock::now() - start).count() / static_cast<double>(steps);
  }

  Index parameters() const { return model_->dimension(); }
  Index learned() const {
    Index learned = parameters();
    for (const Range& range : model_->statistics()) learned -= range.count;
    return learned;
  }

 private:
  std::shared_ptr<const Model<float>> model_;
  Vector<float> x_;
  Matrix<float> inputs_;
  std::vector<Label> labels_;
  Scratch<float> scratch_;
};

struct Series {
  Case measured;
  std::unique_ptr<Training> training;
  std::size_t steps = 0;  // of a block
  std::vector<double> times{};
};

std::vector<Series> prepare(bool with_resnet18, double block_seconds) {
  std::vector<Series> all;
  for (Case& measured : cases(with_resnet18)) {
    auto training = std::make_unique<Training>(measured);
    training->measure(2);
    const double steps = block_seconds * 1e6 / training->measure(2);
    all.push_back({std::move(measured), std::move(training), std::max(std::size_t{1}, static_cast<std::size_t>(steps))});
    all.back().training->measure(all.back().steps);
  }
  return all;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

Json result_of(const Series& series, double peak) {
  const Case& measured = series.measured;
  const double microseconds = median(series.times);
  const auto products =
      static_cast<double>(bench::multiply_adds(layers_of(measured), measured.shape, classes)) * static_cast<double>(measured.batch);
  const double rate = 2 * products / (1e-6 * microseconds);
  return {{"params", series.training->learned()},
          {"statistics", series.training->parameters() - series.training->learned()},
          {"us_per_step", microseconds},
          {"blocks", series.times},
          {"multiply_adds", products},
          {"gflops", 1e-9 * rate},
          {"share_of_peak", rate / peak}};
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Time of one training step of every model, one thread.", "models");
  bench::Command command;
  bool with_resnet18 = false, is_quick = false;
  app.add_flag("--resnet18", with_resnet18, "also ResNet-18 (11.2 million parameters)");
  app.add_flag("--quick", is_quick, "short blocks: to try the program, not to quote");
  app.add_flag("--json", command.json, "print one JSON object");
  return bench::run_main(app, argc, argv, [&] {
    fix_eigen_blocking();
    const double block_seconds = is_quick ? 0.02 : 0.2;
    const double peak = bench::measure_fma_peak(block_seconds / 2);
    std::vector<Series> all = prepare(with_resnet18, block_seconds);
    for (std::size_t block = 0; block < blocks; ++block)
      for (Series& series : all) series.times.push_back(series.training->measure(series.steps));
    Json models = Json::object();
    for (const Series& series : all) models[series.measured.name] = result_of(series, peak);
    bench::print({{"program", "models"}, {"peak_gflops", 1e-9 * peak}, {"models", models}}, command);
  });
}
