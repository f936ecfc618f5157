#include "transports/reception.hpp"

#include <new>
#include <utility>

namespace rubato {

struct Reception::Sender {
  explicit Sender(TensorPool& pool) : assembly{pool} {}

  std::uint64_t life = 0;
  std::uint64_t last_sequence = 0;  // of that life; frames are counted from 1
  ParcelAssembly assembly;
  LentTensors lent;
};

Reception::Reception(HostId self, std::size_t hosts, const FrameLimits& limits, std::size_t receive_bytes, TensorPool& pool)
    : self_{self}, limits_{limits}, receive_bytes_{receive_bytes} {
  for (std::size_t i = 0; i < hosts; ++i) senders_.push_back(std::make_unique<Sender>(pool));
}

Reception::~Reception() = default;

std::optional<Reception::Arrived> Reception::take(std::span<const FramePart> parts, std::optional<HostId> authenticated) {
  const auto read = read_frame(parts, limits_);
  if (const auto* fault = std::get_if<FrameFault>(&read)) return count(*fault), std::nullopt;
  const auto& frame = std::get<FrameView>(read);
  if (!is_authentic(frame, authenticated)) return ++counts_.unauthenticated, std::nullopt;
  if (frame.envelope.receiver != self_) return ++counts_.malformed, std::nullopt;
  Sender& sender = *senders_[frame.envelope.sender.value];
  const std::uint64_t given_up = sender.assembly.given_up();
  Arrived arrived{frame.envelope.sender, {}};
  try {
    const bool is_complete = is_new(frame, sender) && has_room(frame, sender) && sender.assembly.add(frame);
    counts_.malformed += sender.assembly.given_up() - given_up;
    if (!is_complete) return std::nullopt;
    arrived.parcel = sender.assembly.take();
    for (const Tensor& tensor : arrived.parcel.tensors) sender.lent.lend(tensor);
  } catch (const std::bad_alloc&) {
    sender.assembly.forget();
    return ++counts_.unaffordable, std::nullopt;
  }
  ++counts_.received;
  counts_.received_bytes += frame.total_bytes;
  return arrived;
}

bool Reception::is_authentic(const FrameView& frame, std::optional<HostId> authenticated) const {
  const HostId sender = frame.envelope.sender;
  return sender.value < senders_.size() && sender != self_ && (!authenticated || *authenticated == sender);
}

bool Reception::is_new(const FrameView& frame, Sender& sender) {
  const Envelope& envelope = frame.envelope;
  if (envelope.life < sender.life) return ++counts_.stale, false;
  if (envelope.life == sender.life && envelope.sequence <= sender.last_sequence) return ++counts_.replayed, false;
  if (envelope.life > sender.life) sender.assembly.forget();
  sender.life = envelope.life;
  sender.last_sequence = envelope.sequence;
  return true;
}

bool Reception::has_room(const FrameView& frame, Sender& sender) {
  if (frame.first > 0) return true;  // its parcel has its room already, or was refused
  const std::size_t tensor_bytes = frame.total_bytes - frame.head_bytes;
  sender.lent.collect();
  if (sender.lent.bytes() + tensor_bytes > receive_bytes_) sender.lent.collect_all();
  if (sender.lent.bytes() + tensor_bytes <= receive_bytes_) return true;
  sender.assembly.forget();
  ++counts_.flooded;
  return false;
}

void Reception::tidy() {
  for (const auto& sender : senders_) sender->lent.collect_all();
}

void Reception::count(FrameFault fault) {
  switch (fault) {
    case FrameFault::malformed:
      ++counts_.malformed;
      return;
    case FrameFault::oversized:
      ++counts_.oversized;
      return;
    case FrameFault::unknown:
      ++counts_.unknown;
      return;
  }
}

}  // namespace rubato
