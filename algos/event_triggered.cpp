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
#include <utility>

#include "algos/entries.hpp"
#include "algos/gossip.hpp"

namespace rubato {

namespace {

struct EventTriggeredSettings {
  StepSize eta;
  double threshold;
};

template <class Real>
class EventTriggered final : public Gossip<Real> {
 public:
  EventTriggered(std::shared_ptr<const EventTriggeredSettings> settings, const ClientView& client_view, ConstVectorRef<Real> start,
                 TensorPool& pool)
      : Gossip<Real>(start, pool), settings_{std::move(settings)}, client_{client_view.client}, sent_{copy_of<Real>(start, pool)} {}

  void compute(Work<Real>& work, const Step& step) override {
    this->descend(work, step, settings_->eta.at(client_.value, step.index));
  }

  bool decide(Work<Real>&, const Step&) override {
    const Real distance = (this->model() - numbers_of<Real>(std::as_const(sent_))).norm();
    return static_cast<double>(distance) > settings_->threshold;
  }

  Payload publish(Work<Real>& work, const Step& step) override {
    Payload payload = Gossip<Real>::publish(work, step);
    sent_ = payload.common[0];
    return payload;
  }

  void archive(Archive& archive) override {
    Gossip<Real>::archive(archive);
    archive.fixed(sent_);
  }

  void inspect(Probe& probe) const override {
    Gossip<Real>::inspect(probe);
    show(probe, "sent", numbers_of<Real>(sent_));
  }

 private:
  std::shared_ptr<const EventTriggeredSettings> settings_;
  ClientId client_;
  Tensor sent_;
};

Needs needs(const AlgorithmOptions&) { return {.asks_before_sending = true, .keep = Keep::newest}; }

template <class Real>
AlgorithmFactory<Real> make(const AlgorithmOptions& options) {
  return factory_of<EventTriggered, Real>(
      EventTriggeredSettings{StepSize(options, "eta", 0.05), not_negative(options, "threshold", 0.1)});
}

constexpr OptionSpec options[] = {
    shared_option::eta,
    shared_option::step,
    shared_option::step_offset,
    {"threshold", OptionType::number, "0.1", "a model that has moved no farther than this is not sent", 0, 1e9},
};

}  // namespace

constinit const CatalogueEntry entries::event_triggered{
    .name = "event_triggered",
    .summary = "gossip of models that have moved since they were last sent",
    .options = options,
    .runs = only(ProtocolKind::push),
    .merge = Weights::doubly,
    .needs = needs,
    .make_float = make<float>,
    .make_double = make<double>,
};

}  // namespace rubato
