// Golden cases of the mailbox and of DRACO.
#include <algorithm>
#include <set>
#include <stdexcept>

#include "app/golden/cases.hpp"
#include "app/golden/events.hpp"
#include "app/golden/options.hpp"
#include "app/golden/rounds.hpp"
#include "app/golden/script.hpp"
#include "learning/models/problems.hpp"

namespace rubato::golden {

namespace {

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
  void on_window_close(Time at, ClientId client, std::span<const Arrival> batch, std::span<const StepEntry> used) override {
    if (batch.empty()) return;
    Trace::on_window_close(at, client, batch, used);
    Json weights = Json::array();
    for (const StepEntry& entry : used) weights.push_back(entry.weight);
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
  set_step("eta", parameters.at("eta"), numbers.options);
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

// Full batches for the rounds that are performed beyond those of the case.
void read_round_batches(const Json& golden_case, ScriptedNumbers& numbers) {
  const Json* batches = given(golden_case.at("schedule"), "batch");
  if (!batches) return;
  numbers.choices.resize(numbers.learners.size());
  for (std::size_t i = 0; i < numbers.choices.size(); ++i) {
    std::vector<Rows>& mine = numbers.choices[i].batches;
    for (const Json& round : *batches) add_batches(round.at(i), mine);
    mine.resize(2 * mine.size());
  }
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
        if (is_set(round.at(receiver).at(sender))) turn[ClientId{receiver}] = {false, round_on_the_way};
      fates[sender].push_back(std::move(turn));
    }
  return fates;
}

// Who was heard in each round, and everybody's vectors at its end (after a unification, if one falls there).
class RoundTrace final : public ScriptObserver {
 public:
  RoundTrace(std::size_t clients, std::uint64_t unify_every) : clients_{clients}, unify_every_{unify_every} {}

  void on_window_close(Time at, ClientId client, std::span<const Arrival>, std::span<const StepEntry> used) override {
    if (closings_++ % clients_ == 0) accepted_.push_back(Json(std::vector<Json>(clients_, Json::array())));
    for (const StepEntry& entry : used) accepted_.back()[client.value].push_back(entry.peer.value);
    const bool is_unified = unify_every_ > 0 && accepted_.size() % unify_every_ == 0;
    if (closings_ % clients_ == 0 && !is_unified) ask_everybody(at);
  }
  void on_unify(Time at, std::uint64_t, ClientId) override { ask_everybody(at); }

  /// [round][client], for the first so many rounds.
  Json vectors(const ProbeTable& table, const char* name, std::size_t rounds) const {
    Json all = Json::array();
    for (std::size_t round = 0; round < rounds; ++round) {
      Json of_round = Json::array();
      for (std::uint32_t i = 0; i < clients_; ++i) of_round.push_back(table.at(first_probe_.at(round) + i, ClientId{i}).at(name));
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
  return Graph(number_below(most_clients, declared->at("m")), true, {links.begin(), links.end()});
}

std::unique_ptr<Timing> make_rounds(const Json& golden_case) {
  const Json& parameters = golden_case.at("params");
  const Json& schedule = golden_case.at("schedule");
  Graph graph = declared_graph(golden_case, parameters);
  const std::size_t clients = graph.clients();
  auto timing = std::make_unique<Timing>(std::move(graph), std::make_unique<TableChannel>(to_fates(schedule.at("up"), clients)),
                                         ProtocolKind::rounds);
  timing->settings.compute = {TimerLaw::fixed(to_seconds(round_computing), 0)};
  timing->settings.transmit = {TimerLaw::off()};
  timing->settings.needs.send_only_if_computed = true;
  if (const Json* cap = given(parameters, "Psi")) timing->settings.limits.cap = cap->get<std::uint32_t>();
  set_weights(parameters, *timing);
  timing->board.sends = to_table(schedule.at("tx"), clients);
  if (const Json* period = given(parameters, "P"))
    timing->board.unify_every = timing->board.refill_every = period->get<std::uint64_t>();
  if (const Json* hubs = given(schedule, "hub"); hubs && !hubs->empty()) set_hubs(*hubs, *timing);
  return timing;
}

}  // namespace

Json answer_draco_rounds(const Json& golden_case) {
  const Json& parameters = golden_case.at("params");
  const auto rounds = parameters.at("rounds").get<std::size_t>();
  const auto timing = make_rounds(golden_case);
  // A round in which nobody is heard is shorter, so more than asked for may fit in: the first ones count.
  timing->conductor.until = Time{static_cast<std::int64_t>(rounds) * (round_computing + round_on_the_way)};
  const std::size_t clients = timing->graph.clients();
  ScriptedNumbers numbers = draco_numbers(golden_case, parameters, "x0");
  read_round_batches(golden_case, numbers);
  RoundTrace trace(clients, timing->board.unify_every);
  ProbeTable table;
  perform_script(*timing, numbers, trace, table);
  Json x = trace.vectors(table, "theta", rounds), outbox = trace.vectors(table, "outbox", rounds);
  x.insert(x.begin(), Json(numbers.start));
  outbox.insert(outbox.begin(), Json(std::vector<std::vector<double>>(clients, std::vector<double>(numbers.start[0].size()))));
  return {{"x", x}, {"outbox", outbox}, {"accepted", trace.accepted(rounds)}};
}

}  // namespace rubato::golden
