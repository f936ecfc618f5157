// An algorithm of your own, without a change to the library: gossip whose local steps have momentum.
//
// x: model   v: velocity   g: gradient   w_j: weight of neighbour j   eta: step size   beta: momentum
//
//   compute   v <- beta v - eta g(x; batch);   x <- x + v
//   publish   send x to every neighbour
//   merge     x <- x + sum_j w_j (x_j - x)
//
// The algorithm says what happens to models and never when: the timers, links and mailboxes are those of any
// experiment.
#include <rubato/run.hpp>

#include <cstdio>

namespace {

class HeavyBall final : public rubato::Algorithm<float> {
 public:
  HeavyBall(rubato::ConstVectorRef<float> start, float eta, float beta)
      : eta_{eta}, beta_{beta}, x_{start}, v_{rubato::Vector<float>::Zero(start.size())} {}

  void compute(rubato::Work<float>& work, const rubato::Step& step) override {
    const rubato::Scratch<float>::Frame frame(work.scratch);
    rubato::VectorRef<float> g = work.scratch.vector(x_.size());  // memory of the thread: nothing is allocated
    work.learner.gradient(model(), work.batch(step.index), g, work.scratch);
    v_ = beta_ * v_ - eta_ * g;
    x_ += v_;
  }

  rubato::Payload publish(rubato::Work<float>& work, const rubato::Step&) override {
    rubato::Payload payload;
    payload.common[0] = rubato::copy_of<float>(model(), work.pool);  // one copy for all neighbours
    return payload;
  }

  void merge(rubato::Work<float>& work, const rubato::Step&, std::span<const rubato::Received<float>> window) override {
    const rubato::Scratch<float>::Frame frame(work.scratch);
    rubato::VectorRef<float> before = work.scratch.vector(x_.size());
    before = x_;
    for (const auto& message : window) x_ += static_cast<float>(message.weight) * (message.common() - before);
  }

  rubato::ConstVectorRef<float> model() const override { return rubato::view(x_); }
  void inspect(rubato::Probe& probe) const override { rubato::show(probe, "x", x_); }

 private:
  float eta_, beta_;
  rubato::Vector<float> x_, v_;
};

rubato::Experiment experiment() {
  rubato::Experiment experiment;
  experiment.name = "own-algorithm";
  experiment.until = 100;
  experiment.clients.count = 10;
  experiment.algorithm.name = "dpsgd";  // what runs where the program brings nothing
  experiment.algorithm.options.set("eta", 0.02);
  experiment.data.name = "digits";
  experiment.model.name = "softmax";
  experiment.model.batch = 16;
  return experiment;
}

}  // namespace

int main() {
  const rubato::RunResult plain = rubato::run(experiment());

  rubato::RunOptions options;
  options.threads = 2;
  options.own_float.algorithm = [](const rubato::ClientView&, rubato::ConstVectorRef<float> start, rubato::TensorPool&) {
    return std::make_unique<HeavyBall>(start, 0.02f, 0.9f);
  };
  options.own_float.needs = {.keep = rubato::Keep::newest};  // models: of several from one sender only the newest
  options.own_float.merge = rubato::Weights::doubly;         // Metropolis weights on the ring
  const rubato::RunResult own = rubato::run(experiment(), options);

  const bool same_clocks = plain.messages.computations == own.messages.computations;
  std::printf("the same clocks and links: %s\n", same_clocks ? "yes" : "no");
  std::printf("accuracy of plain gossip %.1f, with momentum %.1f\n", plain.samples.back().accuracy_mean,
              own.samples.back().accuracy_mean);
}
