// Everything that may come in at a host: frames of arbitrary bytes among those of honest senders, in pieces, repeated,
// damaged, left out, of earlier lives. Nothing breaks, memory stays within its limits, nobody speaks for another, and
// an honest parcel is heard at most once, whole, and in order.
#include <array>
#include <deque>
#include <optional>
#include <utility>

#include "tests/fuzz/raw_frame.hpp"
#include "transports/known_sums.hpp"
#include "transports/reception.hpp"

using namespace rubato;
using namespace rubato::fuzz;

namespace {

constexpr FrameLimits limits{.parcel_bytes = 8192, .piece_bytes = 1024, .least_piece_bytes = 16};
constexpr std::size_t hosts = 4, receive_bytes = 20'000, most_held = 8;
constexpr HostId self{0}, honest{3};

class Connection {
 public:
  void play(Input& input) {
    while (!input.is_empty()) {
      const std::uint8_t move = input.byte();
      switch (move % 8) {
        case 0:
        case 1:
          bytes_of_anyone(move, input);
          break;
        case 2:
        case 3:
        case 4:
          honest_parcel(input);
          break;
        case 5:
          again();
          break;
        case 6:
          held_.clear();
          break;
        case 7:
          reception_.tidy();
          break;
      }
      insist(pool_.reserved_bytes() < 8'000'000);
    }
  }

 private:
  using Frame = std::vector<std::vector<std::byte>>;
  struct Form {
    std::size_t head_bytes = sizeof(std::uint64_t);
    std::vector<std::pair<Scalar, std::size_t>> tensors;
    std::size_t piece = 100;
  };

  // The connection may be one of host 1 or 2, or our own; or nothing is known of it, then nobody claims to be the
  // honest one.
  void bytes_of_anyone(std::uint8_t move, Input& input) {
    const std::uint8_t mending = move >> 3 & 7, who = move >> 6;
    const RawFrame raw(mending, input, input.number(2) % (2 * limits.parcel_bytes));
    if (who < 3) return void(hear(raw.parts(), HostId{who}, false));
    if (raw.claimed_sender() != honest.value) hear(raw.parts(), std::nullopt, false);
  }

  // Host 3 is honest: its frames are as they must be, but for what happens to them on the way.
  void honest_parcel(Input& input) {
    const std::uint8_t accidents = input.byte();
    if (accidents >= 0xC0) ++life_, sequence_ = 0;
    if ((accidents & 2) == 0) draw_form(input);  // else as the last: so that pieces of two parcels could be confused
    Parcel parcel{.kind = ParcelKind::message, .head = std::vector<std::byte>(form_.head_bytes), .tensors = {}};
    std::memcpy(parcel.head.data(), &++number_, sizeof number_);
    for (const auto& [scalar, count] : form_.tensors) {
      parcel.tensors.push_back(senders_pool_.make(scalar, count));
      std::memset(parcel.tensors.back().writable<char>(), static_cast<int>(number_ % 251), parcel.tensors.back().bytes());
    }
    send(parcel, accidents, input);
  }

  void draw_form(Input& input) {
    form_.head_bytes = sizeof number_ + input.byte();
    form_.tensors.clear();
    for (std::size_t tensors = input.byte() % 4; tensors > 0; --tensors) {
      const auto scalar = static_cast<Scalar>(input.byte() % 3);
      form_.tensors.emplace_back(scalar, input.number(2) % 400);
    }
    form_.piece = limits.least_piece_bytes + (48 + input.number(2)) % (limits.piece_bytes - limits.least_piece_bytes + 1);
  }

  void send(const Parcel& parcel, std::uint8_t accidents, Input& input) {
    const std::size_t total = parcel.bytes();
    std::size_t first = 0;
    do {
      const std::size_t bytes = std::min(form_.piece, total - first);
      Frame frame = frame_of(parcel, first, bytes);
      const std::uint8_t accident = accidents & 1 ? input.byte() % 8 : 7;
      if (accident == 0 && !frame.back().empty()) frame.back().back() ^= std::byte{1};
      if (accident == 1) frame.pop_back();
      if (accident != 2) hear(frame);
      last_ = std::move(frame);
      first += bytes;
    } while (first < total);
  }

  Frame frame_of(const Parcel& parcel, std::size_t first, std::size_t bytes) {
    WrittenFrame written;
    write_frame({honest, self, life_, ++sequence_}, parcel, first, bytes, &sums_, written);
    Frame frame{written.first_part};
    for (const TensorSlice& slice : written.slices) {
      const std::byte* const begin = parcel.tensors[slice.tensor].data<std::byte>() + slice.first;
      frame.emplace_back(begin, begin + slice.bytes);
    }
    return frame;
  }

  // The last honest frame, perhaps for the first time, and then once more.
  void again() {
    hear(last_);
    const std::uint64_t heard = reception_.counts().received;
    hear(last_);
    insist(reception_.counts().received == heard);
  }

  void hear(const Frame& frame) {
    const std::vector<FramePart> parts(frame.begin(), frame.end());
    hear(parts, honest, true);
  }

  void hear(std::span<const FramePart> parts, std::optional<HostId> known, bool is_honest) {
    const TransportCounts before = reception_.counts();
    std::optional<Reception::Arrived> arrived = reception_.take(parts, known);
    const TransportCounts after = reception_.counts();
    insist(after.received - before.received == (arrived ? 1u : 0u));
    insist(outcomes(after) - outcomes(before) <= 2);  // a frame may also end another parcel
    if (!arrived) return;
    insist(arrived->from != self && arrived->from.value < hosts && (!known || arrived->from == *known));
    insist(arrived->parcel.bytes() <= limits.parcel_bytes);
    insist(after.received_bytes - before.received_bytes == arrived->parcel.bytes());
    if (is_honest) judge(arrived->parcel);
    held_.push_back(*std::move(arrived));
    if (held_.size() > most_held) held_.pop_front();
    insist(bytes_held_of(held_.back().from) <= receive_bytes);
  }

  void judge(const Parcel& parcel) {
    std::uint64_t number = 0;
    insist(parcel.head.size() >= sizeof number);
    std::memcpy(&number, parcel.head.data(), sizeof number);
    insist(number > last_heard_ && number <= number_);
    last_heard_ = number;
    for (const Tensor& tensor : parcel.tensors) {
      insist(reinterpret_cast<std::uintptr_t>(tensor.data<std::byte>()) % 64 == 0);
      for (std::size_t i = 0; i < tensor.bytes(); ++i) insist(tensor.data<std::byte>()[i] == static_cast<std::byte>(number % 251));
    }
  }

  std::size_t bytes_held_of(HostId host) const {
    std::size_t sum = 0;
    for (const Reception::Arrived& each : held_)
      if (each.from == host) sum += each.parcel.bytes() - each.parcel.head.size();
    return sum;
  }

  static std::uint64_t outcomes(const TransportCounts& counts) {
    return counts.received + counts.malformed + counts.oversized + counts.unknown + counts.unauthenticated + counts.replayed +
           counts.stale + counts.flooded + counts.unaffordable;
  }

  TensorPool pool_, senders_pool_;
  KnownSums sums_;
  Reception reception_{self, hosts, limits, receive_bytes, pool_};
  std::deque<Reception::Arrived> held_;  // as somebody would who takes his time
  Frame last_;
  Form form_;
  std::uint64_t life_ = 1, sequence_ = 0, number_ = 0, last_heard_ = 0;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Input input(data, size);
  Connection().play(input);
  return 0;
}
