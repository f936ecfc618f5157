// Transport: parcels between the hosts of a run, whatever carries them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/ids.hpp"
#include "runtime/payload.hpp"
#include "runtime/time.hpp"

namespace rubato {

/// What a parcel is about. The numbers are part of the wire format.
enum class ParcelKind : std::uint8_t {
  hello = 1,      ///< which host this is and what it runs
  clock_ask = 2,  ///< what time is it at yours
  clock_answer = 3,
  message = 4,   ///< a published message, for clients of this host
  control = 5,   ///< acknowledgements and requests between protocols
  want = 6,      ///< this thing that you keep, please: a published message, a sample's model, a client's end
  payload = 7,   ///< here it is
  have = 8,      ///< it has arrived, keep it no longer
  snapshot = 9,  ///< not sent any more; the number stays taken
  notice = 10,   ///< how a host is doing: starting, stopped, leaving
  result = 11,   ///< not sent any more; the number stays taken
  view = 12,     ///< how the clients of a host are, for others to show; without a head the question for it
};
/// The greatest number of a ParcelKind.
inline constexpr std::uint8_t last_parcel_kind = 12;

/// What becomes of a parcel when the queue to its host is full, or where something is in it already.
enum class WhenFull : std::uint8_t {
  drop_oldest,  ///< a state: the oldest parcel of this kind makes room, because a newer one says more
  refuse,       ///< an increment: it is not taken, and counted
  wait,         ///< control: always taken; its sender sends few
  give_way,     ///< to be looked at only: it is not taken where another parcel waits, and counted
};

/// `head` says what it is, in bytes; `tensors` travel without being copied on this side.
struct Parcel {
  ParcelKind kind = ParcelKind::notice;  ///< what it is about
  WhenFull when_full = WhenFull::wait;   ///< what becomes of it when the queue is full
  bool is_spoilt = false;                ///< arrives damaged: its receiver must notice (only impaired transports set it)
  std::vector<std::byte> head;           ///< what its kind says, before the tensors
  std::vector<Tensor> tensors;           ///< none is empty

  /// Of head and tensors.
  std::size_t bytes() const {
    std::size_t sum = head.size();
    for (const Tensor& tensor : tensors) sum += tensor.bytes();
    return sum;
  }
};

/// Hears what arrives. Called on a thread of the transport, for one parcel at a time; it must not block, and may send.
class ParcelSink {
 public:
  virtual ~ParcelSink() = default;
  /// `arrived`: when, on the machine's monotonic clock. Where it throws std::bad_alloc the parcel is lost and counted.
  virtual void on_parcel(HostId from, Parcel parcel, Duration arrived) = 0;
};

/// What happened to parcels. Those of one host arrive in the order in which they were sent, each at most once.
struct TransportCounts {
  std::uint64_t sent = 0;             ///< taken to be sent
  std::uint64_t received = 0;         ///< handed to the sink
  std::uint64_t sent_bytes = 0;       ///< of parcels that were taken to be sent
  std::uint64_t received_bytes = 0;   ///< of parcels that were handed to the sink
  std::uint64_t dropped_states = 0;   ///< made room for newer ones
  std::uint64_t refused = 0;          ///< not taken, or without a known receiver
  std::uint64_t gave_way = 0;         ///< not taken, because another parcel waited
  std::uint64_t malformed = 0;        ///< received and thrown away: no frame, or a broken one
  std::uint64_t oversized = 0;        ///< beyond the limits
  std::uint64_t unknown = 0;          ///< another version or kind
  std::uint64_t unauthenticated = 0;  ///< refused handshakes, and frames of strangers
  std::uint64_t replayed = 0;         ///< sequence numbers that were there before
  std::uint64_t stale = 0;            ///< of an earlier life of their sender
  std::uint64_t flooded = 0;          ///< beyond what a peer may have waiting here
  std::uint64_t unaffordable = 0;     ///< parcels given up because memory for them could not be had
  std::uint64_t hasty = 0;            ///< frames of a host beyond its pace: read, but more slowly
  std::uint64_t crowded_out = 0;      ///< connections that made room for others while shaking hands
};

/// One host's end. Sending may happen on any thread and never blocks; queues are bounded in bytes.
class Transport {
 public:
  virtual ~Transport() = default;

  /// Which host of the roster this is.
  virtual HostId self() const = 0;
  /// From now on parcels go to the sink, which must live until stop() has returned.
  virtual void start(ParcelSink& sink) = 0;
  /// False: it was not taken (queue full, unknown host, stopped), and that is counted. True promises nothing more.
  virtual bool send(HostId to, Parcel parcel) = 0;
  /// Gives what is queued `linger` to leave, then ends. Nothing is handed to the sink afterwards.
  virtual void stop(Duration linger) = 0;
  /// So far; any thread may ask.
  virtual TransportCounts counts() const = 0;
};

/// A transport of a program's own, for the addresses that begin with its scheme.
struct OwnTransport {
  std::string_view scheme;  ///< "mine" carries mine://...
  /// The end of host `self` among those with these addresses, the roster's in its order. Tensors that arrive may take their memory
  /// from the pool, which outlives it. Throws std::invalid_argument for addresses that it cannot use.
  std::unique_ptr<Transport> (*open)(HostId self, const std::vector<std::string>& addresses, TensorPool& pool) = nullptr;
};

/// Adds a program's own transports, for rosters to name; they live as long as the program. To be called before anything else, on
/// one thread. Throws std::invalid_argument if a scheme is taken or none, or the function is missing.
void extend_transports(std::span<const OwnTransport* const> own);

/// The machine's monotonic clock.
Duration monotonic_now();

}  // namespace rubato
