#include "app/golden/rounds.hpp"

#include <algorithm>
#include <stdexcept>

#include "algos/anq.hpp"
#include "app/golden/events.hpp"

namespace rubato::golden {

Json as_list(const Json& matrices) {
  if (matrices.is_object()) return matrices.at("cycle");
  return matrices.at(0).at(0).is_array() ? matrices : Json::array({matrices});
}

void add_links(const Json& weights, std::size_t clients, std::set<Edge>& links) {
  for (std::uint32_t receiver = 0; receiver < clients; ++receiver)
    for (std::uint32_t sender = 0; sender < clients; ++sender)
      if (receiver != sender && weights.at(receiver).at(sender).get<double>() != 0)
        links.insert({ClientId{sender}, ClientId{receiver}});
}

Graph everyone_linked(std::size_t clients) {
  std::set<Edge> links;
  add_links(Json(clients, Json(clients, 1.0)), clients, links);
  return Graph(clients, true, {links.begin(), links.end()});
}

std::vector<double> link_weights(const Json& matrix, const Graph& graph) {
  std::vector<double> weights;
  for (LinkIndex link = 0; link < graph.links(); ++link) {
    const Edge ends = graph.ends_of(link);
    weights.push_back(matrix.at(ends.target.value).at(ends.source.value).get<double>());
  }
  return weights;
}

namespace {

// A scripted round: half a second of computing, a quarter on the way.
constexpr Duration round_computing = std::chrono::milliseconds(500);
constexpr Duration round_on_the_way = std::chrono::milliseconds(250);

// The links that a case names in any way.
Graph graph_of(const Json& golden_case, const Json& parameters, const Json& schedule, std::size_t clients) {
  std::set<Edge> links;
  if (const Json* declared = given(golden_case, "graph")) {
    const Graph graph = to_graph(*declared);
    for (LinkIndex link = 0; link < graph.links(); ++link) links.insert(graph.ends_of(link));
  }
  for (const Json* named : {&parameters, &schedule})
    for (const char* name : {"Q", "W", "A", "B", "P", "W_cycle", "P_cycle"})
      if (const Json* matrices = given(*named, name); matrices && !matrices->is_number())
        for (const Json& matrix : as_list(*matrices)) add_links(matrix, clients, links);
  if (const Json* selected = given(schedule, "sel"))  // [round][receiver] -> senders
    for (const Json& round : *selected)
      for (std::uint32_t receiver = 0; receiver < clients; ++receiver)
        for (const std::uint32_t sender : numbers_below(clients, round.at(receiver)))
          links.insert({ClientId{sender}, ClientId{receiver}});
  return Graph(clients, true, {links.begin(), links.end()});
}

Json amended(Json parameters, const RoundsKind& kind) {
  if (kind.amend) kind.amend(parameters);
  return parameters;
}

// One batch, or a list of them, of one client in one round; null stands for all samples.
void add_batches(const Json& of_client, std::vector<Rows>& batches) {
  const bool is_nested = of_client.is_array() && !of_client.empty() && of_client.at(0).is_array();
  for (const Json& batch : is_nested ? of_client : Json::array({of_client}))
    batches.push_back(batch.is_null() ? Rows{} : batch.get<Rows>());
}

}  // namespace

CaseKind in_rounds(const char* name, RoundsKind kind) {
  return {name, "sync", [kind = std::move(kind)](const Json& golden_case) {
            RoundsCase run(golden_case, kind);
            kind.prepare ? kind.prepare(run) : run.read_batches();
            run.perform();
            Json answer = Json::object();
            for (const RoundsField& field : kind.fields) answer[field.name] = run.read(field);
            if (kind.finish) kind.finish(run, answer);
            return answer;
          }};
}

void RoundEnds::look(Time at) {
  if (first_probe_.size() > run_.rounds) return;
  first_probe_.push_back(probe(ClientId{0}, at));
  for (std::uint32_t i = 1; i < run_.clients; ++i) probe(ClientId{i}, at);
  if (first_probe_.size() > run_.rounds) stop();
}

// Where a unification follows, the round ends with it.
void RoundEnds::on_round(Time at, std::uint64_t round) {
  const std::uint64_t unify_every = run_.timing->board.unify_every;
  if (round == 0 || unify_every == 0 || round % unify_every != 0) look(at);
}

void RoundEnds::on_unify(Time at, std::uint64_t, ClientId) { look(at); }

const Vectors& RoundEnds::at(std::size_t end, std::size_t client) const {
  const auto i = static_cast<std::uint32_t>(client);
  return run_.table.at(first_probe_.at(end) + i, ClientId{i});
}

void RoundEnds::on_transmit(Time, ClientId client, const Step* publish) {
  const std::size_t round = std::max<std::size_t>(first_probe_.size(), 1) - 1;
  if (!publish || round >= run_.rounds) return;
  while (messages_.size() <= round) messages_.push_back(Json::array());
  for (const StepEntry& entry : publish->entries) messages_[round].push_back({client, entry.peer});
}

void RoundEnds::on_window_close(Time, ClientId client, std::span<const Arrival>, std::span<const StepEntry> used) {
  if (closed_windows_++ % run_.clients == 0) accepted_.push_back(Json(run_.clients, Json::array()));
  for (const StepEntry& entry : used) accepted_.back()[client.value].push_back(entry.peer);
}

RoundsCase::RoundsCase(const Json& golden_case, const RoundsKind& kind)
    : parameters(amended(golden_case.at("params"), kind)),
      schedule(golden_case.value("schedule", Json::object())),
      rounds{number_below(most_rounds, parameters.at("rounds"))},
      numbers(golden_case.at("problem"), parameters, kind.algorithm),
      clients{numbers.learners.size()},
      ends{*this} {
  Graph graph = graph_of(golden_case, parameters, schedule, clients);
  const bool is_any = kind.protocol != ProtocolKind::rounds || graph.links() == 0;
  timing = std::make_unique<Timing>(is_any ? everyone_linked(clients) : std::move(graph),
                                    std::make_unique<IdealChannel>(round_on_the_way), kind.protocol);
  timing->settings.compute = {TimerLaw::fixed(to_seconds(round_computing), 0)};
  timing->settings.transmit = {TimerLaw::off()};
  timing->conductor.until = never;
  const auto weights = [&](const char* name) {
    std::vector<std::vector<double>> by_link;
    if (!name) return by_link;
    const std::string cycle = name + std::string("_cycle");
    const Json* matrices = given(parameters, cycle.c_str());
    if (!matrices) matrices = given(parameters, name);
    if (!matrices) matrices = &schedule.at(name);
    for (const Json& matrix : as_list(*matrices)) by_link.push_back(link_weights(matrix, timing->graph));
    return by_link;
  };
  timing->settings.merge_weights = weights(kind.merge);
  timing->settings.share_weights = weights(kind.share);
}

void RoundsCase::perform() {
  Needs needs = numbers.needs();
  needs.weights_by_batch = timing->settings.needs.weights_by_batch;
  timing->settings.needs = needs;
  perform_script(*timing, numbers, ends, table);
}

void RoundsCase::use_links(const Json& matrices) {
  ActiveLinks active(clients);
  const Json list = as_list(matrices);
  for (std::size_t turn = 0; turn < rounds; ++turn)
    for (std::uint32_t sender = 0; sender < clients; ++sender) {
      active[sender].emplace_back();
      for (const ClientId receiver : timing->graph.receivers_of(ClientId{sender}))
        if (is_set(list.at(turn % list.size()).at(receiver.value).at(sender))) active[sender].back().push_back(receiver);
    }
  timing->settings.links = LinkChoice(std::move(active));
}

void RoundsCase::read_batches(const std::function<bool(std::size_t, std::size_t)>& computes) {
  const Json* batches = given(schedule, "batch");
  for (std::size_t k = 0; batches && k < batches->size(); ++k)
    for (std::size_t i = 0; i < clients; ++i)
      if (!computes || computes(k, i)) add_batches(batches->at(k).at(i), numbers.choices[i].batches);
}

Json RoundsCase::read(const RoundsField& field) const {
  return list_of(std::max(rounds + 1, field.first) - field.first, [&](std::size_t k) {
    const auto of_client = [&](std::size_t i) { return in_shape(ends.at(field.first + k, i).at(field.name), field.shape); };
    return field.of_centre ? of_client(0) : list_of(clients, of_client);
  });
}

namespace {

void mix_by_case(Json& parameters) {
  if (!given(parameters, "variant")) parameters["variant"] = "cta";  // without a word it is the original
}

// aux[k][i] of the schedule: what was drawn for the client's message number first + k step.
void read_aux(const char* name, std::size_t first, std::size_t step, RoundsCase& run) {
  const Json* aux = given(run.schedule, name);
  const bool draws_coordinates = run.numbers.options.word("compressor", "") == "rand";
  for (std::size_t k = 0; aux && k < aux->size(); ++k)
    for (std::uint32_t i = 0; i < run.clients; ++i) {
      const Json& drawn = aux->at(k).at(i);
      if (drawn.is_null()) continue;
      ChoiceTable& table = run.numbers.choices[i];
      if (draws_coordinates)
        table.coordinates[{first + k * step, i}] = drawn.get<Rows>();
      else
        table.uniforms[first + k * step] = drawn.get<std::vector<double>>();
    }
}

void read_choco(RoundsCase& run) {
  run.read_batches();
  read_aux("aux", 0, 1, run);
}

void read_beer(RoundsCase& run) {
  run.read_batches();
  read_aux("aux_h", 0, 2, run);
  read_aux("aux_g", 1, 2, run);
}

// Gradients v[k][client], links vhat[k][receiver][sender].
void read_sporadic(RoundsCase& run) {
  run.read_batches();
  if (const Json* links = given(run.schedule, "vhat")) run.use_links(*links);
  if (const Json* with = given(run.schedule, "v")) {
    auto& gradients = run.timing->settings.gradients;
    gradients.resize(run.clients);
    for (const Json& round : *with)
      for (std::size_t i = 0; i < run.clients; ++i) gradients[i].push_back(is_set(round.at(i)));
  }
}

// The negated gradients at the start, of the first mini-batches, which stay the first, plus their mean over all clients,
// whatever the links.
std::vector<Vector<double>> paper_corrections(const RoundsCase& run) {
  run.numbers.require(run.clients);
  std::vector<Vector<double>> corrections;
  Scratch<double> scratch;
  for (std::size_t i = 0; i < run.clients; ++i) {
    const auto& batches = run.numbers.choices[i].batches;
    const Vector<double>& x = run.numbers.start[i];
    Vector<double> gradient(x.size());
    run.numbers.learners[i]->gradient(view(x), batches.empty() ? Rows() : batches.front(), view(gradient), scratch);
    corrections.push_back(-gradient);
  }
  Vector<double> mean = Vector<double>::Zero(corrections.front().size());
  for (const Vector<double>& c : corrections) mean -= c / static_cast<double>(run.clients);
  for (Vector<double>& c : corrections) c += mean;
  return corrections;
}

// c0: "zero", a vector for each client, or "paper", mean gradient - own gradient.
void read_corrections(RoundsCase& run) {
  run.read_batches();
  const Json* start = given(run.parameters, "c0");
  if (!start || *start == "zero") return;
  if (!start->is_array() && *start != "paper") throw std::invalid_argument("c0 is " + start->dump());
  std::vector<double> corrections;
  for (const Vector<double>& c : start->is_array() ? to_start(*start, run.clients) : paper_corrections(run))
    corrections.insert(corrections.end(), c.data(), c.data() + c.size());
  run.numbers.options.set("c0", std::string("zero"));  // not the option's "paper", which hears neighbours alone
  run.numbers.options.set("corrections", std::move(corrections));
}

void count_bits_of_levels(RoundsCase&, Json& answer) {
  std::int64_t bits = 0;
  for (Json& round : answer.at("levels"))
    for (Json& of_client : round)
      for (Json& level : of_client) {
        level = static_cast<std::int32_t>(level.get<double>());
        bits += elias_gamma_bits(zigzag(level.get<std::int32_t>()));
      }
  answer["bits"] = bits;
}

// The links of sel[k][receiver] -> senders in every kappa-th round of the receiver, with the coordinates T.
void read_selected(RoundsCase& run) {
  run.read_batches();
  const std::vector<std::uint32_t> periods = absorb_periods(run.parameters, run.clients);
  const Json& chosen = run.schedule.at("sel");
  ActiveLinks links(run.clients);
  for (std::size_t k = 0; k < chosen.size(); ++k) {
    for (auto& of_sender : links) of_sender.emplace_back();
    for (std::uint32_t i = 0; i < run.clients; ++i)
      for (const Json& sender : k % periods[i] == 0 ? chosen.at(k).at(i) : Json::array()) {
        const std::uint32_t from = number_below(run.clients, sender);
        links[from].back().push_back(ClientId{i});
        run.numbers.choices[from].coordinates[{k, i}] = run.schedule.at("T").at(k).at(i).at(sender.dump()).get<Rows>();
      }
  }
  run.timing->settings.links = LinkChoice(std::move(links));
}

void add_bits(RoundsCase& run, Json& answer) { answer["bits"] = static_cast<std::int64_t>(run.table.paper_bits()); }

// Jobs that follow one another. Where a straggler's work is thrown away every gradient is of its own round: staleness 0
// after a round without one. Where it carries on, the gradient of round r with staleness tau began in round r - tau, right
// after the one before it. Jobs that overlap, and both kinds in one case, are what no protocol has.
JobRule jobs_of(const RoundsCase& run) {
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
  if (!may_carry_on && !may_throw_away)
    throw std::invalid_argument("tau: jobs of a client overlap, or some carry on and others do not");
  jobs.carries_on = may_carry_on;
  return jobs;
}

// Batches of the rounds in which a client is done; noise of all.
void read_jobs(RoundsCase& run) {
  run.timing->board.jobs = jobs_of(run);
  run.read_batches([&](std::size_t r, std::size_t i) { return !run.schedule.at("tau").at(r).at(i).is_null(); });
  if (const Json* noise = given(run.schedule, "noise"))
    for (std::size_t r = 0; r < run.rounds; ++r)
      for (std::size_t i = 0; i < run.clients; ++i) run.numbers.choices[i].noise[r] = noise->at(r).at(i).get<std::vector<double>>();
}

// DRACO: which clients send (tx[round] -> clients), over which links (up[round][receiver][sender]).
void read_draco_rounds(RoundsCase& run) {
  run.read_batches();
  Timing& timing = *run.timing;
  std::vector<std::vector<TableChannel::Turn>> fates(run.clients);
  for (const Json& round : run.schedule.at("up"))
    for (std::uint32_t sender = 0; sender < run.clients; ++sender) {
      TableChannel::Turn& turn = fates[sender].emplace_back();
      for (std::uint32_t receiver = 0; receiver < run.clients; ++receiver)
        if (is_set(round.at(receiver).at(sender))) turn[ClientId{receiver}] = {false, round_on_the_way};
    }
  timing.channel = std::make_unique<TableChannel>(std::move(fates));
  timing.conductor.channel = timing.channel.get();
  for (const Json& round : run.schedule.at("tx")) {
    timing.board.sends.emplace_back(run.clients, false);
    for (const std::uint32_t client : numbers_below(run.clients, round)) timing.board.sends.back()[client] = true;
  }
  set_weights(run.parameters, timing);
  read(run.parameters, "Psi", timing.settings.limits.cap);
  if (read(run.parameters, "P", timing.board.unify_every)) timing.board.refill_every = timing.board.unify_every;
  if (const Json* hubs = given(run.schedule, "hub"); hubs && !hubs->empty()) set_hubs(*hubs, timing);
}

}  // namespace

std::vector<CaseKind> round_kinds() {
  const RoundsField x{"x"};
  return {
      in_rounds("dpsgd", {.algorithm = "dpsgd", .fields = {x}, .merge = "W", .share = "W", .amend = mix_by_case}),
      in_rounds("local_only", {.algorithm = "local_only", .fields = {x}}),
      in_rounds("decefl", {.algorithm = "decefl", .fields = {x}, .merge = "W", .share = "W"}),
      in_rounds("dsgt", {.algorithm = "dsgt", .fields = {x, {"y"}}, .merge = "W", .share = "W"}),
      in_rounds("dfedsam", {.algorithm = "dfedsam", .fields = {x}, .merge = "W", .share = "W"}),
      in_rounds("nids", {.algorithm = "nids", .fields = {x}, .merge = "W", .share = "W"}),
      in_rounds("depositum", {.algorithm = "depositum", .fields = {x, {"y"}, {"nu"}, {"g"}, {"mu"}}, .merge = "W", .share = "W"}),
      in_rounds("kgt",
                {.algorithm = "kgt", .fields = {x, {"c"}, {"z", 1}}, .merge = "W", .share = "W", .prepare = read_corrections}),
      in_rounds("choco", {.algorithm = "choco", .fields = {x, {"xhat"}}, .merge = "W", .prepare = read_choco}),
      in_rounds("beer", {.algorithm = "beer", .fields = {x, {"v"}, {"h"}, {"g"}}, .merge = "W", .prepare = read_beer}),
      in_rounds("anq_nids",
                {.algorithm = "anq_nids", .fields = {x, {"chat", 1}, {"levels", 2}}, .merge = "W", .finish = count_bits_of_levels}),
      in_rounds("pushpull", {.algorithm = "pushpull", .fields = {x, {"y"}}, .merge = "A", .share = "B"}),
      in_rounds("spodgt", {.algorithm = "spodgt",
                           .fields = {x, {"y"}, {"ghat"}, {"y_half", 1}},
                           .merge = "A",
                           .share = "B",
                           .prepare = read_sporadic}),
      in_rounds("sgp", {.algorithm = "sgp", .fields = {x, {"w", 0, Shape::number}, {"z"}}, .share = "P"}),
      in_rounds("pame", {.algorithm = "pame",
                         .fields = {x, {"vbar", 1}, {"sigma", 0, Shape::number}, {"m_i", 1, Shape::whole}},
                         .prepare = read_selected,
                         .finish = add_bits}),
      in_rounds("async_dsgd", {.algorithm = "async_dsgd", .fields = {x, {"half", 1}}, .merge = "W", .prepare = read_jobs}),
      in_rounds("draco_rounds", {.algorithm = "draco",
                                 .fields = {{"theta"}, {"outbox"}},
                                 .prepare = read_draco_rounds,
                                 .finish =
                                     [](RoundsCase& run, Json& answer) {
                                       answer["x"] = std::move(answer["theta"]);
                                       answer.erase("theta");
                                       answer["accepted"] = run.ends.accepted();
                                     }}),
  };
}

}  // namespace rubato::golden
