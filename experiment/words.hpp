// The file's words for every choice, in the order of the enumerations.
#pragma once

#include "experiment/experiment.hpp"

namespace rubato::config {

template <class Choice>
inline constexpr std::string_view words = {};

template <>
inline constexpr std::string_view words<ClockKind> = "virtual|wall";
template <>
inline constexpr std::string_view words<Precision> = "float32|float64";
template <>
inline constexpr std::string_view words<LawKind> = "constant|exponential|uniform|lognormal|beta|gamma|shifted_exp|list";
template <>
inline constexpr std::string_view words<TimerKind> = "poisson|fixed|shifted_exp|gamma|lognormal|trace|table|coupled|off";
template <>
inline constexpr std::string_view words<TopologyKind> =
    "ring|directed_ring|complete|star|path|bipartite|exponential|one_peer_exponential|torus|grid|erdos_renyi|"
    "random_geometric|knn|file|edges";
template <>
inline constexpr std::string_view words<Symmetrise> = "none|union|mutual";
template <>
inline constexpr std::string_view words<ChangeKind> = "none|edges|clients|redraw|steps|file";
template <>
inline constexpr std::string_view words<ChannelKind> = "ideal|random|table|wireless|rayleigh_threshold|aircomp|bandwidth|trace";
template <>
inline constexpr std::string_view words<ThresholdOf> = "amplitude|power";
template <>
inline constexpr std::string_view words<UpWhen> = "gain|time";
template <>
inline constexpr std::string_view words<AreaKind> = "disk|square";
template <>
inline constexpr std::string_view words<BandwidthUse> = "each|shared";
template <>
inline constexpr std::string_view words<InterferenceKind> = "active|all_in_radius|none";
template <>
inline constexpr std::string_view words<PointsKind> = "unit_square|channel";
template <>
inline constexpr std::string_view words<HubKind> = "round_robin|fixed|random|max_degree|table|best_channel";
template <>
inline constexpr std::string_view words<UnifyVia> = "ideal|transport";
template <>
inline constexpr std::string_view words<ProtocolKind> = "auto|push|rounds|server|token|pull";
template <>
inline constexpr std::string_view words<MissingRule> = "wait|drop|symmetric_drop";
template <>
inline constexpr std::string_view words<LateWork> = "carry_on|discard";
template <>
inline constexpr std::string_view words<ChurnKind> = "join|leave|crash|restart|pause|go_on|partition|heal";
template <>
inline constexpr std::string_view words<OriginKind> = "neighbour|start|checkpoint";
template <>
inline constexpr std::string_view words<AwayKind> = "leave|crash|pause";
template <>
inline constexpr std::string_view words<AbsenceKind> = "drawn|trace";
template <>
inline constexpr std::string_view words<MixingKind> =
    "auto|metropolis|laplacian|max_degree|uniform_row|uniform_col|draco_row|averaging|explicit";
template <>
inline constexpr std::string_view words<WeightKind> = "receiver_static|sender_static|batch|explicit";
template <>
inline constexpr std::string_view words<SnapshotAt> = "at_finish|at_start";
template <>
inline constexpr std::string_view words<FileFormat> = "auto|csv|libsvm|npy|npz|idx|cifar";
template <>
inline constexpr std::string_view words<HeaderKind> = "auto|names|none";
template <>
inline constexpr std::string_view words<LearnKind> = "classes|number";
template <>
inline constexpr std::string_view words<NormaliseKind> = "default|none|unit|standard";
template <>
inline constexpr std::string_view words<PartitionKind> = "iid|by_class|dirichlet_by_class|dirichlet_by_client|decefl_table3";
template <>
inline constexpr std::string_view words<InitKind> = "zero|he|xavier|default";
template <>
inline constexpr std::string_view words<ActivationKind> = "relu|sigmoid|tanh";
template <>
inline constexpr std::string_view words<HingeKind> = "plain|squared";
template <>
inline constexpr std::string_view words<NormalisationKind> = "group|batch";

/// The word at this place of "a|b|c".
constexpr std::string_view word_at(std::string_view all, int place) {
  for (; place > 0; --place) all.remove_prefix(all.find('|') + 1);
  return all.substr(0, all.find('|'));
}

template <class Choice>
constexpr std::string_view word_of(Choice choice) {
  return word_at(words<Choice>, static_cast<int>(choice));
}

/// The choice with this word, which must be one of `words`.
template <class Choice>
constexpr Choice choice_of(std::string_view word) {
  int place = 0;
  while (word_at(words<Choice>, place) != word) ++place;
  return static_cast<Choice>(place);
}

}  // namespace rubato::config
