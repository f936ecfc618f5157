// Golden cases of algorithms with a centre, with tokens and with exchanges of a star.
#include <algorithm>

#include "app/golden/rounds.hpp"

namespace rubato::golden {

namespace {

// Weights of the clients as the case gives them, as if they were counts of samples.
void read_client_weights(RoundsCase& run) {
  for (const char* name : {"weights", "p"})
    if (const Json* weights = given(run.parameters, name); weights && weights->is_array())
      run.numbers.options.set("weights", weights->get<std::vector<double>>());
}

}  // namespace

void read_served(RoundsCase& run) {
  auto& selected = run.timing->server.selected;
  if (const Json* rounds = given(run.schedule, "selected"))
    for (const Json& of_round : *rounds) std::ranges::sort(selected.emplace_back(clients_below(run.clients, of_round)));
  run.read_batches([&](std::size_t k, std::size_t i) {
    return k >= selected.size() || std::ranges::binary_search(selected[k], ClientId{static_cast<std::uint32_t>(i)});
  });
  constexpr std::size_t some = 1024;  // full batches, should more rounds be run than the case has, or one be cut short
  for (ChoiceTable& choices : run.numbers.choices)
    if (!choices.batches.empty()) choices.batches.resize(2 * choices.batches.size() + some);
  read_client_weights(run);
}

namespace {

// A local problem that nothing is said about is solved.
void solve_exactly(Json& parameters) {
  if (!given(parameters, "local") && !given(parameters, "local_steps") && !given(parameters, "local_lr"))
    parameters["local"] = "exact";
}

void read_leaders(RoundsCase& run) {
  if (const Json* leaders = given(run.schedule, "leader"))
    run.timing->gather.settings.leaders = clients_below(run.clients, *leaders);
  read_client_weights(run);
  run.read_batches();
}

// What all clients would be tested with: the global model after some steps of their own. The centre has that model at
// the end of a round, the others when it is handed out in the next: so one round more is run.
void add_round(Json& parameters) {
  parameters["rounds"] = number_below(most_rounds, parameters.at("rounds")) + 1;
  if (parameters.value("ft_steps", 1) != 0) return;
  parameters["ft_steps"] = 1;  // no step is one that moves nothing
  parameters["ft_lr"] = 1e-300;
}

void add_personal(RoundsCase& run, Json& answer) {
  answer["x"].erase(run.rounds);
  answer["personal"] = list_of(run.rounds - 1, [&](std::size_t r) {
    return list_of(run.clients, [&](std::size_t i) { return run.ends.at(i == 0 ? r + 1 : r + 2, i).at("snapshot"); });
  });
}

constexpr std::size_t most_streams = 1000;

// Plays the steps of a case with tokens, and knows which client holds which token meanwhile.
class Walk {
 public:
  Walk(std::size_t clients, std::size_t streams, StepSink& sink)
      : sink_{sink}, computed_(clients), sent_(clients), holders_(streams, no_client) {}

  void compute(std::uint32_t client) {
    sink_.perform({.kind = StepKind::compute, .client = ClientId{client}, .index = computed_[client]++, .entries = {}});
  }
  void visit(std::size_t stream, std::uint32_t node) {
    const ClientId here{node}, from = std::exchange(holders_[stream], here);
    Step step{.kind = StepKind::merge, .phase = static_cast<std::uint8_t>(stream), .client = here, .entries = {}};
    if (from == no_client || from == here) return sink_.perform(step);
    StepEntry entry{.peer = here, .sequence = sent_[from.value]++, .slot = sink_.open_slot(1)};
    step.entries = {&entry, 1};
    Step publish = step;
    publish.kind = StepKind::publish;
    publish.client = from;
    publish.index = entry.sequence;
    sink_.perform(publish);
    entry.peer = from;
    sink_.perform(step);
  }
  void look(std::uint64_t number) {
    for (std::uint32_t i = 0; i < computed_.size(); ++i)
      sink_.perform({.kind = StepKind::measure, .client = ClientId{i}, .index = number, .entries = {}});
  }
  /// [stream]; no client before the first visit.
  const std::vector<ClientId>& holders() const { return holders_; }

 private:
  StepSink& sink_;
  std::vector<std::uint64_t> computed_;
  std::vector<Sequence> sent_;
  std::vector<ClientId> holders_;
};

Json answer_digest(const Json& golden_case) {
  RoundsCase run(golden_case, {.algorithm = "digest", .fields = {}, .protocol = ProtocolKind::token});
  run.read_batches();
  const std::size_t streams = number_below(most_streams, run.parameters.at("streams"));
  std::vector<std::vector<ClientId>> holders;  // at the end of each round
  const auto play = [&](StepSink& sink) {
    Walk walk(run.clients, streams, sink);
    for (std::size_t k = 0; k <= run.rounds; ++k) {
      walk.look(k);
      holders.push_back(walk.holders());
      if (k == run.rounds) break;
      for (std::uint32_t i = 0; i < run.clients; ++i)
        for (std::uint32_t s = number_below(most_rounds, run.schedule.at("steps").at(k).at(i)); s > 0; --s) walk.compute(i);
      for (const Json& visit : run.schedule.at("visits").at(k))
        walk.visit(number_below(streams, visit.at(0)), number_below(run.clients, visit.at(1)));
    }
  };
  perform_steps(play, run.timing->graph, run.numbers, run.table);
  const auto at = [&](std::size_t k, ClientId client) { return run.table.at(k, client == no_client ? ClientId{0} : client); };
  return {{"x", list_of(run.rounds + 1,
                        [&](std::size_t k) {
                          return list_of(run.clients,
                                         [&](std::size_t i) { return at(k, {static_cast<std::uint32_t>(i)}).at("x"); });
                        })},
          {"global", list_of(run.rounds + 1, [&](std::size_t k) {
             return list_of(streams, [&](std::size_t s) { return at(k, holders[k][s]).at("global" + std::to_string(s)); });
           })}};
}

// A case that says nothing of footprints mixes those of the exchange.
void mix_fresh(Json& parameters) {
  if (!given(parameters, "footprints")) parameters["footprints"] = "fresh";
}

// Exchange e is between a star and some peers; in the round behind it the star tells those what it has become.
void read_stars(RoundsCase& run) {
  ActiveLinks links(run.clients);
  std::vector<std::size_t> exchanges(run.clients);
  for (auto& choices : run.numbers.choices) choices.batches.resize(2 * run.rounds + 2);
  for (const Json& star : run.schedule.at("star")) {
    const std::uint32_t centre = number_below(run.clients, star.at("i"));
    for (auto& of_sender : links) of_sender.resize(of_sender.size() + 2);
    for (const std::uint32_t peer : numbers_below(run.clients, star.at("nb"))) {
      (links[peer].end() - 2)->push_back(ClientId{centre});
      links[centre].back().push_back(ClientId{peer});
    }
    read(star, "batch", run.numbers.choices[centre].batches.at(2 * exchanges[centre] + 1));
    exchanges[centre] += given(star, "batch") != nullptr;
  }
  run.timing->settings.links = LinkChoice(std::move(links));
}

void add_exchanges(RoundsCase& run, Json& answer) {
  const auto every = run.parameters.at("T_ex").get<std::size_t>();
  const Json& stars = run.schedule.at("star");
  answer["collab"] = list_of(run.clients, [&](std::size_t i) { return run.ends.at(run.rounds, i).at("collab"); });
  answer["exchanges"] = list_of(std::min(stars.size(), run.rounds / every), [&](std::size_t e) -> Json {
    const Json& star = stars.at(e);
    const std::size_t round = (e + 1) * every;
    const Vectors& seen = run.ends.at(round, star.at("i").get<std::size_t>());
    const auto by_peer = [&](const char* name) {
      Json some = Json::object();
      for (const std::uint32_t peer : numbers_below(run.clients, star.at("nb"))) some[std::to_string(peer)] = seen.at(name)[peer];
      return some;
    };
    return {
        {"round", round},          {"star", star.at("i")},         {"distance", by_peer("distance")},
        {"grad", by_peer("grad")}, {"weights", seen.at("collab")}, {"confidence", in_shape(seen.at("confidence"), Shape::number)},
        {"model", seen.at("x")}};
  });
}

}  // namespace

std::vector<CaseKind> server_kinds() {
  const auto served = [](const char* name, std::vector<RoundsField> fields, auto amend, auto finish) {
    return in_rounds(name, {.algorithm = name,
                            .fields = std::move(fields),
                            .protocol = ProtocolKind::server,
                            .amend = amend,
                            .prepare = read_served,
                            .finish = finish});
  };
  const RoundsField x{"x"}, x_of_centre{.name = "x", .of_centre = true}, mean{.name = "xbar", .of_centre = true};
  return {served("fedavg", {x_of_centre}, nullptr, nullptr),
          served("centralised", {x_of_centre}, nullptr, nullptr),
          served("fedmid", {x_of_centre}, nullptr, nullptr),
          served("feddr", {mean, x, {"y"}}, solve_exactly, nullptr),
          served("fedadmm", {mean, x, {"z"}}, solve_exactly, nullptr),
          served("fedavg_plus", {x_of_centre}, add_round, add_personal),
          in_rounds("swarm", {.algorithm = "swarm",
                              .fields = {x},
                              .protocol = ProtocolKind::server,
                              .prepare = read_leaders,
                              .finish = [](RoundsCase& run, Json& answer) { answer["messages"] = run.ends.messages(); }}),
          in_rounds("kdpdfl",
                    {.algorithm = "kdpdfl", .fields = {x}, .amend = mix_fresh, .prepare = read_stars, .finish = add_exchanges}),
          {"digest", "sync", answer_digest}};
}

}  // namespace rubato::golden
