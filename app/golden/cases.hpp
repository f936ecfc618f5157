// The kinds of golden cases that can be answered, each from its input to the values of "expect".
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "learning/types.hpp"
#include "runtime/world/graph.hpp"

namespace rubato::golden {

using Json = nlohmann::json;

/// A whole number from 0 to below the bound. Throws std::out_of_range.
inline std::uint32_t number_below(std::size_t bound, const Json& json) {
  const auto number = json.get<std::int64_t>();
  if (number < 0 || static_cast<std::uint64_t>(number) >= bound)
    throw std::out_of_range(json.dump() + " is not from 0 to " + std::to_string(bound) + ", itself left out");
  return static_cast<std::uint32_t>(number);
}

/// The same of a list.
inline std::vector<std::uint32_t> numbers_below(std::size_t bound, const Json& list) {
  std::vector<std::uint32_t> numbers;
  for (const Json& number : list) numbers.push_back(number_below(bound, number));
  return numbers;
}

inline Vector<double> to_vector(const Json& json) {
  const auto numbers = json.get<std::vector<double>>();
  return Eigen::Map<const Vector<double>>(numbers.data(), static_cast<Index>(numbers.size()));
}

/// A 1 or a true of a table.
inline bool is_set(const Json& json) { return json.is_boolean() ? json.get<bool>() : json.get<double>() != 0; }

/// More clients than any case has.
inline constexpr std::size_t most_clients = 100'000;
/// More classes than any case has.
inline constexpr std::size_t most_classes = 100'000;

/// More rounds than any case has.
inline constexpr std::size_t most_rounds = 1'000'000;

/// Marks an answer that the harness computed by itself: it says that the case can be computed twice, not that the engine
/// does it.
Json by_formula(Json answer);
/// Takes the mark off; whether it was there.
bool take_formula_mark(Json& answer);

/// An answer has the keys of "expect", or is null if this kind is not supported yet. Throws for damaged cases.
Json answer(const Json& golden_case);

Json answer_mixing(const Json& golden_case);
Json answer_topology(const Json& golden_case);
Json answer_partition(const Json& golden_case);

/// Mailbox cases and DRACO in continuous time, through conductor, push protocol, client actors and algorithm.
Json answer_window(const Json& golden_case);
Json answer_draco(const Json& golden_case);
/// DRACO in rounds, through the rounds protocol.
Json answer_draco_rounds(const Json& golden_case);

/// The others, through the protocol of their form.
Json answer_dpsgd(Json golden_case);
Json answer_local_only(const Json& golden_case);
Json answer_decefl(const Json& golden_case);
Json answer_dsgt(const Json& golden_case);
Json answer_dfedsam(const Json& golden_case);
Json answer_nids(const Json& golden_case);
Json answer_depositum(const Json& golden_case);
Json answer_kgt(const Json& golden_case);
Json answer_choco(const Json& golden_case);
Json answer_beer(const Json& golden_case);
Json answer_anq_nids(const Json& golden_case);
Json answer_pushpull(const Json& golden_case);
Json answer_spodgt(const Json& golden_case);
Json answer_sgp(const Json& golden_case);
Json answer_pame(const Json& golden_case);
Json answer_async_dsgd(const Json& golden_case);
Json answer_metrics(const Json& golden_case);
Json answer_prox(const Json& golden_case);
Json answer_pme(const Json& golden_case);
Json answer_pme_expectation(const Json& golden_case);
Json answer_compressors(const Json& golden_case);
Json answer_decefl_weights(const Json& golden_case);
Json answer_channel(const Json& golden_case);
Json answer_chapter2(const Json& golden_case);
Json answer_aircomp(const Json& golden_case);
Json answer_slot_schedule(const Json& golden_case);
/// {"m", "directed", "edges"} as a graph.
Graph to_graph(const Json& json);
Json answer_fedavg(const Json& golden_case);
Json answer_centralised(const Json& golden_case);
Json answer_fedmid(const Json& golden_case);
Json answer_feddr(const Json& golden_case);
Json answer_fedadmm(const Json& golden_case);
Json answer_swarm(const Json& golden_case);
Json answer_fedavg_plus(Json golden_case);
Json answer_digest(const Json& golden_case);
Json answer_kdpdfl(const Json& golden_case);
Json answer_gossip(const Json& golden_case);
Json answer_spodgt_events(const Json& golden_case);
Json answer_depositum_events(const Json& golden_case);
Json answer_sgp_events(const Json& golden_case);
Json answer_pame_events(const Json& golden_case);

/// Empty if ours satisfies the golden value within abs + rel |golden|; else where and how it differs.
std::string difference(const Json& golden, const Json& ours, double abs, double rel, const std::string& where);

}  // namespace rubato::golden
