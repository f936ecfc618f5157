// What a protocol asks an algorithm to do. Steps are the only thing that passes from *when* to *what*.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "runtime/ids.hpp"
#include "runtime/time.hpp"
#include "runtime/words.hpp"

namespace rubato {

/// What a client is to do.
enum class StepKind : std::uint8_t {
  begin,    ///< fix the model that the coming compute will use
  compute,  ///< the local update
  publish,  ///< hand out tensors; the entries are the receivers, those whose links lose the message included
  merge,    ///< absorb one closed window; the entries are the messages, in order
  adopt,    ///< overwrite the model with the message's: unification, joining
  reclaim,  ///< an increment that was not acknowledged comes back
  discard,  ///< a message arrived but was refused or superseded
  reset,    ///< a new epoch for algorithms that conserve mass
  measure,  ///< hand out named vectors for evaluation
  save,     ///< write a checkpoint
  load,     ///< go on from a checkpoint
  decide,   ///< answer a question that the timing depends on
};

/// The word for it in records and traces: "begin", "compute", ...
constexpr std::string_view name_of(StepKind kind) {
  return word_at("begin|compute|publish|merge|adopt|reclaim|discard|reset|measure|save|load|decide",
                 static_cast<std::size_t>(kind));
}

/// What a published message is.
enum class MessageKind : std::uint8_t {
  update,           ///< what algorithms exchange
  model,            ///< the hub's model at a unification
  acknowledgement,  ///< control: kept by its receiver
  request,          ///< control: please send (pull), or send your whole state (after a gap)
  resync,           ///< the whole state, for a receiver that has missed something
};

/// Control messages use the links, but algorithms never see them.
constexpr bool is_control(MessageKind kind) { return kind == MessageKind::acknowledgement || kind == MessageKind::request; }

/// The place of a payload in this process until its last receiver is done with it. Not part of the record.
using SlotIndex = std::uint32_t;
/// Stands where no payload lies.
inline constexpr SlotIndex no_slot = 0xFFFF'FFFF;

/// One message of a step.
struct StepEntry {
  ClientId peer{};                ///< publish: the receiver; else the sender
  Sequence sequence = 0;          ///< of the message, counted by its sender
  SlotIndex slot = no_slot;       ///< where the payload lies
  std::uint16_t incarnation = 0;  ///< the life of the sender, from 0
  std::uint8_t lost = 0;          ///< publish: the link loses it
  std::uint8_t copies = 0;        ///< publish: how many more times the link delivers it
  double weight = 1;              ///< of this message in the window, or of this receiver in the share
  Duration age{};                 ///< merge, adopt, discard: from departure to this step
  std::uint32_t place = 0;        ///< publish: index of the directed link; merge: of the receiver in the publish step
};

/// One thing that a client does, and when. The steps of a client are performed in the order given.
struct Step {
  StepKind kind = StepKind::compute;          ///< what is to be done
  MessageKind message = MessageKind::update;  ///< publish, discard: what kind of message
  bool with_gradient = true;                  ///< compute: false for a tick without a gradient
  std::uint8_t phase = 0;                     ///< of the round, or what else the protocol says about it
  bool keeps = false;                         ///< publish: the sender keeps the message until it is acknowledged or reclaimed
  ClientId client{};                          ///< that performs it
  std::uint32_t incarnation = 0;              ///< of this client
  std::uint64_t index = 0;  ///< compute: counts computations; publish: the sequence; measure: the sample; reset: the epoch
  Time at{};                ///< when it happens in the experiment
  std::span<const StepEntry> entries{};  ///< its messages; valid while the step is performed
};

}  // namespace rubato
