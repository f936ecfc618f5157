// A model that Rubato does not have: Poisson regression. Ten shops count their customers, a number for each hour with
// its three circumstances; none shows its counts to the others, and together they learn what the circumstances are
// worth.
#include <rubato/run.hpp>

#include <cmath>
#include <cstdio>

namespace {

using rubato::Index;

// a: circumstances, b: count, z = a.x.    f(x) = mean(e^z - b z)      gradient: mean((e^z - b) a)
class PoissonRegression final : public rubato::Learner<double> {
 public:
  PoissonRegression(rubato::ClientId shop, const rubato::Vector<double>& truth) : a_(hours, truth.size()), b_(hours) {
    rubato::Stream stream(7, shop, rubato::Purpose::init);
    for (Index hour = 0; hour < hours; ++hour) {
      for (Index i = 0; i < truth.size(); ++i) a_(hour, i) = i == 0 ? 1 : stream.normal();
      b_[hour] = count_drawn(stream, std::exp(a_.row(hour).dot(truth)));
    }
  }

  Index dimension() const override { return a_.cols(); }
  std::uint32_t samples() const override { return hours; }

  double gradient(rubato::ConstVectorRef<double> x, rubato::Picks picks, rubato::VectorRef<double> g,
                  rubato::Scratch<double>&) const override {
    const std::size_t count = picks.empty() ? hours : picks.size();
    double loss = 0;
    g.setZero();
    for (std::size_t k = 0; k < count; ++k) {
      const auto hour = static_cast<Index>(picks.empty() ? k : picks[k]);
      const double z = a_.row(hour).dot(x), expected = std::exp(z);
      loss += expected - b_[hour] * z;
      g += (expected - b_[hour]) * a_.row(hour).transpose();
    }
    g /= static_cast<double>(count);
    return loss / static_cast<double>(count);
  }

 private:
  static constexpr std::uint32_t hours = 400;

  // Exponential pauses that fit into an hour.
  static double count_drawn(rubato::Stream& stream, double rate) {
    double count = -1;
    for (double time = 0; time < 1; time += stream.exponential() / rate) ++count;
    return count;
  }

  rubato::Matrix<double> a_;
  rubato::Vector<double> b_;
};

}  // namespace

int main() {
  rubato::Experiment experiment;
  experiment.name = "own_model";
  experiment.until = 400;
  experiment.precision = rubato::Scalar::float64;
  experiment.clients.count = 10;
  experiment.algorithm.name = "dpsgd";
  experiment.algorithm.options.set("eta", 0.02);
  experiment.model.batch = 20;

  rubato::Vector<double> truth(3);
  truth << 1, 0.5, -0.3;
  rubato::RunOptions options;
  options.keeps_models = true;
  options.own_double.learner = [&](rubato::ClientId shop) { return std::make_unique<PoissonRegression>(shop, truth); };
  const rubato::RunResult result = rubato::run(experiment, options);

  const auto* found = reinterpret_cast<const double*>(result.models[0].data());
  for (Index i = 0; i < truth.size(); ++i) std::printf("true %4.1f, found by shop 0 %4.1f\n", truth[i], found[i]);
}
