#include "algos/tracking_mass.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "algos/parts.hpp"

namespace rubato {

namespace {

// Groups among which that of a receiver is looked for: the last ones.
constexpr std::ptrdiff_t most_looked_at = 16;

template <class Number>
ConstVectorRef<Number> part_of(const Tensor& tensor, Index first, Index length) {
  return {tensor.data<Number>() + first, length};
}

}  // namespace

TrackingMass::TrackingMass(const ClientView& client_view)
    : senders_{client_view.senders},
      receivers_{client_view.receivers},
      loses_nothing_{client_view.loses_nothing},
      keeps_balance_{client_view.keeps_balance},
      assigned_(loses_nothing_ ? 0 : client_view.receivers.size()),
      absorbed_(loses_nothing_ ? 0 : client_view.senders.size()) {}

TrackingMass::Group& TrackingMass::group_of(const Tensor& before, double share) {
  const auto last = groups_.rbegin(), end = last + std::min(most_looked_at, std::ssize(groups_));
  const auto found =
      std::find_if(last, end, [&](const Group& group) { return group.share == share && group.before.is_same(before); });
  return found != end ? *found : groups_.emplace_back(before, Tensor{}, share, 0);
}

template <class Real>
void TrackingMass::group(std::size_t numbers, const Step& step, TensorPool& pool, Payload& payload) {
  if (!step.entries.empty()) payload.own.reserve(step.entries.size());
  for (const StepEntry& receiver : step.entries) {
    Tensor none;
    Tensor& sigma = loses_nothing_ ? none : assigned_[place_of(receivers_, receiver.peer)];
    Group& group = group_of(sigma, receiver.weight);
    if (!group.sent) group.sent = loses_nothing_ ? pool.make<Real>(numbers) : pool.make<double>(numbers);
    group.receivers += receiver.lost == 0;  // without counters a share that the link is known to lose is not given away
    sigma = group.sent;
    payload.own.push_back(group.sent);
  }
}

template <class Real>
void TrackingMass::assign(ConstVectorRef<double> mass, VectorRef<double> from, const Step& step, TensorPool& pool,
                          Payload& payload) {
  const auto numbers = static_cast<std::size_t>(mass.size());
  groups_.clear();
  group<Real>(numbers, step, pool, payload);
  double shares = 0;
  for (const StepEntry& receiver : step.entries) shares += receiver.weight;
  const VectorRef<double> balance = sent_less_absorbed(numbers);
  for_each_part(mass.size(), [&](Index first, Index length) {
    const ConstVectorRef<double> m = rubato::part_of(mass, first, length);
    VectorRef<double> rest = rubato::part_of(from, first, length);
    for (Group& group : groups_) {
      if (loses_nothing_) {
        VectorRef<Real>(group.sent.writable<Real>() + first, length) = (group.share * m).template cast<Real>();
        continue;
      }
      VectorRef<double> sigma(group.sent.writable<double>() + first, length);
      if (group.before)
        sigma = part_of<double>(group.before, first, length) + group.share * m;
      else
        sigma = group.share * m;
    }
    if (!loses_nothing_) {
      rest -= shares * m;
      return;
    }
    for (const Group& group : groups_) {  // after all shares: m may be the rest itself
      const ConstVectorRef<Real> sent = part_of<Real>(group.sent, first, length);
      rest -= group.receivers * sent.template cast<double>();
      if (balance.size() > 0) rubato::part_of(balance, first, length) += group.receivers * sent.template cast<double>();
    }
  });
  groups_.clear();
}

template <class Real>
void TrackingMass::repeat(std::size_t numbers, const Step& step, TensorPool& pool, Payload& payload) {
  if (!step.entries.empty()) payload.own.reserve(step.entries.size());
  Tensor nothing;
  for (const StepEntry& receiver : step.entries) {
    Tensor& sigma = loses_nothing_ ? nothing : assigned_[place_of(receivers_, receiver.peer)];
    if (!sigma) sigma = loses_nothing_ ? zeros<Real>(numbers, pool) : zeros<double>(numbers, pool);
    payload.own.push_back(sigma);
  }
}

template <class Real>
void TrackingMass::absorb(std::span<const Received<Real>> window, VectorRef<double> mass) {
  if (window.empty()) return;
  const VectorRef<double> balance = sent_less_absorbed(static_cast<std::size_t>(mass.size()));
  for_each_part(mass.size(), [&](Index first, Index length) {
    VectorRef<double> y = rubato::part_of(mass, first, length);
    for (const Received<Real>& message : window) {
      if (loses_nothing_) {
        const ConstVectorRef<Real> share = part_of<Real>(message.own_tensor(), first, length);
        y += share.template cast<double>();
        if (balance.size() > 0) rubato::part_of(balance, first, length) -= share.template cast<double>();
        continue;
      }
      const ConstVectorRef<double> sigma = part_of<double>(message.own_tensor(), first, length);
      const Tensor& rho = absorbed_[place_of(senders_, message.sender)];
      if (rho)
        y += sigma - part_of<double>(rho, first, length);
      else
        y += sigma;
    }
  });
  if (loses_nothing_) return;
  for (const Received<Real>& message : window) absorbed_[place_of(senders_, message.sender)] = message.own_tensor();
}

VectorRef<double> TrackingMass::sent_less_absorbed(std::size_t numbers) {
  if (!loses_nothing_ || !keeps_balance_) return {nullptr, 0};
  if (sent_less_absorbed_.size() == 0) sent_less_absorbed_ = Vector<double>::Zero(static_cast<Index>(numbers));
  return view(sent_less_absorbed_);
}

void TrackingMass::reset() {
  std::ranges::fill(assigned_, Tensor{});
  std::ranges::fill(absorbed_, Tensor{});
  sent_less_absorbed_.resize(0);
}

void TrackingMass::archive(Archive& archive, std::size_t numbers) {
  std::uint64_t counters = assigned_.size();
  archive(counters);
  if (counters != assigned_.size())
    throw BadArchive(std::to_string(counters) + " tensors where there must be " + std::to_string(assigned_.size()));
  for (std::size_t place = 0; place < assigned_.size(); ++place) {
    Tensor& sigma = assigned_[place];
    const auto same = [&](const Tensor& other) { return sigma && other.is_same(sigma); };
    const auto begin = assigned_.begin(), here = begin + static_cast<std::ptrdiff_t>(place);
    auto first = static_cast<std::uint64_t>(std::find_if(begin, here, same) - begin);
    archive(first);
    archive.require(first <= place, "a counter that is the same as a later one");
    if (first == place)
      archive.optional(sigma, Scalar::float64, numbers);
    else
      sigma = assigned_[first];
  }
  archive.optional(absorbed_, Scalar::float64, numbers);
  if (!loses_nothing_ || !keeps_balance_) return;
  sent_less_absorbed(numbers);
  archive.fixed(sent_less_absorbed_);
}

void TrackingMass::inspect(Probe& probe) const {
  for (std::size_t place = 0; place < assigned_.size(); ++place)
    if (assigned_[place]) show(probe, "sigma " + std::to_string(receivers_[place].value), numbers_of<double>(assigned_[place]));
  for (std::size_t place = 0; place < absorbed_.size(); ++place)
    if (absorbed_[place]) show(probe, "rho " + std::to_string(senders_[place].value), numbers_of<double>(absorbed_[place]));
}

void TrackingMass::add_in_flight(Vector<double>& sum) const {
  for (const Tensor& sigma : assigned_)
    if (sigma) sum += numbers_of<double>(sigma);
  for (const Tensor& rho : absorbed_)
    if (rho) sum -= numbers_of<double>(rho);
  if (sent_less_absorbed_.size() > 0) sum += sent_less_absorbed_;
}

template void TrackingMass::assign<float>(ConstVectorRef<double>, VectorRef<double>, const Step&, TensorPool&, Payload&);
template void TrackingMass::assign<double>(ConstVectorRef<double>, VectorRef<double>, const Step&, TensorPool&, Payload&);
template void TrackingMass::repeat<float>(std::size_t, const Step&, TensorPool&, Payload&);
template void TrackingMass::repeat<double>(std::size_t, const Step&, TensorPool&, Payload&);
template void TrackingMass::absorb<float>(std::span<const Received<float>>, VectorRef<double>);
template void TrackingMass::absorb<double>(std::span<const Received<double>>, VectorRef<double>);

}  // namespace rubato
