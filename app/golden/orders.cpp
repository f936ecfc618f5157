#include "app/golden/orders.hpp"

#include <algorithm>
#include <string>

#include "algos/staleness.hpp"
#include "app/golden/rounds.hpp"

namespace rubato::golden {

std::optional<Duration> OrderDelays::at(const Json& row, std::size_t k) {
  const Json& entry = row.is_array() ? row.at(std::min(k, row.size() - 1)) : row;
  return entry.is_null() ? std::nullopt : std::optional(std::max(entry.get<Duration>(), Duration{1}));
}

Fate OrderChannel::carry(const LinkUse& use) const {
  const bool is_down = use.sender == centre_;
  const std::uint32_t worker = (is_down ? use.receiver : use.sender).value;
  const auto delay = OrderDelays::at((is_down ? delays_.down : delays_.up).at(worker), (is_down ? down_ : up_)[worker]++);
  return delay ? Fate{false, *delay} : Fate{.lost = true};
}

std::vector<std::vector<Duration>> jobs_from(const Json& rows) {
  std::vector<std::vector<Duration>> jobs;
  for (const Json& row : rows) {
    std::vector<Duration>& mine = jobs.emplace_back();
    for (const Json& job : row.is_array() ? row : Json::array({row}))
      mine.push_back(job.is_null() ? Duration::max() : std::max(job.get<Duration>(), Duration{1}));
    if (mine.empty()) mine.push_back(Duration::max());
  }
  return jobs;
}

std::unique_ptr<Timing> make_order_timing(const Json& config) {
  const std::size_t clients = number_below(most_clients, config.at("m"));
  const ClientId centre{number_below(clients, config.at("centre"))};
  std::vector<Edge> links;
  for (std::uint32_t i = 0; i < clients; ++i)
    if (ClientId{i} != centre) links.push_back({{i}, centre}), links.push_back({centre, {i}});
  OrderDelays delays{config.at("down").get<std::vector<Json>>(), config.at("up").get<std::vector<Json>>()};
  auto timing = std::make_unique<Timing>(Graph(clients, true, links), std::make_unique<OrderChannel>(std::move(delays), centre),
                                         ProtocolKind::server);
  timing->settings.compute = timing->settings.transmit = {TimerLaw::off()};
  timing->centre = timing->server.centre = centre;
  timing->server.jobs = jobs_from(config.at("work"));
  for (const std::size_t rows : {timing->server.jobs.size(), config.at("down").size(), config.at("up").size()})
    if (rows != clients) throw std::invalid_argument("work, down and up have not a row for each client");
  if (const Json* next = given(config, "next")) timing->server.next = clients_below(clients, *next);
  if (config.contains("t_end")) timing->conductor.until = config.at("t_end").get<Time>();
  return timing;
}

namespace {

// {kind, ...} as the word of that name, and its numbers as options of their own.
void spread(Json& parameters, const char* name, std::map<std::string, std::string> renamed = {}) {
  const auto found = parameters.find(name);
  if (found == parameters.end() || !found->is_object()) return;
  const Json whole = *found;
  parameters[name] = whole.at("kind");
  for (const auto& [key, value] : whole.items())
    if (key != "kind" && !value.is_null()) parameters[renamed.contains(key) ? renamed.at(key) : key] = value;
}

}  // namespace

Json order_parameters(const std::string& algorithm, Json config) {
  config.erase("next");
  if (config.contains("centre_works")) config["center_works"] = config["centre_works"];
  spread(config, "law");
  spread(config, "staleness");
  spread(config, "inner");
  spread(config, "outer", {{"lr", "outer_lr"}});
  if (algorithm == "fedasync" && !config.contains("rho")) config["rho"] = 0.0;
  if (!config.contains("staleness")) config["staleness"] = "constant";
  const bool all_work = given(config, "centre_works") && is_set(config["centre_works"]);
  if (algorithm == "asgd" && !config.contains("n"))
    config["n"] = number_below(most_clients, config.value("m", Json(1))) - (all_work ? 0 : 1);
  return config;
}

namespace {

DelayStep delay_step_from(const Json& parameters) {
  return {parameters.at("gamma").get<double>(), known_choice<DelayLaw>(parameters.at("law")), parameters.value("n", 1.0),
          parameters.value("concurrency", 1.0), parameters.value("L", 1.0)};
}

const char* word_of_reason(AnswerFate::Reason reason) {
  static constexpr const char* words[] = {nullptr, "stale", "superseded", "table", "next", "update"};
  return words[static_cast<std::size_t>(reason)];
}

// The trace of a case, and the model after every answer.
class OrderTrace final : public ModelTrace, public OrderObserver {
 public:
  explicit OrderTrace(const Json& config)
      : ModelTrace(config.at("centre").get<ClientId>()), down_(config.at("down")), up_(config.at("up")) {}

  void on_dispatch(Time at, ClientId worker, const Order& order, bool again) override {
    const bool lost = worker != owner_ && !OrderDelays::at(down_.at(worker.value), order.place);
    orders_[{worker, order.number}] = order;
    lost_ += lost;
    add(at, "dispatch", worker, {{"order", order.place}, {"version", order.version}, {"again", again}, {"lost", lost}});
  }
  void on_begin(Time at, ClientId worker, std::uint32_t number, std::span<const std::uint32_t> dropped) override {
    const Json places = list_from(dropped, [&](std::uint32_t each) { return order(worker, each).place; });
    add(at, "start", worker,
        {{"order", order(worker, number).place}, {"version", order(worker, number).version}, {"dropped", places}});
  }
  void on_hold(Time at, ClientId worker, std::uint32_t number) override {
    add(at, "hold", worker, {{"order", order(worker, number).place}, {"version", order(worker, number).version}});
  }
  void on_finish(Time at, ClientId worker, std::uint32_t number, Sequence sequence) override {
    const bool lost = worker != owner_ && !OrderDelays::at(up_.at(worker.value), sequence);
    lost_ += lost;
    add(at, "finish", worker, {{"order", order(worker, number).place}, {"seq", sequence}, {"lost", lost}});
  }
  void on_answer(Time at, const AnswerReport& report) override {
    const char* reason = word_of_reason(report.fate.reason);
    add(at, "answer", report.worker,
        {{"seq", report.sequence},
         {"order", report.order.place},
         {"tau", report.delay},
         {"used", report.fate.is_used()},
         {"reason", reason ? Json(reason) : Json()},
         {"version", report.version}});
    show_model(report.fate.is_used());
    if (report.fate.updates()) updates.push_back(at);
  }
  void on_patience(Time at, ClientId worker, const Order& order) override { add(at, "patience", worker, {{"order", order.place}}); }
  void on_round_end(Time at, ClientId centre, std::uint64_t after) override {
    add(at, "patience", centre, {{"order", nullptr}, {"version", after}});
    show_model(true);
  }

  void on_end(const Conductor& conductor) override {
    OrderCounts total;
    working = list_of(conductor.clients(), [&](std::size_t i) -> Json {
      const ClientId client{static_cast<std::uint32_t>(i)};
      const auto& protocol = dynamic_cast<const AsyncServer&>(conductor.protocol(client));
      total += protocol.orders();
      const auto number = protocol.working();
      if (!number) return nullptr;
      return {order(client, *number).place, order(client, *number).version};
    });
    const auto& centre = dynamic_cast<const AsyncServer&>(conductor.protocol(owner_));
    for (std::uint32_t i = 0; i < conductor.clients(); ++i)
      for (const Order& each : centre.outstanding({i})) outstanding.push_back({i, each.place, each.version});
    version = centre.version();
    b = centre.book().counts(), b_next = centre.book().next_counts();
    largest_delay = centre.book().largest_delay();
    counters = {
        {"dispatched", total.dispatched}, {"answers", total.answers()},   {"applied", total.applied},   {"ignored", total.ignored},
        {"superseded", total.superseded}, {"cancelled", total.cancelled}, {"patience", total.patience}, {"lost", lost_}};
  }

  std::vector<Time> updates;
  // At the end.
  Json working, outstanding = Json::array(), counters, b, b_next;
  std::uint64_t version = 0, largest_delay = 0;

 private:
  const Order& order(ClientId worker, std::uint32_t number) const { return orders_.at({worker, number}); }

  const Json down_, up_;
  std::map<std::pair<ClientId, std::uint32_t>, Order> orders_;
  std::uint64_t lost_ = 0;
};

Json answer_orders(const Json& golden_case, const std::string& algorithm) {
  const Json& config = golden_case.at("config");
  auto timing = make_order_timing(config);
  ScriptedNumbers numbers(golden_case.at("problem"), order_parameters(algorithm, config), algorithm);
  timing->settings.needs = numbers.needs();
  OrderTrace trace(config);
  timing->server.watch = &trace;
  ProbeTable table;
  perform_script(*timing, numbers, trace, table);
  trace.complete(table);
  Json last{{"x", trace.last_model(table)},
            {"version", trace.version},
            {"counters", trace.counters},
            {"working", trace.working},
            {"outstanding", trace.outstanding}};
  if (algorithm == "ringleader") last.update({{"b", trace.b}, {"b_next", trace.b_next}, {"largest_delay", trace.largest_delay}});
  return {{"trace", trace.trace}, {"final", last}};
}

// Answer k of {i, tau}: a gradient of client i at the model of tau versions ago. Client 0 is the centre.
Json answer_asgd_sequence(const Json& golden_case) {
  const Json parameters = order_parameters("asgd", golden_case.at("params"));
  ScriptedNumbers numbers(golden_case.at("problem"), parameters, "asgd");
  const std::size_t clients = numbers.learners.size();
  const Json& answers = golden_case.at("schedule").at("answers");
  const std::size_t count = answers.size();
  std::vector<std::vector<std::size_t>> users(count + 1);  // [version] -> answers about it
  std::vector<std::uint32_t> workers;
  std::vector<std::uint64_t> delays;
  for (std::size_t k = 0; k < count; ++k) {
    workers.push_back(number_below(clients, answers[k].at("i")));
    delays.push_back(number_below(k + 1, answers[k].at("tau")));
    users[k - delays[k]].push_back(k);
  }
  const auto play = [&](StepSink& sink) {
    const ClientId centre{0};
    std::vector<SlotIndex> slots(count + 1, no_slot);
    std::vector<std::uint64_t> computed(clients);
    Sequence sequence = 0;
    const auto send = [&](ClientId from, std::vector<ClientId> to, std::uint8_t phase) {
      std::vector<StepEntry> entries;
      const SlotIndex slot = sink.open_slot(static_cast<std::uint32_t>(to.size()));
      for (const ClientId peer : to) entries.push_back({.peer = peer, .sequence = sequence, .slot = slot});
      sink.perform({.kind = StepKind::publish, .phase = phase, .client = from, .index = sequence++, .entries = entries});
      return slot;
    };
    const auto merge = [&](ClientId at, ClientId from, SlotIndex slot, std::uint8_t phase, std::uint64_t delay) {
      const StepEntry entry{.peer = from, .slot = slot};
      sink.perform({.kind = StepKind::merge, .phase = phase, .client = at, .index = delay, .entries = {&entry, 1}});
    };
    for (std::size_t k = 0; k <= count; ++k) {
      sink.perform({.kind = StepKind::measure, .client = centre, .index = k, .entries = {}});
      std::vector<ClientId> receivers;
      for (const std::size_t user : users[k]) receivers.push_back({workers[user]});
      if (!receivers.empty()) slots[k] = send(centre, receivers, hands_out);
      if (k == count) break;
      const ClientId worker{workers[k]};
      merge(worker, centre, slots[k - delays[k]], at_work::begins, 0);
      sink.perform({.kind = StepKind::compute, .client = worker, .index = computed[worker.value]++, .entries = {}});
      const SlotIndex answer = send(worker, {centre}, hands_in);
      merge(centre, worker, answer, at_work::collects | at_work::updates, delays[k]);
    }
  };
  std::vector<Edge> links;
  for (std::uint32_t i = 1; i < clients; ++i) links.push_back({{0}, {i}}), links.push_back({{i}, {0}});
  ProbeTable table;
  perform_steps(play, Graph(clients, true, links), numbers, table);
  const DelayStep step = delay_step_from(parameters);
  return {{"x", list_of(count + 1, [&](std::size_t k) { return table.at(k, {0}).at("x"); })},
          {"steps", list_of(count, [&](std::size_t k) { return step(delays[k]); })}};
}

Json answer_laws(const Json& golden_case) {
  const Json& delays = golden_case.at("tau");
  const auto rows = [&](const char* name, auto law_from) {
    return list_from(golden_case.at(name), [&](const Json& kind) {
      const auto law = law_from(kind);
      return list_from(delays, [&](const Json& delay) { return law(delay.get<std::uint64_t>()); });
    });
  };
  const auto step_from = [&](const Json& law) {
    return delay_step_from(order_parameters("", {{"gamma", golden_case.at("gamma")}, {"law", law}}));
  };
  const auto weight_from = [](const Json& law) {
    return StalenessWeight{known_choice<StalenessLaw>(law.at("kind")), law.value("a", 0.5), law.value("b", 4.0),
                           law.value("offset", 0.0)};
  };
  return {{"steps", rows("steps", step_from)}, {"weights", rows("weights", weight_from)}};
}

// In rounds the centre is client 0, which works like all others.
void amend_diloco(Json& parameters) {
  parameters["center_works"] = true;
  parameters = order_parameters("diloco", parameters);
}

}  // namespace

std::vector<CaseKind> order_kinds() {
  std::vector<CaseKind> kinds;
  for (const char* name : {"asgd", "ringmaster", "fedasync", "fedbuff", "m_sync", "rennala", "malenia", "ringleader", "diloco"})
    kinds.push_back({name, "events", [name](const Json& golden_case) { return answer_orders(golden_case, name); }});
  kinds.push_back({"asgd", "sync", answer_asgd_sequence});
  kinds.push_back(
      in_rounds("diloco", {.algorithm = "diloco",
                           .fields = {{.name = "x", .of_centre = true}, {.name = "outer_gradient", .first = 1, .of_centre = true}},
                           .protocol = ProtocolKind::server,
                           .amend = amend_diloco,
                           .prepare = read_served}));
  kinds.push_back({"staleness_laws", "", answer_laws});
  return kinds;
}

}  // namespace rubato::golden
