// A second, duller event loop, written from what docs/architecture.md promises: one list of events, the smallest is
// taken, no protocols, no conductor. It shares with the engine what chance and the world are (timers, laws, graph,
// channel) and the description of an experiment, and nothing that decides.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "runtime/engine/conductor.hpp"
#include "runtime/protocols/push.hpp"
#include "runtime/random.hpp"
#include "runtime/renewal.hpp"
#include "runtime/world/channel.hpp"
#include "tests/support/world.hpp"

namespace rubato::test {

class NaiveEngine {
 public:
  NaiveEngine(const ClientSettings& experiment, const ConductorSettings& run, const Channel& channel)
      : x_{experiment}, run_{run}, channel_{channel}, clients_(experiment.graph->clients()) {}

  /// What an observer would see, and the steps.
  std::vector<Seen> seen;
  std::vector<KeptStep> steps;

  void play() {
    for (std::uint32_t i = 0; i < m(); ++i) start(i);
    if (run_.cap_period > Duration::zero()) agenda_.push_back({.t = Time{run_.cap_period}, .priority = 0, .number = 1});
    if (run_.unification.period > Duration::zero())
      agenda_.push_back({.t = Time{run_.unification.period}, .priority = 1, .number = 1});
    while (!agenda_.empty()) {
      const auto next =
          std::min_element(agenda_.begin(), agenda_.end(), [](const Event& a, const Event& b) { return a.key() < b.key(); });
      const Event event = *next;
      agenda_.erase(next);
      if (event.t > run_.until) break;
      happen(event);
    }
  }

 private:
  struct Event {
    Time t{};
    int priority = 0;
    std::uint32_t client = 0;
    std::uint32_t src = 0;     // arrival: sender; transmit: which timer or repetition
    std::uint64_t number = 0;  // arrival: sequence; period, unify: k
    bool is_model = false;
    Time sent{};
    std::tuple<Time, int, std::uint32_t, std::uint32_t, std::uint64_t, bool> key() const {
      return {t, priority, client, src, number, is_model};
    }
  };
  struct Message {
    std::uint32_t src;
    Sequence seq;
    Time sent;
  };
  struct Client {
    Timer compute, transmit;
    std::map<std::uint32_t, Timer> links;
    std::map<std::uint32_t, std::uint64_t> told;  // by link: computations before its last message
    std::uint64_t computations = 0, turns = 0;
    Sequence seq = 0;
    std::optional<Time> open_until;
    std::vector<Message> batch;
    std::uint32_t tokens = 0;
    std::uint64_t adopted = 0;
  };

  std::uint32_t m() const { return static_cast<std::uint32_t>(clients_.size()); }
  bool has_cap() const { return x_.limits.cap != MailboxLimits::unlimited; }

  void note(Seen one) { seen.push_back(std::move(one)); }
  void step(StepKind kind, std::uint32_t client, Time at, std::uint64_t index, std::vector<StepEntry> entries = {},
            MessageKind message = MessageKind::update) {
    Step one{.kind = kind, .message = message, .client = {client}, .index = index, .at = at, .entries = entries};
    steps.emplace_back(one);
  }

  void start(std::uint32_t i) {
    clients_[i].tokens = x_.limits.cap;
    schedule_compute(i);
    if (x_.transmit_law(ClientId{i}).ticks_by_itself()) {
      if (!x_.transmit_per_link) schedule_transmit(i, 0);
      for (std::uint32_t k = 0; x_.transmit_per_link && k < x_.graph->out_degree({i}); ++k) schedule_transmit(i, k);
    }
    if (x_.needs.fixes_model_at_start) step(StepKind::begin, i, Time{}, 0);
  }
  void schedule(Event event) {
    if (event.t != never) agenda_.push_back(event);
  }
  void schedule_compute(std::uint32_t i) {
    schedule(
        {.t = clients_[i].compute.next(x_.compute_law({i}), x_.seed, {i}, Purpose::compute_timer), .priority = 4, .client = i});
  }
  void schedule_transmit(std::uint32_t i, std::uint32_t link) {
    Timer& timer = x_.transmit_per_link ? clients_[i].links[link] : clients_[i].transmit;
    schedule({.t = timer.next(x_.transmit_law({i}), x_.seed, {i}, Purpose::transmit_timer, x_.transmit_per_link ? link + 1 : 0),
              .priority = 5,
              .client = i,
              .src = link});
  }

  void happen(const Event& event) {
    switch (event.priority) {
      case 0:
        return period(event);
      case 1:
        return unify(event);
      case 2:
        return event.is_model ? model_arrival(event) : arrival(event);
      case 3:
        return window_close(event.client, event.t);
      case 4:
        return compute(event.client, event.t);
      default:
        return transmit(event.client, event.src, event.t);
    }
  }

  void period(const Event& event) {
    for (Client& client : clients_) client.tokens = x_.limits.cap;
    agenda_.push_back({.t = event.t + run_.cap_period, .priority = 0, .number = event.number + 1});
    note({.at = event.t, .kind = Priority::period, .sequence = event.number});
  }

  void compute(std::uint32_t i, Time now) {
    schedule_compute(i);
    Client& self = clients_[i];
    note({.at = now, .kind = Priority::compute, .client = {i}});
    step(StepKind::compute, i, now, self.computations++);
    const TimerLaw& law = x_.transmit_law({i});
    if (law.kind == TimerLaw::Kind::coupled && self.computations % law.every == 0)
      for (std::uint32_t q = 0; q < law.repeat; ++q) schedule({.t = now, .priority = 5, .client = i, .src = q});
    if (x_.needs.fixes_model_at_start) step(StepKind::begin, i, now, self.computations);
  }

  void transmit(std::uint32_t i, std::uint32_t which, Time now) {
    Client& self = clients_[i];
    if (x_.transmit_law({i}).ticks_by_itself()) schedule_transmit(i, which);
    const std::uint64_t turn = self.turns++;
    Seen tick{.at = now, .kind = Priority::transmit, .client = {i}};
    const std::uint32_t link = x_.transmit_per_link ? which : 0;  // each link tells of each computation
    if (self.told[link] < self.computations || !x_.needs.send_only_if_computed) {
      self.told[link] = self.computations;
      const auto out = x_.graph->receivers_of({i});
      std::vector<StepEntry> entries;
      for (std::uint32_t k = 0; k < out.size(); ++k)
        if (!x_.transmit_per_link || k == which) entries.push_back({.peer = out[k], .sequence = self.seq});
      send(i, entries, MessageKind::update, turn, now);
      tick.sends = true;
      tick.sequence = self.seq;
      tick.entries = entries;
      step(StepKind::publish, i, now, self.seq, entries);
      ++self.seq;
    }
    note(std::move(tick));
  }

  // Marks what is lost and puts the rest on the agenda.
  void send(std::uint32_t i, std::vector<StepEntry>& entries, MessageKind kind, std::uint64_t turn, Time now) {
    for (StepEntry& entry : entries) {
      const auto link = x_.graph->find_link({i}, entry.peer);
      const Fate fate = channel_.carry({{i}, entry.peer, link.value_or(0xFFFF'FFFF), kind, turn, 0, now});
      entry.lost = fate.lost;
      if (!fate.lost)
        schedule({.t = now + fate.delay,
                  .priority = 2,
                  .client = entry.peer.value,
                  .src = i,
                  .number = entry.sequence,
                  .is_model = kind == MessageKind::model,
                  .sent = now});
    }
  }

  StepEntry received(const Message& message, Time now, double weight) const {
    return {.peer = {message.src}, .sequence = message.seq, .weight = weight, .age = now - message.sent};
  }

  void arrival(const Event& event) {
    Client& self = clients_[event.client];
    const Message message{event.src, static_cast<Sequence>(event.number), event.sent};
    const Duration age = event.t - event.sent;
    Offer outcome = Offer::kept;
    if (age > x_.limits.deadline)
      outcome = Offer::late;
    else if (has_cap() && self.tokens == 0)
      outcome = Offer::capped;
    if (outcome == Offer::kept) {
      if (has_cap()) self.tokens -= 1;
      if (!self.open_until) {
        self.open_until = event.t + x_.limits.window;
        agenda_.push_back({.t = *self.open_until, .priority = 3, .client = event.client});
      }
      self.batch.push_back(message);
    } else {
      step(StepKind::discard, event.client, event.t, 0, {received(message, event.t, 0)});
    }
    note({.at = event.t,
          .kind = Priority::arrival,
          .client = {event.client},
          .source = {event.src},
          .sequence = event.number,
          .outcome = outcome,
          .age = age,
          .tokens = self.tokens});
  }

  double weight_of(const Message& message, std::uint32_t receiver, std::size_t batch) const {
    if (x_.needs.weights_by_batch) return 1.0 / static_cast<double>(batch);
    if (x_.merge_weights.empty()) return 1;
    return x_.merge_weights[0][*x_.graph->find_link({message.src}, {receiver})];
  }

  void window_close(std::uint32_t i, Time now) {
    Client& self = clients_[i];
    std::vector<StepEntry> absorbed;
    std::vector<Message> superseded;
    std::vector<MessageId> held;
    for (const Message& message : self.batch) held.push_back({.sender = {message.src}, .sequence = message.seq});
    if (x_.needs.keep == Keep::newest) {
      std::map<std::uint32_t, Message> newest;
      for (const Message& message : self.batch) {
        const auto [place, is_first] = newest.insert({message.src, message});
        if (is_first) continue;
        if (message.seq > place->second.seq) std::swap(place->second, const_cast<Message&>(message));
        superseded.push_back(message);
      }
      std::sort(superseded.begin(), superseded.end(),
                [](const Message& a, const Message& b) { return std::tie(a.src, a.seq) < std::tie(b.src, b.seq); });
      for (const auto& [src, message] : newest) absorbed.push_back(received(message, now, weight_of(message, i, newest.size())));
    } else {
      for (const Message& message : self.batch)
        absorbed.push_back(received(message, now, weight_of(message, i, self.batch.size())));
    }
    step(StepKind::merge, i, now, 0, absorbed);
    for (const Message& message : superseded) step(StepKind::discard, i, now, 0, {received(message, now, 0)});
    note({.at = now, .kind = Priority::window_close, .client = {i}, .entries = absorbed, .held = held});
    self.batch.clear();
    self.open_until.reset();
  }

  std::uint32_t hub(std::uint64_t k) const {
    const UnificationPlan& plan = run_.unification;
    switch (plan.policy) {
      case HubPolicy::fixed:
        return plan.fixed.value;
      case HubPolicy::table:
        return plan.table[(k - 1) % plan.table.size()].value;
      case HubPolicy::max_degree: {
        std::uint32_t best = 0;
        for (std::uint32_t i = 0; i < m(); ++i)
          if (x_.graph->out_degree({i}) > x_.graph->out_degree({best})) best = i;
        return best;
      }
      case HubPolicy::random: {
        Stream stream(run_.seed, no_client, Purpose::hub, static_cast<std::uint32_t>(k));
        return static_cast<std::uint32_t>(stream.below(m()));
      }
      case HubPolicy::round_robin:
      case HubPolicy::best_channel:  // no channel here tells
        break;
    }
    return static_cast<std::uint32_t>((k - 1) % m());
  }

  void unify(const Event& event) {
    const std::uint64_t k = event.number;
    const Time now = event.t;
    agenda_.push_back({.t = now + run_.unification.period, .priority = 1, .number = k + 1});
    if (run_.unification.clears_mailbox)
      for (std::uint32_t i = 0; i < m(); ++i) clear_mailbox(i, now);
    const std::uint32_t h = hub(k);
    std::vector<StepEntry> others;
    for (std::uint32_t i = 0; i < m(); ++i)
      if (i != h) others.push_back({.peer = {i}, .sequence = static_cast<Sequence>(k)});
    note({.at = now, .kind = Priority::unify, .client = {h}, .sequence = k});
    if (run_.unification.via_transport) {
      send(h, others, MessageKind::model, k, now);
      step(StepKind::publish, h, now, k, others, MessageKind::model);
      clients_[h].adopted = k;
      return;
    }
    if (others.empty()) return;
    step(StepKind::publish, h, now, k, others, MessageKind::model);
    for (const StepEntry& other : others)
      step(StepKind::adopt, other.peer.value, now, k, {{.peer = {h}, .sequence = static_cast<Sequence>(k)}}, MessageKind::model);
  }
  void clear_mailbox(std::uint32_t i, Time now) {
    Client& self = clients_[i];
    for (const Message& message : self.batch) step(StepKind::discard, i, now, 0, {received(message, now, 0)});
    self.batch.clear();
    self.open_until.reset();
    std::erase_if(agenda_, [&](const Event& event) { return event.priority == 3 && event.client == i; });
  }

  void model_arrival(const Event& event) {
    Client& self = clients_[event.client];
    const bool is_news = event.number > self.adopted;
    if (is_news) self.adopted = event.number;
    const Message message{event.src, static_cast<Sequence>(event.number), event.sent};
    step(is_news ? StepKind::adopt : StepKind::discard, event.client, event.t, event.number, {received(message, event.t, 1)},
         MessageKind::model);
  }

  const ClientSettings& x_;
  const ConductorSettings& run_;
  const Channel& channel_;
  std::vector<Client> clients_;
  std::vector<Event> agenda_;
};

}  // namespace rubato::test
