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
  return found != end ? *found : groups_.emplace_back(Group{.before = before, .sent = {}, .share = share});
}

template <class Real>
void TrackingMass::open_groups(std::size_t numbers, const Step& step, TensorPool& pool, Payload& payload, Tensor* spare) {
  const bool takes_spare = spare && loses_nothing_ && holds<Real>(*spare, numbers) && !spare->is_shared();
  groups_.clear();
  shares_ = 0;
  keep_balance(numbers);
  if (!step.entries.empty()) payload.own.reserve(step.entries.size());
  for (const StepEntry& receiver : step.entries) {
    Tensor none;
    Tensor& sigma = loses_nothing_ ? none : assigned_[place_of(receivers_, receiver.peer)];
    Group& group = group_of(sigma, receiver.weight);
    if (!group.sent) {
      group.is_spare = takes_spare && groups_.size() == 1;
      group.sent = group.is_spare ? std::move(*spare) : loses_nothing_ ? pool.make<Real>(numbers) : pool.make<double>(numbers);
    }
    group.receivers += receiver.lost == 0;  // without counters a share that the link is known to lose is not given away
    shares_ += receiver.weight;
    sigma = group.sent;
    payload.own.push_back(group.sent);
  }
  if (loses_nothing_)
    for (const Group& group : groups_) given_.push_back({group.share, group.receivers});
}

template <class Real>
void TrackingMass::assign_part(Index first, ConstVectorRef<double> m, VectorRef<double> rest, bool is_for_later) {
  const Index length = m.size();
  for (Group& group : groups_) {
    if (loses_nothing_) {
      group.is_finite &= write_part<Real>(group.sent, group.is_spare, first, length,
                                          [&](VectorRef<Real> share) { share = (group.share * m).template cast<Real>(); });
    } else {
      group.is_finite &= write_part<double>(group.sent, false, first, length, [&](VectorRef<double> sigma) {
        if (group.before)
          sigma = part_of<double>(group.before, first, length) + group.share * m;
        else
          sigma = group.share * m;
      });
    }
  }
  if (!loses_nothing_)
    rest -= shares_ * m;
  else if (!is_for_later)
    take_off<Real>(first, m, rest);
}

void TrackingMass::close_groups(bool is_for_later) {
  for (Group& group : groups_) group.sent.note_finite(group.is_finite);
  groups_.clear();
  if (!is_for_later) given_.clear();
}

// Computes the shares once more, which takes less time than to read them; m may be the rest itself.
template <class Real>
void TrackingMass::take_off(Index first, ConstVectorRef<double> m, VectorRef<double> rest) {
  if (given_.empty()) return;
  alignas(buffer_alignment) double copy[part_size];
  VectorRef<double> mass(copy, m.size());
  mass = m;
  for (const Given& given : given_) rest -= given.receivers * (given.share * mass).template cast<Real>().template cast<double>();
  if (sent_less_absorbed_.size() == 0) return;
  VectorRef<double> balance = rubato::part_of(view(sent_less_absorbed_), first, m.size());
  for (const Given& given : given_) balance += given.receivers * (given.share * mass).template cast<Real>().template cast<double>();
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
void TrackingMass::receive(std::span<const Received<Real>> window) {
  for (const Received<Real>& message : window) {
    keep_balance(message.own_tensor().count());
    if (loses_nothing_) {
      terms_.push_back({message.own_tensor(), {}});
      continue;
    }
    Tensor& rho = absorbed_[place_of(senders_, message.sender)];
    terms_.push_back({message.own_tensor(), std::exchange(rho, message.own_tensor())});
  }
}

// What follows, in one loop.
template <class Real, std::size_t Count>
void TrackingMass::add_shares(Index first, VectorRef<double> part) const {
  const Arrivals<Real, Count> all = arrivals<Real, Count>(first);
  double* const __restrict mass = part.data();
  for (Index i = 0; i < part.size(); ++i) mass[i] = all.added_to(mass[i], i);
}

template <class Real>
void TrackingMass::add_part(Index first, VectorRef<double> part) {
  if (has_arrivals(terms_.size()) && with_few(terms_.size(), [&](auto count) { add_shares<Real, count>(first, part); })) return;
  take_off<Real>(first, read_only(part), part);
  const Index length = part.size();
  for (const Term& term : terms_) {
    if (loses_nothing_)
      part += part_of<Real>(term.tensor, first, length).template cast<double>();
    else if (term.rho)
      part += part_of<double>(term.tensor, first, length) - part_of<double>(term.rho, first, length);
    else
      part += part_of<double>(term.tensor, first, length);
  }
  if (sent_less_absorbed_.size() == 0) return;
  VectorRef<double> balance = rubato::part_of(view(sent_less_absorbed_), first, length);
  for (const Term& term : terms_) balance -= part_of<Real>(term.tensor, first, length).template cast<double>();
}

// Where nothing else knows what is under way.
void TrackingMass::keep_balance(std::size_t numbers) {
  if (loses_nothing_ && keeps_balance_ && sent_less_absorbed_.size() == 0)
    sent_less_absorbed_ = Vector<double>::Zero(static_cast<Index>(numbers));
}

void TrackingMass::reset() {
  std::ranges::fill(assigned_, Tensor{});
  std::ranges::fill(absorbed_, Tensor{});
  sent_less_absorbed_.resize(0);
  settled();
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
  keep_balance(numbers);
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

template void TrackingMass::open_groups<float>(std::size_t, const Step&, TensorPool&, Payload&, Tensor*);
template void TrackingMass::open_groups<double>(std::size_t, const Step&, TensorPool&, Payload&, Tensor*);
template void TrackingMass::assign_part<float>(Index, ConstVectorRef<double>, VectorRef<double>, bool);
template void TrackingMass::assign_part<double>(Index, ConstVectorRef<double>, VectorRef<double>, bool);
template void TrackingMass::repeat<float>(std::size_t, const Step&, TensorPool&, Payload&);
template void TrackingMass::repeat<double>(std::size_t, const Step&, TensorPool&, Payload&);
template void TrackingMass::receive<float>(std::span<const Received<float>>);
template void TrackingMass::receive<double>(std::span<const Received<double>>);
template void TrackingMass::add_part<float>(Index, VectorRef<double>);
template void TrackingMass::add_part<double>(Index, VectorRef<double>);

}  // namespace rubato
