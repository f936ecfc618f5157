// FadingLinks: which links of a graph are up in which block of time, and what they weigh then.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "runtime/elementary.hpp"
#include "runtime/time.hpp"
#include "runtime/world/graph.hpp"

namespace rubato {

/// When a faded link is up: the power gain |h|^2 of Rayleigh fading is exponential with mean 1.
struct FadingThreshold {
  double least = 0;  ///< of the amplitude |h|, or of the power |h|^2
  bool is_of_power = false;

  double least_power() const { return is_of_power ? least : least * least; }
  bool is_up(double power_gain) const { return power_gain >= least_power(); }
  /// The chance that a link is up.
  double chance() const { return elementary::exp(-least_power()); }
};

/// Fading is the same both ways, constant within a block and independent between blocks: drawn by (seed, the two ends,
/// block). A pure function; any thread may ask.
class Fading {
 public:
  /// What decides whether a link is up.
  struct Rule {
    FadingThreshold threshold;
    bool is_by_time = false;             ///< a link is up if what it carries is through in time
    double mean = 1;                     ///< by time: mean seconds to completion, exponential
    Duration longest = Duration::max();  ///< by time
  };
  Fading(std::uint64_t seed, const Rule& rule) : seed_{seed}, rule_{rule} {}

  /// Of the power, |h|^2: exponential with mean 1.
  double power_gain(ClientId one, ClientId other, std::uint64_t block) const;
  /// By time: how long a message takes.
  Duration completion(ClientId one, ClientId other, std::uint64_t block) const;
  bool is_up(ClientId one, ClientId other, std::uint64_t block) const;
  const Rule& rule() const { return rule_; }

 private:
  std::uint64_t seed_;
  Rule rule_;
};

/// Fading on a graph that has a link back for every link.
class FadingLinks {
 public:
  FadingLinks(Graph graph, const Fading& fading) : graph_{std::move(graph)}, fading_{fading} {}

  bool is_up(LinkIndex link, std::uint64_t block) const {
    const Edge ends = graph_.ends_of(link);
    return fading_.is_up(ends.source, ends.target, block);
  }
  /// 1 / (1 + max(d_i, d_j)) with the links that are up counted, 0 for one that is not.
  double metropolis(LinkIndex link, std::uint64_t block) const;
  /// The links that are up.
  Graph up(std::uint64_t block) const;
  const Graph& graph() const { return graph_; }
  const Fading& fading() const { return fading_; }

 private:
  using Degrees = std::vector<std::uint32_t>;
  struct Block {
    std::uint64_t number = ~std::uint64_t{0};
    std::shared_ptr<const Degrees> degrees;
  };
  std::shared_ptr<const Degrees> degrees(std::uint64_t block) const;

  Graph graph_;
  Fading fading_;
  mutable std::mutex mutex_;
  mutable std::array<Block, 4> known_;  // by number modulo its size: messages of one block are merged in the next
};

}  // namespace rubato
