// Golden cases of the mailbox and of DRACO: the table of a case becomes timers, links and hubs of an ordinary run.
#include <algorithm>
#include <set>
#include <stdexcept>

#include "actors/golden_cases.hpp"
#include "actors/golden_script.hpp"
#include "learning/problems.hpp"

namespace rubato::golden {

namespace {

// A number, or nothing where the case says null or says nothing.
const Json* given(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

Duration to_duration(const Json& seconds) {
  if (seconds.get<double>() >= 0) return from_seconds(seconds.get<double>());
  throw std::invalid_argument("a time or a delay is " + seconds.dump() + ": must be at least 0");
}

Time to_time(const Json& seconds) { return Time{to_duration(seconds)}; }

// The event table by client: ticks of both timers, and what each transmit tick finds on its links.
struct Script {
  explicit Script(std::size_t clients) : compute(clients), transmit(clients), active(clients), fates(clients) {}

  std::vector<std::vector<Time>> compute, transmit;
  ActiveLinks active;
  std::vector<std::vector<TableChannel::Turn>> fates;
  std::set<Edge> links;
};

void add_transmit(const Json& event, std::uint32_t client, Script& script) {
  TableChannel::Turn turn;
  std::vector<ClientId> receivers;
  for (const auto& [receiver, delay] : event.at("delays").items()) {
    const ClientId to{static_cast<std::uint32_t>(std::stoul(receiver))};
    receivers.push_back(to);
    script.links.insert({ClientId{client}, to});
    if (!delay.is_null()) turn[to] = {false, to_duration(delay)};
  }
  std::sort(receivers.begin(), receivers.end());
  script.transmit.at(client).push_back(to_time(event.at("t")));
  script.active[client].push_back(std::move(receivers));
  script.fates[client].push_back(std::move(turn));
}

Script read_script(const Json& events, std::size_t clients) {
  std::vector<Json> sorted(events.begin(), events.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const Json& a, const Json& b) { return a.at("t").get<double>() < b.at("t").get<double>(); });
  Script script(clients);
  for (const Json& event : sorted) {
    const auto client = event.at("client").get<std::uint32_t>();
    if (event.at("type") == "compute")
      script.compute.at(client).push_back(to_time(event.at("t")));
    else
      add_transmit(event, client, script);
  }
  return script;
}

// Everyone who is given a weight, and everyone who is sent to.
Graph to_graph(const Json& config, std::size_t clients, std::set<Edge> links) {
  if (const Json* q = given(config, "Q"))
    for (std::uint32_t receiver = 0; receiver < clients; ++receiver)
      for (std::uint32_t sender = 0; sender < clients; ++sender)
        if (receiver != sender && q->at(receiver).at(sender).get<double>() != 0)
          links.insert({ClientId{sender}, ClientId{receiver}});
  return Graph(clients, true, {links.begin(), links.end()});
}

std::vector<double> link_weights(const Json& q, const Graph& graph) {
  std::vector<double> weights;
  for (LinkIndex link = 0; link < graph.links(); ++link) {
    const Edge ends = graph.ends_of(link);
    weights.push_back(q.at(ends.target.value).at(ends.source.value).get<double>());
  }
  return weights;
}

std::vector<double> degree_weights(const Json& config, const Graph& graph) {
  const bool by_sender = config.value("q_norm", "receiver_static") == "sender_static";
  std::vector<double> weights;
  for (LinkIndex link = 0; link < graph.links(); ++link) {
    const Edge ends = graph.ends_of(link);
    weights.push_back(1.0 / static_cast<double>(by_sender ? graph.out_degree(ends.source) : graph.in_degree(ends.target)));
  }
  return weights;
}

void set_weights(const Json& config, Timing& timing) {
  timing.settings.needs.weights_by_batch = config.value("q_norm", "receiver_static") == "batch";
  const Json* q = given(config, "Q");
  timing.settings.merge_weights = q ? link_weights(*q, timing.graph) : degree_weights(config, timing.graph);
}

std::vector<TimerLaw> to_laws(std::vector<std::vector<Time>> ticks) {
  std::vector<TimerLaw> laws;
  for (auto& row : ticks) laws.push_back(TimerLaw::table(std::move(row)));
  return laws;
}

void set_hubs(const Json& hubs, Timing& timing) {
  UnificationPlan& plan = timing.conductor.unification;
  plan.policy = HubPolicy::table;
  for (const Json& hub : hubs) plan.table.push_back(ClientId{hub.get<std::uint32_t>()});
  for (const ClientId hub : plan.table)
    if (hub.value >= timing.graph.clients()) throw std::invalid_argument("hub: there is no client " + std::to_string(hub.value));
}

void set_dates(const Json& config, Timing& timing) {
  timing.conductor.until = to_time(config.at("t_end"));
  const Json* period = given(config, "period");
  if (!period) return;
  timing.conductor.cap_period = to_duration(*period);
  const Json* hubs = given(config, "hub");
  if (!hubs || hubs->empty()) return;
  timing.conductor.unification.period = timing.conductor.cap_period;
  timing.conductor.unification.clears_mailbox = config.value("unify_clears_mailbox", false);
  set_hubs(*hubs, timing);
}

void set_limits(const Json& config, MailboxLimits& limits) {
  limits.window = to_duration(config.value("window", Json(0.0)));
  if (const Json* deadline = given(config, "deadline")) limits.deadline = to_duration(*deadline);
  if (const Json* cap = given(config, "psi")) limits.cap = cap->get<std::uint32_t>();
}

std::unique_ptr<Timing> make_timing(const Json& golden_case) {
  const Json& config = golden_case.at("config");
  const auto clients = config.at("m").get<std::size_t>();
  Script script = read_script(golden_case.at("events"), clients);
  auto timing = std::make_unique<Timing>(to_graph(config, clients, script.links),
                                         std::make_unique<TableChannel>(std::move(script.fates)), false);
  timing->settings.compute = to_laws(std::move(script.compute));
  timing->settings.transmit = to_laws(std::move(script.transmit));
  timing->settings.active = std::move(script.active);
  set_limits(config, timing->settings.limits);
  set_dates(config, *timing);
  return timing;
}

Json batch_of(std::span<const StepEntry> entries) {
  Json batch = Json::array();
  for (const StepEntry& entry : entries) batch.push_back({entry.peer.value, entry.sequence});
  return batch;
}

Json lost_of(const Step& publish) {
  Json lost = Json::array();
  for (const StepEntry& entry : publish.entries)
    if (entry.lost) lost.push_back(entry.peer.value);
  return lost;
}

// The trace of the mailbox; vectors are asked for by whoever derives from it.
class Trace : public ScriptObserver {
 public:
  explicit Trace(bool has_cap) : has_cap_{has_cap} {}

  void on_period(Time at, std::uint64_t index) override { add(at, "period", {{"index", index}}); }
  void on_arrival(const Arrival& arrival, ClientId receiver, Offer offer, std::uint32_t tokens) override {
    static constexpr const char* reasons[] = {"", "deadline", "psi"};
    add(arrival.arrived, "arrival",
        {{"client", receiver.value},
         {"src", arrival.id.sender.value},
         {"seq", arrival.id.sequence},
         {"accepted", offer == Offer::kept},
         {"reason", offer == Offer::kept ? Json(nullptr) : Json(reasons[static_cast<int>(offer)])},
         {"tokens_left", has_cap_ ? Json(tokens) : Json(nullptr)}});
  }
  void on_window_close(Time at, ClientId client, std::span<const StepEntry> batch) override {
    if (!batch.empty()) add(at, "window_close", {{"client", client.value}, {"batch", batch_of(batch)}});
  }
  void on_transmit(Time at, ClientId client, const Step* publish) override {
    if (publish)
      add(at, "transmit", {{"client", client.value}, {"seq", publish->index}, {"lost", lost_of(*publish)}});
  }

  Json trace = Json::array();

 protected:
  void add(Time at, const char* event, Json fields) {
    fields["t"] = to_seconds(at);
    fields["ev"] = event;
    trace.push_back(std::move(fields));
  }

 private:
  bool has_cap_;
};

// DRACO's trace: after each event that changes a client its vectors are noted under the number of a probe.
class DracoTrace final : public Trace {
 public:
  using Trace::Trace;

  void on_unify(Time at, std::uint64_t index, ClientId hub) override {
    add(at, "unify", {{"index", index}, {"hub", hub.value}});
    ask(at, hub);
  }
  void on_compute(Time at, ClientId client) override {
    add(at, "compute", {{"client", client.value}});
    ask(at, client);
  }
  void on_transmit(Time at, ClientId client, const Step* publish) override {
    Trace::on_transmit(at, client, publish);
    if (publish)
      trace.back()["sent"] = true;
    else
      add(at, "transmit", {{"client", client.value}, {"sent", false}});
    ask(at, client);
  }
  void on_window_close(Time at, ClientId client, std::span<const StepEntry> batch) override {
    if (batch.empty()) return;
    Trace::on_window_close(at, client, batch);
    Json weights = Json::array();
    for (const StepEntry& entry : batch) weights.push_back(entry.weight);
    trace.back()["weights"] = weights;
    ask(at, client);
  }
  void on_end(const Conductor& conductor) override {
    for (std::uint32_t i = 0; i < conductor.clients(); ++i) {
      const Mailbox& mailbox = conductor.protocol(ClientId{i}).mailbox();
      Json waiting = Json::array();
      for (const Arrival& arrival : mailbox.batch()) waiting.push_back({arrival.id.sender.value, arrival.id.sequence});
      last_["waiting"].push_back(waiting);
      last_["open_windows"].push_back(mailbox.batch().empty() ? Json(nullptr) : Json(to_seconds(mailbox.open_until())));
    }
  }

  // Puts the vectors where they belong, once they are known.
  Json complete(const ProbeTable& table, std::size_t clients, std::uint64_t last_sample) {
    std::vector<std::vector<double>> outbox(clients);
    for (const auto& [record, asked] : asked_) fill(trace[record], table.at(asked.first, asked.second), outbox[asked.second.value]);
    for (std::uint32_t i = 0; i < clients; ++i) {
      const Vectors& vectors = table.at(last_sample, ClientId{i});
      last_["theta"].push_back(vectors.at("theta"));
      last_["outbox"].push_back(vectors.at("outbox"));
    }
    return {{"trace", trace}, {"final", last_}};
  }

 private:
  void ask(Time at, ClientId client) { asked_.push_back({trace.size() - 1, {probe(client, at), client}}); }

  // `outbox` is the client's before the event, and afterwards what the probe saw.
  static void fill(Json& record, const Vectors& seen, std::vector<double>& outbox) {
    const std::vector<double>& now = seen.at("outbox");
    const std::string event = record.at("ev");
    if (event == "compute") {
      std::vector<double> delta = now;
      for (std::size_t i = 0; i < outbox.size(); ++i) delta[i] -= outbox[i];
      record["delta"] = delta;
      record["outbox"] = now;
    }
    if (event == "transmit" && record.at("sent") == true) record["payload"] = outbox;
    if (event != "transmit") record["theta"] = seen.at("theta");
    outbox = now;
  }

  std::vector<std::pair<std::size_t, std::pair<std::uint64_t, ClientId>>> asked_;
  Json last_ = Json::object();
};

ScriptedNumbers draco_numbers(const Json& golden_case, const Json& parameters, const char* start) {
  ScriptedNumbers numbers;
  numbers.learners = to_learners(golden_case.at("problem"));
  numbers.start = to_start(parameters.at(start), numbers.learners.size());
  numbers.algorithm = "draco";
  numbers.options.set("eta", parameters.at("eta").get<double>());
  numbers.options.set("local_batches", parameters.at("B").get<std::int64_t>());
  numbers.options.set("outbox", parameters.value("outbox", std::string("accumulate")));
  numbers.options.set("self_apply", parameters.value("self_apply", false));
  return numbers;
}

// With the outbox "latest" an increment replaces what was there.
void forget_outbox_before_compute(const Json& config, Json& answer) {
  if (config.value("outbox", std::string("accumulate")) != "latest") return;
  for (Json& record : answer.at("trace"))
    if (record.at("ev") == "compute") record["delta"] = record.at("outbox");
}

// A message that nobody computes anything with: the mailbox alone.
ScriptedNumbers no_numbers(std::size_t clients) {
  ScriptedNumbers numbers;
  for (std::size_t i = 0; i < clients; ++i)
    numbers.learners.push_back(make_quadratic<double>(Matrix<double>::Zero(1, 1), Vector<double>::Zero(1)));
  numbers.start.assign(clients, {0.0});
  numbers.algorithm = "draco";
  return numbers;
}

}  // namespace

Json answer_window(const Json& golden_case) {
  const auto timing = make_timing(golden_case);
  Trace trace(given(golden_case.at("config"), "psi") != nullptr);
  ProbeTable table;
  perform_script(*timing, no_numbers(timing->graph.clients()), trace, table);
  return {{"trace", trace.trace}, {"final", Json::object()}};
}

Json answer_draco(const Json& golden_case) {
  const Json& config = golden_case.at("config");
  const auto timing = make_timing(golden_case);
  timing->settings.needs.send_only_if_computed = true;
  set_weights(config, *timing);
  DracoTrace trace(given(config, "psi") != nullptr);
  ProbeTable table;
  perform_script(*timing, draco_numbers(golden_case, config, "theta0"), trace, table);
  Json answer = trace.complete(table, timing->graph.clients(), 0);
  forget_outbox_before_compute(config, answer);
  return answer;
}

namespace {

// Rounds of one length: half a second of computing, a quarter on the way.
constexpr Duration computing = std::chrono::milliseconds(500);
constexpr Duration on_the_way = std::chrono::milliseconds(250);

std::vector<std::vector<bool>> to_table(const Json& senders, std::size_t clients) {
  std::vector<std::vector<bool>> sends;
  for (const Json& round : senders) {
    sends.emplace_back(clients, false);
    for (const Json& client : round) sends.back().at(client.get<std::size_t>()) = true;
  }
  return sends;
}

// up[round][receiver][sender]
std::vector<std::vector<TableChannel::Turn>> to_fates(const Json& up, std::size_t clients) {
  std::vector<std::vector<TableChannel::Turn>> fates(clients);
  for (const Json& round : up)
    for (std::uint32_t sender = 0; sender < clients; ++sender) {
      TableChannel::Turn turn;
      for (std::uint32_t receiver = 0; receiver < clients; ++receiver)
        if (round.at(receiver).at(sender).get<int>() != 0) turn[ClientId{receiver}] = {false, on_the_way};
      fates[sender].push_back(std::move(turn));
    }
  return fates;
}

// Who was heard in each round, and everybody's vectors at its end (after a unification, if one falls there).
class RoundTrace final : public ScriptObserver {
 public:
  RoundTrace(std::size_t clients, std::uint64_t unify_every) : clients_{clients}, unify_every_{unify_every} {}

  void on_window_close(Time at, ClientId client, std::span<const StepEntry> batch) override {
    if (closings_++ % clients_ == 0) accepted_.push_back(Json(std::vector<Json>(clients_, Json::array())));
    for (const StepEntry& entry : batch) accepted_.back()[client.value].push_back(entry.peer.value);
    const bool is_unified = unify_every_ > 0 && accepted_.size() % unify_every_ == 0;
    if (closings_ % clients_ == 0 && !is_unified) ask_everybody(at);
  }
  void on_unify(Time at, std::uint64_t, ClientId) override { ask_everybody(at); }

  /// [round][client], for the first so many rounds.
  Json vectors(const ProbeTable& table, const char* name, std::size_t rounds) const {
    Json all = Json::array();
    for (std::size_t round = 0; round < rounds; ++round) {
      Json of_round = Json::array();
      for (std::uint32_t i = 0; i < clients_; ++i)
        of_round.push_back(table.at(first_probe_.at(round) + i, ClientId{i}).at(name));
      all.push_back(std::move(of_round));
    }
    return all;
  }
  Json accepted(std::size_t rounds) const {
    return std::vector<Json>(accepted_.begin(), accepted_.begin() + static_cast<std::ptrdiff_t>(rounds));
  }

 private:
  void ask_everybody(Time at) {
    first_probe_.push_back(probe(ClientId{0}, at));
    for (std::uint32_t i = 1; i < clients_; ++i) probe(ClientId{i}, at);
  }

  std::size_t clients_;
  std::uint64_t unify_every_;
  std::size_t closings_ = 0;
  std::vector<Json> accepted_;
  std::vector<std::uint64_t> first_probe_;
};

Graph declared_graph(const Json& golden_case, const Json& parameters) {
  std::set<Edge> links;
  const Json* declared = given(golden_case, "graph");
  if (!declared) return to_graph(parameters, parameters.at("Q").size(), links);
  for (const Json& edge : declared->at("edges")) {
    const ClientId source{edge.at(0).get<std::uint32_t>()}, target{edge.at(1).get<std::uint32_t>()};
    links.insert({source, target});
    if (!declared->at("directed").get<bool>()) links.insert({target, source});
  }
  return Graph(declared->at("m").get<std::size_t>(), true, {links.begin(), links.end()});
}

std::unique_ptr<Timing> make_rounds(const Json& golden_case) {
  const Json& parameters = golden_case.at("params");
  const Json& schedule = golden_case.at("schedule");
  Graph graph = declared_graph(golden_case, parameters);
  const std::size_t clients = graph.clients();
  auto timing = std::make_unique<Timing>(
      std::move(graph), std::make_unique<TableChannel>(to_fates(schedule.at("up"), clients)), true);
  timing->settings.compute = {TimerLaw::fixed(to_seconds(computing), 0)};
  timing->settings.transmit = {TimerLaw::off()};
  timing->settings.needs.send_only_if_computed = true;
  if (const Json* cap = given(parameters, "Psi")) timing->settings.limits.cap = cap->get<std::uint32_t>();
  set_weights(parameters, *timing);
  timing->board.sends = to_table(schedule.at("tx"), clients);
  if (const Json* period = given(parameters, "P")) 
    timing->board.unify_every = timing->board.refill_every = period->get<std::uint64_t>();
  if (const Json* hubs = given(schedule, "hub"); hubs && !hubs->empty())
    set_hubs(*hubs, *timing);
  return timing;
}

}  // namespace

Json answer_draco_rounds(const Json& golden_case) {
  const Json& parameters = golden_case.at("params");
  const auto rounds = parameters.at("rounds").get<std::size_t>();
  const auto timing = make_rounds(golden_case);
  // A round in which nobody is heard is shorter, so more than asked for may fit in: the first ones count.
  timing->conductor.until = Time{static_cast<std::int64_t>(rounds) * (computing + on_the_way)};
  const std::size_t clients = timing->graph.clients();
  const ScriptedNumbers numbers = draco_numbers(golden_case, parameters, "x0");
  RoundTrace trace(clients, timing->board.unify_every);
  ProbeTable table;
  perform_script(*timing, numbers, trace, table);
  Json x = trace.vectors(table, "theta", rounds), outbox = trace.vectors(table, "outbox", rounds);
  x.insert(x.begin(), Json(numbers.start));
  outbox.insert(outbox.begin(), Json(std::vector<std::vector<double>>(clients, std::vector<double>(numbers.start[0].size()))));
  return {{"x", x}, {"outbox", outbox}, {"accepted", trace.accepted(rounds)}};
}

}  // namespace rubato::golden
