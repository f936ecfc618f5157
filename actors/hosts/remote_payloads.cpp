#include "actors/hosts/remote_payloads.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "actors/hosts/parcel_head.hpp"

namespace rubato {

namespace {

struct PayloadHead {
  double paper_bits = 0;
  std::uint8_t own_each = 1;
  std::uint8_t common = 0;  // a bit for each common tensor that is there
  std::vector<std::uint32_t> places;
  std::vector<bool> is_there;  // each of the own tensors, place by place

  void form(Head& head) {
    head(paper_bits);
    head(own_each);
    head(common);
    head.require(own_each >= 1 && common < 1u << Payload::most_tensors);
    head.list(places, [](Head& part, std::uint32_t& place) { part(place); });
    is_there.resize(places.size() * own_each);
    for (std::size_t i = 0; i < is_there.size(); ++i) {
      bool one = is_there[i];
      head(one);
      is_there[i] = one;
    }
  }

  std::size_t tensors() const {
    const auto own = std::count(is_there.begin(), is_there.end(), true);
    return static_cast<std::size_t>(std::popcount(common)) + static_cast<std::size_t>(own);
  }
};

struct SnapshotHead {
  Traffic traffic;
  std::vector<std::string> balance;  // names
  bool has_tracker = false;

  void form(Head& head) {
    traffic.archive(head);
    head.list(balance, [](Head& part, std::string& name) { part(name); });
    head(has_tracker);
  }
};

Tensor tensor_of(std::span<const double> values, TensorPool& pool) {
  Tensor tensor = pool.make<double>(values.size());
  std::copy(values.begin(), values.end(), tensor.writable<double>());
  return tensor;
}

std::span<const double> doubles_of(const Tensor& tensor) { return {tensor.data<double>(), tensor.count()}; }

}  // namespace

Item goods_of(const Payload& payload, std::span<const std::uint32_t> places) {
  PayloadHead head;
  Item goods;
  head.paper_bits = payload.paper_bits;
  head.own_each = payload.own_each;
  for (std::size_t i = 0; i < payload.common.size(); ++i) {
    if (!payload.common[i]) continue;
    head.common = static_cast<std::uint8_t>(head.common | 1u << i);
    goods.tensors.push_back(payload.common[i]);
  }
  if (!payload.own.empty()) {
    head.places.assign(places.begin(), places.end());
    for (const std::size_t place : places)
      for (std::size_t i = 0; i < payload.own_each; ++i) {
        const Tensor& own = payload.own[place * payload.own_each + i];
        head.is_there.push_back(static_cast<bool>(own));
        if (own) goods.tensors.push_back(own);
      }
  }
  goods.head = head_of(std::move(head));
  return goods;
}

std::optional<Payload> payload_of(Item goods, std::size_t places) {
  const std::optional<PayloadHead> head = read_head<PayloadHead>(goods.head);
  if (!head || head->tensors() != goods.tensors.size()) return std::nullopt;
  const bool is_beyond = std::any_of(head->places.begin(), head->places.end(), [&](auto place) { return place >= places; });
  if (is_beyond) return std::nullopt;
  Payload payload;
  payload.paper_bits = head->paper_bits;
  payload.own_each = head->own_each;
  auto next = goods.tensors.begin();
  for (std::size_t i = 0; i < payload.common.size(); ++i)
    if (head->common & 1u << i) payload.common[i] = std::move(*next++);
  if (head->places.empty()) return payload;
  const std::size_t last = *std::max_element(head->places.begin(), head->places.end());
  payload.own.resize((last + 1) * payload.own_each);
  auto is_there = head->is_there.begin();
  for (const std::size_t place : head->places)
    for (std::size_t i = 0; i < payload.own_each; ++i)
      if (*is_there++) payload.own[place * payload.own_each + i] = std::move(*next++);
  return payload;
}

Item goods_of(const Snapshot& snapshot, TensorPool& pool) {
  SnapshotHead head{snapshot.traffic, {}, snapshot.tracker.size() > 0};
  Item goods;
  goods.tensors.push_back(snapshot.model);
  for (const NamedVector& part : snapshot.balance) {
    head.balance.push_back(part.name);
    goods.tensors.push_back(tensor_of(part.values, pool));
  }
  if (head.has_tracker)
    goods.tensors.push_back(tensor_of({snapshot.tracker.data(), static_cast<std::size_t>(snapshot.tracker.size())}, pool));
  goods.head = head_of(std::move(head));
  return goods;
}

std::optional<Snapshot> snapshot_of(Item goods) {
  const std::optional<SnapshotHead> head = read_head<SnapshotHead>(goods.head);
  if (!head || goods.tensors.size() != 1 + head->balance.size() + (head->has_tracker ? 1 : 0)) return std::nullopt;
  const bool are_doubles = std::all_of(goods.tensors.begin() + 1, goods.tensors.end(),
                                       [](const Tensor& part) { return part && part.scalar() == Scalar::float64; });
  if (!goods.tensors.front() || !are_doubles) return std::nullopt;
  Snapshot snapshot{std::move(goods.tensors.front()), head->traffic, {}, {}};
  for (std::size_t i = 0; i < head->balance.size(); ++i) {
    const auto values = doubles_of(goods.tensors[i + 1]);
    snapshot.balance.push_back({head->balance[i], {values.begin(), values.end()}});
  }
  if (!head->has_tracker) return snapshot;
  const auto values = doubles_of(goods.tensors.back());
  snapshot.tracker = Eigen::Map<const Vector<double>>(values.data(), static_cast<Index>(values.size()));
  return snapshot;
}

}  // namespace rubato
