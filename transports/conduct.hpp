// Conduct: what was left out of what each host has sent, and when that is to be told.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "runtime/ids.hpp"
#include "runtime/time.hpp"

namespace rubato {

/// Why something of another host was left out, or not believed.
enum class Misdeed : std::uint8_t {
  unreadable,    ///< a parcel without the head of its kind, or with one that says what cannot be
  item,          ///< not the item that was asked for
  message,       ///< none that the sender could send in this run
  flood,         ///< messages faster than its clients' laws give them, or more than may wait
  misshapen,     ///< a message that fits no model of this run
  not_finite,    ///< a message with a number that is infinite or NaN
  beyond_norm,   ///< longer than mailbox.norm_limit allows
  unauthorised,  ///< a model or an acknowledgement that was not its to send
  unasked,       ///< a request that the protocol has no need of, or too soon after another
  haste,         ///< greetings, questions for the time, or lives faster than they are taken
  time,          ///< answers to questions for the time that are not open; some may come late
  beginning,     ///< the run began at an instant that cannot be
  lives,         ///< more lives of this host than can be
  memory,        ///< there was none for it
};
inline constexpr std::size_t misdeeds = 14;

/// How it goes on after "ignored HOST count=N: ".
const char* sentence_about(Misdeed what);

/// Any thread may use it.
class Conduct {
 public:
  explicit Conduct(std::size_t hosts) : records_(hosts) {}

  void add(HostId host, Misdeed what);
  /// Counted elsewhere: so many in all.
  void set(HostId host, Misdeed what, std::uint64_t count);

  struct Word {
    HostId host;
    Misdeed what;
    std::uint64_t count;  ///< so far
  };
  /// What has come up since it was last told: at once, and then once a minute, or all that is left.
  std::vector<Word> due(Duration now, bool is_last = false);

 private:
  struct Record {
    std::uint64_t count = 0, told = 0;
    Duration told_at{};
  };
  std::mutex mutex_;
  std::vector<std::array<Record, misdeeds>> records_;  // by host
};

}  // namespace rubato
