// Collector: a sink that keeps what it hears and lets a test wait for it; and parcels to send.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "tests/support/waiting.hpp"
#include "transports/transport.hpp"

namespace rubato::test {

/// Hosts.
inline constexpr HostId a{0}, b{1}, c{2};

struct Heard {
  HostId from;
  Parcel parcel;
  Duration arrived;
};

class Collector final : public ParcelSink {
 public:
  /// Done with every parcel on the transport's thread, before it is kept.
  std::function<void(HostId from, const Parcel&)> on_each;

  void on_parcel(HostId from, Parcel parcel, Duration arrived) override {
    if (on_each) on_each(from, parcel);
    const std::lock_guard lock(mutex_);
    heard_.push_back({from, std::move(parcel), arrived});
    something_came_.notify_all();
  }

  /// True as soon as the test holds for all that was heard.
  template <class Test>
  bool wait_until(Test test) {
    std::unique_lock lock(mutex_);
    return something_came_.wait_for(lock, patience, [&] { return test(heard_); });
  }
  bool wait_for(std::size_t count) {
    return wait_until([count](const std::vector<Heard>& heard) { return heard.size() >= count; });
  }
  std::vector<Heard> heard() const {
    const std::lock_guard lock(mutex_);
    return heard_;
  }
  std::size_t count() const {
    const std::lock_guard lock(mutex_);
    return heard_.size();
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable something_came_;
  std::vector<Heard> heard_;
};

/// A parcel whose head is a number.
inline Parcel numbered(std::uint64_t number, WhenFull when_full = WhenFull::wait, ParcelKind kind = ParcelKind::message) {
  Parcel parcel{.kind = kind, .when_full = when_full, .head = std::vector<std::byte>(sizeof number), .tensors = {}};
  std::memcpy(parcel.head.data(), &number, sizeof number);
  return parcel;
}

inline std::uint64_t number_of(const Parcel& parcel) {
  std::uint64_t number = ~std::uint64_t{0};
  if (parcel.head.size() >= sizeof number) std::memcpy(&number, parcel.head.data(), sizeof number);
  return number;
}

inline std::vector<std::uint64_t> numbers_of(const std::vector<Heard>& heard) {
  std::vector<std::uint64_t> numbers;
  for (const Heard& each : heard) numbers.push_back(number_of(each.parcel));
  return numbers;
}

/// Bytes that follow from the seed, so that both sides can tell.
inline Tensor tensor_of(TensorPool& pool, Scalar scalar, std::size_t count, std::uint64_t seed = 1) {
  Tensor tensor = pool.make(scalar, count);
  auto* const bytes = tensor.writable<unsigned char>();
  for (std::size_t i = 0; i < tensor.bytes(); ++i) bytes[i] = static_cast<unsigned char>((seed + i) * 0x9e37'79b9'7f4a'7c15u >> 56);
  return tensor;
}

inline bool are_equal(const Tensor& one, const Tensor& other) {
  return one.scalar() == other.scalar() && one.count() == other.count() &&
         (one.bytes() == 0 || std::memcmp(one.data<char>(), other.data<char>(), one.bytes()) == 0);
}

inline bool are_equal(const Parcel& one, const Parcel& other) {
  if (one.kind != other.kind || one.head != other.head || one.tensors.size() != other.tensors.size()) return false;
  for (std::size_t i = 0; i < one.tensors.size(); ++i)
    if (!are_equal(one.tensors[i], other.tensors[i])) return false;
  return true;
}

}  // namespace rubato::test
