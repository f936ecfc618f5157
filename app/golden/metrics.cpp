// The golden case of metrics: scores, distances, delays, bits and stationarity, from the functions that runs use.
#include "learning/metrics.hpp"
#include "algos/pme.hpp"
#include "algos/stationarity.hpp"
#include "app/golden/cases.hpp"
#include "app/golden/script.hpp"
#include "runtime/payload.hpp"
#include "runtime/protocols/rounds.hpp"

namespace rubato::golden {

namespace {

void add_scores(const Json& golden_case, Json& answer) {
  const std::uint32_t classes = number_below(most_classes, golden_case.at("classes"));
  const auto labels = numbers_below(classes, golden_case.at("labels"));
  const auto predictions = numbers_below(classes, golden_case.at("predictions"));
  Score score = empty_score(classes);
  for (std::size_t i = 0; i < labels.size(); ++i) score.count(labels[i], predictions.at(i));
  answer["accuracy"] = score.accuracy();
  answer["macro_f1"] = score.macro_f1();
  answer["f1_per_class"] = score.f1_per_class();
  const auto accuracies = golden_case.at("client_accuracy").get<std::vector<double>>();
  answer["mean_accuracy"] = mean(accuracies);
  answer["std_accuracy_population"] = population_deviation(accuracies);
}

// What an iteration pays in which v and vhat say which clients computed and which links were up, with the chances p and phat.
void add_delays(const Json& golden_case, Json& answer) {
  const Graph graph = to_graph(golden_case.at("graph"));
  double in = 0, out = 0, computing = 0;
  for (std::uint32_t i = 0; i < graph.clients(); ++i)
    if (is_set(golden_case.at("v").at(i))) computing += computing_delay(golden_case.at("p").at(i), graph.clients());
  for (LinkIndex link = 0; link < graph.links(); ++link) {
    const Edge ends = graph.ends_of(link);
    if (!is_set(golden_case.at("vhat").at(ends.target.value).at(ends.source.value))) continue;
    const LinkDelay delay = link_delay(graph, ends, golden_case.at("phat").at(ends.target.value).at(ends.source.value));
    in += delay.in;
    out += delay.out;
  }
  answer["tau_in"] = in;
  answer["tau_out"] = out;
  answer["tau_proc"] = computing;
  answer["tau_total"] = in + out + computing;
}

void add_bits(const Json& golden_case, Json& answer) {
  answer["pame_bits"] = list_from(golden_case.at("pame_messages"), [](const Json& message) {
    return static_cast<std::int64_t>(pme_message_bits(message.at("n").get<Index>(), message.at("s").get<Index>(), 64));
  });
  TensorPool pool;
  Payload dense;
  dense.common[0] = copy_of<double>(view(Vector<double>(Vector<double>::Zero(1000))), pool);
  answer["dense_bits_1000"] = static_cast<std::int64_t>(dense.message_paper_bits());
}

ConsensusSum consensus_of(const std::vector<Vector<double>>& models) {
  ConsensusSum sum;
  for (const Vector<double>& model : models) sum.add(view(model));
  return sum;
}

// The parameters of a penalty are those that the case gives under its name; where it names it alone, the ones that the
// numbers of such cases have.
Penalty penalty_named(const std::string& name, const Json& golden_case) {
  Json penalty{{"type", name}, {"lam", 0.3}, {"theta", 4.0}};
  for (const char* list : {"penalties", "h"})
    if (golden_case.contains(list) && golden_case.at(list).contains(name)) penalty.update(golden_case.at(list).at(name));
  return Penalty(to_options({{"h", penalty}}, penalty_options));
}

Json stationarity_of(const Json& golden_case, const std::vector<Vector<double>>& models, const Penalty& penalty) {
  const auto learners = to_learners(golden_case.at("problem"));
  const auto tracker = golden_case.at("nubar").get<Vector<double>>();
  Scratch<double> scratch;
  const auto gradient = [&](std::size_t client, const Vector<double>& x) {
    Vector<double> g(x.size());
    learners.at(client)->gradient(view(x), {}, view(g), scratch);
    return g;
  };
  StationaritySum sum;
  for (std::size_t i = 0; i < models.size(); ++i) {
    const Vector<double>& x = models[i];
    if (x.size() != learners.at(0)->dimension() || x.size() != tracker.size())
      throw std::invalid_argument("a model or nubar is not of the size of the problem");
    Vector<double> of_all = Vector<double>::Zero(x.size());
    for (std::size_t k = 0; k < learners.size(); ++k) of_all += gradient(k, x);
    of_all /= static_cast<double>(learners.size());
    sum.add(squared_prox_gradient(penalty, golden_case.at("alpha").get<double>(), view(x), of_all), gradient(i, x), tracker);
  }
  const Stationarity result = sum.finish(consensus_of(models).squared_sum(), golden_case.at("L").get<double>());
  return {{"prox_grad_sq", result.prox_gradient},
          {"consensus_sq", result.consensus},
          {"grad_est_sq", result.tracking},
          {"s_over_m", result.per_client}};
}

Json answer_metrics(const Json& golden_case) {
  Json answer = Json::object();
  add_scores(golden_case, answer);
  const auto models = golden_case.at("models").get<std::vector<Vector<double>>>();
  const ConsensusSum consensus = consensus_of(models);
  answer["consensus_sq_sum"] = consensus.squared_sum();
  answer["consensus_mean_sq"] = consensus.squared_mean();
  add_delays(golden_case, answer);
  add_bits(golden_case, answer);
  for (const auto& [name, golden] : golden_case.at("expect").at("stationarity").items())
    answer["stationarity"][name] = stationarity_of(golden_case, models, penalty_named(name, golden_case));
  return answer;
}

}  // namespace

std::vector<CaseKind> metrics_kinds() { return {{"metrics", "", answer_metrics}}; }

}  // namespace rubato::golden
