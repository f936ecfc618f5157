// Rubato inside a program of your own: eight clients, each with a secret number, find the mean of all of them. The task
// is a Learner written here; when clients compute and talk is the library's business.
#include <rubato/run.hpp>

#include <cstdio>

namespace {

// f(x) = 1/2 (x - secret)^2: the sum over clients is least at the mean of the secrets.
class Secret final : public rubato::Learner<double> {
 public:
  explicit Secret(double secret) : secret_{secret} {}
  rubato::Index dimension() const override { return 1; }
  std::uint32_t samples() const override { return 1; }
  double gradient(rubato::ConstVectorRef<double> x, rubato::Picks, rubato::VectorRef<double> g,
                  rubato::Scratch<double>&) const override {
    g[0] = x[0] - secret_;
    return 0.5 * g[0] * g[0];
  }

 private:
  double secret_;
};

}  // namespace

int main() {
  rubato::Experiment experiment;
  experiment.name = "embedding";
  experiment.until = 1000;
  experiment.precision = rubato::Scalar::float64;
  experiment.clients.count = 8;
  experiment.algorithm.name = "draco";
  experiment.algorithm.options.set("eta", 0.02);
  experiment.algorithm.options.set("self_apply", true);
  experiment.unification.period = 9.5;

  rubato::RunOptions options;
  options.threads = 2;
  options.keeps_models = true;
  options.own_double.learner = [](rubato::ClientId client) { return std::make_unique<Secret>(client.value); };
  options.stop_when = [](const rubato::Sample& sample) { return sample.loss_mean_model < 2.63; };
  const rubato::RunResult result = rubato::run(experiment, options);

  std::printf("%zu clients, %llu events\n", result.clients, static_cast<unsigned long long>(result.events));
  std::printf("stopped after %.0f of %.0f seconds\n", result.virtual_seconds, experiment.until);
  const double mean_loss = result.samples.back().loss_mean;
  std::printf("mean loss %.1f; at the mean of the secrets, 3.5, it is 2.6\n", mean_loss);
}
