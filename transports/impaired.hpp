// Impaired: a transport made worse on purpose: what it sends is delayed, lost, doubled, overtaken, spoilt or cut off.
#pragma once

#include <array>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

#include "runtime/law.hpp"
#include "transports/transport.hpp"

namespace rubato {

/// How bad. Chances are in [0, 1] and independent of each other.
struct Impairment {
  Law delay = Law::constant(0);                        ///< seconds, for every parcel anew; what it yields below 0 counts as 0
  double loss = 0;                                     ///< it never leaves
  double duplicate = 0;                                ///< it leaves twice, the second time after a delay of its own
  double reorder = 0;                                  ///< it is held back, so that later ones overtake it
  Duration held_back = std::chrono::milliseconds(10);  ///< for so long, besides its delay
  double spoil = 0;                                    ///< it arrives damaged
  std::set<ParcelKind> kinds = {ParcelKind::message, ParcelKind::control};  ///< others pass at once, unharmed
  std::size_t held_bytes = std::size_t{256} << 20;  ///< what may be held here; more is refused, control at twice that
};

/// What was done to parcels.
struct ImpairmentCounts {
  std::uint64_t lost = 0;
  std::uint64_t duplicated = 0;
  std::uint64_t reordered = 0;  ///< held back
  std::uint64_t spoilt = 0;
  std::uint64_t delayed = 0;  ///< that have not left at once
  std::uint64_t cut = 0;      ///< lost because their hosts were cut off from each other
  std::uint64_t overdue = 0;  ///< copies that were still held when stop() had to end
};

/// Sends over another transport, which outlives it. The fate of a parcel is a pure function of the seed, the two hosts
/// and its number among the impaired kinds that one sent to the other, so the same parcels meet the same fates. Without
/// any impairment it is as if it were not there. Any thread may call it.
class Impaired final : public Transport {
 public:
  /// Throws std::invalid_argument for a chance outside of [0, 1], a negative time or a law without a number for a
  /// parcel.
  Impaired(Transport& inner, Impairment impairment, std::uint64_t seed);
  Impaired(const Impaired&) = delete;
  Impaired& operator=(const Impaired&) = delete;
  ~Impaired() override;

  HostId self() const override { return inner_.self(); }
  void start(ParcelSink& sink) override { inner_.start(sink); }
  /// True may also mean lost. A parcel that is held may be refused by the other transport later, which that one counts.
  bool send(HostId to, Parcel parcel) override;
  /// What is held leaves at its time; what is not due within `linger` never leaves.
  void stop(Duration linger) override;
  /// Those of the other transport, and what was refused here.
  TransportCounts counts() const override;

  /// From now on what these two send to each other is lost, if it is of an impaired kind; what is held still leaves.
  /// Only what this host sends is its business: cut at both ends.
  void cut(HostId one, HostId other);
  void heal(HostId one, HostId other);

  ImpairmentCounts impairments() const;

 private:
  /// What chance says about one parcel.
  struct Fate {
    bool is_lost = false;
    bool is_spoilt = false;
    bool is_held_back = false;
    std::size_t copies = 1;
    std::array<Duration, 2> delays{};  // of each copy
  };
  struct Held {
    HostId to;
    Parcel parcel;
  };
  using Due = std::pair<Duration, std::uint64_t>;  // when, and in which order it came

  Fate fate_of(HostId to, std::uint64_t number) const;
  Duration delay_of(HostId to, std::uint64_t number, std::uint32_t copy) const;
  bool is_gone(const Fate& fate, HostId to);
  bool has_room(const Parcel& parcel, std::size_t copies) const;
  void hold(HostId to, const Parcel& parcel, Duration until);
  void let_go_of_what_is_due();
  void let_go_of_one(std::unique_lock<std::mutex>& lock);

  Transport& inner_;
  const Impairment impairment_;
  const std::uint64_t seed_;

  mutable std::mutex mutex_;
  std::condition_variable something_changed_;
  std::map<HostId, std::uint64_t> numbers_;  // parcels so far, by receiver
  std::map<Due, Held> held_;
  std::size_t held_bytes_ = 0;
  std::uint64_t held_so_far_ = 0;
  std::set<std::pair<HostId, HostId>> cut_;
  ImpairmentCounts did_;
  std::uint64_t refused_ = 0;
  bool is_stopped_ = false;
  Duration last_moment_ = Duration::max();  // when what is still held is forgotten
  std::thread thread_;                      // lets go of what is due
};

}  // namespace rubato
