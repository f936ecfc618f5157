// How rows are dealt to clients. Dealing is exact; chance comes in as a shuffled order and as
// drawn shares, so that both can be given.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "learning/choices.hpp"
#include "learning/types.hpp"
#include "runtime/random.hpp"

namespace rubato {

/// The rows of a dataset part in the order in which they are dealt.
struct Deck {
  std::span<const Label> labels;
  std::uint32_t classes;
  /// A permutation of 0 .. labels.size() - 1.
  std::span<const std::uint32_t> order;
};

struct Partition {
  std::vector<Rows> rows;          // a list per client; no row is twice in one or, without overlap, in two
  std::vector<Rows> test_rows;     // of the test part, only where a client has a test split of its own
  std::size_t unused = 0;          // training rows that no client has
  std::vector<std::string> notes;  // what the run should say: classes that no client holds, counts scaled down

  std::size_t clients() const { return rows.size(); }
};

/// For each client the classes it holds.
using HeldClasses = std::vector<std::vector<Label>>;

/// Numbers per class or per client that add up to 1.
using Shares = std::vector<std::vector<double>>;

// Dealing. All throw std::invalid_argument where a request cannot be met, naming the field.

/// Contiguous blocks; the first clients get one row more if the rows do not divide, and the last none where there are
/// more clients than rows.
Partition deal_iid(const Deck& deck, std::uint32_t clients);

/// Every class is cut into equal blocks over its holders, by ascending client, the first ones getting the remainder. A
/// client may be left without rows.
Partition deal_by_class(const Deck& deck, const HeldClasses& held);

/// shares[class][client]: class blocks end at floor(cumulated share x size of the class), the last client takes the
/// rest.
Partition deal_by_class_shares(const Deck& deck, const Shares& shares);

/// shares[client][class], counts[client]: a client's classes end at floor(cumulated share x its count). Classes without
/// rows give their share to the others. Counts that the rows cannot meet are scaled down together, with a note. The
/// test deck (empty: no test split) is dealt in the same way by test_counts, or by counts where there are none. A part whose
/// lists may overlap is dealt in a circle, class by class, so that all rows of a class are used before one is used
/// twice; only the counts of a client that asks for more than a class has are scaled down, with a note.
Partition deal_by_client_shares(const Deck& train, const Deck& test, const Shares& shares, const std::vector<std::uint32_t>& counts,
                                const std::vector<std::uint32_t>& test_counts = {}, Overlap overlap = Overlap::none);

/// Positive (label 1) and negative rows of a client of DeceFL's table 3.
struct PositiveNegative {
  std::uint32_t positive;
  std::uint32_t negative;
  auto operator<=>(const PositiveNegative&) const = default;
};

/// For 4, 8 or 16 clients and this many training rows.
std::vector<PositiveNegative> decefl_table3_counts(std::uint32_t clients, std::size_t training_rows);

/// For two classes, 1 being positive. The tables of 8 and 16 clients ask for 50.1 % positive rows: where the data have
/// fewer, all counts are scaled down together, with a note.
Partition deal_decefl_table3(const Deck& deck, std::uint32_t clients);

/// At most so many rows per client, evenly spaced in its list, so that its mix of classes stays.
Partition with_at_most(Partition partition, std::uint32_t samples_per_client);

// Chance: an order, the classes of each client, shares.

/// A uniformly drawn permutation of 0 .. size - 1.
Rows draw_order(std::size_t size, Stream& stream);

/// Client i holds the classes (i + r) mod classes, r < per_client.
HeldClasses rotating_classes(std::uint32_t clients, std::uint32_t classes, std::uint32_t per_client);

/// Every client holds per_client different classes drawn uniformly.
HeldClasses draw_classes(std::uint32_t clients, std::uint32_t classes, std::uint32_t per_client, Stream& stream);

/// One draw of Dirichlet(concentration, ..., concentration); sums to 1 however small the concentration is.
std::vector<double> draw_dirichlet(double concentration, std::uint32_t size, Stream& stream);

// Both together, drawn from Stream(seed, no_client, Purpose::partition). Every client has a row, or
// std::invalid_argument names one that has none.

/// Labels of a dataset part and how many classes there are.
struct Labelled {
  std::span<const Label> labels;
  std::uint32_t classes;
};

Partition partition_iid(const Labelled& train, std::uint32_t clients, std::uint64_t seed);

Partition partition_by_class(const Labelled& train, std::uint32_t clients, std::uint32_t classes_per_client, bool random_classes,
                             std::uint64_t seed);

/// Redraws the shares until every client has min_samples rows; throws std::invalid_argument after 100 draws.
Partition partition_dirichlet_by_class(const Labelled& train, std::uint32_t clients, double concentration,
                                       std::uint32_t min_samples, std::uint64_t seed);

/// What each client has where the mix of classes is its own.
struct OwnMix {
  double concentration = 0.5;       ///< of the Dirichlet law
  std::uint32_t fewest = 15;        ///< training rows, at least 1
  std::uint32_t most = 100;         ///< likewise; not below fewest. Uniform between the two
  std::uint32_t test_rows = 100;    ///< 0: as many as training rows
  Overlap overlap = Overlap::none;  ///< where two clients may have the same row
};

Partition partition_dirichlet_by_client(const Labelled& train, const Labelled& test, std::uint32_t clients, const OwnMix& mix,
                                        std::uint64_t seed);

Partition partition_decefl_table3(const Labelled& train, std::uint32_t clients, std::uint64_t seed);

}  // namespace rubato
