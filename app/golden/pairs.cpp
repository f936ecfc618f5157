// Golden cases of exchanges in pairs: in continuous time through the pair protocol, and as sequences of steps.
#include <set>

#include "algos/acid.hpp"
#include "app/golden/events.hpp"
#include "app/golden/rounds.hpp"
#include "app/golden/script.hpp"
#include "runtime/elementary.hpp"

namespace rubato::golden {

namespace {

// What an attempt finds on its links: request, then reply or refusal; nothing: lost.
struct AttemptDelays {
  std::optional<Duration> request, reply;
};

// A tick at which a client asks.
struct Asking {
  Time at{};  // 0 where it follows a batch
  ClientId partner{};
  std::vector<AttemptDelays> attempts;
};

Asking to_asking(const Json& json, std::size_t clients) {
  Asking asking{.partner = ClientId{number_below(clients, json.at("partner"))}, .attempts = {}};
  for (const Json& delays : json.at("attempts")) {
    const auto delay = [&](std::size_t i) -> std::optional<Duration> {
      if (delays.at(i).is_null()) return std::nullopt;
      return delays.at(i).get<Duration>();
    };
    asking.attempts.push_back({delay(0), delay(1)});
  }
  if (asking.attempts.empty()) throw std::invalid_argument("an exchange has no attempt");
  return asking;
}

// The links of the attempt that each client makes now: a client asks one other at a time.
class PairChannel final : public Channel {
 public:
  explicit PairChannel(std::size_t clients) : now_(clients), departs_(clients) {}

  /// The client's request leaves next.
  void begin(ClientId asker, const AttemptDelays& delays) {
    now_[asker.value] = delays;
    departs_[asker.value] = true;
  }
  Fate carry(const LinkUse& use) const override {
    const bool is_request = use.kind == MessageKind::update && departs_[use.sender.value];
    if (is_request) departs_[use.sender.value] = false;
    const auto& delay = is_request ? now_[use.sender.value].request : now_[use.receiver.value].reply;
    return {.lost = !delay, .delay = delay.value_or(Duration{})};
  }

 private:
  std::vector<AttemptDelays> now_;
  mutable std::vector<bool> departs_;
};

struct PairCase;

// How the cases of an algorithm are read.
struct PairKind {
  std::string name;
  std::string algorithm;           // of the catalogue
  std::vector<const char*> state;  // of a client after what changes it
  std::vector<const char*> after_computing;
  std::vector<const char*> last;
  bool has_mass = true;
  bool has_problem = true;
};

// Computes what is watched into records.
class PairTrace final : public ScriptObserver, public PairWatch {
 public:
  explicit PairTrace(PairCase& run) : run_{run} {}

  void on_start() override;
  void see(const PairRecord& record, Effects& effects) override;
  void on_end(const Conductor& conductor) override;
  // Fills in the states; those at the end.
  States complete();

  Json trace = Json::array();
  Json counters = Json::object(), asking = Json::array(), waiting = Json::array();

 private:
  struct Question {
    std::size_t record;
    std::uint64_t number;
    ClientId client;
  };
  Json shown(const PairRecord& record);
  void add_mass(Json& record, const States& states) const;

  PairCase& run_;
  std::vector<std::uint64_t> first_;
  std::uint64_t next_ = std::uint64_t{1} << 40;
  std::vector<Question> asked_;  // ascending records
  std::vector<std::size_t> computations_, ticks_;
  std::map<std::pair<ClientId, std::uint32_t>, std::size_t> tick_of_;  // [asker, exchange]
};

// The options of a case are members of one object; tables are read elsewhere.
Json flattened(Json config) {
  config.erase("local_steps");
  if (const Json* inner = given(config, "inner"); inner && inner->is_object()) {
    const Json parts = *inner;
    for (const auto& [name, value] : parts.items()) config[name == "kind" ? "inner" : name] = value;
  }
  return config;
}

ScriptedNumbers numbers_of(const Json& golden_case, const Json& config, const PairKind& kind, std::size_t clients) {
  if (kind.has_problem) return ScriptedNumbers(golden_case.at("problem"), config, kind.algorithm);
  ScriptedNumbers nothing(clients);
  nothing.algorithm = kind.algorithm;
  return nothing;
}

struct PairCase {
  PairCase(const Json& golden_case, const PairKind& of_kind);
  void set_timing();

  const PairKind& kind;
  const Json& given_case;
  const Json config;
  const std::size_t clients;
  std::vector<std::vector<Asking>> askings;
  std::vector<std::vector<Time>> computations;
  std::vector<std::vector<Rows>> batches;  // by client and compute tick
  ScriptedNumbers numbers;
  PairChannel* channel = nullptr;  // the timing's
  std::unique_ptr<Timing> timing;
  PairTrace trace{*this};
  ProbeTable table;
};

PairCase::PairCase(const Json& golden_case, const PairKind& of_kind)
    : kind{of_kind},
      given_case{golden_case},
      config(flattened(golden_case.at("config"))),
      clients{number_below(most_clients, config.at("m"))},
      askings(clients),
      computations(clients),
      batches(clients),
      numbers{numbers_of(golden_case, config, of_kind, clients)} {
  numbers.require(clients);
  for (const Json& event : sorted_events(golden_case)) {
    const std::uint32_t client = number_below(clients, event.at("client"));
    if (event.at("type") == "compute") {
      computations[client].push_back(event.at("t").get<Time>());
      const Json* batch = given(event, "batch");
      batches[client].push_back(batch ? batch->get<Rows>() : Rows{});
    } else {
      askings[client].push_back(to_asking(event, clients));
      askings[client].back().at = event.at("t").get<Time>();
    }
  }
  if (const Json* tables = given(config, "exchanges"))
    for (std::size_t i = 0; i < clients; ++i)
      for (const Json& entry : tables->at(i)) askings[i].push_back(to_asking(entry, clients));
  for (std::size_t i = 0; i < clients; ++i) numbers.choices[i].batches.resize(batches[i].size());
  set_timing();
}

void PairCase::set_timing() {
  std::set<Edge> links;
  for (std::uint32_t i = 0; i < clients; ++i)
    for (const Asking& asking : askings[i]) {
      if (asking.partner == ClientId{i}) throw std::invalid_argument("a client asks itself");
      links.insert({{i}, asking.partner});
      links.insert({asking.partner, {i}});
    }
  auto made = std::make_unique<PairChannel>(clients);
  channel = made.get();
  timing = std::make_unique<Timing>(Graph(clients, true, {links.begin(), links.end()}), std::move(made), ProtocolKind::pair);
  ClientSettings& settings = timing->settings;
  settings.needs = numbers.needs();
  for (std::size_t i = 0; i < clients; ++i) {
    settings.compute.push_back(TimerLaw::table(computations[i]));
    std::vector<Time> ticks;
    for (const Asking& asking : askings[i]) ticks.push_back(asking.at);
    settings.transmit.push_back(settings.needs.pairing.in_batches ? TimerLaw::off() : TimerLaw::table(std::move(ticks)));
  }
  read(config, "deadline", settings.limits.deadline);
  PairSettings& pair = timing->pair;
  pair.busy = known_choice<Busy>(config.value("busy", Json("wait")));
  pair.commit = known_choice<Commit>(config.value("commit", Json("known")));
  pair.retries = number_below(ExchangeTag::most_attempts, config.value("retries", Json(0)));
  read(config, "retry_after", pair.retry_after);
  for (std::size_t i = 0; i < clients; ++i) {
    pair.partners.emplace_back();
    for (const Asking& asking : askings[i])
      pair.partners.back().push_back({asking.partner, static_cast<std::uint32_t>(asking.attempts.size())});
  }
  if (const Json* steps = given(given_case.at("config"), "local_steps"))
    for (std::size_t i = 0; i < clients; ++i) pair.batches.push_back(numbers_below(most_rounds, steps->at(i)));
  pair.watch = &trace;
  timing->conductor.until = config.at("t_end").get<Time>();
}

void PairTrace::on_start() {
  for (std::uint32_t i = 0; i < run_.clients; ++i) first_.push_back(probe(ClientId{i}, Time{}));
  computations_.resize(run_.clients);
  ticks_.resize(run_.clients);
}

const char* word_for(PairRecord::Outcome outcome) {
  static constexpr const char* words[] = {"none", "met", "queued", "refused", "void", "late", "asking", "working"};
  return words[static_cast<std::size_t>(outcome)];
}

Json PairTrace::shown(const PairRecord& record) {
  using Kind = PairRecord::Kind;
  using Outcome = PairRecord::Outcome;
  const std::size_t client = record.client.value;
  const Json exchange = record.exchange ? Json(*record.exchange) : Json(nullptr);
  switch (record.kind) {
    case Kind::compute: {
      if (!run_.timing->settings.needs.pairing.in_batches) return {{"ev", "compute"}};
      const bool is_skipped = record.outcome == Outcome::working;
      Json shown{{"ev", "compute"}, {"skipped", is_skipped}};
      if (!is_skipped) shown["steps"] = record.steps;
      return shown;
    }
    case Kind::exchange: {
      const bool has_begun = record.outcome == Outcome::none;
      const std::size_t tick = record.attempt > 0 ? tick_of_.at({record.client, *record.exchange}) : ticks_[client]++;
      if (has_begun && record.attempt == 0) tick_of_[{record.client, *record.exchange}] = tick;
      if (has_begun) run_.channel->begin(record.client, run_.askings[client].at(tick).attempts.at(record.attempt));
      return {{"ev", "exchange"},   {"partner", record.peer},
              {"seq", exchange},    {"attempt", record.attempt},
              {"begun", has_begun}, {"reason", has_begun ? Json(nullptr) : Json(word_for(record.outcome))}};
    }
    case Kind::request:
    case Kind::serve:
      return {{"ev", record.kind == Kind::request ? "request" : "serve"},
              {"src", record.peer},
              {"seq", exchange},
              {"attempt", record.attempt},
              {"outcome", word_for(record.outcome)}};
    case Kind::reply:
      return {{"ev", "reply"},
              {"src", record.peer},
              {"seq", exchange},
              {"attempt", record.attempt},
              {"kind", word_for(record.outcome)},
              {"ended", record.ends}};
    case Kind::over:
      return {{"ev", "wait_over"}, {"seq", exchange}, {"attempt", record.attempt}};
    case Kind::alone:
      return {{"ev", "alone"}, {"seq", exchange}};
  }
  return {};
}

void PairTrace::see(const PairRecord& record, Effects& effects) {
  using Kind = PairRecord::Kind;
  const std::size_t client = record.client.value;
  if (record.kind == Kind::compute) {
    const std::size_t tick = computations_[client]++;
    if (record.outcome == PairRecord::Outcome::working) {  // its batch is left out with it
      run_.batches[client].erase(run_.batches[client].begin() + static_cast<std::ptrdiff_t>(tick));
      --computations_[client];
    } else {
      run_.numbers.choices[client].batches.at(tick) = run_.batches[client].at(tick);
    }
  }
  Json shown_record = shown(record);
  shown_record["t"] = record.at;
  shown_record["client"] = record.client;
  trace.push_back(std::move(shown_record));
  const bool changes = record.kind == Kind::alone || record.outcome == PairRecord::Outcome::met ||
                       (record.kind == Kind::compute && record.outcome == PairRecord::Outcome::none);
  if (!changes) return;
  asked_.push_back({trace.size() - 1, next_, record.client});
  effects.step(StepKind::measure, record.client, record.at).index = next_++;
}

void PairTrace::on_end(const Conductor& conductor) {
  PairCounts all;
  for (std::uint32_t i = 0; i < run_.clients; ++i) {
    const auto& protocol = dynamic_cast<const Pair&>(conductor.protocol(ClientId{i}));
    all += protocol.exchanges();
    const auto now = protocol.asked();
    asking.push_back(now ? Json{now->first, now->second} : Json(nullptr));
    waiting.push_back(list_from(protocol.waiting_requests(), [](const auto& request) {
      return Json{request.first, request.second};
    }));
  }
  counters = {{"begun", all.begun}, {"met", all.met},         {"refused", all.refused}, {"queued", all.queued}, {"void", all.empty},
              {"late", all.late},   {"skipped", all.skipped}, {"retried", all.retried}, {"over", all.over}};
}

void PairTrace::add_mass(Json& record, const States& states) const {
  if (!run_.kind.has_mass) return;
  States first;
  for (std::uint32_t i = 0; i < run_.clients; ++i) first.push_back(&run_.table.at(first_[i], {i}));
  record["mass_x"] = sum_of(states, "mass");
  record["in_flight"] = Vector<double>(sum_of(states, "given") - sum_of(states, "taken"));
  record["sum_steps"] = Vector<double>(sum_of(states, "own") - sum_of(first, "own"));
}

States PairTrace::complete() {
  States states;
  for (std::uint32_t i = 0; i < run_.clients; ++i) states.push_back(&run_.table.at(first_[i], {i}));
  std::size_t next = 0;
  for (std::size_t k = 0; k < trace.size(); ++k) {
    Json& record = trace[k];
    if (next < asked_.size() && asked_[next].record == k) {
      const auto& [place, number, client] = asked_[next++];
      const Vectors& before = *states[client.value];
      const Vectors& now = run_.table.at(number, client);
      states[client.value] = &now;
      for (const char* name : record.at("ev") == "compute" ? run_.kind.after_computing : run_.kind.state)
        record[name] = now.at(name);
      const bool counts = before.contains("heard");
      if (record.at("ev") == "reply") record["applied"] = !counts || now.at("heard") != before.at("heard");
    }
    add_mass(record, states);
  }
  return states;
}

// The two models of A2CiD2 this long after the client's last event.
void let_flow(Json& x, Json& xt, double eta, double seconds) {
  const auto first = x.get<Vector<double>>(), second = xt.get<Vector<double>>();
  const double e = elementary::exp(-2 * eta * seconds);
  x = Vector<double>(0.5 * (first + second) + 0.5 * e * (first - second));
  xt = Vector<double>(0.5 * (first + second) - 0.5 * e * (first - second));
}

Json answer_pairs(const Json& golden_case, const PairKind& kind) {
  PairCase run(golden_case, kind);
  perform_script(*run.timing, run.numbers, run.trace, run.table);
  const States states = run.trace.complete();
  Json last{{"counters", run.trace.counters}, {"asking", run.trace.asking}, {"waiting", run.trace.waiting}};
  for (const char* name : kind.last) last[name] = list_from(states, [&](const Vectors* state) { return state->at(name); });
  if (kind.name == "acid")
    for (std::size_t i = 0; i < run.clients; ++i)
      let_flow(last["x"][i], last["xt"][i], run.config.at("eta").get<double>(),
               run.config.at("t_end").get<double>() - states[i]->at("last")[0]);
  return {{"trace", run.trace.trace}, {"final", last}};
}

// Plays meetings and computations one after the other, with nothing on its way.
class PairPlay {
 public:
  PairPlay(std::size_t clients, StepSink& sink) : sink_{sink}, computed_(clients), sent_(clients) {}

  void begin(ClientId client) { sink_.perform({.kind = StepKind::begin, .client = client, .entries = {}}); }
  void compute(ClientId client, bool is_last = true) {
    sink_.perform({.kind = StepKind::compute,
                   .phase = static_cast<std::uint8_t>(is_last),
                   .client = client,
                   .index = computed_[client.value]++,
                   .at = now,
                   .entries = {}});
  }
  void compute_batch(ClientId client, std::uint32_t steps) {
    for (std::uint32_t s = 1; s <= steps; ++s) compute(client, s == steps);
  }
  void meet(ClientId asker, ClientId partner) {
    send(asker, partner, pair_request);
    send(partner, asker, pair_reply);
  }
  // All of a group at once.
  void gather(const std::vector<ClientId>& group) {
    std::vector<StepEntry> sent;
    for (const ClientId one : group) {
      std::vector<StepEntry> receivers;
      const SlotIndex slot = group.size() > 1 ? sink_.open_slot(static_cast<std::uint32_t>(group.size() - 1)) : no_slot;
      const Sequence sequence = sent_[one.value]++;
      for (const ClientId other : group)
        if (other != one) receivers.push_back({.peer = other, .sequence = sequence, .slot = slot});
      if (!receivers.empty())
        sink_.perform(
            {.kind = StepKind::publish, .phase = pair_request, .client = one, .index = sequence, .at = now, .entries = receivers});
      sent.push_back({.peer = one, .sequence = sequence, .slot = slot});
    }
    for (const ClientId one : group) {
      std::vector<StepEntry> heard;
      for (const StepEntry& entry : sent)
        if (entry.peer != one) heard.push_back(entry);
      sink_.perform(
          {.kind = StepKind::merge, .phase = heard.empty() ? pair_alone : pair_reply, .client = one, .at = now, .entries = heard});
    }
  }
  void look(std::uint64_t number) {
    for (std::uint32_t i = 0; i < computed_.size(); ++i)
      sink_.perform({.kind = StepKind::measure, .client = ClientId{i}, .index = number, .entries = {}});
  }

  Time now{};

 private:
  void send(ClientId from, ClientId to, std::uint8_t phase) {
    StepEntry entry{.peer = to, .sequence = sent_[from.value]++, .slot = sink_.open_slot(1)};
    Step step{
        .kind = StepKind::publish, .phase = phase, .client = from, .index = entry.sequence, .at = now, .entries = {&entry, 1}};
    sink_.perform(step);
    entry.peer = from;
    step.kind = StepKind::merge, step.client = to;
    sink_.perform(step);
  }

  StepSink& sink_;
  std::vector<std::uint64_t> computed_;
  std::vector<Sequence> sent_;
};

// A case that is a sequence of events.
struct SequenceCase {
  SequenceCase(const Json& golden_case, const char* algorithm)
      : parameters(flattened(golden_case.at("params"))),
        schedule(golden_case.at("schedule")),
        numbers(golden_case.at("problem"), parameters, algorithm),
        clients{numbers.learners.size()} {}

  ClientId client(const Json& number) const { return {number_below(clients, number)}; }
  void add_batch(ClientId of_client, const Json& object) {
    const Json* batch = given(object, "batch");
    numbers.choices[of_client.value].batches.push_back(batch ? batch->get<Rows>() : Rows{});
  }
  /// `play(play, k)` is event k.
  template <class Play>
  void perform(std::size_t events, Play play) {
    const auto all = [&](StepSink& sink) {
      PairPlay player(clients, sink);
      for (std::size_t k = 0; k <= events; ++k) {
        player.look(k);
        if (k < events) play(player, k);
      }
    };
    perform_steps(all, everyone_linked(clients), numbers, table);
    ends = events + 1;
  }
  Json list(const char* name) const {
    return list_of(ends, [&](std::size_t k) {
      return list_of(clients, [&](std::size_t i) { return table.at(k, {static_cast<std::uint32_t>(i)}).at(name); });
    });
  }

  const Json parameters, schedule;
  ScriptedNumbers numbers;
  const std::size_t clients;
  ProbeTable table;
  std::size_t ends = 0;
};

Json answer_adpsgd_sequence(const Json& golden_case) {
  SequenceCase run(golden_case, "adpsgd");
  const Json& steps = run.schedule.at("steps");
  const bool averages_first = run.parameters.value("order", "average_first") == "average_first";
  std::vector<std::vector<ClientId>> begins(steps.size());  // whose gradients are those of the models of this iteration
  std::vector<std::size_t> after(run.clients);              // the iteration after a client's last step
  for (std::size_t k = 0; k < steps.size(); ++k) {
    const ClientId i = run.client(steps[k].at("i"));
    const Json* start = given(steps[k], "start");
    const std::size_t from = start ? number_below(k + 1, *start) : k;
    if (from < after[i.value]) throw std::invalid_argument("a gradient begins before its client's last step");
    after[i.value] = k + 1;
    begins[from].push_back(i);
    run.add_batch(i, steps[k]);
  }
  run.perform(steps.size(), [&](PairPlay& play, std::size_t k) {
    for (const ClientId i : begins[k]) play.begin(i);
    const ClientId i = run.client(steps[k].at("i"));
    if (!averages_first) play.compute(i);
    if (const Json* j = given(steps[k], "j")) play.meet(i, run.client(*j));
    if (averages_first) play.compute(i);
  });
  return {{"x", run.list("x")}};
}

Json answer_swarm_sequence(const Json& golden_case) {
  SequenceCase run(golden_case, "swarm_sgd");
  const bool blocks = run.parameters.value("variant", "") == "blocking";
  const Json& all = run.schedule.at("interactions");
  run.perform(all.size(), [&](PairPlay& play, std::size_t k) {
    const ClientId i = run.client(all[k].at("i")), j = run.client(all[k].at("j"));
    play.compute_batch(i, number_below(most_rounds, all[k].at("H_i")));
    if (blocks) play.compute_batch(j, number_below(most_rounds, all[k].at("H_j")));
    play.meet(i, j);
  });
  Json answer{{"x", run.list("c")}};
  if (!blocks) answer["start"] = run.list("s");
  return answer;
}

Json answer_acid_sequence(const Json& golden_case) {
  SequenceCase run(golden_case, "acid");
  const Json& events = run.schedule.at("events");
  for (const Json& event : events)
    if (event.at("type") == "gradient") run.add_batch(run.client(event.at("i")), event);
  run.perform(events.size(), [&](PairPlay& play, std::size_t k) {
    play.now = events[k].at("t").get<Time>();
    const ClientId i = run.client(events[k].at("i"));
    events[k].at("type") == "gradient" ? play.compute(i) : play.meet(i, run.client(events[k].at("j")));
  });
  Json x = run.list("x"), xt = run.list("xt");
  for (std::size_t k = 0; k < events.size(); ++k)
    for (std::size_t i = 0; i < run.clients; ++i)
      let_flow(x[k + 1][i], xt[k + 1][i], run.parameters.at("eta").get<double>(),
               events[k].at("t").get<double>() - run.table.at(k + 1, {static_cast<std::uint32_t>(i)}).at("last")[0]);
  return {{"x", x}, {"xt", xt}};
}

Json answer_noloco_rounds(const Json& golden_case) {
  SequenceCase run(golden_case, "noloco");
  const std::size_t rounds = number_below(most_rounds, run.parameters.at("rounds"));
  const std::uint32_t steps = number_below(most_rounds, run.parameters.at("H"));
  if (const Json* batches = given(run.schedule, "batch"))
    for (const Json& round : *batches)
      for (std::size_t i = 0; i < run.clients; ++i)
        for (const Json& batch : round.at(i))
          run.numbers.choices[i].batches.push_back(batch.is_null() ? Rows{} : batch.get<Rows>());
  const Json& groups = run.schedule.at("groups");
  run.perform(rounds, [&](PairPlay& play, std::size_t r) {
    for (std::uint32_t i = 0; i < run.clients; ++i) play.compute_batch({i}, steps);
    for (const Json& group : groups.at(r)) play.gather(clients_below(run.clients, group));
  });
  return {{"x", run.list("phi")}, {"delta", run.list("delta")}};
}

Json answer_acid_constants(const Json& golden_case) {
  Json answer = Json::object();
  for (const auto& [name, graph] : golden_case.at("graphs").items()) {
    const std::size_t clients = number_below(most_clients, graph.at("m"));
    std::vector<MeetingRate> rates;
    for (const Json& edge : graph.at("rates"))
      rates.push_back({{number_below(clients, edge.at(0))}, {number_below(clients, edge.at(1))}, edge.at(2).get<double>()});
    const AcidConstants constants = acid_constants(clients, rates);
    answer[name] = {{"chi1", constants.chi1},
                    {"chi2", constants.chi2},
                    {"eta", constants.eta},
                    {"alpha", constants.alpha},
                    {"alpha_tilde", constants.alpha_tilde}};
  }
  return answer;
}

}  // namespace

std::vector<CaseKind> pair_kinds() {
  const auto in_pairs = [](PairKind kind) -> CaseKind {
    return {kind.name, "events", [kind](const Json& golden_case) { return answer_pairs(golden_case, kind); }};
  };
  return {
      in_pairs({.name = "pair",
                .algorithm = "adpsgd",
                .state = {},
                .after_computing = {},
                .last = {},
                .has_mass = false,
                .has_problem = false}),
      in_pairs({.name = "adpsgd", .algorithm = "adpsgd", .state = {"x"}, .after_computing = {"x"}, .last = {"x", "start"}}),
      in_pairs({.name = "swarm_sgd",
                .algorithm = "swarm_sgd",
                .state = {"c", "x"},
                .after_computing = {"c", "x"},
                .last = {"c", "x", "s"}}),
      in_pairs({.name = "acid", .algorithm = "acid", .state = {"x", "xt"}, .after_computing = {"x", "xt"}, .last = {"x", "xt"}}),
      in_pairs({.name = "noloco",
                .algorithm = "noloco",
                .state = {"phi", "delta"},
                .after_computing = {"theta"},
                .last = {"phi", "delta", "theta"},
                .has_mass = false}),
      {"adpsgd", "sync", answer_adpsgd_sequence},
      {"swarm_sgd", "sync", answer_swarm_sequence},
      {"acid", "sync", answer_acid_sequence},
      {"noloco", "sync", answer_noloco_rounds},
      {"acid_constants", "", answer_acid_constants}};
}

}  // namespace rubato::golden
