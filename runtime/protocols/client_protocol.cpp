#include "runtime/protocols/client_protocol.hpp"

#include "runtime/random.hpp"

namespace rubato {

StepEntry merge_entry(const Arrival& arrival, Time now, double weight) {
  return {.peer = arrival.id.sender,
          .sequence = arrival.id.sequence,
          .slot = arrival.slot,
          .incarnation = static_cast<std::uint16_t>(arrival.id.incarnation),
          .weight = weight,
          .age = now - arrival.sent,
          .place = arrival.place};
}

void discard(const Arrival& arrival, ClientId self, Time now, Effects& effects) {
  effects.step(StepKind::discard, self, now).message = arrival.kind;
  effects.entry(merge_entry(arrival, now, 0));
}

void take_model(const Arrival& model, bool is_news, ClientId self, Time now, Effects& effects) {
  Step& step = effects.step(is_news ? StepKind::adopt : StepKind::discard, self, now);
  step.message = MessageKind::model;
  step.index = model.id.sequence;
  effects.entry(merge_entry(model, now, 1));
}

bool ClientSettings::has_gradient(ClientId client, std::uint64_t number) const {
  if (!gradients.empty()) {
    const auto& mine = gradients[client.value];
    return number >= mine.size() || mine[number];
  }
  if (!needs.sporadic.computes || chances.computes.empty()) return true;
  return uniform01(draw(seed, client, Purpose::indicator, number, 1).first) < chances.computes[client.value];
}

void keep_drawn(std::vector<ClientId>& clients, std::size_t count, Stream& draws) {
  for (std::size_t i = 0; i < count; ++i) std::swap(clients[i], clients[i + draws.below(clients.size() - i)]);
  clients.resize(count);
  std::ranges::sort(clients);
}

Step& ClientProtocol::compute(Time now, Effects& effects) {
  Step& step = effects.step(StepKind::compute, self_, now);
  step.with_gradient = settings_.has_gradient(self_, counts_.computations);
  step.index = counts_.computations++;
  return step;
}

void ClientProtocol::publish(std::uint8_t phase, std::span<const ClientId> receivers, std::uint32_t tag, Time now,
                             Effects& effects) {
  Step& step = effects.step(StepKind::publish, self_, now);
  step.index = sequence_;
  step.phase = phase;
  effects.turn(sequence_);
  effects.tag(tag);
  for (const ClientId receiver : receivers) send_to(receiver, *settings_.graph->find_link(self_, receiver), 0, effects);
  ++sequence_;
  ++counts_.publications;
}

Step& ClientProtocol::merge(std::vector<Arrival>& arrived, std::uint8_t phase, std::uint64_t row, Time now, Effects& effects) {
  std::ranges::sort(arrived, {}, &Arrival::id);
  Step& step = effects.step(StepKind::merge, self_, now);
  step.phase = phase;
  const double equal_share = 1.0 / static_cast<double>(arrived.size());
  for (const Arrival& arrival : arrived) {
    const double by_link = settings_.merge_weight(arrival.link, row);
    effects.entry(merge_entry(arrival, now, settings_.needs.weights_by_batch ? equal_share : by_link));
  }
  arrived.clear();
  return step;
}

void TickingProtocol::wake_compute(Effects& effects) {
  const Time next = compute_timer_.next(settings_.compute_law(self_), settings_.seed, self_, Purpose::compute_timer);
  effects.wake({next, Priority::compute, self_});
}

void TickingProtocol::wake_transmit(Effects& effects) {
  if (!transmit_law().ticks_by_itself()) return;
  const Time next = transmit_timer_.next(transmit_law(), settings_.seed, self_, Purpose::transmit_timer);
  effects.wake({next, Priority::transmit, self_});
}

void TickingProtocol::skip_timers_to(Time now) {
  compute_timer_.skip_to(now, settings_.compute_law(self_));
  if (transmit_law().ticks_by_itself()) transmit_timer_.skip_to(now, transmit_law());
}

}  // namespace rubato
