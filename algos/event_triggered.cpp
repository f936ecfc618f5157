// Event-triggered gossip: a client sends only when its model has moved since it last did.
// Source: D-PSGD (docs/references.md#d-psgd) with the plain trigger of event-based consensus
// (docs/references.md#event-triggered-gossip).
//
// x: model   sent: the model as it was last sent, at first the start   g: gradient   eta: step size
//
//   compute   x <- x - eta g(x; batch)
//   decide    send if |x - sent| > threshold
//   publish   sent <- x;  send x to every receiver
//   merge     x <- x + sum_j w_ij (x_j - x)
#include "algos/entries.hpp"
#include "algos/gossip.hpp"

namespace rubato {

namespace {

struct EventTriggeredSettings {
  StepSize eta;
  double threshold;
};

template <class Real>
class EventTriggered final : public Gossip<Real, EventTriggeredSettings> {
  using Base = Gossip<Real, EventTriggeredSettings>;

 public:
  explicit EventTriggered(const Setup<Real, EventTriggeredSettings>& setup)
      : Base(setup), sent_{copy_of<Real>(setup.start, setup.pool)} {}

  bool decide(Work<Real>&, const Step&) override {
    const Real distance = (this->model() - numbers_of<Real>(std::as_const(sent_))).norm();
    return static_cast<double>(distance) > this->settings().threshold;
  }

  Payload publish(Work<Real>& work, const Step& step) override {
    Payload payload = Base::publish(work, step);
    sent_ = payload.common[0];
    return payload;
  }

  void archive(Archive& archive) override {
    Base::archive(archive);
    archive.fixed(sent_);
  }

  void inspect(Probe& probe) const override {
    Base::inspect(probe);
    show(probe, "sent", numbers_of<Real>(sent_));
  }

 private:
  Tensor sent_;
};

constexpr OptionSpec event_triggered_own[] = {
    {"threshold", OptionType::number, "0.1", "a model that has moved no farther than this is not sent", 0, 1e9},
};
constexpr auto event_triggered_table = combined(step_options(), event_triggered_own);

EventTriggeredSettings read_event_triggered(const OptionReader& options) {
  return {StepSize(options), options.number("threshold")};
}

}  // namespace

constinit const CatalogueEntry entries::event_triggered{
    .name = "event_triggered",
    .summary = "gossip of models that have moved since they were last sent",
    .options = event_triggered_table,
    .runs = {ProtocolKind::push},
    .merge = Weights::doubly,
    .needs = [](const AlgorithmOptions&) { return Needs{.asks_before_sending = true, .keep = Keep::newest}; },
    .make = made_by<EventTriggered, read_event_triggered, event_triggered_table>,
};

}  // namespace rubato
