#include "transports/conduct.hpp"

namespace rubato {

namespace {

constexpr Duration tell_every = std::chrono::minutes(1);

// Of honest hosts some come up: a host that was away for an hour answers what it was asked meanwhile.
std::uint64_t least_told(Misdeed what) {
  if (what == Misdeed::time) return 5000;
  return what == Misdeed::unasked ? 1000 : 1;
}

}  // namespace

const char* sentence_about(Misdeed what) {
  constexpr std::array<const char*, misdeeds> sentences{
      "parcels that cannot be read, or say what cannot be",
      "items that are not what was asked for",
      "messages that it cannot send in this run",
      "messages faster than its clients can send them, or more than may wait",
      "messages that fit no model of this run",
      "messages with numbers that are not finite",
      "messages longer than mailbox.norm_limit allows",
      "models or acknowledgements that were not its to send",
      "requests that the protocol has no need of, or too soon after another",
      "greetings, questions for the time, or lives faster than they are taken",
      "answers to questions for the time that were not asked",
      "its word that the run began at an instant that cannot be",
      "its word that this host had more lives than can be",
      "parcels for which there was no memory",
  };
  return sentences[static_cast<std::size_t>(what)];
}

void Conduct::add(HostId host, Misdeed what) {
  const std::lock_guard lock(mutex_);
  if (host.value < records_.size()) ++records_[host.value][static_cast<std::size_t>(what)].count;
}

void Conduct::set(HostId host, Misdeed what, std::uint64_t count) {
  const std::lock_guard lock(mutex_);
  if (host.value < records_.size()) records_[host.value][static_cast<std::size_t>(what)].count = count;
}

std::vector<Conduct::Word> Conduct::due(Duration now, bool is_last) {
  std::vector<Word> words;
  const std::lock_guard lock(mutex_);
  for (std::uint32_t host = 0; host < records_.size(); ++host)
    for (std::size_t i = 0; i < misdeeds; ++i) {
      Record& record = records_[host][i];
      const auto what = static_cast<Misdeed>(i);
      const bool is_new = record.told == 0 ? record.count >= least_told(what) : record.count > record.told;
      if (!is_new || (!is_last && record.told > 0 && now - record.told_at < tell_every)) continue;
      record.told = record.count;
      record.told_at = now;
      words.push_back({{host}, what, record.count});
    }
  return words;
}

}  // namespace rubato
