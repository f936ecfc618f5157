#include "results/came_to.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace rubato {

namespace {

double median_of(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

std::vector<double> of_all(const RunResult& result, std::uint64_t MessageCounts::*count) {
  std::vector<double> values;
  for (const MessageCounts& counts : result.by_client) values.push_back(static_cast<double>(counts.*count));
  return values;
}

// Of each client the share of its rows that are of its most frequent class; 0 without rows.
std::vector<double> largest_class(const RunResult& result) {
  std::vector<double> most(result.clients, 0), all(result.clients, 0);
  for (const ClassCount& count : result.class_counts) {
    most.at(count.client.value) = std::max<double>(most.at(count.client.value), count.rows);
    all.at(count.client.value) += count.rows;
  }
  for (std::size_t i = 0; i < all.size(); ++i) most[i] = all[i] > 0 ? most[i] / all[i] : 0;
  return most;
}

ResultJson worst_client(const RunResult& result, const Curve& curve) {
  const double number = curve.empty() ? not_known : curve.back()[*find_sample_column("accuracy_min_client")];
  if (!(number >= 0 && number < static_cast<double>(result.by_client.size()))) return nullptr;
  const auto client = static_cast<std::size_t>(number);
  ResultJson json = {{"client", client}, {"accuracy", finite(curve.back()["accuracy_min"])}};
  const auto set_beside = [&](const char* name, const std::vector<double>& values) {
    if (values.size() == result.by_client.size())
      json[name] = {{"own", finite(values[client])}, {"median", finite(median_of(values))}};
  };
  set_beside("training_samples", {result.samples_by_client.begin(), result.samples_by_client.end()});
  if (!result.class_counts.empty()) set_beside("largest_class", largest_class(result));
  set_beside("computations", of_all(result, &MessageCounts::computations));
  set_beside("kept", of_all(result, &MessageCounts::kept));
  return json;
}

// Whose messages were lost on their way least and most, as shares of what they sent.
ResultJson lost_by_sender(const RunResult& result) {
  std::vector<std::pair<double, std::uint32_t>> shares;
  for (std::uint32_t i = 0; i < result.by_client.size(); ++i) {
    const MessageCounts& counts = result.by_client[i];
    if (counts.sent > 0) shares.emplace_back(static_cast<double>(counts.lost + counts.apart) / static_cast<double>(counts.sent), i);
  }
  if (shares.empty()) return nullptr;
  const auto [least, most] = std::ranges::minmax(shares);
  return {{"least", {{"client", least.second}, {"share", least.first}}},
          {"most", {{"client", most.second}, {"share", most.first}}}};
}

// The client that most messages came for while it was away.
ResultJson most_away(const RunResult& result) {
  const auto most = std::ranges::max_element(result.by_client, {}, &MessageCounts::absent);
  if (most == result.by_client.end() || most->absent == 0) return nullptr;
  return {{"client", most - result.by_client.begin()}, {"lost_to_absence", most->absent}};
}

}  // namespace

ResultJson came_to(const config::Experiment& experiment, const RunResult& result, const Curve& curve) {
  return {{"messages", summary_of(experiment, result).at("messages")},
          {"unifications", result.unifications},
          {"lost_by_sender", lost_by_sender(result)},
          {"most_away", most_away(result)},
          {"worst_client", worst_client(result, curve)}};
}

}  // namespace rubato
