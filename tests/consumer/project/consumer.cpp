// What a user of the installed library writes: vectors made here are read, written and kept there, and the other way
// round.
#include <rubato/actors/run.hpp>
#include <rubato/learning/metrics.hpp>
#include <rubato/learning/model.hpp>
#include <rubato/runtime/random.hpp>

#include <cinttypes>
#include <cstdio>
#include <utility>
#include <vector>

int main() {
  using namespace rubato;
  fix_eigen_blocking();
  std::printf("draw %016" PRIx64 "\n", draw(1, ClientId{0}, Purpose::init, 0).first);

  const Matrix<double> inputs{{1.0, 0.0, 0.5}, {0.0, 1.0, 0.5}, {1.0, 1.0, 0.0}, {0.0, 0.0, 1.0}};
  const std::vector<Label> labels{0, 1, 1, 0};
  const auto model = make_softmax<double>(inputs.cols(), 2);
  Scratch<double> scratch;
  Vector<double> x = Vector<double>::Zero(model->dimension());
  for (int step = 0; step < 100; ++step) model->descend(view(x), {view(inputs), labels}, 0.5, scratch);
  const Score score = model->score(view(std::as_const(x)), view(inputs), labels, scratch);
  std::printf("loss %.4f, norm %.4f\n", score.loss_sum, x.norm());

  // The library allocates the mean; its memory is given back here.
  MeanModel mean;
  for (int i = 0; i < 3; ++i) mean.add<double>(view(std::as_const(x)));
  const Vector<float> rounded = mean.mean_as<float>();
  std::printf("mean %s\n", rounded == x.cast<float>() ? "equal" : "different");

  Experiment experiment;
  experiment.until = 20.5;
  experiment.clients.count = 6;
  experiment.algorithm.name = "draco";
  experiment.algorithm.options.set("self_apply", true);
  experiment.data.name = experiment.model.name = "quadratic";
  experiment.data.dimension = 33;
  RunOptions threads;
  threads.threads = 2;
  const RunResult one = run(experiment), two = run(experiment, threads);
  std::printf("%zu clients, %s models\n", one.clients, one.digests.model == two.digests.model ? "equal" : "different");
}
