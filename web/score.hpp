// RunScore: what every client did and what became of every message, with exact times, and sums of it over the course of a run.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "runtime/ids.hpp"
#include "runtime/time.hpp"
#include "web/critical_path.hpp"

namespace rubato::web {

/// What became of a message. The order is the page's (web/page/score_data.js).
enum class Ending : std::uint8_t {
  merged,
  superseded,  ///< by a newer one of its sender, or not needed any more
  late,        ///< older than the deadline
  capped,      ///< beyond what its receiver takes in a period
  lost,        ///< by its link
  partition,   ///< on its way between two groups
  absent,      ///< its receiver was away
  other,       ///< seen before, or of an earlier life
  waiting,     ///< in a mailbox at the end
  under_way,   ///< at the end
};
inline constexpr std::size_t fates = 10;

struct RunScore {
  struct Computation {
    Time at;
    ClientId client;
  };
  struct Message {
    std::uint32_t publication;  ///< index of the part's
    ClientId receiver;
    Ending fate = Ending::under_way;
    std::uint32_t lag = 0;  ///< merged: how many newer ones its sender had sent by then
    Time arrived = never;   ///< never: it is not known
    Time ended = never;     ///< when it was merged or refused; never: it was not, or that is not known
  };
  /// From a client's last step of its own to the merge or adoption that it needed to go on; in rounds also from its computation to
  /// the instant at which all send.
  struct Wait {
    Time from, to;
    ClientId client, last;  ///< `last`: whose message or computation came last
  };
  /// All marks of a stretch of the run.
  struct Part {
    Time from, to;
    std::vector<Computation> computations{}, publications{};
    std::vector<Message> messages{};  ///< that departed in it, in the order of their publications
    std::vector<Wait> waits{};
  };
  struct Event {
    Time at;
    const char* what;
    ClientId client{}, other{};
  };
  /// Of a link or a client: sums over merged messages.
  struct Ages {
    std::uint64_t merged = 0, arrived = 0;  ///< merged; those of them whose arrival is known
    double age = 0, transit = 0;            ///< seconds, of the former and of the latter
  };
  struct Waited {
    std::uint64_t times = 0;
    double seconds = 0;
  };
  /// Of merged messages of like age.
  struct Aged {
    std::uint64_t messages = 0;
    double transit = 0;  ///< seconds on the way, in all
  };

  Time end{};
  bool has_arrivals = false;  ///< else a message is known to have departed and to have been merged
  bool waits = false;         ///< clients wait for messages by the rules of the protocol
  bool is_cut = false;        ///< it ends before the run does
  std::vector<Part> parts;
  std::vector<Event> events;                           ///< unifications and hand-overs; churn is in the plan
  std::vector<std::pair<Time, std::uint64_t>> rounds;  ///< when each began, where the graph changes with them and that is known

  // In the course of the run: by equal parts of it. Fates by the departure of the messages, ages by their merge.
  std::vector<std::array<std::uint64_t, fates>> course;
  std::vector<Ages> ages_course;
  std::map<std::pair<std::uint32_t, int>, Aged> ages;  ///< merged messages by part and bin, four to an octave of nanoseconds
  std::vector<std::uint64_t> versions;                 ///< merged messages by how many newer ones there were
  std::map<std::pair<std::uint32_t, std::uint32_t>, Ages> by_link;       ///< by sender and receiver
  std::map<std::pair<std::uint32_t, std::uint32_t>, Waited> by_waiting;  ///< by who waits and for whom
  std::vector<Ages> by_client;                                           ///< by receiver
  std::vector<PathPiece> path;                                           ///< where clients wait: what the last merge waited for

  /// Computations and merges by group of clients and slice, where not all marks are in parts: group after group.
  std::vector<std::uint64_t> density_computations, density_merges;
};

struct ScoreLimits {
  std::size_t marks = 200'000;       ///< in all parts together, about
  std::uint64_t events = 5'000'000;  ///< no more are walked
  std::size_t slices = 100;          ///< of the course
  std::size_t groups = 60;           ///< of clients, of the density
  std::size_t density_slices = 300;
};

/// How many clients a group of the density has.
inline std::size_t clients_of_group(std::size_t clients, const ScoreLimits& limits) {
  return (clients + limits.groups - 1) / limits.groups;
}

}  // namespace rubato::web
