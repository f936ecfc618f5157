// SampleHeader: what is known of a sample of all models when it is taken, before any of them is scored.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "runtime/archive.hpp"
#include "runtime/counts.hpp"
#include "runtime/ids.hpp"
#include "runtime/time.hpp"

namespace rubato {

/// When a sample is taken, of which clients, and what had happened until then.
struct SampleHeader {
  std::uint64_t number = 0;                                 ///< counts samples, from 0
  Time at{};                                                ///< when it is taken
  std::uint32_t clients = 0;                                ///< how many models it has
  std::uint32_t others = 0;                                 ///< clients whose traffic it has, but no model
  std::uint64_t events = 0;                                 ///< of the timing, before it
  MessageCounts counts{};                                   ///< of all clients, so far
  Energy energy{};                                          ///< that all clients have spent so far
  std::uint64_t model_messages = 0;                         ///< models of unifications and joins, so far
  double cumulated_delay = 0;                               ///< of the rounds so far, where links and computations have chances
  bool after_unification = false;                           ///< all models must be equal
  std::shared_ptr<const std::vector<ClientId>> measured{};  ///< whose models, ascending; null: of the first ones
  bool covers_all = false;                                  ///< fewer than all clients, but all that are there
  bool mass_is_whole = true;                                ///< what must sum to zero over all clients that are there does

  /// A client's part of the sums.
  void add(const MessageCounts& done, const Energy& spent) {
    counts += done;
    energy += spent;
  }
  /// The client whose model is the `place`-th of the sample.
  ClientId client(std::size_t place) const { return measured ? measured->at(place) : ClientId{static_cast<std::uint32_t>(place)}; }
  /// Writes all of it, or reads it back; throws BadArchive.
  void archive(Archive& archive) {
    archive(number, at, clients, others, events, counts, energy, cumulated_delay);
    archive(model_messages, after_unification, covers_all, mass_is_whole);
    auto named = measured ? std::optional(*measured) : std::nullopt;
    archive(named);
    measured = named ? std::make_shared<const std::vector<ClientId>>(std::move(*named)) : nullptr;
  }
};

}  // namespace rubato
