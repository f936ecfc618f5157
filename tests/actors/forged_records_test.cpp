// Records that lie: fields of steps are rewritten under a right checksum, or bits are flipped.
#include <doctest/doctest.h>

#include <random>

#include "runtime/record.hpp"
#include "tests/actors/support.hpp"

using namespace rubato;
using namespace rubato::test;

namespace {

struct WrittenStep {
  Step step;
  std::vector<StepEntry> entries;
};

std::vector<WrittenStep> steps_of(const std::filesystem::path& record) {
  RecordReader reader(record);
  std::vector<WrittenStep> steps;
  while (const Step* step = reader.next()) steps.push_back({*step, {step->entries.begin(), step->entries.end()}});
  return steps;
}

void write_record(const std::filesystem::path& file, std::uint32_t clients, const std::vector<WrittenStep>& steps) {
  Recorder recorder(file, clients);
  for (const WrittenStep& written : steps) {
    Step step = written.step;
    step.entries = written.entries;
    recorder.add(step);
  }
}

/// Rewrites one field of one step, as a liar would: most often to what another step could have.
class Forger {
 public:
  Forger(std::uint64_t seed, std::uint32_t clients) : chance_{seed}, clients_{clients} {}

  void forge(std::vector<WrittenStep>& steps) {
    WrittenStep& written = steps[below(steps.size())];
    Step& step = written.step;
    switch (below(13)) {
      case 0:
        step.client = {some_client()};
        break;
      case 1:
        step.kind = some_kind();
        break;
      case 2:
        step.message = static_cast<MessageKind>(below(5));
        break;
      case 3:
        step.phase = static_cast<std::uint8_t>(some_number());
        break;
      case 4:
        step.keeps = !step.keeps;
        break;
      case 5:
        step.incarnation = static_cast<std::uint32_t>(some_number());
        break;
      case 6:
        step.index = some_number();
        break;
      case 7:
        step.at = Time{Duration{static_cast<std::int64_t>(some_number())}};
        break;
      case 8:
        steps.erase(steps.begin() + (&written - steps.data()));
        break;
      case 9:
        steps.insert(steps.begin() + static_cast<std::ptrdiff_t>(below(steps.size())), WrittenStep(written));
        break;
      default:
        forge_entries(steps);
        break;
    }
  }

 private:
  void forge_entries(std::vector<WrittenStep>& steps) {
    WrittenStep* written = &steps[below(steps.size())];
    for (int i = 0; i < 1000 && written->entries.empty(); ++i) written = &steps[below(steps.size())];
    std::vector<StepEntry>& entries = written->entries;
    if (entries.empty()) return;
    StepEntry& entry = entries[below(entries.size())];
    switch (below(9)) {
      case 0:
        entry.peer = {some_client()};
        break;
      case 1:
        entry.sequence = static_cast<Sequence>(some_number());
        break;
      case 2:
        entry.incarnation = static_cast<std::uint16_t>(some_number());
        break;
      case 3:
        entry.lost = !entry.lost;
        break;
      case 4:
        entry.copies = static_cast<std::uint8_t>(below(256));
        break;
      case 5:
        entry.weight = below(2) ? -1e300 : std::numeric_limits<double>::quiet_NaN();
        break;
      case 6:
        entry.place = static_cast<std::uint32_t>(some_number());
        break;
      case 7:
        entries.push_back(entry);
        break;
      default:
        borrow(steps, entry);
        break;
    }
  }

  // The name of another message of the run, of whatever kind and to whatever receiver.
  void borrow(const std::vector<WrittenStep>& steps, StepEntry& entry) {
    for (int i = 0; i < 1000; ++i) {
      const WrittenStep& other = steps[below(steps.size())];
      if (other.step.kind != StepKind::publish || other.entries.empty()) continue;
      entry.peer = other.step.client;
      entry.sequence = other.entries.front().sequence;
      return;
    }
  }

  std::uint64_t below(std::uint64_t bound) { return std::uniform_int_distribution<std::uint64_t>(0, bound - 1)(chance_); }
  std::uint32_t some_client() { return static_cast<std::uint32_t>(below(clients_)); }
  std::uint64_t some_number() { return below(2) ? below(4) : ~std::uint64_t{0} >> below(64); }
  StepKind some_kind() {
    const auto kind = static_cast<StepKind>(below(12));
    return kind == StepKind::measure ? StepKind::reset : kind;
  }

  std::mt19937_64 chance_;
  std::uint32_t clients_;
};

/// The whole number is tried where this variable says so; else a part that takes seconds.
std::uint64_t trials(const char* variable, std::uint64_t few) {
  const char* given = std::getenv(variable);
  return given ? std::stoull(given) : few;
}

/// A short run of an algorithm on a ring of links that lose messages, and what replaying its record comes to.
struct Recorded {
  explicit Recorded(const std::string& algorithm, const std::vector<std::string>& more = {}) : file{folder / "timeline.rbt"} {
    of = experiment(std::vector<std::string>{"algorithm.name=" + algorithm} + more, R"(
until = 12.0
[clients]
count = 6
[data]
name = "quadratic"
dimension = 8
[model]
name = "quadratic"
)");
    RunOptions options = on_threads(1);
    options.record = file;
    before = digests(run(of, options));
  }
  /// The digests, or the sentence.
  std::string replayed() const {
    return in_a_process([this] { return digests(replay(of, file, on_threads(1))); }, patience);
  }

  Folder folder;
  config::Experiment of;
  std::filesystem::path file;
  std::string before;
};

const std::vector<std::string> ring{"topology.kind=ring", "channel.kind=random", "channel.loss=0.1"};
const std::vector<std::string> star{"topology.kind=star"};

bool is_one_sentence(const std::string& said) { return said.size() > 10 && said.find('\n') == std::string::npos; }
bool is_crash(const std::string& said) { return said == "hangs" || contains(said, "died of signal"); }

}  // namespace

TEST_CASE("a forged record, whatever it names, is replayed to digests or refused with a sentence") {
  const std::pair<std::string, std::vector<std::string>> runs[] = {
      {"sgp", ring},
      {"spodgt", ring},
      {"depositum", ring},
      {"pame", ring + std::vector<std::string>{"algorithm.nu=0.5"}},
      {"draco", ring + std::vector<std::string>{"algorithm.retain_on_loss=true", "mailbox.deadline=0.5"}},
      {"choco", ring},
      {"digest", ring},
      {"fedavg", star}};
  const std::uint64_t each = trials("RUBATO_FORGERIES", 320) / std::size(runs);
  for (const auto& [algorithm, more] : runs) {
    const Recorded recorded(algorithm, more);
    REQUIRE(recorded.replayed() == recorded.before);
    const std::vector<WrittenStep> steps = steps_of(recorded.file);
    std::uint64_t different = 0;
    for (std::uint64_t seed = 1; seed <= each; ++seed) {
      CAPTURE(algorithm);
      CAPTURE(seed);
      std::vector<WrittenStep> forged = steps;
      Forger forger(seed, 6);
      for (std::uint64_t i = 0; i < 1 + seed % 3; ++i) forger.forge(forged);
      write_record(recorded.file, 6, forged);
      const std::string said = recorded.replayed();
      CHECK_FALSE(is_crash(said));
      CHECK(is_one_sentence(said));
      different += said != recorded.before;
    }
    CHECK(different > each / 2);  // most lies matter
  }
}

TEST_CASE("a flipped bit in a record or a checkpoint, wherever it is, is told in one sentence") {
  const Folder folder;
  const config::Experiment of = experiment({"checkpoint_every=7.0"});
  RunOptions options = on_threads(1);
  options.record = folder / "timeline.rbt";
  options.checkpoints = folder / "checkpoint";
  run(of, options);
  const std::string record = text_of(options.record);
  std::filesystem::path checkpoint;
  for (const auto& entry : std::filesystem::directory_iterator(options.checkpoints)) checkpoint = entry.path();
  const std::string state = text_of(checkpoint);
  auto flipped = [chance = std::mt19937_64{5}](std::string text) mutable {
    const std::uint64_t bit = std::uniform_int_distribution<std::uint64_t>(0, 8 * text.size() - 1)(chance);
    text[bit / 8] = static_cast<char>(text[bit / 8] ^ 1 << bit % 8);
    return text;
  };
  const std::uint64_t flips = trials("RUBATO_BIT_FLIPS", 300) / 2;
  for (std::uint64_t i = 0; i < flips; ++i) {
    CAPTURE(i);
    write_text(options.record, flipped(record));
    const std::string said = in_a_process([&] { return digests(replay(of, options.record, on_threads(1))); }, patience);
    CHECK(contains(said, "record"));
    CHECK(is_one_sentence(said));
  }
  write_text(options.record, record);
  RunOptions resuming = options;
  resuming.resume_from = checkpoint;
  for (std::uint64_t i = 0; i < flips; ++i) {
    CAPTURE(i);
    write_text(checkpoint, flipped(state));
    const std::string said = in_a_process([&] { return digests(run(of, resuming)); }, patience);
    CHECK(contains(said, checkpoint.string()));
    CHECK(is_one_sentence(said));
  }
}
