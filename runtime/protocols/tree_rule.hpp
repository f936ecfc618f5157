// TreeRule: when a node of a tree sends what it has summed up, and when the pivot steps, as data.
#pragma once

#include <cstdint>

namespace rubato {

/// What the nodes of a tree do between two points.
enum class TreeKind : std::uint8_t {
  minibatch,  ///< one gradient each; a node sends when its own and those of all children are there
  fragile,    ///< gradients on and on; a node sends what it has as soon as its link is free
  amelie,     ///< gradients on and on; counters go up until the pivot collects
};

/// The rule of one tree.
struct TreeRule {
  TreeKind kind = TreeKind::minibatch;  ///< what nodes do
  double gradients = 1;                 ///< S: that a step of the pivot waits for; > 0
};

/// Phases of the merge steps of a tree's nodes, in the order in which one step does them.
namespace in_tree {
inline constexpr std::uint8_t forgets = 1;      ///< the sum is emptied
inline constexpr std::uint8_t takes_point = 2;  ///< the message is the next point
inline constexpr std::uint8_t adds = 4;         ///< the message is a child's sum
inline constexpr std::uint8_t freezes = 8;      ///< the node's own sum becomes its mean
inline constexpr std::uint8_t moves = 16;       ///< the pivot steps, and its sum is emptied
/// Of a compute step: nothing becomes of the gradient.
inline constexpr std::uint8_t in_vain = 1;
}  // namespace in_tree

/// Phase of a publish step of a node: the point.
inline constexpr std::uint8_t point_down = 0;
/// The same: what it has summed up.
inline constexpr std::uint8_t sum_up = 1;

}  // namespace rubato
