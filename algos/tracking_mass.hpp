// TrackingMass: how gradient tracking and push-sum pass mass on without ever losing any.
// Source: our own form of the exchange in Spod-GT, equation 3, and of push-sum (docs/references.md#tracking-mass).
//
// sigma_l: all mass ever assigned to receiver l      rho_j: the part of sender j's counter that was absorbed here
//
//   assign   sigma_l <- sigma_l + b_l m, for every receiver l of the message;   y <- y - sum_l b_l m;   it carries sigma_l
//   absorb   y <- y + sigma_j - rho_j;   rho_j <- sigma_j
//
// What is lost, late or refused stays in sigma - rho and comes with the next message of that link, so at every instant
// sum y + sum over links (sigma - rho) changes only by what the algorithm itself adds to y. Receivers with the same share that
// have had the same messages have one counter: a sender whose links all work keeps one, however many receivers it has.
//
// Where every message is merged once (ClientView::loses_nothing) there is nothing to make up for: a message carries its share s_l
// alone, rounded to the model's precision before it is taken off,
//
//   assign   s_l = b_l m;   y <- y - sum_l s_l          absorb   y <- y + s_j
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "algos/algorithm.hpp"
#include "algos/parts.hpp"

namespace rubato {

/// The counters of one client, in float64. The protocol must hand over the newest message of a link and nothing older
/// than the last one: Keep::newest_ever.
class TrackingMass {
 public:
  /// No counter is kept for a link before it is used. What the spans of the seat show must outlive this.
  explicit TrackingMass(const ClientView& client_view);

  /// Assigns to every receiver of this publish step its share of `mass` (the entry's weight), hands out what its message
  /// carries as the receiver's own tensor, and takes the shares off `from`, which may be the same vector.
  template <class Real>
  void assign(ConstVectorRef<double> mass, VectorRef<double> from, const Step& step, TensorPool& pool, Payload& payload) {
    open_groups<Real>(static_cast<std::size_t>(mass.size()), step, pool, payload);
    for_each_part(mass.size(), [&](Index first, Index length) {
      assign_part<Real>(first, part_of(mass, first, length), part_of(from, first, length), false);
    });
    close_groups(false);
  }
  /// The same, taken off `mass` itself, each part of which `finish(first, part)` brings up to date before it is read. Where no
  /// counter needs it at once the shares stay in the mass until the next add_part(), before which it must not change. `spare`: a
  /// tensor that nothing needs but finish(), or an empty one. A share may take it over, part by part, once finish() has read that
  /// part.
  template <class Real, class Finish>
  void assign_for_later(VectorRef<double> mass, Finish finish, const Step& step, TensorPool& pool, Payload& payload,
                        Tensor* spare = nullptr) {
    open_groups<Real>(static_cast<std::size_t>(mass.size()), step, pool, payload, spare);
    for_each_part(mass.size(), [&](Index first, Index length) {
      const VectorRef<double> part = part_of(mass, first, length);
      finish(first, part);
      assign_part<Real>(first, read_only(part), part, loses_nothing_);
    });
    close_groups(loses_nothing_);
  }

  /// Hands out what messages carry to which nothing is assigned. Of masses with this many numbers.
  template <class Real>
  void repeat(std::size_t numbers, const Step& step, TensorPool& pool, Payload& payload);

  /// Whether the receiver at this place can absorb the message into a mass with so many numbers.
  template <class Real>
  bool fits(const Payload& payload, std::uint32_t place, std::size_t numbers) const {
    if (payload.own_each != 1 || place >= payload.own.size()) return false;
    return loses_nothing_ ? holds<Real>(payload.own[place], numbers) : holds<double>(payload.own[place], numbers);
  }

  /// Adds to `mass` what the senders have assigned to this client since their last messages that were absorbed.
  template <class Real>
  void absorb(std::span<const Received<Real>> window, VectorRef<double> mass) {
    receive(window);
    add_all<Real>(mass);
  }
  /// The same, of which the mass hears when its parts are added.
  template <class Real>
  void receive(std::span<const Received<Real>> window);
  /// Whether nothing is left to be added.
  bool is_settled() const { return terms_.empty() && given_.empty(); }
  /// Adds to the part of the mass that begins at this number what was received, less what was assigned for later. All parts are
  /// to be done, each once; then settled() is to be called.
  template <class Real>
  void add_part(Index first, VectorRef<double> part);
  /// What add_part() makes of the i-th number m of a part where one share was assigned for later and `Count` were received, for
  /// callers that have more to do with it in the same loop. Valid until settled().
  template <class Real, std::size_t Count>
  struct Arrivals {
    std::array<const Real*, Count> shares;
    double share;
    double receivers;

    double added_to(double m, Index i) const {
      double sum = m - receivers * static_cast<double>(static_cast<Real>(share * m));
      for (std::size_t j = 0; j < Count; ++j) sum += static_cast<double>(shares[j][i]);
      return sum;
    }
  };
  /// Whether so many arrivals() are what add_part() would do.
  bool has_arrivals(std::size_t count) const {
    return given_.size() == 1 && terms_.size() == count && sent_less_absorbed_.size() == 0;
  }
  /// Of the part that begins at this number.
  template <class Real, std::size_t Count>
  Arrivals<Real, Count> arrivals(Index first) const {
    Arrivals<Real, Count> all{{}, given_.front().share, given_.front().receivers};
    for (std::size_t j = 0; j < Count; ++j) all.shares[j] = terms_[j].tensor.template data<Real>() + first;
    return all;
  }
  /// A share that was received and that nothing else holds, or null. Once add_part() or arrivals() have read a part of it, this
  /// part may be written.
  Tensor* spare() {
    const auto found = std::ranges::find_if(terms_, [](const Term& term) { return !term.tensor.is_shared(); });
    return loses_nothing_ && found != terms_.end() ? &found->tensor : nullptr;
  }
  void settled() {
    given_.clear();
    terms_.clear();
  }
  /// All of that.
  template <class Real>
  void add_all(VectorRef<double> mass) {
    for_each_part(mass.size(), [&](Index first, Index length) { add_part<Real>(first, part_of(mass, first, length)); });
    settled();
  }

  /// Forgets all counters, both ways.
  void reset();

  /// Of masses with this many numbers.
  void archive(Archive& archive, std::size_t numbers);

  /// Adds all counters sigma of this client and takes off all its rho: its part of the mass in flight. Without counters that is
  /// known only where the client keeps its balance.
  void add_in_flight(Vector<double>& sum) const;

  /// Shows the counters in use as "sigma 3" (to receiver 3) and "rho 3" (from sender 3).
  void inspect(Probe& probe) const;

 private:
  // What is still to be added to the mass: a share, or a counter sigma less rho, which may be empty.
  struct Term {
    Tensor tensor;
    Tensor rho;
  };
  // A share of the mass that so many receivers were given and that is still to be taken off it.
  struct Given {
    double share;
    double receivers;
  };
  // Receivers of a publish step to which the same is sent.
  struct Group {
    Tensor before;  // the counter so far; empty: 0
    Tensor sent;
    double share;
    double receivers = 0;
    bool is_finite = true;
    bool is_spare = false;  // the block of `sent` is one that was read before
  };

  // Finds the groups of the step's receivers, and hands each receiver the tensor of its group. Those are to be filled part by part
  // with the shares of m, which are taken off `rest`, or stay in it for later.
  template <class Real>
  void open_groups(std::size_t numbers, const Step& step, TensorPool& pool, Payload& payload, Tensor* spare = nullptr);
  template <class Real>
  void assign_part(Index first, ConstVectorRef<double> m, VectorRef<double> rest, bool is_for_later);
  void close_groups(bool is_for_later);
  Group& group_of(const Tensor& before, double share);
  template <class Real>
  void take_off(Index first, ConstVectorRef<double> m, VectorRef<double> rest);
  template <class Real, std::size_t Count>
  void add_shares(Index first, VectorRef<double> part) const;
  void keep_balance(std::size_t numbers);

  std::span<const ClientId> senders_;
  std::span<const ClientId> receivers_;
  bool loses_nothing_;
  bool keeps_balance_;
  std::vector<Tensor> assigned_;       // sigma beside receivers_; empty: 0. The same tensor where the counters are the same
  std::vector<Tensor> absorbed_;       // rho beside senders_: the sender's own tensor, kept; empty: 0
  std::vector<Group> groups_;          // of the publish step at hand
  double shares_ = 0;                  // the sum over its receivers
  std::vector<Given> given_;           // shares of one mass, as it was before any of them was taken off
  std::vector<Term> terms_;            // what comes after them
  Vector<double> sent_less_absorbed_;  // all shares that it sent less those that it absorbed, where nothing else knows; empty: 0
};

}  // namespace rubato
