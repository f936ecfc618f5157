// Golden cases of algorithms with a centre, with tokens and with exchanges of a star.
#include <algorithm>

#include "app/golden/options.hpp"
#include "app/golden/rounds.hpp"

namespace rubato::golden {

namespace {

// The centre's vector after every round, from the opening on.
Json of_centre(const RoundsCase& run, const std::string& name) {
  Json all = run.vectors(name);
  for (Json& round : all) round = Json(round.at(0));
  return all;
}

void select(RoundsCase& run) {
  const Json* selected = given(run.schedule, "selected");
  if (!selected) return;
  for (const Json& round : *selected) {
    run.timing->server.selected.emplace_back();
    for (const Json& client : round) run.timing->server.selected.back().push_back(ClientId{number_below(run.clients, client)});
    std::sort(run.timing->server.selected.back().begin(), run.timing->server.selected.back().end());
  }
}

// The batches of a client follow each other in the rounds in which it takes part.
void read_selected_batches(RoundsCase& run) {
  const Json* batches = given(run.schedule, "batch");
  if (!batches) return;
  const auto& selected = run.timing->server.selected;
  for (std::size_t k = 0; k < batches->size(); ++k)
    for (std::uint32_t i = 0; i < run.clients; ++i) {
      const bool takes_part = k >= selected.size() || std::binary_search(selected[k].begin(), selected[k].end(), ClientId{i});
      const Json& of_client = batches->at(k).at(i);
      if (!takes_part || of_client.is_null()) continue;
      const bool is_nested = !of_client.empty() && of_client.at(0).is_array();
      if (!is_nested) run.numbers.choices[i].batches.push_back(of_client.get<Rows>());
      for (const Json& batch : is_nested ? of_client : Json::array()) run.numbers.choices[i].batches.push_back(batch.get<Rows>());
    }
  constexpr std::size_t some = 256;  // full batches, should more rounds be run than the case has
  for (ChoiceTable& choices : run.numbers.choices)
    if (!choices.batches.empty()) choices.batches.resize(choices.batches.size() + some);
}

// Weights of the clients as the case gives them, as if they were counts of samples.
struct ServerRun : RoundsCase {
  ServerRun(const Json& golden_case, const std::string& algorithm) : RoundsCase(golden_case, algorithm, ProtocolKind::server) {
    select(*this);
    read_selected_batches(*this);
    for (const char* name : {"weights", "p"})
      if (const Json* weights = given(params, name); weights && weights->is_array())
        numbers.options.set("weights", weights->get<std::vector<double>>());
    perform();
  }
};

}  // namespace

Json answer_fedavg(const Json& golden_case) { return {{"x", of_centre(ServerRun(golden_case, "fedavg"), "x")}}; }
Json answer_centralised(const Json& golden_case) { return {{"x", of_centre(ServerRun(golden_case, "centralised"), "x")}}; }
Json answer_fedmid(const Json& golden_case) { return {{"x", of_centre(ServerRun(golden_case, "fedmid"), "x")}}; }

namespace {

// A local problem that nothing is said about is solved.
Json with_local_solver(Json golden_case) {
  Json& params = golden_case.at("params");
  if (!given(params, "local") && !given(params, "local_steps") && !given(params, "local_lr")) params["local"] = "exact";
  return golden_case;
}

}  // namespace

Json answer_feddr(const Json& golden_case) {
  const ServerRun run(with_local_solver(golden_case), "feddr");
  return {{"xbar", of_centre(run, "xbar")}, {"x", run.vectors("x")}, {"y", run.vectors("y")}};
}

Json answer_fedadmm(const Json& golden_case) {
  const ServerRun run(with_local_solver(golden_case), "fedadmm");
  return {{"xbar", of_centre(run, "xbar")}, {"x", run.vectors("x")}, {"z", run.vectors("z")}};
}

Json answer_swarm(const Json& golden_case) {
  RoundsCase run(golden_case, "swarm", ProtocolKind::server);
  Json messages = Json::array();
  if (const Json* leaders = given(run.schedule, "leader"))
    for (const Json& leader : *leaders) {
      const std::uint32_t centre = number_below(run.clients, leader);
      run.timing->gather.settings.leaders.push_back(ClientId{centre});
    }
  if (const Json* weights = given(run.params, "p"); weights && weights->is_array())
    run.numbers.options.set("weights", weights->get<std::vector<double>>());
  run.read_batches();
  run.perform();
  for (const auto& round : run.ends.messages()) messages.push_back(round);
  return {{"x", run.vectors("x")}, {"messages", messages}};
}

// What everybody would be tested with: the global model after some steps of their own. The centre has that model at the
// end of a round, the others when it is handed out in the next: so one round more is run.
Json answer_fedavg_plus(Json golden_case) {
  const std::size_t rounds = number_below(most_rounds, golden_case.at("params").at("rounds"));
  golden_case["params"]["rounds"] = rounds + 1;
  if (golden_case["params"].value("ft_steps", 1) == 0) {  // no step is one that moves nothing
    golden_case["params"]["ft_steps"] = 1;
    golden_case["params"]["ft_lr"] = 0;
  }
  const ServerRun run(golden_case, "fedavg_plus");
  Json personal = Json::array();
  for (std::size_t r = 0; r < rounds; ++r) {
    personal.push_back(Json::array());
    for (std::size_t i = 0; i < run.clients; ++i)
      personal.back().push_back(run.ends.at(run.table, i == 0 ? r + 1 : r + 2, i).at("snapshot"));
  }
  Json x = of_centre(run, "x");
  x.erase(x.size() - 1);
  return {{"x", x}, {"personal", personal}};
}

namespace {

constexpr std::size_t most_streams = 1000;

// The steps of a case with tokens, and who holds which token meanwhile.
class Walk {
 public:
  Walk(std::size_t clients, std::size_t streams) : computed_(clients), sent_(clients), holders_(streams, no_client) {}

  void compute(std::uint32_t client) {
    Step step{.kind = StepKind::compute, .client = ClientId{client}, .entries = {}};
    step.index = computed_[client]++;
    steps.push_back({step});
  }
  void visit(std::size_t stream, std::uint32_t node) {
    const ClientId here{node}, from = holders_[stream];
    Step merge{.kind = StepKind::merge, .phase = static_cast<std::uint8_t>(stream), .client = here, .entries = {}};
    if (from == no_client || from == here) {
      steps.push_back({merge});
    } else {
      const Sequence sequence = sent_[from.value]++;
      Step publish = merge;
      publish.kind = StepKind::publish;
      publish.client = from;
      publish.index = sequence;
      steps.push_back({publish, {{.peer = here, .sequence = sequence}}});
      steps.push_back({merge, {{.peer = from, .sequence = sequence}}});
    }
    holders_[stream] = here;
  }
  void look(std::uint64_t number) {
    for (std::uint32_t i = 0; i < computed_.size(); ++i) {
      Step step{.client = ClientId{i}, .index = number, .entries = {}};
      steps.push_back({step, {}, true});
    }
    at_look.push_back(holders_);
  }

  std::vector<ListedStep> steps;
  std::vector<std::vector<ClientId>> at_look;  // [look][stream]; nobody before the first visit

 private:
  std::vector<std::uint64_t> computed_;
  std::vector<Sequence> sent_;
  std::vector<ClientId> holders_;
};

}  // namespace

Json answer_digest(const Json& golden_case) {
  RoundsCase run(golden_case, "digest", ProtocolKind::token);
  run.read_batches();
  const std::size_t streams = number_below(most_streams, run.params.at("streams"));
  Walk walk(run.clients, streams);
  walk.look(0);
  for (std::size_t k = 0; k < run.rounds; ++k) {
    for (std::uint32_t i = 0; i < run.clients; ++i)
      for (std::uint32_t s = number_below(most_rounds, run.schedule.at("steps").at(k).at(i)); s > 0; --s) walk.compute(i);
    for (const Json& visit : run.schedule.at("visits").at(k))
      walk.visit(number_below(streams, visit.at(0)), number_below(run.clients, visit.at(1)));
    walk.look(k + 1);
  }
  ProbeTable table;
  perform_list(walk.steps, run.timing->graph, run.numbers, table);
  Json x = Json::array(), global = Json::array();
  for (std::size_t k = 0; k <= run.rounds; ++k) {
    x.push_back(Json::array());
    global.push_back(Json::array());
    for (std::uint32_t i = 0; i < run.clients; ++i) x.back().push_back(table.at(k, ClientId{i}).at("x"));
    for (std::size_t s = 0; s < streams; ++s) {
      const ClientId holder = walk.at_look[k][s] == no_client ? ClientId{0} : walk.at_look[k][s];
      global.back().push_back(table.at(k, holder).at("global" + std::to_string(s)));
    }
  }
  return {{"x", x}, {"global", global}};
}

namespace {

Json by_peer(const std::vector<double>& all, const Json& peers) {
  Json some = Json::object();
  for (const Json& peer : peers) some[peer.dump()] = all.at(peer.get<std::size_t>());
  return some;
}

}  // namespace

// Exchange e is between a star and some peers; in the round behind it the star tells everybody what it has become.
Json answer_kdpdfl(const Json& golden_case) {
  RoundsCase run(golden_case, "kdpdfl", ProtocolKind::pull);
  const auto every = run.params.at("T_ex").get<std::size_t>();
  run.timing = std::make_unique<Timing>(run.timing->graph, std::make_unique<IdealChannel>(Duration{1000}), ProtocolKind::rounds);
  run.timing->settings.compute = {TimerLaw::fixed(1, 0)};
  run.timing->settings.transmit = {TimerLaw::off()};
  run.timing->conductor.until = never;
  const Json& stars = run.schedule.at("star");
  ActiveLinks links(run.clients);
  std::vector<std::size_t> exchanges(run.clients);
  for (auto& choices : run.numbers.choices) choices.batches.resize(2 * run.rounds + 2);
  for (const Json& star : stars) {
    const std::uint32_t centre = number_below(run.clients, star.at("i"));
    for (auto& of_sender : links) of_sender.resize(of_sender.size() + 2);
    for (const Json& peer : star.at("nb")) {
      auto& turns = links.at(peer.get<std::size_t>());
      turns[turns.size() - 2].push_back(ClientId{centre});
    }
    for (std::uint32_t i = 0; i < run.clients; ++i)
      if (i != centre) links[centre].back().push_back(ClientId{i});
    if (const Json* batch = given(star, "batch"))
      run.numbers.choices[centre].batches.at(2 * exchanges[centre]++ + 1) = batch->get<Rows>();
  }
  run.timing->settings.links = LinkChoice(std::move(links));
  run.perform();
  Json told = Json::array(), collab = Json::array();
  for (std::size_t e = 0; e < stars.size() && (e + 1) * every <= run.rounds; ++e) {
    const Json& star = stars.at(e);
    const std::size_t round = (e + 1) * every;
    const Vectors& seen = run.ends.at(run.table, round, star.at("i").get<std::size_t>());
    told.push_back({{"round", round},
                    {"star", star.at("i")},
                    {"distance", by_peer(seen.at("distance"), star.at("nb"))},
                    {"grad", by_peer(seen.at("grad"), star.at("nb"))},
                    {"weights", seen.at("collab")},
                    {"confidence", seen.at("confidence").front()},
                    {"model", seen.at("x")}});
  }
  for (std::size_t i = 0; i < run.clients; ++i) collab.push_back(run.ends.at(run.table, run.rounds, i).at("collab"));
  return {{"x", run.vectors("x")}, {"collab", collab}, {"exchanges", told}};
}

}  // namespace rubato::golden
