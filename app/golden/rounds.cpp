#include "app/golden/rounds.hpp"

#include <algorithm>
#include <optional>
#include <stdexcept>

#include "algos/anq.hpp"
#include "app/golden/options.hpp"

namespace rubato::golden {

namespace {

// [round][receiver] -> senders
void add_selected(const Json& selected, std::size_t clients, std::set<Edge>& links) {
  for (const Json& round : selected)
    for (std::uint32_t receiver = 0; receiver < clients; ++receiver)
      for (const std::uint32_t sender : numbers_below(clients, round.at(receiver)))
        links.insert({ClientId{sender}, ClientId{receiver}});
}

Graph graph_of(const Json& golden_case, std::size_t clients) {
  std::set<Edge> links;
  if (const Json* declared = given(golden_case, "graph"))
    for (const Json& edge : declared->at("edges")) {
      const ClientId source{number_below(clients, edge.at(0))}, target{number_below(clients, edge.at(1))};
      links.insert({source, target});
      if (!declared->at("directed").get<bool>()) links.insert({target, source});
    }
  const Json& params = golden_case.at("params");
  for (const char* name : {"W", "A", "B", "P", "W_cycle", "P_cycle"})
    if (const Json* matrices = given(params, name); matrices && !matrices->is_number())
      for (const Json& matrix : as_list(*matrices)) add_links(matrix, clients, links);
  if (const Json* schedule = given(golden_case, "schedule"); schedule && schedule->contains("W"))
    for (const Json& matrix : schedule->at("W")) add_links(matrix, clients, links);
  if (const Json* schedule = given(golden_case, "schedule"); schedule && schedule->contains("sel"))
    add_selected(schedule->at("sel"), clients, links);
  return Graph(clients, true, {links.begin(), links.end()});
}

Graph everybody(std::size_t clients) {
  std::vector<Edge> links;
  for (std::uint32_t i = 0; i < clients; ++i)
    for (std::uint32_t k = 0; k < clients; ++k)
      if (i != k) links.push_back({ClientId{i}, ClientId{k}});
  return Graph(clients, true, std::move(links));
}

Json to_json(const std::vector<std::vector<Vector<double>>>& vectors) {
  Json all = Json::array();
  for (const auto& of_round : vectors) {
    all.push_back(Json::array());
    for (const Vector<double>& vector : of_round)
      all.back().push_back(std::vector<double>(vector.data(), vector.data() + vector.size()));
  }
  return all;
}

}  // namespace

void add_batches(const Json& of_client, std::vector<Rows>& batches) {
  const bool is_nested = of_client.is_array() && !of_client.empty() && of_client.at(0).is_array();
  if (of_client.is_null()) return batches.push_back({});
  if (!is_nested) return batches.push_back(of_client.get<Rows>());
  for (const Json& batch : of_client) batches.push_back(batch.is_null() ? Rows{} : batch.get<Rows>());
}

Json as_list(const Json& matrices) {
  if (matrices.is_object()) return matrices.at("cycle");
  return matrices.at(0).at(0).is_array() ? matrices : Json::array({matrices});
}

void RoundEnds::on_round(Time at, std::uint64_t round) {
  if (first_probe_.size() > rounds_) return;
  first_probe_.push_back(probe(ClientId{0}, at));
  for (std::uint32_t i = 1; i < clients_; ++i) probe(ClientId{i}, at);
  if (round == rounds_) stop();
}

const Vectors& RoundEnds::at(const ProbeTable& table, std::size_t end, std::size_t client) const {
  const auto i = static_cast<std::uint32_t>(client);
  return table.at(first_probe_.at(end) + i, ClientId{i});
}

void RoundEnds::on_transmit(Time, ClientId client, const Step* publish) {
  const std::size_t round = std::max<std::size_t>(first_probe_.size(), 1) - 1;
  if (!publish || round >= rounds_) return;
  if (messages_.size() <= round) messages_.resize(round + 1, Json::array());
  for (const StepEntry& entry : publish->entries) messages_[round].push_back({client.value, entry.peer.value});
}

Json RoundEnds::vectors(const ProbeTable& table, const std::string& name, std::size_t first) const {
  Json all = Json::array();
  for (std::size_t end = first; end <= rounds_; ++end) {
    Json of_round = Json::array();
    for (std::size_t i = 0; i < clients_; ++i) of_round.push_back(at(table, end, i).at(name));
    all.push_back(std::move(of_round));
  }
  return all;
}

Json RoundEnds::numbers(const ProbeTable& table, const std::string& name, std::size_t first) const {
  Json all = vectors(table, name, first);
  for (Json& of_round : all)
    for (Json& vector : of_round) vector = Json(vector.at(0));
  return all;
}

RoundsCase::RoundsCase(const Json& golden_case, const std::string& algorithm, ProtocolKind protocol)
    : params(golden_case.at("params")),
      schedule(golden_case.contains("schedule") ? golden_case.at("schedule") : Json::object()),
      clients{to_learners(golden_case.at("problem")).size()},
      rounds{number_below(most_rounds, params.at("rounds"))},
      ends{clients, rounds} {
  numbers.learners = to_learners(golden_case.at("problem"));
  numbers.start = to_start(params.at("x0"), clients);
  numbers.algorithm = algorithm;
  numbers.options = to_options(params);
  numbers.choices.resize(clients);
  timing = std::make_unique<Timing>(protocol == ProtocolKind::rounds ? graph_of(golden_case, clients) : everybody(clients),
                                    std::make_unique<IdealChannel>(round_on_the_way), protocol);
  timing->settings.compute = {TimerLaw::fixed(to_seconds(round_computing), 0)};
  timing->settings.transmit = {TimerLaw::off()};
  timing->conductor.until = never;
}

std::vector<std::vector<double>> RoundsCase::by_link(const Json& matrices) const {
  std::vector<std::vector<double>> weights;
  for (const Json& matrix : as_list(matrices)) weights.push_back(link_weights(matrix, timing->graph));
  return weights;
}

void RoundsCase::use_links(const Json& matrices) {
  const Graph& graph = timing->graph;
  ActiveLinks active(clients);
  const Json list = as_list(matrices);
  for (std::size_t turn = 0; turn < rounds; ++turn)
    for (std::uint32_t sender = 0; sender < clients; ++sender) {
      active[sender].emplace_back();
      for (const ClientId receiver : graph.receivers_of(ClientId{sender}))
        if (is_set(list.at(turn % list.size()).at(receiver.value).at(sender))) active[sender].back().push_back(receiver);
    }
  timing->settings.links = LinkChoice(std::move(active));
}

void RoundsCase::read_batches() {
  const Json* batches = given(schedule, "batch");
  if (!batches) return;
  for (const Json& round : *batches)
    for (std::size_t i = 0; i < clients; ++i) add_batches(round.at(i), numbers.choices[i].batches);
}

void RoundsCase::perform() {
  timing->settings.needs = catalogue_entry(numbers.algorithm).needs(numbers.options);
  perform_script(*timing, numbers, ends, table);
}

namespace {

// One that mixes models by W: x after every round, and what else is asked for.
Json answer_mixing_models(const Json& golden_case, const std::string& algorithm, std::initializer_list<const char*> names) {
  RoundsCase run(golden_case, algorithm);
  for (const char* name : {"W_cycle", "W"})
    if (const Json* matrices = given(run.params, name)) {
      run.merge_by(*matrices);
      if (as_list(*matrices).size() > 1) run.use_links(*matrices);
    }
  run.timing->settings.share_weights = run.timing->settings.merge_weights;
  run.read_batches();
  run.perform();
  Json answer = Json::object();
  for (const char* name : names) answer[name] = run.vectors(name);
  return answer;
}

void read_aux(const Json& aux, std::size_t first, std::size_t step, RoundsCase& run) {
  const bool draws_coordinates = run.numbers.options.word("compressor", "") == "rand";
  for (std::size_t k = 0; k < aux.size(); ++k)
    for (std::uint32_t i = 0; i < run.clients; ++i) {
      const Json& drawn = aux.at(k).at(i);
      if (drawn.is_null()) continue;
      ChoiceTable& table = run.numbers.choices[i];
      if (draws_coordinates)
        table.coordinates[{first + k * step, i}] = drawn.get<Rows>();
      else
        table.uniforms[first + k * step] = drawn.get<std::vector<double>>();
    }
}

// The links of vhat[k][receiver][sender].
void use_sporadic(RoundsCase& run) {
  if (const Json* links = given(run.schedule, "vhat")) run.use_links(*links);
  if (const Json* with = given(run.schedule, "v")) {
    auto& gradients = run.timing->settings.gradients;
    gradients.resize(run.clients);
    for (const Json& round : *with)
      for (std::size_t i = 0; i < run.clients; ++i) gradients[i].push_back(is_set(round.at(i)));
  }
}

}  // namespace

// Without a word it is the original.
Json answer_dpsgd(Json golden_case) {
  if (!given(golden_case.at("params"), "variant")) golden_case["params"]["variant"] = "cta";
  return answer_mixing_models(golden_case, "dpsgd", {"x"});
}
Json answer_local_only(const Json& golden_case) { return answer_mixing_models(golden_case, "local_only", {"x"}); }
Json answer_decefl(const Json& golden_case) { return answer_mixing_models(golden_case, "decefl", {"x"}); }
Json answer_dsgt(const Json& golden_case) { return answer_mixing_models(golden_case, "dsgt", {"x", "y"}); }
Json answer_dfedsam(const Json& golden_case) { return answer_mixing_models(golden_case, "dfedsam", {"x"}); }
Json answer_nids(const Json& golden_case) { return answer_mixing_models(golden_case, "nids", {"x"}); }
Json answer_depositum(const Json& golden_case) {
  return answer_mixing_models(golden_case, "depositum", {"x", "y", "nu", "g", "mu"});
}

namespace {

// Everybody's gradient at the start, of the first mini-batch, which stays the first.
std::vector<Vector<double>> first_gradients(const RoundsCase& run) {
  check(run.numbers, run.clients);
  std::vector<Vector<double>> gradients;
  Scratch<double> scratch;
  for (std::size_t i = 0; i < run.clients; ++i) {
    const auto& batches = run.numbers.choices[i].batches;
    const Vector<double> x =
        Eigen::Map<const Vector<double>>(run.numbers.start[i].data(), static_cast<Index>(run.numbers.start[i].size()));
    gradients.emplace_back(x.size());
    run.numbers.learners[i]->gradient(view(x), batches.empty() ? Rows() : batches.front(), view(gradients.back()), scratch);
  }
  return gradients;
}

// c0: "zero", a vector for each client, or "paper", mean gradient - own gradient. The mean is over all clients, whoever
// hears whom.
void read_corrections(RoundsCase& run) {
  const Json* start = given(run.params, "c0");
  if (!start || *start == "zero") return;
  std::vector<double> corrections;
  if (start->is_array())
    for (const auto& of_client : to_start(*start, run.clients))
      corrections.insert(corrections.end(), of_client.begin(), of_client.end());
  if (*start == "paper") {
    const std::vector<Vector<double>> gradients = first_gradients(run);
    Vector<double> mean = Vector<double>::Zero(gradients.front().size());
    for (const Vector<double>& g : gradients) mean += g / static_cast<double>(run.clients);
    for (const Vector<double>& g : gradients)
      for (Index l = 0; l < g.size(); ++l) corrections.push_back(mean[l] - g[l]);
  }
  if (corrections.empty()) throw std::invalid_argument("c0 is " + start->dump());
  run.numbers.options.set("corrections", std::move(corrections));
}

}  // namespace

Json answer_kgt(const Json& golden_case) {
  RoundsCase run(golden_case, "kgt");
  run.merge_by(run.params.at("W"));
  run.share_by(run.params.at("W"));
  run.read_batches();
  read_corrections(run);
  run.perform();
  return {{"x", run.vectors("x")}, {"c", run.vectors("c")}, {"z", run.vectors("z", 1)}};
}

Json answer_choco(const Json& golden_case) {
  RoundsCase run(golden_case, "choco");
  run.merge_by(run.params.at("W"));
  run.read_batches();
  if (const Json* aux = given(run.schedule, "aux")) read_aux(*aux, 0, 1, run);
  run.perform();
  return {{"x", run.vectors("x")}, {"xhat", run.vectors("xhat")}};
}

Json answer_beer(const Json& golden_case) {
  RoundsCase run(golden_case, "beer");
  run.merge_by(run.params.at("W"));
  run.read_batches();
  if (const Json* aux = given(run.schedule, "aux_h")) read_aux(*aux, 0, 2, run);
  if (const Json* aux = given(run.schedule, "aux_g")) read_aux(*aux, 1, 2, run);
  run.perform();
  return {{"x", run.vectors("x")}, {"v", run.vectors("v")}, {"h", run.vectors("h")}, {"g", run.vectors("g")}};
}

Json answer_anq_nids(const Json& golden_case) {
  RoundsCase run(golden_case, "anq_nids");
  run.merge_by(run.params.at("W"));
  run.read_batches();
  run.perform();
  Json levels = run.vectors("levels", 2);
  std::int64_t bits = 0;
  for (Json& round : levels)
    for (Json& of_client : round)
      for (Json& level : of_client) {
        level = static_cast<std::int32_t>(level.get<double>());
        bits += elias_gamma_bits(zigzag(level.get<std::int32_t>()));
      }
  return {{"x", run.vectors("x")}, {"chat", run.vectors("chat", 1)}, {"levels", levels}, {"bits", bits}};
}

Json answer_pushpull(const Json& golden_case) {
  RoundsCase run(golden_case, "pushpull");
  run.merge_by(run.params.at("A"));
  run.share_by(run.params.at("B"));
  run.read_batches();
  run.perform();
  return {{"x", run.vectors("x")}, {"y", run.vectors("y")}};
}

Json answer_spodgt(const Json& golden_case) {
  RoundsCase run(golden_case, "spodgt");
  run.merge_by(run.params.at("A"));
  run.share_by(run.params.at("B"));
  run.read_batches();
  use_sporadic(run);
  if (const Json* p = given(run.params, "p"); p && run.numbers.options.word("gradient_mode", "") == "inverse_p")
    run.numbers.options.set("p", to_option(*p));
  run.perform();
  return {{"x", run.vectors("x")}, {"y", run.vectors("y")}, {"ghat", run.vectors("ghat")}, {"y_half", run.vectors("y_half", 1)}};
}

Json answer_sgp(const Json& golden_case) {
  RoundsCase run(golden_case, "sgp");
  const Json& matrices = run.params.contains("P_cycle") ? run.params.at("P_cycle") : run.params.at("P");
  run.share_by(matrices);
  run.use_links(matrices);
  run.read_batches();
  run.perform();
  return {{"x", run.vectors("x")}, {"w", run.numbers_of("w")}, {"z", run.vectors("z")}};
}

Json answer_pame(const Json& golden_case) {
  RoundsCase run(golden_case, "pame");
  run.read_batches();
  const Json& chosen = run.schedule.at("sel");
  const Json& parts = run.schedule.at("T");
  const Json& kappa = run.params.at("kappa");
  const auto period = [&](std::size_t client) {
    const std::uint32_t every = number_below(most_rounds, kappa.is_array() ? kappa.at(client) : kappa);
    return std::max(every, std::uint32_t{1});  // 0 is refused by the algorithm
  };
  ActiveLinks links(run.clients);
  for (std::size_t k = 0; k < chosen.size(); ++k) {
    for (auto& of_sender : links) of_sender.emplace_back();
    for (std::uint32_t i = 0; i < run.clients; ++i)
      for (const Json& sender : k % period(i) == 0 ? chosen.at(k).at(i) : Json::array()) {
        const std::uint32_t from = number_below(run.clients, sender);
        links[from].back().push_back(ClientId{i});
        run.numbers.choices[from].coordinates[{k, i}] = parts.at(k).at(i).at(sender.dump()).get<Rows>();
      }
  }
  run.timing->settings.links = LinkChoice(std::move(links));
  run.perform();
  Json selected = run.numbers_of("m_i", 1);
  for (Json& round : selected)
    for (Json& number : round) number = static_cast<std::int64_t>(number.get<double>());
  double bits = 0;
  for (const Traffic& traffic : run.table.last_traffic()) bits += traffic.paper_bits;
  return {{"x", run.vectors("x")},
          {"vbar", run.vectors("vbar", 1)},
          {"sigma", run.numbers_of("sigma")},
          {"m_i", selected},
          {"bits", static_cast<std::int64_t>(bits)}};
}

namespace {

// A schedule of jobs that follow one another. Where a straggler's work is thrown away every gradient is of its own round:
// staleness 0 after a round without one. Where it carries on, the gradient of round r with staleness tau began in round
// r - tau, right after the one before it. None: some jobs overlap, or both kinds are mixed.
std::optional<JobRule> jobs_of(const RoundsCase& run) {
  JobRule jobs;
  jobs.phase = round_computing;
  bool may_throw_away = true, may_carry_on = true;
  std::vector<std::size_t> begun(run.clients);
  for (std::size_t r = 0; r < run.rounds; ++r) {
    jobs.finishes.emplace_back(run.clients);
    for (std::size_t i = 0; i < run.clients; ++i) {
      const Json& staleness = run.schedule.at("tau").at(r).at(i);
      if (staleness.is_null()) continue;
      const std::size_t tau = number_below(r + 1, staleness);
      may_throw_away &= tau == 0;
      may_carry_on &= begun[i] + tau == r;
      begun[i] = r + 1;
      jobs.finishes.back()[i] = true;
    }
  }
  if (!may_carry_on && !may_throw_away) return std::nullopt;
  jobs.carries_on = may_carry_on;
  return jobs;
}

// Batches of the rounds in which a client is done; noise of all.
void read_arrivals(RoundsCase& run) {
  const Json* batches = given(run.schedule, "batch");
  const Json* noise = given(run.schedule, "noise");
  for (std::size_t r = 0; r < run.rounds; ++r)
    for (std::size_t i = 0; i < run.clients; ++i) {
      if (batches && !run.schedule.at("tau").at(r).at(i).is_null())
        add_batches(batches->at(r).at(i), run.numbers.choices[i].batches);
      if (noise) run.numbers.choices[i].noise[r] = noise->at(r).at(i).get<std::vector<double>>();
    }
}

// Where jobs overlap the table alone says which model a gradient belongs to, and no protocol has such jobs: the formula,
// without the engine.
Json answer_by_table(const RoundsCase& run) {
  check(run.numbers, run.clients);
  const StepSize eta(run.numbers.options, "eta", 0.05);
  const double xi = run.numbers.options.number("xi", 1);
  std::vector<std::vector<Vector<double>>> x(1), half;
  for (const std::vector<double>& start : run.numbers.start) x[0].push_back(to_vector(start));
  std::vector<std::size_t> computed(run.clients);
  Scratch<double> scratch;
  for (std::size_t r = 0; r < run.rounds; ++r) {
    half.push_back(x[r]);
    for (std::size_t i = 0; i < run.clients; ++i) {
      const Json& staleness = run.schedule.at("tau").at(r).at(i);
      if (staleness.is_null()) continue;
      const auto& batches = run.numbers.choices[i].batches;
      const Rows batch = batches.empty() ? Rows() : batches.at(computed[i]++);
      const Vector<double>& begun = x[r - number_below(r + 1, staleness)][i];
      Vector<double> g(begun.size());
      run.numbers.learners[i]->gradient(view(begun), batch, view(g), scratch);
      half[r][i] -= eta.at(i, r) * g;
    }
    x.push_back(half[r]);
    for (std::size_t i = 0; i < run.clients; ++i) {
      Vector<double> sum = Vector<double>::Zero(half[r][i].size());
      for (std::size_t j = 0; j < run.clients; ++j) sum += run.schedule.at("W").at(r).at(i).at(j).get<double>() * half[r][j];
      const auto noise = run.numbers.choices[i].noise.find(r);
      if (noise != run.numbers.choices[i].noise.end()) {
        if (noise->second.size() != run.numbers.start[i].size())
          throw std::invalid_argument("the noise is not of the size of a model");
        sum += to_vector(noise->second);
      }
      x[r + 1][i] += xi * (sum - half[r][i]);
    }
  }
  return by_formula({{"x", to_json(x)}, {"half", to_json(half)}});
}

}  // namespace

Json answer_async_dsgd(const Json& golden_case) {
  RoundsCase run(golden_case, "async_dsgd");
  read_arrivals(run);
  auto jobs = jobs_of(run);
  if (!jobs) return answer_by_table(run);
  const Json& weights = run.schedule.at("W");
  run.merge_by(weights);
  run.use_links(weights);
  run.timing->board.jobs = std::move(*jobs);
  run.perform();
  return {{"x", run.vectors("x")}, {"half", run.vectors("half", 1)}};
}

}  // namespace rubato::golden
