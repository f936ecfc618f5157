#include "runtime/record.hpp"

#include <doctest/doctest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <vector>

#include "runtime/checksum.hpp"
#include "runtime/engine/scripted.hpp"
#include "runtime/hash.hpp"
#include "tests/sim/random_world.hpp"
#include "tests/support/limited_allocations.hpp"
#include "tests/support/property.hpp"

using namespace rubato;
using namespace rubato::test;

namespace {

/// A file of its own, gone at the end.
class File {
 public:
  File()
      : path{std::filesystem::temp_directory_path() /
             ("rubato_record_" + std::to_string(++count_) + "_" + std::to_string(reinterpret_cast<std::uintptr_t>(this)))} {}
  ~File() { std::filesystem::remove(path); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  std::vector<char> bytes() const {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void write(const std::vector<char>& bytes) const {
    std::filesystem::remove(path);  // writing over a file makes some file systems wait for the disk
    std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }

  const std::filesystem::path path;

 private:
  inline static int count_ = 0;
};

Step step_at(std::int64_t nanoseconds, std::uint32_t client = 0, std::uint64_t index = 0) {
  return {.client = {client}, .index = index, .at = Time{Duration{nanoseconds}}};
}

/// The first client is linked with each of the others.
Graph star(std::uint32_t clients) {
  std::vector<Edge> edges;
  for (std::uint32_t i = 1; i < clients; ++i) edges.push_back({{0}, {i}});
  return {clients, false, edges};
}

/// Everything that is written of a step, beyond what in_words says.
std::string all_of(const Step& step) {
  std::string words = in_words(step, step.entries) + " phase " + std::to_string(step.phase) + " incarnation " +
                      std::to_string(step.incarnation) + " gradient " + std::to_string(step.with_gradient) + " message " +
                      std::to_string(static_cast<int>(step.message)) + " keeps " + std::to_string(step.keeps);
  for (const StepEntry& entry : step.entries)
    words += " " + std::to_string(entry.incarnation) + "@" + std::to_string(entry.place) + "+" + std::to_string(entry.copies);
  return words;
}

struct Read {
  std::vector<std::string> steps;
  bool is_incomplete;
};

Read read(const std::filesystem::path& path) {
  RecordReader reader(path);
  Read result{};
  while (const Step* step = reader.next()) result.steps.push_back(all_of(*step));
  CHECK(reader.next() == nullptr);  // the end stays the end
  result.is_incomplete = reader.is_incomplete();
  return result;
}

/// Many steps: several blocks.
std::vector<std::string> write_many(const std::filesystem::path& path, int count) {
  Recorder recorder(path, 10);
  std::vector<std::string> written;
  for (int i = 0; i < count; ++i) {
    const std::vector<StepEntry> entries(20, StepEntry{.peer = {3}, .weight = 0.1 * i});
    Step step = step_at(i * 1000, static_cast<std::uint32_t>(i % 10), static_cast<std::uint64_t>(i));
    step.kind = StepKind::merge;
    step.entries = entries;
    recorder.add(step);
    written.push_back(all_of(step));
  }
  return written;
}

std::string refusal(const std::filesystem::path& path) {
  try {
    RecordReader reader(path);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("steps come back as they were written, whatever they hold") {
  CHECK(broken([] {
          const File file;
          std::vector<std::string> written;
          {
            Recorder recorder(file.path, 0xFFFF'FFFF);
            const auto count = *rc::gen::inRange(0, 30);
            for (int i = 0; i < count; ++i) {
              std::vector<StepEntry> entries(*rc::gen::inRange<std::size_t>(0, 5));
              for (StepEntry& entry : entries)
                entry = {.peer = {*rc::gen::inRange<std::uint32_t>(0, 0xFFFF'FFFE)},
                         .sequence = *rc::gen::arbitrary<Sequence>(),
                         .incarnation = *rc::gen::arbitrary<std::uint16_t>(),
                         .lost = *rc::gen::inRange<std::uint8_t>(0, 2),
                         .copies = *rc::gen::element<std::uint8_t>(0, 1, 255),
                         .weight = *rc::gen::arbitrary<double>(),
                         .age = Duration{*rc::gen::arbitrary<std::int64_t>()},
                         .place = *rc::gen::arbitrary<std::uint32_t>()};
              Step step{.kind = static_cast<StepKind>(*rc::gen::inRange(0, 12)),
                        .message = *rc::gen::element(MessageKind::update, MessageKind::model, MessageKind::acknowledgement,
                                                     MessageKind::request, MessageKind::resync),
                        .with_gradient = *rc::gen::arbitrary<bool>(),
                        .phase = *rc::gen::arbitrary<std::uint8_t>(),
                        .keeps = *rc::gen::arbitrary<bool>(),
                        .client = {*rc::gen::inRange<std::uint32_t>(0, 0xFFFF'FFFE)},
                        .incarnation = *rc::gen::arbitrary<std::uint32_t>(),
                        .index = *rc::gen::arbitrary<std::uint64_t>(),
                        .at = Time{Duration{*rc::gen::inRange<std::int64_t>(0, INT64_MAX)}},
                        .entries = entries};
              const bool names_one = step.kind == StepKind::adopt || step.kind == StepKind::reclaim;
              if (step.kind == StepKind::measure || (names_one && entries.size() != 1)) step.kind = StepKind::merge;
              recorder.add(step);
              written.push_back(all_of(step));
            }
          }
          const Read back = read(file.path);
          RC_ASSERT(back.steps == written);
          RC_ASSERT(!back.is_incomplete);
        }) == "");
}

TEST_CASE("a record of many blocks comes back whole") {
  const File file;
  const auto written = write_many(file.path, 10000);
  CHECK(std::filesystem::file_size(file.path) > 3u << 18);
  const Read back = read(file.path);
  CHECK(back.steps == written);
  CHECK_FALSE(back.is_incomplete);
}

TEST_CASE("a torn last block is cut off and everything before it is read") {
  const File file;
  const auto written = write_many(file.path, 10000);
  const auto bytes = file.bytes();
  for (const std::size_t missing : {std::size_t{1}, std::size_t{100}, std::size_t{50000}}) {
    CAPTURE(missing);
    file.write({bytes.begin(), bytes.end() - static_cast<std::ptrdiff_t>(missing)});
    const Read back = read(file.path);
    CHECK(back.is_incomplete);
    REQUIRE(back.steps.size() < written.size());
    CHECK(back.steps.size() > 4000);
    CHECK(std::equal(back.steps.begin(), back.steps.end(), written.begin()));
  }
}

TEST_CASE("a record torn anywhere gives a beginning of its steps and never crashes") {
  const File file;
  std::vector<std::string> written = write_many(file.path, 5);
  const auto bytes = file.bytes();
  for (std::size_t size = 12; size < bytes.size(); ++size) {
    CAPTURE(size);
    file.write({bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size)});
    const Read back = read(file.path);
    REQUIRE(back.steps.empty());
    REQUIRE(back.is_incomplete == (size > 12));
  }
}

TEST_CASE("every flipped byte in a block is noticed") {
  const File file;
  write_many(file.path, 20);
  const auto bytes = file.bytes();
  for (std::size_t place = 12; place < bytes.size(); ++place) {
    CAPTURE(place);
    auto damaged = bytes;
    damaged[place] = static_cast<char>(damaged[place] ^ (1 << place % 8));
    file.write(damaged);
    const Read back = read(file.path);
    REQUIRE(back.is_incomplete);
    REQUIRE(back.steps.empty());
  }
}

TEST_CASE("a record that reached its limit says so, writing and reading, and stops near it") {
  const File file;
  std::vector<std::string> written;
  {
    Recorder recorder(file.path, 10, 2000);
    for (int i = 0; i < 1000; ++i) {
      recorder.add(step_at(i, 3, static_cast<std::uint64_t>(i)));
      if (!recorder.is_cut()) written.push_back(all_of(step_at(i, 3, static_cast<std::uint64_t>(i))));
    }
    CHECK(recorder.is_cut());
    CHECK(recorder.error().empty());
  }
  CHECK(std::filesystem::file_size(file.path) < 2100);
  const Read back = read(file.path);
  CHECK(back.steps == written);
  CHECK(back.steps.size() > 100);
  CHECK(back.is_incomplete);
}

TEST_CASE("a record without a step is a record") {
  const File file;
  { const Recorder recorder(file.path, 7); }
  RecordReader reader(file.path);
  CHECK(reader.clients() == 7);
  CHECK(reader.next() == nullptr);
  CHECK_FALSE(reader.is_incomplete());
}

TEST_CASE("what is no record is refused with the file's name") {
  const File file;
  CHECK(refusal(file.path).find("cannot read " + file.path.string()) == 0);
  for (const std::vector<char>& bytes : {std::vector<char>{}, std::vector<char>{'R', 'B', 'T'}, std::vector<char>(500, 'x')}) {
    file.write(bytes);
    CHECK(refusal(file.path) == file.path.string() + " is not a record of a run");
  }
  file.write({'R', 'B', 'T', 'S', 'T', 'E', 'P', '2', 4, 0, 0, 0});
  CHECK(refusal(file.path) == file.path.string() + " was written by an earlier version of Rubato");
}

TEST_CASE("a file that cannot be made is refused with its name") {
  try {
    const Recorder recorder("/nowhere/at/all", 1);
    FAIL("no file can be made there");
  } catch (const std::runtime_error& error) {
    CHECK(std::string(error.what()).find("cannot write /nowhere/at/all: ") == 0);
  }
}

TEST_CASE("a full disk is an error to be asked for, not an exception") {
  Recorder recorder("/dev/full", 1);
  for (int i = 0; i < 300000; ++i) recorder.add(step_at(i));
  recorder.flush();
  CHECK(recorder.error() == "cannot write /dev/full: No space left on device");
  recorder.add(step_at(0));
  CHECK_NOTHROW(recorder.flush());
}

TEST_CASE("a step of a client that the record does not have ends the reading") {
  const File file;
  {
    Recorder recorder(file.path, 3);
    recorder.add(step_at(1, 2));
    recorder.add(step_at(2, 3));
    recorder.add(step_at(3, 0));
  }
  const Read back = read(file.path);
  CHECK(back.steps.size() == 1);
  CHECK(back.is_incomplete);
}

namespace {

/// Records with contents that no recorder would write.
void write_record(const File& file, const std::vector<unsigned char>& block, std::uint32_t clients = 4) {
  const std::uint64_t sum = checksum(std::as_bytes(std::span{block}));
  const auto size = static_cast<std::uint32_t>(block.size());
  std::vector<char> bytes{'R', 'B', 'T', 'S', 'T', 'E', 'P', '3'};
  const auto append = [&](const auto& number) {
    const auto* first = reinterpret_cast<const char*>(&number);
    bytes.insert(bytes.end(), first, first + sizeof number);
  };
  append(clients);
  append(size);
  append(sum);
  bytes.insert(bytes.end(), block.begin(), block.end());
  file.write(bytes);
}

}  // namespace

TEST_CASE("a block of random bytes with the right checksum never crashes the reader") {
  const File file;
  Stream chance(1, {}, Purpose::noise);
  for (int i = 0; i < 3000; ++i) {
    std::vector<unsigned char> block(1 + chance.below(60));
    for (unsigned char& byte : block) byte = static_cast<unsigned char>(chance.below(i % 2 ? 256 : 8));
    write_record(file, block);
    RecordReader reader(file.path);
    while (const Step* step = reader.next()) {
      REQUIRE(step->client.value < 4);
      for (const StepEntry& entry : step->entries) REQUIRE(entry.peer.value < 4);
    }
  }
}

TEST_CASE("a step that takes over a model without naming its message is no step") {
  for (const StepKind kind : {StepKind::adopt, StepKind::reclaim}) {
    const File file;
    {
      Recorder recorder(file.path, 1);
      recorder.add({.kind = kind});
    }
    const Read back = read(file.path);
    CHECK(back.steps.empty());
    CHECK(back.is_incomplete);
  }
}

TEST_CASE("a sample is no part of a record") {
  const File file;
  {
    Recorder recorder(file.path, 1);
    recorder.add({.kind = StepKind::measure});
  }
  CHECK(read(file.path).is_incomplete);
}

namespace {

/// Records what it is given and hands it on.
class RecordingSink final : public StepSink {
 public:
  RecordingSink(const std::filesystem::path& path, std::uint32_t clients, StepSink& next) : recorder_{path, clients}, next_{next} {}
  SlotIndex open_slot(std::uint32_t receivers) override { return next_.open_slot(receivers); }
  void perform(const Step& step) override {
    if (step.kind != StepKind::measure) recorder_.add(step);
    next_.perform(step);
  }
  void flush() { recorder_.flush(); }

 private:
  Recorder recorder_;
  StepSink& next_;
};

}  // namespace

TEST_CASE("a record played again gives the same steps, the same slots' receivers and the same hashes") {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    CAPTURE(seed);
    const File file;
    const auto world = random_world(seed);
    RecordingSink recording(file.path, static_cast<std::uint32_t>(world->graph.clients()), world->steps);
    world->build(recording, nullptr);
    world->run_until(world->settings.until);
    recording.flush();
    StepLog again;
    Scripted script({file.path}, RecordOf::virtual_time, world->graph, again);
    while (script.walk(7)) {
    }
    REQUIRE(script.fault() == "");
    REQUIRE(again.sentences() == world->steps.sentences());
    REQUIRE(again.wanted() == world->steps.wanted());
    REQUIRE(script.steps() == world->conductor().steps());
    for (std::size_t i = 0; i < script.hashes().size(); ++i) {
      REQUIRE(script.hashes()[i].low() == world->conductor().hashes()[i].low());
      REQUIRE(script.hashes()[i].high() == world->conductor().hashes()[i].high());
    }
  }
}

TEST_CASE("a record that was cut plays to its end and says that it is not the whole run") {
  const File file;
  {
    Recorder recorder(file.path, 2, 200);
    for (int i = 0; i < 100; ++i) recorder.add(step_at(i));
  }
  StepLog steps;
  Scripted script({file.path}, RecordOf::virtual_time, star(2), steps);
  while (script.walk(1000)) {
  }
  CHECK(steps.steps.size() > 10);
  CHECK(script.fault() == "the record ends before the run did");
}

TEST_CASE("a message that no client sent is a fault of the record") {
  const File file;
  {
    Recorder recorder(file.path, 2);
    const StepEntry entry{.peer = {1}, .sequence = 5};
    recorder.add({.kind = StepKind::merge, .entries = {&entry, 1}});
  }
  StepLog steps;
  Scripted script({file.path}, RecordOf::virtual_time, star(2), steps);
  CHECK_FALSE(script.walk(10));
  CHECK(script.is_over());
  CHECK(script.fault() == "the record names a message that no client sent");
  CHECK(steps.steps.empty());
}

TEST_CASE("a record whose clients exchange without a link, or whose receivers do not ascend, is not played") {
  const StepEntry strange[] = {{.peer = {2}}}, turned[] = {{.peer = {2}}, {.peer = {1}}}, twice[] = {{.peer = {1}}, {.peer = {1}}};
  const std::vector<Step> impossible{{.kind = StepKind::publish, .client = {1}, .entries = strange},
                                     {.kind = StepKind::publish, .client = {0}, .entries = turned},
                                     {.kind = StepKind::publish, .client = {0}, .entries = twice}};
  for (const Step& step : impossible) {
    const File file;
    {
      Recorder recorder(file.path, 3);
      recorder.add(step);
    }
    StepLog steps;
    Scripted script({file.path}, RecordOf::virtual_time, star(3), steps);
    CHECK_FALSE(script.walk(10));
    CHECK(script.fault() ==
          "the record has client " + std::to_string(step.client.value) + " exchange with clients that it has no links to");
    CHECK(steps.steps.empty());
  }
}

TEST_CASE("a message that a step names more often than it was sent is a fault of the record") {
  const File file;
  {
    Recorder recorder(file.path, 2);
    const std::vector<StepEntry> to{{.peer = {1}, .sequence = 7}},
        twice{{.peer = {0}, .sequence = 7}, {.peer = {0}, .sequence = 7}};
    recorder.add({.kind = StepKind::publish, .client = {0}, .index = 7, .at = Time{Duration{1}}, .entries = to});
    recorder.add({.kind = StepKind::merge, .client = {1}, .at = Time{Duration{2}}, .entries = twice});
  }
  StepLog steps;
  Scripted script({file.path}, RecordOf::virtual_time, star(2), steps);
  while (script.walk(10)) {
  }
  CHECK(script.fault() == "the record names a message more often than it arrived");
  CHECK(steps.steps.size() == 1);
}

TEST_CASE("a block takes no more memory than there is of it, whatever length it announces") {
  const File file;
  { Recorder(file.path, 2); }
  std::vector<char> bytes = file.bytes();
  const std::uint32_t length = 200'000'000;
  const auto* const begin = reinterpret_cast<const char*>(&length);
  bytes.insert(bytes.end(), begin, begin + sizeof length);
  bytes.resize(bytes.size() + 100);
  file.write(bytes);
  RecordReader reader(file.path);
  const LimitedAllocations limited(1 << 20);
  CHECK(reader.next() == nullptr);
  CHECK(reader.is_incomplete());
}

TEST_CASE("a record that ended torn is gone on with behind its last whole block") {
  const File file;
  std::uint64_t whole = 0;
  {
    Recorder recorder(file.path, 2);
    for (int i = 0; i < 5; ++i) recorder.add(step_at(i));
    recorder.flush();
    whole = recorder.bytes();
    for (int i = 5; i < 9; ++i) recorder.add(step_at(i));
  }
  std::filesystem::resize_file(file.path, std::filesystem::file_size(file.path) - 3);
  std::uint64_t intact = 0;
  {
    RecordReader reader(file.path);
    int steps = 0;
    while (reader.next()) ++steps;
    CHECK(steps == 5);
    CHECK(reader.is_incomplete());
    intact = reader.intact_bytes();
    CHECK(intact == whole);
  }
  {
    const auto recorder = Recorder::go_on(file.path, intact, 0);
    for (int i = 20; i < 23; ++i) recorder->add(step_at(i));
  }
  RecordReader reader(file.path);
  std::vector<Time> times;
  while (const Step* step = reader.next()) times.push_back(step->at);
  CHECK_FALSE(reader.is_incomplete());
  REQUIRE(times.size() == 8);
  CHECK(times[4] == step_at(4).at);
  CHECK(times[5] == step_at(20).at);
}

TEST_CASE("records of several hosts are played in the order of who waits for whom, whatever their clocks say") {
  const File sender, receiver;
  const auto at = [](int milliseconds) { return Time{std::chrono::milliseconds(milliseconds)}; };
  {
    Recorder recorder(sender.path, 3);
    const StepEntry entries[] = {{.peer = {1}, .sequence = 5, .incarnation = 1}, {.peer = {2}, .sequence = 5, .incarnation = 1}};
    recorder.add({.kind = StepKind::publish, .client = {0}, .incarnation = 1, .index = 5, .at = at(100), .entries = entries});
  }
  {
    Recorder recorder(receiver.path, 3);
    const StepEntry entry{.peer = {0}, .sequence = 5, .incarnation = 1};
    recorder.add({.kind = StepKind::compute, .client = {1}, .at = at(10), .entries = {}});
    recorder.add({.kind = StepKind::merge, .client = {1}, .at = at(20), .entries = {&entry, 1}});  // its clock is behind
  }
  StepLog steps;
  Scripted script({receiver.path, sender.path}, RecordOf::real_time, star(3), steps);
  while (script.walk(10)) {
  }
  CHECK(script.fault() == "");
  REQUIRE(steps.steps.size() == 3);
  CHECK(steps.steps[0].step.kind == StepKind::compute);
  CHECK(steps.steps[1].step.kind == StepKind::publish);
  CHECK(steps.steps[2].step.kind == StepKind::merge);
  StepLog alone;
  Scripted without({receiver.path}, RecordOf::real_time, star(3), alone);
  while (without.walk(10)) {
  }
  CHECK(without.fault() == "the record names a message that no client sent: are the records of all hosts there?");
}

TEST_CASE("what a record lacks is told by sender, and what does not depend on it is played without it") {
  const File file;
  const auto at = [](int seconds) { return Time{std::chrono::seconds(seconds)}; };
  const StepEntry of_lost[] = {{.peer = {1}, .sequence = 7}}, of_hub[] = {{.peer = {0}, .sequence = 3}},
                  to_two[] = {{.peer = {2}, .sequence = 3}}, later_of_hub[] = {{.peer = {0}, .sequence = 4}},
                  later_to_two[] = {{.peer = {2}, .sequence = 4}};
  {
    Recorder recorder(file.path, 4);
    recorder.add({.kind = StepKind::publish, .client = {0}, .at = at(1), .entries = to_two});
    recorder.add({.kind = StepKind::merge, .client = {2}, .at = at(2), .entries = of_hub});
    recorder.add({.kind = StepKind::discard, .client = {2}, .at = at(3), .entries = of_lost});
    recorder.add({.kind = StepKind::merge, .client = {0}, .at = at(4), .entries = of_lost});
    recorder.add({.kind = StepKind::publish, .client = {0}, .at = at(5), .entries = later_to_two});
    recorder.add({.kind = StepKind::compute, .client = {2}, .at = at(6), .entries = {}});
    recorder.add({.kind = StepKind::merge, .client = {2}, .at = at(7), .entries = later_of_hub});
    recorder.add({.kind = StepKind::compute, .client = {2}, .at = at(8), .entries = {}});
    recorder.add({.kind = StepKind::compute, .client = {3}, .at = at(9), .entries = {}});
  }
  StepLog strict;
  Scripted whole({file.path}, RecordOf::real_time, star(4), strict);
  while (whole.walk(10)) {
  }
  CHECK(whole.fault() == "the record names a message that no client sent: are the records of all hosts there?");
  const auto lacking = whole.lacking();
  REQUIRE(lacking.size() == 1);
  CHECK(lacking.at({1}).count == 1);
  CHECK(lacking.at({1}).first == at(3));

  StepLog steps;
  Scripted script({file.path}, RecordOf::real_time, star(4), steps);
  script.leave_out({{1}});
  while (script.walk(10)) {
  }
  CHECK(script.fault() == "");
  std::vector<StepKind> played;
  for (const auto& each : steps.steps) played.push_back(each.step.kind);
  const std::vector<StepKind> independent{StepKind::publish, StepKind::merge,  // of the hub and of client 2
                                          StepKind::discard,                   // its message is not there: nothing to let go of
                                          StepKind::compute, StepKind::compute};
  CHECK(played == independent);
  CHECK(script.steps() == 9);
  CHECK(script.steps_passed_over() == 4);
  CHECK(script.first_cut() == at(4));
  for (const std::uint32_t client : {0u, 1u, 2u}) CHECK(script.is_cut({client}));
  CHECK_FALSE(script.is_cut({3}));
}
