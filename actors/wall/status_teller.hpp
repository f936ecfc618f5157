// StatusTeller: says about once a second how a host of a run in real time is, to its caller and to the hosts that ask.
#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>

#include "actors/core/run_options.hpp"
#include "actors/hosts/host_views.hpp"
#include "actors/hosts/membership.hpp"
#include "actors/wall/host.hpp"

namespace rubato {

class StatusTeller {
 public:
  /// Everything given by reference outlives it.
  StatusTeller(const HostOptions& options, const config::Experiment& experiment, const Membership& membership, HostViews& views,
               WallHost& host);
  ~StatusTeller();
  StatusTeller(const StatusTeller&) = delete;
  StatusTeller& operator=(const StatusTeller&) = delete;

  /// Said at once.
  void enter(HostState state);

 private:
  void run();
  void say(HostState state);
  HostStatus status(HostState state) const;

  const HostOptions& options_;
  const config::Experiment& experiment_;
  const Membership& membership_;
  HostViews& views_;
  WallHost& host_;
  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  HostState state_ = HostState::meeting;
  bool is_new_ = true;
  bool is_over_ = false;
  std::thread thread_;
};

}  // namespace rubato
