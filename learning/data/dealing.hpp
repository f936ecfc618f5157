// The moves that all ways of dealing share.
#pragma once

#include <string>
#include <vector>

#include "learning/data/partition.hpp"
#include "runtime/sentence.hpp"

namespace rubato::dealing {

void require_clients(std::size_t clients);
void require_rows(const Partition& partition);
/// The order names as many rows as there are labels.
void check_order(const Deck& deck);
/// Every row of shares has `width` numbers from 0; the last one is what the others leave, give or take their rounding.
void check_shares(const Shares& shares, std::size_t width, const std::string& what);

/// The rows of each class in the order of the deck.
std::vector<Rows> rows_by_class(const Deck& deck);

/// Rows begin .. end - 1 of the pool, behind those that are there.
void append(Rows& rows, const Rows& pool, std::size_t begin, std::size_t end);

/// The ends of blocks whose shares of `size` are given: floor(cumulated share x size), and the last takes the rest.
std::vector<std::size_t> share_ends(const std::vector<double>& shares, std::size_t size);

/// Throws std::logic_error if a row is dealt twice (where lists overlap: twice to one client) or does not exist; marks the rows
/// that are dealt.
void mark_once(std::vector<bool>& used, const std::vector<Rows>& lists, bool overlaps = false);

/// Counts the rows that no client has, and makes sure that no row is dealt twice or, where lists overlap, twice to one client.
Partition finished(Partition partition, std::size_t training_rows, bool overlaps = false);

/// How many rows of each class a client gets: [client][class].
using Demand = std::vector<std::vector<std::size_t>>;

/// The largest part of what is asked for that every class can give; 1 if all can give everything.
double satisfiable_part(const Demand& demand, const std::vector<Rows>& pools);

/// Every class is dealt in the order of its pool, client by client; beyond its end the pool begins anew.
std::vector<Rows> deal_demand(const Demand& demand, const std::vector<Rows>& pools);

/// The numbers of rows that were asked for and given, as a note.
std::string scaled_down_note(std::size_t asked, std::size_t given, const std::string& part);

}  // namespace rubato::dealing
