// rubato bound: lower and upper bounds on the seconds until a gradient is small, in the world of an experiment.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iostream>

#include "app/commands.hpp"
#include "experiment/build/world_seconds.hpp"
#include "experiment/file/resolve.hpp"
#include "results/result_text.hpp"
#include "runtime/world/bounds.hpp"

namespace rubato::app {

namespace {

constexpr std::size_t most_clients_with_links = 2000;  // the fastest ways between all clients are a matrix

ResultJson tree_json(const TreeSettings& settings) {
  return {{"S", settings.gradients}, {"gamma", finite(settings.step)}, {"K", settings.steps}};
}

ResultJson bounds_json(const Timing& timing, const StationarityGoal& goal) {
  const std::vector<double> h = gradient_seconds(timing);
  const ServerBounds server = server_bounds(h, goal);
  ResultJson seconds{{"single", finite(server.single)},   {"minibatch", finite(server.minibatch)},
                     {"m_sync", finite(server.m_sync)},   {"asgd", finite(server.asgd)},
                     {"rennala", finite(server.rennala)}, {"malenia", finite(server.malenia)}};
  ResultJson answer{
      {"clients", h.size()},
      {"gradient_seconds", {{"least", finite(*std::ranges::min_element(h))}, {"most", finite(*std::ranges::max_element(h))}}}};
  const auto links = h.size() <= most_clients_with_links ? link_seconds(timing) : std::nullopt;
  if (links) {
    const auto travel = travel_seconds(timing.graph, *links);
    double farthest = 0;
    for (const auto& row : travel) farthest = std::max(farthest, *std::ranges::max_element(row));
    const LinkBounds bounds = link_bounds(h, travel, goal);
    answer["farthest_seconds"] = finite(farthest);
    answer["pivot"] = bounds.pivot.value;
    seconds["lower_homogeneous"] = finite(bounds.lower_homogeneous);
    seconds["fragile"] = finite(bounds.fragile);
    seconds["minibatch_links"] = finite(bounds.minibatch);
    seconds["amelie"] = finite(bounds.amelie);
  }
  const RingmasterSettings ringmaster = ringmaster_settings(goal);
  answer["goal"] = {{"L", goal.smoothness}, {"Delta", goal.gap}, {"eps", goal.accuracy}, {"sigma2", goal.noise}};
  answer["seconds"] = seconds;
  answer["settings"] = {
      {"ringmaster", {{"R", ringmaster.largest_delay}, {"gamma", finite(ringmaster.step)}, {"K", ringmaster.steps}}},
      {"fragile", tree_json(fragile_settings(goal))},
      {"amelie", tree_json(amelie_settings(goal, h.size()))}};
  return answer;
}

const char* meaning_of_bound(std::string_view name) {
  static constexpr std::pair<std::string_view, const char*> meanings[] = {
      {"single", "the fastest client alone"},
      {"minibatch", "every step waits for all clients"},
      {"m_sync", "every step waits for the best number of fastest clients"},
      {"asgd", "asynchronous SGD with steps that follow the delay"},
      {"rennala", "lower bound, equal data; Rennala and Ringmaster come to it"},
      {"malenia", "lower bound, unlike data; Malenia and Ringleader come to it"},
      {"lower_homogeneous", "lower bound over these links, equal data"},
      {"fragile", "Fragile at the best pivot"},
      {"minibatch_links", "every step goes once through the whole graph"},
      {"amelie", "lower bound over these links, unlike data; Amelie comes to it"}};
  return std::ranges::find(meanings, name, &std::pair<std::string_view, const char*>::first)->second;
}

std::string bound_text(const ResultJson& value) { return value.is_null() ? "never" : fmt::format("{:.6g}", value.get<double>()); }

void print_bounds(const ResultJson& answer) {
  const ResultJson& h = answer.at("gradient_seconds");
  std::cout << fmt::format("{} clients; a gradient takes {} to {} s", answer.at("clients").get<std::size_t>(),
                           bound_text(h.at("least")), bound_text(h.at("most")));
  if (answer.contains("pivot"))
    std::cout << fmt::format("; the farthest two are {} s apart; the best pivot is client {}",
                             bound_text(answer.at("farthest_seconds")), answer.at("pivot").get<std::uint32_t>());
  else
    std::cout << "; links have no time of their own here, or there are too many: bounds over links are left out";
  const ResultJson& goal = answer.at("goal");
  std::cout << fmt::format("\nuntil E |grad F|^2 <= {:g}, with L = {:g}, Delta = {:g}, sigma^2 = {:g}; constants are 1\n\n",
                           goal.at("eps").get<double>(), goal.at("L").get<double>(), goal.at("Delta").get<double>(),
                           goal.at("sigma2").get<double>());
  for (const auto& [name, seconds] : answer.at("seconds").items())
    std::cout << fmt::format("  {:<18} {:>12} s  {}\n", name, bound_text(seconds), meaning_of_bound(name));
  std::cout << "\nsettings of the theorems\n";
  for (const auto& [name, settings] : answer.at("settings").items()) {
    std::cout << fmt::format("  {:<18}", name);
    for (const auto& [key, value] : settings.items()) std::cout << fmt::format(" {} = {}", key, bound_text(value));
    std::cout << "\n";
  }
}

void require_positive(const char* option, double value, bool may_be_zero) {
  if (std::isfinite(value) && (value > 0 || (may_be_zero && value == 0))) return;
  throw std::invalid_argument(fmt::format("{} {:g}: must be {}", option, value, may_be_zero ? "at least 0" : "greater than 0"));
}

}  // namespace

int bound(const BoundArguments& arguments) {
  require_positive("--eps", arguments.accuracy, false);
  require_positive("--smoothness", arguments.smoothness, false);
  require_positive("--gap", arguments.gap, true);
  require_positive("--variance", arguments.noise, true);
  const ResolvedExperiment resolved = resolve(arguments.file, arguments.set, std::cerr);
  const ResultJson answer =
      bounds_json(*resolved.timing, {arguments.smoothness, arguments.gap, arguments.accuracy, arguments.noise});
  if (arguments.json)
    std::cout << answer.dump(2) << "\n";
  else
    print_bounds(answer);
  std::cout << std::flush;
  return ok;
}

}  // namespace rubato::app
