// TrackingMass: the cumulative counters by which gradient tracking and push-sum pass mass on without ever losing any.
// Source: our own form of the exchange in Spod-GT, equation 3, and of push-sum (docs/references.md#tracking-mass).
//
// sigma_l: all mass ever assigned to receiver l      rho_j: the part of sender j's counter that was absorbed here
//
//   assign   sigma_l <- sigma_l + b_l y, for every receiver l of the message;   the message carries sigma_l
//   absorb   y <- y + sigma_j - rho_j;   rho_j <- sigma_j
//
// What is lost, late or refused stays in sigma - rho and comes with the next message of that link, so at every instant
// sum y + sum over links (sigma - rho) changes only by what the algorithm itself adds to y.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "algos/algorithm.hpp"

namespace rubato {

/// The counters of one client, in float64. The protocol must hand over the newest message of a link and nothing older
/// than the last one: Keep::newest_ever.
class TrackingMass {
 public:
  /// No counter is kept for a link before it is used. What the spans of the seat show must outlive this.
  explicit TrackingMass(const ClientView& client_view);

  /// Adds to the counter of every receiver of this publish step its share of `mass` (the entry's weight), and hands the
  /// counters out as the receivers' own tensors. Returns the sum of the shares: mass x that sum is no longer the
  /// client's, and the caller takes it off.
  [[nodiscard]] double assign(ConstVectorRef<double> mass, const Step& step, TensorPool& pool, Payload& payload);

  /// Hands the counters of the receivers out as they are: nothing is assigned. Of masses with this many numbers.
  void repeat(std::size_t numbers, const Step& step, TensorPool& pool, Payload& payload);

  /// Whether the receiver at this place can absorb the message into a mass with so many numbers.
  static bool fits(const Payload& payload, std::uint32_t place, std::size_t numbers) {
    return payload.own_each == 1 && place < payload.own.size() && holds<double>(payload.own[place], numbers);
  }

  /// Adds to `mass` what the sender has assigned to this client since its last message that was absorbed.
  template <class Real>
  void absorb(const Received<Real>& message, VectorRef<double> mass) {
    absorb(message.sender, message.own_tensor(), mass);
  }

  /// Forgets all counters, both ways.
  void reset();

  /// Of masses with this many numbers.
  void archive(Archive& archive, std::size_t numbers);

  /// Adds all counters sigma of this client and takes off all its rho: its part of the mass in flight.
  void add_in_flight(Vector<double>& sum) const;

  /// Shows the counters in use as "sigma 3" (to receiver 3) and "rho 3" (from sender 3).
  void inspect(Probe& probe) const;

 private:
  void absorb(ClientId sender, const Tensor& counter, VectorRef<double> mass);

  std::span<const ClientId> senders_;
  std::span<const ClientId> receivers_;
  std::vector<Tensor> assigned_;  // sigma beside receivers_; empty: 0
  std::vector<Tensor> absorbed_;  // rho beside senders_: the sender's own tensor, kept; empty: 0
};

}  // namespace rubato
