// AnswerRule: what a centre without rounds makes of answers, as data; all of it is counted, none of it looks at a model.
#pragma once

#include <cstdint>
#include <limits>
#include <string_view>

#include "runtime/time.hpp"

namespace rubato {

/// Which answers are one update of the centre's model.
enum class Gather : std::uint8_t {
  each,      ///< every answer is one
  count,     ///< so many answers
  harmonic,  ///< answers of every worker, as many as the harmonic mean of their counts asks for
  table,     ///< rounds of two phases: a row a worker, then an update by each worker (Ringleader)
  round,     ///< of all workers that the round has selected (DiLoCo)
};

/// Which workers get the model next.
enum class HandOut : std::uint8_t {
  answerer,   ///< the worker that has answered, at once
  at_update,  ///< likewise, but it waits for the next version
  all,        ///< all workers at every update, and what they are at is cancelled
};

/// What a model finds at a worker that is at work.
enum class Arriving : std::uint8_t {
  cancel,  ///< the work is dropped where the message says so
  newest,  ///< the work is finished first; of the models that wait the newest stays
  queue,   ///< the work is finished first, and then that of all models that wait
};
constexpr std::string_view word_list(Arriving) { return "cancel|newest|queue"; }

/// The rule of one centre. "version" counts the updates; the delay of an answer is the versions since that of its model.
struct AnswerRule {
  /// No answer is too old.
  static constexpr std::uint64_t any_delay = std::numeric_limits<std::uint64_t>::max();

  Gather gather = Gather::each;              ///< which answers are an update
  std::uint32_t count = 1;                   ///< of Gather::count; at least 1
  double gradients = 1;                      ///< of Gather::harmonic: so many of workers that are equally fast; > 0
  std::uint64_t greatest_delay = any_delay;  ///< older answers are ignored
  HandOut hand_out = HandOut::answerer;      ///< which workers get the model after an answer
  bool stops = false;                        ///< after an update work that has got older than the greatest delay is cancelled
  bool draws_next = false;                   ///< instead of the answerer a worker that is drawn
  bool keeps_going = false;                  ///< a worker that has answered works on at the same model
  Arriving arriving = Arriving::cancel;      ///< a model at a worker that is at work
  bool centre_works = false;                 ///< the centre is a worker, too; its own models and answers need no message
  Duration patience = Duration::max();       ///< an order that is not answered by then is given up; of a round: its end
};

/// Phases of the merge steps of such a centre and its workers.
namespace at_work {
/// A worker begins at the model of the message, or, without one, the centre at its own.
inline constexpr std::uint8_t begins = 0;
/// The centre takes the message's answer, or, without one, its own, into what it sums up. The step's index is the delay.
inline constexpr std::uint8_t collects = 1;
/// The same into the table of the round after this.
inline constexpr std::uint8_t collects_for_next = 2;
/// Then the model is updated with all that was collected.
inline constexpr std::uint8_t updates = 4;
/// Then the table of the next round takes the place of this one's.
inline constexpr std::uint8_t ends_round = 8;
/// A centre that works keeps its model for a later job of its own.
inline constexpr std::uint8_t keeps_own = 16;
/// It begins at the oldest that it has kept.
inline constexpr std::uint8_t begins_kept = 17;
/// It forgets them all.
inline constexpr std::uint8_t forgets_kept = 18;
}  // namespace at_work

/// Phase of a publish step of the centre: its model.
inline constexpr std::uint8_t hands_out = 0;
/// Phase of a publish step of a worker: its answer.
inline constexpr std::uint8_t hands_in = 1;

}  // namespace rubato
