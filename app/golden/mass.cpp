// Golden cases in continuous time of everybody but DRACO: states after every event, and the balance of masses.
#include <algorithm>
#include <map>

#include "app/golden/cases.hpp"
#include "app/golden/events.hpp"
#include "app/golden/options.hpp"
#include "app/golden/script.hpp"

namespace rubato::golden {

namespace {

using Numbers = std::vector<double>;

// What all clients look like at one instant.
using States = std::vector<const Vectors*>;

const Numbers& of(const Vectors& state, const std::string& name) { return state.at(name); }

Numbers sum_of(const States& states, const std::string& name) {
  Numbers sum(of(*states.front(), name).size());
  for (const Vectors* state : states)
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += of(*state, name)[i];
  return sum;
}

// All counters sigma less all rho; `size` numbers each.
Numbers in_flight(const States& states, std::size_t size) {
  Numbers sum(size);
  for (const Vectors* state : states)
    for (const auto& [name, numbers] : *state) {
      const bool is_sigma = name.starts_with("sigma "), is_rho = name.starts_with("rho ");
      for (std::size_t i = 0; i < size && (is_sigma || is_rho); ++i) sum[i] += is_sigma ? numbers[i] : -numbers[i];
    }
  return sum;
}

Numbers head(const Numbers& numbers) { return {numbers.begin(), numbers.end() - 1}; }

Numbers scaled(Numbers numbers, double factor) {
  for (double& number : numbers) number *= factor;
  return numbers;
}

/// [receiver][sender], zeros where there is no counter.
Json counters(const States& states, const std::string& kind, std::size_t size) {
  std::vector<std::vector<Numbers>> all(states.size(), std::vector<Numbers>(states.size(), Numbers(size)));
  for (std::size_t i = 0; i < states.size(); ++i)
    for (std::size_t k = 0; k < states.size(); ++k) {
      const auto found = states[i]->find(kind + " " + std::to_string(k));
      if (found == states[i]->end()) continue;
      (kind == "sigma" ? all[k][i] : all[i][k]) = found->second;
    }
  return all;
}

// After every event that changes a client its state is noted; the records are completed when the states are known.
class StateTrace : public Trace {
 public:
  StateTrace(bool has_cap, std::size_t clients) : Trace(has_cap), clients_{clients} {}

  void on_start() override {
    for (std::uint32_t i = 0; i < clients_; ++i) first_.push_back(probe(ClientId{i}, Time{}));
  }
  void on_compute(Time at, ClientId client) override {
    add(at, "compute", {{"client", client.value}, {"used", used_}});
    used_ = Json::array();
    ask(at, client);
  }
  void on_transmit(Time at, ClientId client, const Step* publish) override {
    Trace::on_transmit(at, client, publish);
    if (!publish) return;
    trace.back()["to"] = Json::array();  // a tick without links is one all the same, and has its number
    for (const StepEntry& entry : publish->entries) trace.back()["to"].push_back(entry.peer.value);
    ask(at, client);
  }
  void on_window_close(Time at, ClientId client, std::span<const Arrival> batch, std::span<const StepEntry> used) override {
    if (batch.empty()) return;
    Trace::on_window_close(at, client, batch, used);
    trace.back()["used"] = used_of(used);
    ask(at, client);
  }
  void on_unify(Time at, std::uint64_t index, ClientId hub) override {
    add(at, "unify", {{"index", index}, {"hub", hub.value}});
    for (std::uint32_t i = 0; i < clients_; ++i) ask(at, ClientId{i});
    ++unifications_;
  }
  void on_merge(Time, ClientId, std::span<const StepEntry> used) override { used_ = used_of(used); }
  void on_end(const Conductor& conductor) override {
    for (std::uint32_t i = 0; i < clients_; ++i) computations_.push_back(conductor.protocol(ClientId{i}).counts().computations);
  }

  /// Calls fill(record, all states) for every record with a client's state, in order, and balance(record, all states)
  /// for unifications, once everybody's state behind the event is known; returns the last states.
  template <class Fill, class Balance>
  States complete(const ProbeTable& table, Fill fill, Balance balance) {
    States states;
    for (std::uint32_t i = 0; i < clients_; ++i) states.push_back(&table.at(first_[i], ClientId{i}));
    for (std::size_t k = 0; k < asked_.size(); ++k) {
      const auto& [place, asked] = asked_[k];
      states[asked.second.value] = &table.at(asked.first, asked.second);
      if (k + 1 < asked_.size() && asked_[k + 1].first == place) continue;
      Json& record = trace[place];
      if (record.at("ev") != "unify") {
        fill(record, states);
      } else {
        record["theta"] = of(*states[record.at("hub").get<std::size_t>()], "x");
        balance(record, states);
      }
    }
    return states;
  }
  Json computations() const { return computations_; }
  std::size_t unifications() const { return unifications_; }

 private:
  void ask(Time at, ClientId client) { asked_.push_back({trace.size() - 1, {probe(client, at), client}}); }

  std::size_t clients_;
  Json used_ = Json::array();
  std::vector<std::uint64_t> first_;
  std::vector<std::uint64_t> computations_;
  std::size_t unifications_ = 0;
  std::vector<std::pair<std::size_t, std::pair<std::uint64_t, ClientId>>> asked_;
};

const Vectors& state_of(const Json& record, const States& states) { return *states[record.at("client").get<std::size_t>()]; }

Json all_of(const States& states, const std::string& name) {
  Json all = Json::array();
  for (const Vectors* state : states) all.push_back(of(*state, name));
  return all;
}

// What a case in continuous time needs besides its event table.
struct Run {
  explicit Run(const Json& golden_case, const std::string& algorithm)
      : config(golden_case.at("config")),
        timing{make_timing(golden_case)},
        trace(given(config, "psi") != nullptr, timing->graph.clients()) {
    numbers.learners = to_learners(golden_case.at("problem"));
    numbers.start = to_start(config.at("x0"), numbers.learners.size());
    numbers.algorithm = algorithm;
    numbers.choices.resize(timing->graph.clients());
    for (const char* name : {"eta", "alpha", "beta", "gamma", "sigma0", "xi"})
      if (const Json* value = given(config, name)) set_step(name, *value, numbers.options);
    set_penalty(config, numbers.options);
    if (timing->conductor.unification.period > Duration::zero() && !catalogue_entry(algorithm).may_be_unified)
      throw std::invalid_argument(algorithm + " cannot be unified: to overwrite its x would break its balance");
  }
  void weigh(const char* merge, const char* share) {
    if (merge) timing->settings.merge_weights = {link_weights(config.at(merge), timing->graph)};
    if (share) timing->settings.share_weights = {link_weights(config.at(share), timing->graph)};
  }
  void perform() {
    timing->settings.needs = merged(catalogue_entry(numbers.algorithm).needs(numbers.options), timing->settings.needs);
    perform_script(*timing, numbers, trace, table);
  }
  template <class Fill>
  States complete(Fill fill) {
    return complete(fill, [](Json&, const States&) {});
  }
  template <class Fill, class Balance>
  States complete(Fill fill, Balance balance) {
    return trace.complete(table, fill, balance);
  }

  Json config;
  std::unique_ptr<Timing> timing;
  ScriptedNumbers numbers;
  StateTrace trace;
  ProbeTable table;

 private:
  static Needs merged(Needs needs, const Needs& of_case) {
    needs.opens_with_compute = of_case.opens_with_compute;
    return needs;
  }
};

Json answer_of(Run& run, Json last) { return {{"trace", run.trace.trace}, {"final", std::move(last)}}; }

}  // namespace

Json answer_gossip(const Json& golden_case) {
  Run run(golden_case, "dpsgd");
  run.weigh("W", nullptr);
  run.perform();
  const States states = run.complete([](Json& record, const States& now) {
    if (record.at("ev") != "transmit") record["x"] = of(state_of(record, now), "x");
  });
  return answer_of(run, {{"x", all_of(states, "x")}, {"steps", run.trace.computations()}});
}

namespace {

// Ticks that say whether they have a gradient, and what the start had.
void read_gradients(const Json& golden_case, Run& run) {
  const Json& config = golden_case.at("config");
  const Json* opening = given(config, "v0");
  auto& gradients = run.timing->settings.gradients;
  gradients.resize(run.timing->graph.clients());
  run.timing->settings.needs.opens_with_compute = opening != nullptr;
  run.numbers.options.set("opens", opening != nullptr);
  for (std::size_t i = 0; opening && i < gradients.size(); ++i) gradients[i].push_back(is_set(opening->at(i)));
  std::vector<Json> ticks;
  for (const Json& event : golden_case.at("events"))
    if (event.at("type") == "compute") ticks.push_back(event);
  std::stable_sort(ticks.begin(), ticks.end(),
                   [](const Json& a, const Json& b) { return a.at("t").get<double>() < b.at("t").get<double>(); });
  bool is_transient = false;
  for (const Json& tick : ticks) {
    const Json* with = given(tick, "v");
    is_transient |= with != nullptr;
    gradients.at(tick.at("client").get<std::size_t>()).push_back(!with || is_set(*with));
  }
  const Json* mode = given(config, "gradient_mode");
  std::string word = is_transient ? "paper" : "memory";
  if (mode && mode->get<std::string>() != "transient") word = mode->get<std::string>();
  run.numbers.options.set("gradient_mode", word);
  if (const Json* p = given(config, "p"); p && word == "inverse_p") run.numbers.options.set("p", to_option(*p));
}

}  // namespace

Json answer_spodgt_events(const Json& golden_case) {
  Run run(golden_case, "spodgt");
  run.weigh("A", "B");
  read_gradients(golden_case, run);
  run.perform();
  const std::size_t size = run.numbers.start.front().size();
  const auto balance = [&](Json& record, const States& now) {
    record["mass_y"] = sum_of(now, "y");
    record["mass_in_flight"] = in_flight(now, size);
    record["mass_g"] = sum_of(now, "ghat");
  };
  const States states = run.complete(
      [&](Json& record, const States& now) {
        const Vectors& state = state_of(record, now);
        record["y"] = of(state, "y");
        if (record.at("ev") != "transmit") record["x"] = of(state, "x");
        if (record.at("ev") == "compute") record["ghat"] = of(state, "ghat");
        if (record.at("ev") == "transmit") {
          record["sigma"] = Json::object();
          for (const Json& receiver : record.at("to")) record["sigma"][receiver.dump()] = of(state, "sigma " + receiver.dump());
        }
        balance(record, now);
      },
      balance);
  Json last{{"x", all_of(states, "x")},
            {"y", all_of(states, "y")},
            {"ghat", all_of(states, "ghat")},
            {"sigma", counters(states, "sigma", size)},
            {"rho", counters(states, "rho", size)}};
  balance(last, states);
  return answer_of(run, last);
}

Json answer_depositum_events(const Json& golden_case) {
  Run run(golden_case, "depositum");
  run.weigh("W", "W");
  for (const char* word : {"option", "prox_mode"})
    if (const Json* value = given(run.config, word)) run.numbers.options.set(word, value->get<std::string>());
  run.perform();
  const std::size_t size = run.numbers.start.front().size();
  const double beta = run.config.at("beta").get<double>();
  const auto balance = [&](Json& record, const States& now) {
    record["mass_y"] = sum_of(now, "y");
    record["mass_in_flight"] = in_flight(now, size);
    record["beta_mass_g"] = scaled(sum_of(now, "g"), beta);
  };
  const States states = run.complete(
      [&](Json& record, const States& now) {
        const Vectors& state = state_of(record, now);
        record["y"] = of(state, "y");
        if (record.at("ev") != "transmit") record["x"] = of(state, "x");
        if (record.at("ev") == "compute")
          for (const char* name : {"nu", "mu", "g"}) record[name] = of(state, name);
        balance(record, now);
      },
      balance);
  Json last = Json::object();
  for (const char* name : {"x", "y", "g", "nu", "mu"}) last[name] = all_of(states, name);
  balance(last, states);
  return answer_of(run, last);
}

Json answer_sgp_events(const Json& golden_case) {
  Run run(golden_case, "sgp");
  run.weigh(nullptr, "P");
  run.perform();
  const std::size_t size = run.numbers.start.front().size();
  Numbers start(size);
  for (const Numbers& of_client : run.numbers.start)
    for (std::size_t i = 0; i < size; ++i) start[i] += of_client[i];
  const auto balance = [&](Json& record, const States& now) {
    const Numbers flying = in_flight(now, size + 1);
    record["mass_w"] = sum_of(now, "w").front();
    record["w_in_flight"] = flying.back();
    record["mass_x"] = sum_of(now, "x");
    record["x_in_flight"] = head(flying);
    Numbers steps = sum_of(now, "own");
    for (std::size_t i = 0; i < size; ++i) steps[i] -= start[i];
    record["sum_steps"] = steps;
  };
  const States states = run.complete([&](Json& record, const States& now) {
    const Vectors& state = state_of(record, now);
    record["x"] = of(state, "x");
    record["w"] = of(state, "w").front();
    balance(record, now);
  });
  Json last{{"x", all_of(states, "x")}, {"w", Json::array()}, {"z", all_of(states, "z")}};
  for (const Vectors* state : states) last["w"].push_back(of(*state, "w").front());
  balance(last, states);
  return answer_of(run, last);
}

Json answer_pame_events(const Json& golden_case) {
  Run run(golden_case, "pame");
  const std::size_t clients = run.timing->graph.clients();
  const Json& kappa = run.config.at("kappa");
  for (std::size_t i = 0; i < clients; ++i)  // 0 is refused by the algorithm
    run.timing->settings.absorb_every.push_back(
        std::max(number_below(most_rounds, kappa.is_array() ? kappa.at(i) : kappa), std::uint32_t{1}));
  run.numbers.options.set("kappa", to_option(run.config.at("kappa")));
  if (const Json* bits = given(run.config, "value_bits")) run.numbers.options.set("value_bits", to_option(*bits));
  if (const Json* first = given(run.config, "m0")) run.numbers.options.set("m0", to_option(*first));
  std::vector<std::uint64_t> turns(clients);
  std::vector<Json> events(golden_case.at("events").begin(), golden_case.at("events").end());
  std::stable_sort(events.begin(), events.end(),
                   [](const Json& a, const Json& b) { return a.at("t").get<double>() < b.at("t").get<double>(); });
  for (const Json& event : events) {
    if (event.at("type") != "transmit") continue;
    const std::size_t client = number_below(clients, event.at("client"));
    for (const auto& [receiver, coordinates] : event.at("coords").items())
      run.numbers.choices[client].coordinates[{turns[client], static_cast<std::uint32_t>(std::stoul(receiver))}] =
          coordinates.get<Rows>();
    ++turns[client];
  }
  run.perform();
  // The models of unifications are no messages of PaME.
  const std::size_t adopted = run.trace.unifications() * (clients - 1) * run.numbers.start.front().size();
  double bits = -64.0 * static_cast<double>(adopted);
  for (const Traffic& traffic : run.table.last_traffic()) bits += traffic.paper_bits;
  const States states = run.complete([](Json& record, const States& now) {
    if (record.at("ev") != "compute") return;
    const Vectors& state = state_of(record, now);
    record["m_i"] = static_cast<std::int64_t>(of(state, "m_i").front());
    record["vbar"] = of(state, "vbar");
    record["x"] = of(state, "x");
  });
  Json last{
      {"x", all_of(states, "x")}, {"sigma", Json::array()}, {"m_i", Json::array()}, {"bits_sent", static_cast<std::int64_t>(bits)}};
  for (const Vectors* state : states) {
    last["sigma"].push_back(of(*state, "sigma").front());
    last["m_i"].push_back(static_cast<std::int64_t>(of(*state, "m_i").front()));
  }
  return answer_of(run, last);
}

}  // namespace rubato::golden
