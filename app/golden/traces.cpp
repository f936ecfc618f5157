// Golden cases in continuous time: what the mailboxes did, and what clients were after every event that changes them.
#include <algorithm>
#include <map>

#include "app/golden/events.hpp"
#include "app/golden/rounds.hpp"
#include "app/golden/script.hpp"

namespace rubato::golden {

namespace {

// Events after which a client is looked at.
enum After : std::uint8_t { compute = 1, transmit = 2, window = 4, any = compute | transmit | window };

After after_of(const Json& record) {
  const auto event = record.at("ev").get<std::string>();
  return event == "compute" ? compute : event == "transmit" ? transmit : event == "window_close" ? window : After{};
}

struct EventsCase;

// How the cases of an algorithm are set up and what their answers show.
struct EventsKind {
  struct Field {
    const char* name;
    std::uint8_t after = any;  // the events whose records show it of their client
    Shape shape = Shape::vector;
  };

  std::string algorithm;      // of the catalogue
  std::vector<Field> fields;  // of records
  std::vector<Field> last;    // of all clients at the end
  const char* merge = nullptr;
  const char* share = nullptr;
  const char* model = "x";     // that a unification hands to all
  bool shows_weights = false;  // records show weights and idle transmit ticks, else what was used and where messages went
  void (*amend)(Json& golden_case) = nullptr;  // what cases leave unsaid
  void (*prepare)(EventsCase& run) = nullptr;  // before the run
  void (*more)(Json& record, const EventsCase& run, const Vectors& before, const Vectors& now) = nullptr;  // of its client
  void (*balance)(Json& record, const EventsCase& run, const States& now) = nullptr;  // of all, in each record and at the end
  void (*finish)(Json& last, const EventsCase& run, const States& now) = nullptr;
  void (*complete)(Json& answer, const Json& golden_case) = nullptr;  // once all records are there
};

// The trace of the mailbox.
class Trace : public TraceObserver {
 public:
  explicit Trace(bool has_cap) : has_cap_{has_cap} {}

  void on_period(Time at, std::uint64_t index) override { add(at, "period", {{"index", index}}); }
  void on_arrival(const Arrival& arrival, ClientId receiver, Offer offer, std::uint32_t tokens) override {
    static constexpr const char* reasons[] = {"", "deadline", "psi"};
    add(arrival.arrived, "arrival",
        {{"client", receiver},
         {"src", arrival.id.sender},
         {"seq", arrival.id.sequence},
         {"accepted", offer == Offer::kept},
         {"reason", offer == Offer::kept ? Json(nullptr) : Json(reasons[static_cast<int>(offer)])},
         {"tokens_left", has_cap_ ? Json(tokens) : Json(nullptr)}});
  }
  void on_window_close(Time at, ClientId client, std::span<const Arrival> batch, std::span<const StepEntry>) override {
    if (!batch.empty()) add(at, "window_close", {{"client", client}, {"batch", messages_of(batch)}});
  }
  void on_transmit(Time at, ClientId client, const Step* publish) override {
    if (!publish) return;
    Json lost = Json::array();
    for (const StepEntry& entry : publish->entries)
      if (entry.lost) lost.push_back(entry.peer);
    add(at, "transmit", {{"client", client}, {"seq", publish->index}, {"lost", lost}});
  }

 protected:
  // [sender, sequence]
  static Json messages_of(std::span<const Arrival> arrivals) {
    return list_from(arrivals, [](const Arrival& arrival) { return Json{arrival.id.sender, arrival.id.sequence}; });
  }
  static Json messages_of(std::span<const StepEntry> entries) {
    return list_from(entries, [](const StepEntry& entry) { return Json{entry.peer, entry.sequence}; });
  }

 private:
  bool has_cap_;
};

// After every event that changes a client its state is noted; the records are completed when the states are known.
class StateTrace final : public Trace {
 public:
  StateTrace(bool has_cap, const EventsKind& kind, std::uint32_t clients) : Trace(has_cap), kind_{kind}, clients_{clients} {}

  void on_start() override {
    for (std::uint32_t i = 0; i < clients_; ++i) first_.push_back(probe(ClientId{i}, Time{}));
  }
  void on_compute(Time at, ClientId client) override {
    add(at, "compute", {{"client", client}});
    if (!kind_.shows_weights) trace.back()["used"] = std::exchange(used_, Json::array());
    ask(at, client);
  }
  void on_transmit(Time at, ClientId client, const Step* publish) override {
    Trace::on_transmit(at, client, publish);
    if (!publish && !kind_.shows_weights) return;
    if (!publish) add(at, "transmit", {{"client", client}});
    if (kind_.shows_weights)
      trace.back()["sent"] = publish != nullptr;
    else  // a tick without links is one all the same, and has its number
      trace.back()["to"] = list_from(publish->entries, [](const StepEntry& entry) { return entry.peer; });
    ask(at, client);
  }
  void on_window_close(Time at, ClientId client, std::span<const Arrival> batch, std::span<const StepEntry> used) override {
    if (batch.empty()) return;
    Trace::on_window_close(at, client, batch, used);
    if (kind_.shows_weights)
      trace.back()["weights"] = list_from(used, [](const StepEntry& entry) { return entry.weight; });
    else
      trace.back()["used"] = messages_of(used);
    ask(at, client);
  }
  void on_unify(Time at, std::uint64_t index, ClientId hub) override {
    add(at, "unify", {{"index", index}, {"hub", hub}});
    for (std::uint32_t i = 0; i < clients_; ++i) ask(at, ClientId{i});
    ++unifications;
  }
  void on_merge(Time, ClientId, std::span<const StepEntry> used) override { used_ = messages_of(used); }
  void on_end(const Conductor& conductor) override {
    for (std::uint32_t i = 0; i < clients_; ++i) {
      const Protocol& protocol = conductor.protocol(ClientId{i});
      computations.push_back(protocol.counts().computations);
      waiting.push_back(messages_of(protocol.mailbox().batch()));
      open_windows.push_back(waiting.back().empty() ? Json(nullptr) : Json(protocol.mailbox().open_until()));
    }
  }

  // Completes the records; the last states.
  States complete(const EventsCase& run);

  std::size_t unifications = 0;
  // At the end, by client.
  Json computations = Json::array(), waiting = Json::array(), open_windows = Json::array();

 private:
  struct Question {
    std::size_t record;
    std::uint64_t probe;
    ClientId client;
  };
  void ask(Time at, ClientId client) { asked_.push_back({trace.size() - 1, probe(client, at), client}); }

  const EventsKind& kind_;
  std::uint32_t clients_;
  Json used_ = Json::array();
  std::vector<std::uint64_t> first_;
  std::vector<Question> asked_;
};

// One case: set it up, perform it, read it.
struct EventsCase {
  EventsCase(const Json& amended_case, const EventsKind& kind)
      : golden_case(amended_case),
        config(golden_case.at("config")),
        timing{make_timing(golden_case)},
        numbers(golden_case.at("problem"), config, kind.algorithm),
        size{numbers.start.front().size()},
        trace(given(config, "psi") != nullptr, kind, static_cast<std::uint32_t>(timing->graph.clients())) {
    if (timing->conductor.unification.period > Duration::zero() && !catalogue_entry(kind.algorithm).may_be_unified)
      throw std::invalid_argument(kind.algorithm + " cannot be unified: to overwrite its x would break its balance");
    timing->settings.needs = numbers.needs();
    if (kind.merge) timing->settings.merge_weights = {link_weights(config.at(kind.merge), timing->graph)};
    if (kind.share) timing->settings.share_weights = {link_weights(config.at(kind.share), timing->graph)};
    if (kind.prepare) kind.prepare(*this);
  }

  const Json& golden_case;
  const Json& config;
  std::unique_ptr<Timing> timing;
  ScriptedNumbers numbers;
  const Index size;  // of a model
  StateTrace trace;
  ProbeTable table;
};

States StateTrace::complete(const EventsCase& run) {
  States states;
  for (std::uint32_t i = 0; i < clients_; ++i) states.push_back(&run.table.at(first_[i], ClientId{i}));
  for (std::size_t k = 0; k < asked_.size(); ++k) {
    const auto& [place, number, client] = asked_[k];
    const Vectors& before = *std::exchange(states[client.value], &run.table.at(number, client));
    if (k + 1 < asked_.size() && asked_[k + 1].record == place) continue;  // a unification: all clients are asked
    const Vectors& now = *states[client.value];
    Json& record = trace[place];
    if (record.at("ev") == "unify") {
      record["theta"] = states[record.at("hub").get<std::size_t>()]->at(kind_.model);
    } else {
      for (const EventsKind::Field& field : kind_.fields)
        if (field.after & after_of(record)) record[field.name] = in_shape(now.at(field.name), field.shape);
      if (kind_.more) kind_.more(record, run, before, now);
    }
    if (kind_.balance) kind_.balance(record, run, states);
  }
  return states;
}

Json answer_events(const Json& golden_case, const EventsKind& kind) {
  Json amended_case = golden_case;
  if (kind.amend) kind.amend(amended_case);
  EventsCase run(amended_case, kind);
  perform_script(*run.timing, run.numbers, run.trace, run.table);
  const States states = run.trace.complete(run);
  Json last = Json::object();
  for (const EventsKind::Field& field : kind.last)
    last[field.name] = list_from(states, [&](const Vectors* state) { return in_shape(state->at(field.name), field.shape); });
  if (kind.balance) kind.balance(last, run, states);
  if (kind.finish) kind.finish(last, run, states);
  Json answer{{"trace", run.trace.trace}, {"final", last}};
  if (kind.complete) kind.complete(answer, golden_case);
  return answer;
}

Json answer_window(const Json& golden_case) {
  const auto timing = make_timing(golden_case);
  Trace trace(given(golden_case.at("config"), "psi") != nullptr);
  ProbeTable table;
  perform_script(*timing, ScriptedNumbers(timing->graph.clients()), trace, table);
  return {{"trace", trace.trace}, {"final", Json::object()}};
}

// All counters sigma less all rho; `size` numbers each.
Vector<double> in_flight(const States& states, Index size) {
  Vector<double> sum = Vector<double>::Zero(size);
  for (const Vectors* state : states)
    for (const auto& [name, numbers] : *state) {
      if (name.starts_with("sigma ")) sum += numbers.head(size);
      if (name.starts_with("rho ")) sum -= numbers.head(size);
    }
  return sum;
}

// [receiver][sender], zeros where there is no counter. Each client has those of its neighbours.
Json counters(const States& states, const std::string& kind, Index size) {
  const bool is_senders = kind == "sigma";
  return list_of(states.size(), [&](std::size_t receiver) {
    return list_of(states.size(), [&](std::size_t sender) -> Vector<double> {
      const Vectors& state = *states[is_senders ? sender : receiver];
      const auto found = state.find(kind + " " + std::to_string(is_senders ? receiver : sender));
      return found == state.end() ? Vector<double>::Zero(size) : found->second;
    });
  });
}

// The outbox before a transmission is what is sent; "latest" is replaced by a computation, else it is added to.
void add_outbox(Json& record, const EventsCase& run, const Vectors& before, const Vectors& now) {
  const Vector<double>& outbox = before.at("outbox");
  const Vector<double>& after = now.at("outbox");
  const bool is_replaced = run.numbers.options.word("outbox", "") == "latest";
  if (after_of(record) == compute) record["delta"] = is_replaced ? after : Vector<double>(after - outbox);
  if (after_of(record) == transmit && record.at("sent") == true) record["payload"] = outbox;
}

void finish_draco(Json& last, const EventsCase& run, const States&) {
  last["waiting"] = run.trace.waiting;
  last["open_windows"] = run.trace.open_windows;
}

// Ticks say whether they have a gradient (v), and the config what the start had (v0).
void read_mode(Json& golden_case) {
  Json& config = golden_case.at("config");
  if (const Json* mode = given(config, "gradient_mode"); mode && *mode != "transient") return;
  const bool is_transient = std::ranges::any_of(
      golden_case.at("events"), [](const Json& event) { return event.at("type") == "compute" && given(event, "v"); });
  config["gradient_mode"] = is_transient ? "paper" : "memory";
}

// The cases play the literal equations.
void leave_unweighed(Json& golden_case) {
  Json& config = golden_case.at("config");
  if (!given(config, "weigh_step")) config["weigh_step"] = false;
}

void read_gradients(EventsCase& run) {
  const Json* opening = given(run.config, "v0");
  auto& gradients = run.timing->settings.gradients;
  gradients.resize(run.timing->graph.clients());
  run.timing->settings.needs.opens_with_compute = opening != nullptr;
  run.numbers.options.set("opens", opening != nullptr);
  for (std::size_t i = 0; opening && i < gradients.size(); ++i) gradients[i].push_back(is_set(opening->at(i)));
  for (const Json& event : sorted_events(run.golden_case)) {
    if (event.at("type") != "compute") continue;
    const Json* with = given(event, "v");
    gradients.at(event.at("client").get<std::size_t>()).push_back(!with || is_set(*with));
  }
}

void add_sigma(Json& record, const EventsCase&, const Vectors&, const Vectors& now) {
  if (after_of(record) != transmit) return;
  record["sigma"] = Json::object();
  for (const Json& receiver : record.at("to")) record["sigma"][receiver.dump()] = now.at("sigma " + receiver.dump());
}

void balance_spodgt(Json& record, const EventsCase& run, const States& now) {
  record["mass_y"] = sum_of(now, "y");
  record["mass_in_flight"] = in_flight(now, run.size);
  record["mass_g"] = sum_of(now, "ghat");
}

void finish_spodgt(Json& last, const EventsCase& run, const States& now) {
  for (const char* kind : {"sigma", "rho"}) last[kind] = counters(now, kind, run.size);
}

void balance_depositum(Json& record, const EventsCase& run, const States& now) {
  record["mass_y"] = sum_of(now, "y");
  record["mass_in_flight"] = in_flight(now, run.size);
  record["beta_mass_g"] = Vector<double>(run.config.at("beta").get<double>() * sum_of(now, "g"));
}

void balance_sgp(Json& record, const EventsCase& run, const States& now) {
  const Vector<double> flying = in_flight(now, run.size + 1);
  record["mass_w"] = sum_of(now, "w")[0];
  record["w_in_flight"] = flying[run.size];
  record["mass_x"] = sum_of(now, "x");
  record["x_in_flight"] = Vector<double>(flying.head(run.size));
  Vector<double> start = Vector<double>::Zero(run.size);
  for (const Vector<double>& of_client : run.numbers.start) start += of_client;
  record["sum_steps"] = Vector<double>(sum_of(now, "own") - start);
}

// Coordinates of each message; kappa of each client.
void read_parts(EventsCase& run) {
  const std::size_t clients = run.timing->graph.clients();
  run.timing->settings.absorb_every = absorb_periods(run.config, clients);
  std::vector<std::uint64_t> turns(clients);
  for (const Json& event : sorted_events(run.golden_case)) {
    if (event.at("type") != "transmit") continue;
    const std::size_t client = number_below(clients, event.at("client"));
    for (const auto& [receiver, coordinates] : event.at("coords").items())
      run.numbers.choices[client].coordinates[{turns[client], static_cast<std::uint32_t>(std::stoul(receiver))}] =
          coordinates.get<Rows>();
    ++turns[client];
  }
}

// The models of unifications are no messages of PaME.
void finish_pame(Json& last, const EventsCase& run, const States& states) {
  const auto adopted = run.trace.unifications * (states.size() - 1) * static_cast<std::size_t>(run.size);
  last["bits_sent"] = static_cast<std::int64_t>(run.table.paper_bits() - 64.0 * static_cast<double>(adopted));
}

void read_lag(Json& golden_case) {
  leave_unweighed(golden_case);
  Json& config = golden_case.at("config");
  config["bounded"] = given(config, "tau") != nullptr;
}

// Whose messages count for the lag of each client: nothing is heard of them yet.
void add_in_neighbours(const Json& weights, std::vector<std::map<std::size_t, std::size_t>>& heard) {
  for (std::size_t i = 0; i < weights.size(); ++i)
    for (std::size_t j = 0; j < weights.size(); ++j)
      if (i != j && weights.at(i).at(j).get<double>() > 0) heard[i][j] = 0;
}

// How often senders have computed goes along with their messages.
void add_heard(Json& answer, const Json& golden_case) {
  const Json& weights = golden_case.at("config").at("P");
  std::map<std::size_t, std::size_t> done, skipped;
  std::map<std::pair<std::size_t, std::size_t>, std::size_t> told;  // [sender, sequence]
  std::vector<std::map<std::size_t, std::size_t>> heard(weights.size());
  add_in_neighbours(weights, heard);
  std::size_t all_skipped = 0;
  for (Json& record : answer.at("trace")) {
    const auto client = record.value("client", std::size_t{0});
    if (record.at("ev") == "compute") {
      const auto now = record.at("done").get<std::size_t>();
      record["skipped"] = now == done[client];
      all_skipped += now == done[client];
      done[client] = now;
    }
    if (record.at("ev") == "transmit") told[{client, record.at("seq").get<std::size_t>()}] = done[client];
    if (record.at("ev") != "window_close") continue;
    for (const Json& message : record.at("batch")) {
      std::size_t& best = heard[client][message.at(0).get<std::size_t>()];
      best = std::max(best, told.at({message.at(0).get<std::size_t>(), message.at(1).get<std::size_t>()}));
    }
    record["heard"] = list_from(heard[client], [](const auto& one) { return Json{one.first, one.second}; });
  }
  answer["final"]["done"] = list_of(weights.size(), [&](std::size_t i) { return done[i]; });
  answer["final"]["skipped"] = all_skipped;
}

// A tick that computes sends as well: over its own links; over the others its message is lost.
void send_with_computations(Json& golden_case) {
  const Json& config = golden_case.at("config");
  Json& events = golden_case.at("events");
  const std::size_t count = events.size();
  for (std::size_t k = 0; k < count; ++k) {
    Json sending = events[k];
    sending["type"] = "transmit";
    const auto client = sending.at("client").get<std::size_t>();
    for (std::size_t other = 0; other < config.at("W").size(); ++other) {
      const bool is_linked = other != client && (config.at("W").at(other).at(client).get<double>() != 0 ||
                                                 config.at("A").at(other).at(client).get<double>() != 0);
      if (is_linked && !sending["delays"].contains(std::to_string(other))) sending["delays"][std::to_string(other)] = nullptr;
    }
    events.push_back(std::move(sending));
  }
}

void balance_rfast(Json& record, const EventsCase& run, const States& now) {
  record["mass_z"] = Vector<double>(sum_of(now, "z") + sum_of(now, "merged"));
  record["mass_in_flight"] = in_flight(now, run.size);
  record["mass_g"] = sum_of(now, "g");
}

// A computation and its message are one record; links that a tick does not use have lost nothing.
void join_messages(Json& answer, const Json& golden_case) {
  std::map<std::pair<double, std::size_t>, const Json*> delays;
  for (const Json& event : golden_case.at("events"))
    delays[{event.at("t").get<double>(), event.at("client").get<std::size_t>()}] = &event.at("delays");
  std::map<std::pair<std::size_t, std::size_t>, std::int64_t> newest;  // [receiver, sender]
  Json joined = Json::array(), sent;
  for (Json& record : answer.at("trace")) {
    if (record.at("ev") == "transmit") {
      sent = std::move(record);
      continue;
    }
    const auto client = record.value("client", std::size_t{0});
    if (record.at("ev") == "compute") {
      const Json& used = *delays.at({record.at("t").get<double>(), client});
      record["seq"] = sent.at("seq");
      record["lost"] = Json::array();
      for (const Json& receiver : sent.at("lost"))
        if (used.contains(receiver.dump())) record["lost"].push_back(receiver);
    }
    if (record.at("ev") == "arrival") {
      const auto [known, is_first] = newest.try_emplace({client, record.at("src").get<std::size_t>()}, -1);
      const auto sequence = record.at("seq").get<std::int64_t>();
      record["newest"] = record.at("accepted") == true && sequence > known->second;
      if (record.at("newest") == true) known->second = sequence;
    }
    joined.push_back(std::move(record));
  }
  answer["trace"] = std::move(joined);
}

CaseKind in_events(const char* name, EventsKind kind) {
  return {name, "events", [kind = std::move(kind)](const Json& golden_case) { return answer_events(golden_case, kind); }};
}

}  // namespace

std::vector<CaseKind> event_kinds() {
  constexpr std::uint8_t moves = compute | window;
  return {
      {"window", "events", answer_window},
      in_events("draco", {.algorithm = "draco",
                          .fields = {{"theta", moves}, {"outbox", compute}},
                          .last = {{"theta"}, {"outbox"}},
                          .model = "theta",
                          .shows_weights = true,
                          .prepare = [](EventsCase& run) { set_weights(run.config, *run.timing); },
                          .more = add_outbox,
                          .finish = finish_draco}),
      in_events("gossip",
                {.algorithm = "dpsgd",
                 .fields = {{"x", moves}},
                 .last = {{"x"}},
                 .merge = "W",
                 .finish = [](Json& last, const EventsCase& run, const States&) { last["steps"] = run.trace.computations; }}),
      in_events("spodgt", {.algorithm = "spodgt",
                           .fields = {{"y"}, {"x", moves}, {"ghat", compute}},
                           .last = {{"x"}, {"y"}, {"ghat"}},
                           .merge = "A",
                           .share = "B",
                           .amend = read_mode,
                           .prepare = read_gradients,
                           .more = add_sigma,
                           .balance = balance_spodgt,
                           .finish = finish_spodgt}),
      in_events("depositum", {.algorithm = "depositum",
                              .fields = {{"y"}, {"x", moves}, {"nu", compute}, {"mu", compute}, {"g", compute}},
                              .last = {{"x"}, {"y"}, {"g"}, {"nu"}, {"mu"}},
                              .merge = "W",
                              .share = "W",
                              .balance = balance_depositum}),
      in_events("sgp", {.algorithm = "sgp",
                        .fields = {{"x"}, {"w", any, Shape::number}},
                        .last = {{"x"}, {"w", any, Shape::number}, {"z"}},
                        .share = "P",
                        .amend = leave_unweighed,
                        .balance = balance_sgp}),
      in_events("osgp", {.algorithm = "osgp",
                         .fields = {{"x"}, {"w", any, Shape::number}, {"done", compute, Shape::whole}},
                         .last = {{"x"}, {"w", any, Shape::number}, {"z"}},
                         .share = "P",
                         .amend = read_lag,
                         .balance = balance_sgp,
                         .complete = add_heard}),
      in_events("rfast", {.algorithm = "rfast",
                          .fields = {{"v", compute}, {"x", compute}, {"z", compute}},
                          .last = {{"x"}, {"z"}, {"g"}},
                          .merge = "W",
                          .share = "A",
                          .amend = send_with_computations,
                          .balance = balance_rfast,
                          .complete = join_messages}),
      in_events("pame", {.algorithm = "pame",
                         .fields = {{"m_i", compute, Shape::whole}, {"vbar", compute}, {"x", compute}},
                         .last = {{"x"}, {"sigma", any, Shape::number}, {"m_i", any, Shape::whole}},
                         .prepare = read_parts,
                         .finish = finish_pame}),
  };
}

}  // namespace rubato::golden
