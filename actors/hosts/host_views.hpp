// HostViews: a host of a run in real time that shows the run asks the others how their clients are, and is told.
#pragma once

#include <mutex>
#include <optional>
#include <vector>

#include "actors/hosts/membership.hpp"
#include "results/run_event.hpp"
#include "transports/transport.hpp"

namespace rubato {

/// Questions and answers give way to every other parcel, so that a run waits for none of them. Any thread.
class HostViews {
 public:
  /// Before the membership starts; everything given by reference outlives it, and it outlives the membership's thread.
  /// `host_of`: by client; `until`: seconds of the experiment.
  HostViews(Membership& membership, Transport& transport, const std::vector<HostId>& host_of, double until);

  /// Asks all hosts that are there.
  void ask();
  /// Some host that is there has asked in the last seconds.
  bool is_asked() const;
  /// Answers those hosts.
  void tell(const HostView& own);

  struct Told {
    HostView view;
    Duration at{};  ///< when it came, on this machine's monotonic clock
  };
  /// What this host has told last, in whatever life; nothing: it has told nothing.
  std::optional<Told> newest(HostId host) const;
  /// Of a host.
  std::size_t clients(HostId host) const { return peers_[host.value].clients; }

 private:
  struct Peer {
    std::size_t clients = 0;
    std::optional<Duration> asked;
    std::optional<Told> told;
  };

  void on_parcel(HostId from, Parcel parcel, Duration arrived);
  bool is_possible(const HostView& view, HostId from) const;
  std::vector<HostId> asking() const;

  Membership& membership_;
  Transport& transport_;
  const std::vector<HostId>& host_of_;
  const double until_;
  mutable std::mutex mutex_;  // guards what follows but for the numbers of clients
  std::vector<Peer> peers_;   // by host
};

}  // namespace rubato
