// Checkpoints on disk: what is found is intact, whatever happened to the disk or to the writer.
#include <doctest/doctest.h>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <csignal>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <exception>
#include <filesystem>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "results/run_checkpoint.hpp"
#include "results/wall_checkpoint.hpp"
#include "runtime/random.hpp"
#include "tests/actors/support.hpp"
#include "tests/support/property.hpp"

using namespace rubato;
using namespace rubato::test;

namespace fs = std::filesystem;

namespace {

const std::string ours = "1c7b045b";

// As many clients as given, every byte from the number.
WallCheckpoint checkpoint_of(std::uint64_t number, std::uint32_t clients = 3, std::size_t bytes = 40) {
  Stream chance(number, {0}, Purpose::noise);
  const auto some = [&](std::size_t count) {
    std::vector<std::byte> list(count);
    for (std::byte& byte : list) byte = static_cast<std::byte>(chance.next() & 0xFF);
    return list;
  };
  WallCheckpoint checkpoint{.number = number, .states = {}};
  for (std::uint32_t i = 0; i < clients; ++i) checkpoint.states[{7 * i}] = some(bytes + i);
  return checkpoint;
}

fs::path file_of(const Folder& folder, std::uint64_t number) { return folder / ("checkpoint-" + std::to_string(number) + ".rbc"); }

void write(const Folder& folder, const WallCheckpoint& checkpoint) { checkpoint.write(folder.path(), ours); }

FoundCheckpoint<WallCheckpoint> find(const Folder& folder) { return WallCheckpoint::find(folder.path(), ours); }

std::vector<std::string> names_in(const Folder& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder.path())) names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

TEST_CASE("a checkpoint comes back as it was, empty states and no clients included") {
  Folder folder;
  for (const WallCheckpoint& checkpoint : {checkpoint_of(0, 0, 0), checkpoint_of(1), checkpoint_of(2, 40, 5000)}) {
    write(folder, checkpoint);
    const FoundCheckpoint<WallCheckpoint> found = find(folder);
    CHECK(found.newest == checkpoint);
    CHECK(found.notes.empty());
  }
}

TEST_CASE("where nothing was written nothing is found") {
  Folder folder;
  CHECK_FALSE(find(folder).newest);
  CHECK_FALSE(WallCheckpoint::find(folder / "nowhere", ours).newest);
  write_text(folder / "checkpoint-x.rbc", "not ours");
  write_text(folder / "checkpoint-.rbc", "not ours");
  CHECK_FALSE(find(folder).newest);
  CHECK(find(folder).notes.empty());
}

TEST_CASE("the newest two are kept, and nothing else of ours") {
  Folder folder;
  for (std::uint64_t number = 8; number < 12; ++number) write(folder, checkpoint_of(number));
  CHECK(names_in(folder) == std::vector<std::string>{"checkpoint-10.rbc", "checkpoint-11.rbc"});
  CHECK(find(folder).newest == checkpoint_of(11));
}

TEST_CASE("who goes on from an older checkpoint leaves the branch behind it") {
  Folder folder;
  for (std::uint64_t number = 1; number <= 5; ++number) write(folder, checkpoint_of(number));
  WallCheckpoint again = checkpoint_of(5);
  again.states[{0}].push_back(std::byte{77});
  write(folder, again);
  CHECK(find(folder).newest == again);
  write(folder, checkpoint_of(3));
  CHECK(names_in(folder) == std::vector<std::string>{"checkpoint-3.rbc"});
}

TEST_CASE("a newest one that is torn, at whatever length, is named and the one before is offered") {
  Folder folder;
  write(folder, checkpoint_of(6));
  write(folder, checkpoint_of(7));
  const std::string whole = text_of(file_of(folder, 7));
  for (std::size_t length = 0; length < whole.size(); ++length) {
    write_text(file_of(folder, 7), whole.substr(0, length));
    const FoundCheckpoint<WallCheckpoint> found = find(folder);
    REQUIRE(found.newest == checkpoint_of(6));
    REQUIRE(found.notes.size() == 1);
    REQUIRE(contains(found.notes[0], "checkpoint-7.rbc is damaged and passed over"));
  }
  write_text(file_of(folder, 7), whole + "more");
  CHECK(find(folder).newest == checkpoint_of(6));
  write_text(file_of(folder, 7), whole);
  CHECK(find(folder).newest == checkpoint_of(7));
}

TEST_CASE("no flipped bit goes unnoticed") {
  Folder folder;
  write(folder, checkpoint_of(1));
  write(folder, checkpoint_of(2));
  const std::string whole = text_of(file_of(folder, 2));
  CHECK(broken(
            [&](std::size_t byte, unsigned bit) {
              std::string wrong = whole;
              wrong[byte % whole.size()] = static_cast<char>(wrong[byte % whole.size()] ^ (1 << bit % 8));
              write_text(file_of(folder, 2), wrong);
              RC_ASSERT(find(folder).newest == checkpoint_of(1));
            },
            1000) == "");
}

TEST_CASE("where both are damaged nothing is found, and both are named") {
  Folder folder;
  write(folder, checkpoint_of(1));
  write(folder, checkpoint_of(2));
  write_text(file_of(folder, 1), "RBCK");
  fs::remove(file_of(folder, 2));
  fs::create_directory(file_of(folder, 2));
  const FoundCheckpoint<WallCheckpoint> found = find(folder);
  CHECK_FALSE(found.newest);
  REQUIRE(found.notes.size() == 2);
  CHECK(contains(found.notes[0], "checkpoint-2.rbc is damaged and passed over: it is no file"));
  CHECK(contains(found.notes[1], "checkpoint-1.rbc is damaged and passed over: it ends too early"));
}

TEST_CASE("a checkpoint of another experiment is refused with both digests") {
  Folder folder;
  write(folder, checkpoint_of(3));
  const std::string said = complaint<std::invalid_argument>([&] { WallCheckpoint::find(folder.path(), "e5a8b671"); });
  CHECK(contains(said, "checkpoint-3.rbc belongs to another experiment (digest 1c7b045b, this one has e5a8b671)"));
}

TEST_CASE("a checkpoint of a run by the other clock is refused as such") {
  Folder folder;
  write(folder, checkpoint_of(3));
  CHECK(contains(complaint<std::invalid_argument>([&] { find_run_checkpoint(folder.path(), folder / "metrics.csv"); }),
                 "checkpoint-3.rbc is of a run in real time, and this one is in virtual time"));
  RunCheckpoint head;
  SealedSeries(folder.path()).write(4, [&](SealedWriter& file) { RunCheckpointFile::write_head(file, head); });
  CHECK(contains(complaint<std::invalid_argument>([&] { find(folder); }),
                 "checkpoint-4.rbc is of a run in virtual time, and this one is in real time"));
}

TEST_CASE("a checkpoint of another version of the format is refused with both numbers") {
  Folder folder;
  SealedSeries(folder.path()).write(5, [&](SealedWriter& file) { file.add(std::as_bytes(std::span{"RBCK\4\0\0", 8})); });
  CHECK(contains(complaint<std::invalid_argument>([&] { find(folder); }),
                 "checkpoint-5.rbc was written by another version of Rubato (format 4, this one knows 8)"));
}

TEST_CASE("a disk that takes nothing is reported with the file, and the last checkpoint stays") {
  Folder folder;
  write(folder, checkpoint_of(1));
  fs::create_directory(folder / "checkpoint.partial");  // the place is taken
  const std::string said = complaint<std::system_error>([&] { write(folder, checkpoint_of(2)); });
  CHECK(contains(said, "checkpoint.partial"));
  CHECK(find(folder).newest == checkpoint_of(1));
}

TEST_CASE("a checkpoint for which there is no descriptor waits until there is one") {
  Folder folder;
  rlimit before{};
  getrlimit(RLIMIT_NOFILE, &before);
  std::thread writing;
  std::exception_ptr failure;
  std::atomic<int> attempts{0};
  {
    const rlimit none{0, before.rlim_max};
    setrlimit(RLIMIT_NOFILE, &none);
    writing = std::thread([&] {
      try {
        SealedSeries(folder.path()).write(1, [&](SealedWriter& file) {
          ++attempts;
          file.add(std::as_bytes(std::span{"1"}));
        });
      } catch (...) {
        failure = std::current_exception();
      }
    });
    usleep(100'000);  // while it cannot open its file
    CHECK(attempts == 0);
    setrlimit(RLIMIT_NOFILE, &before);
  }
  writing.join();
  CHECK(!failure);
  CHECK(attempts == 1);
}

// The child writes one checkpoint after the other and says which is done; it is killed wherever it happens to be.
TEST_CASE("a writer that is killed at any moment leaves the newest it has finished, or the one that it was writing") {
  constexpr std::uint32_t clients = 10;
  constexpr std::size_t bytes = 4000;
  std::uint64_t number = 1;
  Folder folder;
  Stream chance(5, {0}, Purpose::noise);
  for (int life = 0; life < 60; ++life) {
    int ends[2];
    REQUIRE(pipe(ends) == 0);
    const std::uint64_t first = number;
    const pid_t writer = fork();
    REQUIRE(writer >= 0);
    if (writer == 0) {
      for (std::uint64_t next = first;; ++next) {
        write(folder, checkpoint_of(next, clients, bytes));
        if (::write(ends[1], &next, sizeof next) != sizeof next) _exit(1);
      }
    }
    close(ends[1]);
    std::uint64_t finished = 0;
    REQUIRE(read(ends[0], &finished, sizeof finished) == sizeof finished);  // it is at work
    usleep(static_cast<useconds_t>(3000 * chance.uniform()));
    REQUIRE(kill(writer, SIGKILL) == 0);
    int status = 0;
    REQUIRE(waitpid(writer, &status, 0) == writer);
    REQUIRE(WIFSIGNALED(status));
    for (std::uint64_t next = 0; read(ends[0], &next, sizeof next) == sizeof next;) finished = next;
    close(ends[0]);
    const FoundCheckpoint<WallCheckpoint> found = find(folder);
    REQUIRE(found.newest);
    CHECK(found.notes.empty());
    CHECK(found.newest->number >= finished);
    CHECK(found.newest->number <= finished + 1);
    CHECK(*found.newest == checkpoint_of(found.newest->number, clients, bytes));
    number = found.newest->number + 1;
  }
}
