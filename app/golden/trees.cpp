// Golden cases of trees, and the exact times of worlds whose delays are constant.
#include <algorithm>
#include <set>

#include "app/golden/orders.hpp"
#include "runtime/protocols/tree.hpp"

namespace rubato::golden {

namespace {

// Delays of messages by what they are: points and the word to collect go down to a node, sums and counters up from it.
class TreeChannel final : public Channel {
 public:
  TreeChannel(const TreeBoard& board, const Json& config) : board_{board}, config_(config), carried_(config.at("h").size()) {}

  Fate carry(const LinkUse& use) const override {
    const bool is_control = use.kind == MessageKind::request;
    const char* const table = goes_up(use) ? (is_control ? "up_count" : "up") : (is_control ? "down_control" : "down");
    const std::uint32_t node = goes_up(use) ? use.sender.value : use.receiver.value;
    if (goes_up(use)) carried_[node] = board_.up[node].number;
    const auto delay = OrderDelays::at(config_.at(table).at(node), 0);
    return delay ? Fate{false, *delay} : Fate{.lost = true};
  }

 private:
  // Where points go down by another tree a link may be there for both.
  bool goes_up(const LinkUse& use) const {
    const bool may_go_up = board_.parent[use.sender.value] == use.receiver;
    const bool may_go_down = board_.point_parent[use.receiver.value] == use.sender;
    if (may_go_up && may_go_down) return board_.up[use.sender.value].number != carried_[use.sender.value];
    return may_go_up;
  }

  const TreeBoard& board_;
  const Json config_;
  mutable std::vector<std::uint64_t> carried_;  // by node: the newest message upwards
};

std::vector<ClientId> parents_from(const Json& list) {
  std::vector<ClientId> parents;
  for (const Json& parent : list) parents.push_back(parent.is_null() ? no_client : ClientId{number_below(list.size(), parent)});
  return parents;
}

// Every node but the pivot has a parent.
void require_tree(const std::vector<ClientId>& parents, ClientId pivot) {
  for (std::uint32_t i = 0; i < parents.size(); ++i)
    if ((parents[i] == no_client) != (ClientId{i} == pivot) || parents[i] == ClientId{i})
      throw std::invalid_argument("every node but the pivot has a parent, and it is another node");
}

// `config` has pivot, parent, h, up and down; bc_parent where points have a tree of their own.
std::unique_ptr<Timing> make_tree_timing(const Json& config) {
  const std::vector<ClientId> parent = parents_from(config.at("parent"));
  const std::vector<ClientId> point_parent = config.contains("bc_parent") ? parents_from(config.at("bc_parent")) : parent;
  const ClientId pivot{number_below(parent.size(), config.at("pivot"))};
  for (const auto* parents : {&parent, &point_parent}) require_tree(*parents, pivot);
  if (parent.size() != point_parent.size() || parent.size() != config.at("h").size())
    throw std::invalid_argument("the trees and h are not of the same nodes");
  std::set<Edge> links;
  for (std::uint32_t i = 0; i < parent.size(); ++i) {
    if (parent[i] != no_client) links.insert({{i}, parent[i]});
    if (point_parent.at(i) != no_client) links.insert({point_parent[i], {i}});
  }
  auto timing = std::make_unique<Timing>(Graph(parent.size(), true, {links.begin(), links.end()}), nullptr, ProtocolKind::tree);
  timing->tree.pivot = timing->centre = pivot;
  timing->tree.parent = parent, timing->tree.point_parent = point_parent;
  timing->tree.jobs = jobs_from(config.at("h"));
  timing->channel = std::make_unique<TreeChannel>(timing->tree, config);
  timing->conductor.channel = timing->channel.get();
  timing->settings.compute = timing->settings.transmit = {TimerLaw::off()};
  if (config.contains("t_end")) timing->conductor.until = config.at("t_end").get<Time>();
  return timing;
}

class TreeTrace final : public ModelTrace, public TreeObserver {
 public:
  explicit TreeTrace(ClientId pivot) : ModelTrace(pivot) {}

  void on_point(Time at, ClientId node, std::uint64_t k) override { add(at, "point", node, {{"k", k}}); }
  void on_gradient(Time at, ClientId node, std::uint64_t k, std::uint64_t count, bool used) override {
    ++gradients;
    add(at, "gradient", node, {{"k", k}, {"count", count}, {"used", used}});
  }
  void on_vector(Time at, ClientId node, ClientId child, std::uint64_t k, std::uint64_t count, bool used) override {
    add(at, "vector", node, {{"src", child}, {"k", k}, {"count", count}, {"used", used}});
  }
  void on_counter(Time at, ClientId node, ClientId child, std::uint64_t k, double value, bool used) override {
    add(at, "counter", node, {{"src", child}, {"k", k}, {"value", value}, {"used", used}});
  }
  void on_collect(Time at, ClientId node, std::uint64_t k, std::uint64_t count) override {
    add(at, "collect", node, {{"k", k}, {"count", count}});
  }
  void on_step(Time at, ClientId node, std::uint64_t k, std::uint64_t count) override {
    add(at, "step", node, {{"k", k}, {"count", count}});
    show_model(true);
    steps.push_back(at);
  }
  void on_end(const Conductor& conductor) override {
    const auto node = [&](std::size_t i) -> const Tree& {
      return dynamic_cast<const Tree&>(conductor.protocol({static_cast<std::uint32_t>(i)}));
    };
    last_point = node(owner_.value).point().value_or(0);
    sent = list_of(conductor.clients(), [&](std::size_t i) { return node(i).sent(); });
  }

  std::vector<Time> steps;
  std::uint64_t gradients = 0, last_point = 0;
  Json sent;
};

Json answer_tree(const Json& golden_case, const std::string& algorithm) {
  const Json& config = golden_case.at("config");
  auto timing = make_tree_timing(config);
  ScriptedNumbers numbers(golden_case.at("problem"), config, algorithm);
  timing->settings.needs = numbers.needs();
  TreeTrace trace(timing->tree.pivot);
  timing->tree.watch = &trace;
  ProbeTable table;
  perform_script(*timing, numbers, trace, table);
  trace.complete(table);
  return {
      {"trace", trace.trace},
      {"final", {{"x", trace.last_model(table)}, {"k", trace.last_point}, {"gradients", trace.gradients}, {"sent", trace.sent}}}};
}

// When the model was updated; no model is needed for it.
class OrderTimes final : public OrderObserver {
 public:
  void on_answer(Time at, const AnswerReport& report) override {
    if (report.fate.updates()) times.push_back(at);
  }
  std::vector<Time> times;
};

class StepTimes final : public TreeObserver {
 public:
  void on_step(Time at, ClientId, std::uint64_t, std::uint64_t) override { times.push_back(at); }
  std::vector<Time> times;
};

Needs needs_of(const std::string& method, const Json& row) {
  const CatalogueEntry& entry = catalogue_entry(method);
  return entry.needs(to_options(row, entry.options));
}

void walk(Timing& timing, const Json& row) {
  constexpr std::uint64_t many_steps = 1'000'000;
  timing.conductor.until = row.at("until").get<Time>();
  timing.conductor.samples_last_state = false;
  NoSteps nothing;
  Conductor conductor(timing.conductor, timing.make_protocols(), nothing);
  while (conductor.walk(many_steps)) continue;
}

std::vector<Time> times_of(Json row) {
  const auto method = row.at("method").get<std::string>();
  if (row.contains("pivot")) {
    auto timing = make_tree_timing(row);
    timing->settings.needs = needs_of(method, row);
    StepTimes seen;
    timing->tree.watch = &seen;
    walk(*timing, row);
    return seen.times;
  }
  const std::size_t workers = row.at("h").size();
  for (const char* name : {"h", "down", "up"}) row[name].push_back(0);  // of the centre, which does not work
  row["m"] = workers + 1, row["centre"] = workers, row["work"] = row.at("h");
  auto timing = make_order_timing(row);
  timing->settings.needs = needs_of(method, order_parameters(method, row));
  OrderTimes seen;
  timing->server.watch = &seen;
  walk(*timing, row);
  return seen.times;
}

Json answer_times(const Json& golden_case) {
  return {{"times", list_from(golden_case.at("rows"), [](const Json& row) {
             std::vector<Time> times = times_of(row);
             times.resize(std::min<std::size_t>(times.size(), row.at("count").get<std::size_t>()));
             return Json(times);
           })}};
}

}  // namespace

std::vector<CaseKind> tree_kinds() {
  std::vector<CaseKind> kinds;
  for (const char* name : {"minibatch_tree", "fragile", "amelie"})
    kinds.push_back({name, "events", [name](const Json& golden_case) { return answer_tree(golden_case, name); }});
  kinds.push_back({"exact_times", "", answer_times});
  return kinds;
}

}  // namespace rubato::golden
