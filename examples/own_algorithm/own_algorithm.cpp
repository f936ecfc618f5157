// An algorithm of your own, without a change to the library: gossip whose local steps have momentum.
//
// x: model   v: velocity   g: gradient   w_j: weight of neighbour j   eta: step size   beta: momentum
//
//   compute   v <- beta v - eta g(x; batch);   x <- x + v
//   publish   send x to every neighbour
//   merge     x <- x + sum_j w_j (x_j - x)
//
// The algorithm says what happens to models and never when: the timers, links and mailboxes are those of any
// experiment. Called with arguments the program is the whole command, whose files may say algorithm.name = "heavy_ball":
//
//   own_algorithm run file.toml --set algorithm.name=heavy_ball --set algorithm.beta=0.8 --out runs/ball
//
// Built as a shared library it is a plug-in of the built command:
//
//   rubato run file.toml --plugin libown_algorithm.so --set algorithm.name=heavy_ball
#include <rubato/app/plugin.hpp>
#include <rubato/run.hpp>

#include <cstdio>

namespace {

struct Settings {
  double eta, beta;
};

template <class Real>
class HeavyBall final : public rubato::Algorithm<Real> {
 public:
  explicit HeavyBall(const rubato::Setup<Real, Settings>& setup)
      : eta_{static_cast<Real>(setup.settings->eta)},
        beta_{static_cast<Real>(setup.settings->beta)},
        x_{setup.start},
        v_{rubato::Vector<Real>::Zero(setup.start.size())} {}

  void compute(rubato::Work<Real>& work, const rubato::Step& step) override {
    const typename rubato::Scratch<Real>::Frame frame(work.scratch);
    rubato::VectorRef<Real> g = work.scratch.vector(x_.size());  // memory of the thread: nothing is allocated
    work.gradient(model(), step.index, g);
    v_ = beta_ * v_ - eta_ * g;
    x_ += v_;
  }

  rubato::Payload publish(rubato::Work<Real>& work, const rubato::Step&) override {
    rubato::Payload payload;
    payload.common[0] = rubato::copy_of<Real>(model(), work.pool);  // one copy for all neighbours
    return payload;
  }

  void merge(rubato::Work<Real>& work, const rubato::Step&, std::span<const rubato::Received<Real>> window) override {
    const typename rubato::Scratch<Real>::Frame frame(work.scratch);
    rubato::VectorRef<Real> before = work.scratch.vector(x_.size());
    before = x_;
    for (const auto& message : window) x_ += static_cast<Real>(message.weight) * (message.common() - before);
  }

  rubato::ConstVectorRef<Real> model() const override { return rubato::view(x_); }
  void inspect(rubato::Probe& probe) const override { rubato::show(probe, "x", x_); }

 private:
  Real eta_, beta_;
  rubato::Vector<Real> x_, v_;
};

// What the experiment file, the protocols and `list algorithms` know of it.
constexpr rubato::OptionSpec options[] = {
    {"eta", rubato::OptionType::number, "0.02", "step size", 0, 1, true},
    {"beta", rubato::OptionType::number, "0.9", "momentum", 0, 1},
};
Settings read(const rubato::OptionReader& given) { return {given.number("eta"), given.number("beta")}; }
constexpr rubato::CatalogueEntry entry{
    .name = "heavy_ball",
    .summary = "gossip whose local steps have momentum",
    .options = options,
    .merge = rubato::Weights::doubly,  // Metropolis weights on the ring
    .needs =
        [](const rubato::AlgorithmOptions&) {
          return rubato::Needs{.keep = rubato::Keep::newest};  // models: of several from one sender only the newest
        },
    .make = rubato::made_by<HeavyBall, read, options>,
};
constexpr const rubato::CatalogueEntry* own[] = {&entry};

rubato::Experiment experiment() {
  rubato::Experiment experiment;
  experiment.name = "own-algorithm";
  experiment.until = 100;
  experiment.clients.count = 10;
  experiment.algorithm.name = "dpsgd";
  experiment.algorithm.options.set("eta", 0.02);
  experiment.data.name = "digits";
  experiment.model.name = "softmax";
  experiment.model.batch = 16;
  return experiment;
}

}  // namespace

extern "C" const rubato::Plugin* rubato_plugin() {
  static const rubato::Plugin plugin = rubato::plugin_of({.algorithms = own});
  return &plugin;
}

int main(int argc, char** argv) {
  if (argc > 1) return rubato::rubato_main(argc, argv, {.algorithms = own});
  rubato::extend_catalogue(own);
  rubato::Experiment with_momentum = experiment();
  with_momentum.algorithm.name = "heavy_ball";
  const rubato::RunResult plain = rubato::run(experiment()), ball = rubato::run(with_momentum);

  const bool same_clocks = plain.messages.computations == ball.messages.computations;
  std::printf("the same clocks and links: %s\n", same_clocks ? "yes" : "no");
  std::printf("accuracy of plain gossip %.1f, with momentum %.1f\n", plain.samples.back().accuracy_mean,
              ball.samples.back().accuracy_mean);
}
