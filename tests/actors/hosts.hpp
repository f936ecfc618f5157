// Hosts of one run in one process: each on a thread of its own, with an end of a hub that behaves like a wire.
#pragma once

#include <atomic>
#include <cstring>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "actors/host_run.hpp"
#include "tests/actors/support.hpp"
#include "transports/hub.hpp"
#include "transports/impaired.hpp"
#include "transports/message.hpp"

namespace rubato::test {

/// What leaves is copied, as on the way between machines: no host holds memory of another.
class WireLike final : public Transport {
 public:
  /// The pool outlives all hosts.
  WireLike(std::unique_ptr<Transport> inner, TensorPool& pool) : inner_{std::move(inner)}, pool_{pool} {}

  HostId self() const override { return inner_->self(); }
  void start(ParcelSink& sink) override { inner_->start(sink); }
  bool send(HostId to, Parcel parcel) override {
    for (Tensor& tensor : parcel.tensors) {
      if (!tensor) continue;
      Tensor copy = pool_.make(tensor.scalar(), tensor.count());
      std::memcpy(copy.writable<std::byte>(), tensor.data<std::byte>(), tensor.bytes());
      tensor = std::move(copy);
    }
    return inner_->send(to, std::move(parcel));
  }
  void stop(Duration linger) override { inner_->stop(linger); }
  TransportCounts counts() const override { return inner_->counts(); }

 private:
  std::unique_ptr<Transport> inner_;
  TensorPool& pool_;
};

/// A host of the run that means ill: before its first letter to the victim it sends it so many notes that wait for an
/// hour.
class Flooding final : public Transport {
 public:
  Flooding(Transport& inner, std::uint32_t notes, ClientId from, ClientId to, HostId victim)
      : inner_{inner}, left_{notes}, victim_{victim} {
    Message note;
    note.id.sender = from;
    note.kind = MessageKind::request;
    note_ = to_parcel(note, {{.receiver = to, .delay = std::chrono::hours(1)}}, false);
  }

  HostId self() const override { return inner_.self(); }
  void start(ParcelSink& sink) override { inner_.start(sink); }
  bool send(HostId to, Parcel parcel) override {
    if (parcel.kind == ParcelKind::message && to == victim_)
      for (std::uint32_t notes = left_.exchange(0); notes > 0; --notes) inner_.send(to, note_);
    return inner_.send(to, std::move(parcel));
  }
  void stop(Duration linger) override { inner_.stop(linger); }
  TransportCounts counts() const override { return inner_.counts(); }

 private:
  Transport& inner_;
  std::atomic<std::uint32_t> left_;
  Parcel note_;
  HostId victim_;
};

/// Everything that may go wrong on the way of what virtual runs send.
inline Impairment bad_links() {
  Impairment bad;
  bad.loss = 0.1;
  bad.duplicate = 0.1;
  bad.reorder = 0.1;
  bad.spoil = 0.02;
  bad.held_back = std::chrono::milliseconds(3);
  bad.kinds = {ParcelKind::hello,   ParcelKind::clock_ask, ParcelKind::clock_answer, ParcelKind::want,
               ParcelKind::payload, ParcelKind::have,      ParcelKind::notice};
  return bad;
}

/// How one host is started.
struct HostStart {
  config::Experiment experiment;
  RunOptions options;
  HostOptions host{};
  std::uint32_t floods = 0;  ///< notes that wait, for the last client of all
};

/// A roster with these hosts and clients; without clients they get equal shares.
inline config::Experiment over_hosts(config::Experiment experiment, std::size_t hosts,
                                     const std::vector<std::vector<std::int64_t>>& clients = {}) {
  for (std::size_t i = 0; i < hosts; ++i) {
    config::Host host;
    host.name = std::string(1, static_cast<char>('a' + i));
    host.address = "inproc://" + host.name;
    if (!clients.empty()) host.clients = clients[i];
    experiment.roster.push_back(host);
  }
  return experiment;
}

struct HostOutcome {
  RunResult result;
  std::string complaint;  ///< what it threw; empty: nothing
};

/// Runs all hosts to their end.
inline std::vector<HostOutcome> run_hosts(const std::vector<HostStart>& starts, const Impairment& links = {}) {
  TensorPool pool;
  std::vector<HostOutcome> outcomes(starts.size());
  {
    Hub hub(static_cast<std::uint32_t>(starts.size()));
    std::vector<std::thread> threads;
    for (std::uint32_t i = 0; i < starts.size(); ++i)
      threads.emplace_back([&, i] {
        WireLike wire(hub.end(HostId{i}), pool);
        const auto hosts = static_cast<std::uint32_t>(starts.size());
        const auto clients = static_cast<std::uint32_t>(starts[i].experiment.clients.count);
        Flooding flooding(wire, starts[i].floods, {i * clients / hosts}, {clients - 1}, HostId{hosts - 1});
        Impaired transport(flooding, links, 7 + i);
        try {
          outcomes[i].result = run_host(starts[i].experiment, starts[i].options, starts[i].host, transport);
        } catch (const std::exception& error) {
          outcomes[i].complaint = error.what();
        }
      });
    for (std::thread& thread : threads) thread.join();
  }
  return outcomes;
}

/// The same, but once this host has begun to learn it is cut off from all others.
inline std::vector<HostOutcome> run_hosts_and_cut_off(const std::vector<HostStart>& starts, HostId lost) {
  TensorPool pool;
  std::vector<HostOutcome> outcomes(starts.size());
  Impairment everything = bad_links();
  everything.loss = everything.duplicate = everything.reorder = everything.spoil = 0;
  everything.kinds.insert({ParcelKind::message, ParcelKind::control});
  std::atomic<bool> is_cut{false};
  {
    Hub hub(static_cast<std::uint32_t>(starts.size()));
    std::vector<std::thread> threads;
    for (std::uint32_t i = 0; i < starts.size(); ++i)
      threads.emplace_back([&, i] {
        WireLike wire(hub.end(HostId{i}), pool);
        Impaired transport(wire, everything, 7 + i);
        RunOptions options = starts[i].options;
        options.on_progress = [&](const Progress& progress) {
          if (progress.events > 1000) is_cut = true;
          if (!is_cut) return;
          for (std::uint32_t other = 0; other < starts.size(); ++other)
            if (HostId{other} != lost) transport.cut(HostId{other}, lost);
        };
        try {
          outcomes[i].result = run_host(starts[i].experiment, options, starts[i].host, transport);
        } catch (const std::exception& error) {
          outcomes[i].complaint = error.what();
        }
      });
    for (std::thread& thread : threads) thread.join();
  }
  return outcomes;
}

/// The same start for all hosts of the roster.
inline std::vector<HostOutcome> run_hosts(const config::Experiment& experiment, const RunOptions& options = {},
                                          const Impairment& links = {}) {
  return run_hosts(std::vector<HostStart>(experiment.roster.size(), HostStart{experiment, options, {}}), links);
}

}  // namespace rubato::test
