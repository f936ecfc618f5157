// Reception: what arrives at a host, judged frame by frame: which host sent it, is it new, is it whole, is there room.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "transports/frame.hpp"
#include "transports/lent_tensors.hpp"
#include "transports/parcel_assembly.hpp"
#include "transports/transport.hpp"

namespace rubato {

/// Knows no sockets. Whatever the bytes are, it throws nothing and its memory has a limit. One thread at a time.
class Reception {
 public:
  struct Arrived {
    HostId from;
    Parcel parcel;
  };

  /// Of hosts 0 .. hosts - 1. One host may have `receive_bytes` of tensors here: unfinished, or handed out and not let
  /// go of; what is more is refused as a flood. Tensors come from the pool, which outlives them.
  Reception(HostId self, std::size_t hosts, const FrameLimits& limits, std::size_t receive_bytes, TensorPool& pool);
  ~Reception();

  /// One frame. `authenticated`: the host that the connection belongs to; without it the frame's own word is taken.
  std::optional<Arrived> take(std::span<const FramePart> parts, std::optional<HostId> authenticated);

  /// Lets go of memory that came back. Now and then, when nothing arrives.
  void tidy();

  /// What was received, and what was wrong with the rest.
  const TransportCounts& counts() const { return counts_; }

 private:
  struct Sender;

  bool is_authentic(const FrameView& frame, std::optional<HostId> authenticated) const;
  bool is_new(const FrameView& frame, Sender& sender);
  bool has_room(const FrameView& frame, Sender& sender);
  void count(FrameFault fault);

  HostId self_;
  FrameLimits limits_;
  std::size_t receive_bytes_;
  std::vector<std::unique_ptr<Sender>> senders_;  // by host
  TransportCounts counts_;
};

}  // namespace rubato
