// Screening: which messages a client leaves out of a merge because of what they say, and how many of each sender.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "algos/algorithm.hpp"
#include "learning/types.hpp"
#include "runtime/archive.hpp"
#include "runtime/counts.hpp"
#include "runtime/payload.hpp"

namespace rubato {

class Screening {
 public:
  /// `norm_limit`: the longest message, relative to the client's own model; 0: any length.
  explicit Screening(double norm_limit) : norm_limit_{norm_limit} {}

  /// Whether the message to the receiver at this place is to be merged; counts it otherwise. Only a message that begins
  /// with a tensor like the model has a norm, and a model that is zero counts as one of ones.
  template <class Real>
  bool takes(ClientId sender, const Payload& payload, std::uint32_t place, ConstVectorRef<Real> own) {
    if (!payload.is_finite(place)) return refuse(sender, &Screened::not_finite);
    if (norm_limit_ == 0 || !holds<Real>(payload.common[0], static_cast<std::size_t>(own.size()))) return true;
    const auto message = numbers_of<Real>(payload.common[0]).template cast<double>(), model = own.template cast<double>();
    const double norm = message.norm(), length = model.norm();
    Screened& link = of(sender);
    ++link.compared;
    link.norms += norm;
    if (norm * length > 0) link.cosines += message.dot(model) / (norm * length);
    const double measure = length > 0 ? length : std::sqrt(static_cast<double>(own.size()));
    return norm <= norm_limit_ * measure || refuse(sender, &Screened::beyond_norm);
  }

  /// Counts a message of this sender. False, because it is not taken.
  bool refuse(ClientId sender, std::uint64_t Screened::*reason) {
    ++(of(sender).*reason);
    return false;
  }

  /// Of this client, by sender.
  const std::vector<Screened>& by_sender() const { return by_sender_; }
  void archive(Archive& archive) { archive(by_sender_); }

 private:
  Screened& of(ClientId sender) {
    const auto at = std::ranges::lower_bound(by_sender_, sender, {}, &Screened::sender);
    if (at != by_sender_.end() && at->sender == sender) return *at;
    return *by_sender_.insert(at, Screened{.sender = sender, .receiver = {}});
  }

  double norm_limit_;
  std::vector<Screened> by_sender_;
};

}  // namespace rubato
