#include "results/whole_file.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <iterator>
#include <thread>

#include "results/run_result.hpp"
#include "tests/support/files.hpp"

using namespace rubato;
using namespace rubato::test;

namespace {

std::ptrdiff_t files_in(const Folder& folder) {
  return std::distance(std::filesystem::directory_iterator(folder.path()), std::filesystem::directory_iterator{});
}

}  // namespace

TEST_CASE("a reader sees a file as it was or as it is, never a part") {
  const Folder folder;
  const std::string old(300'000, 'o'), fresh(500'000, 'f');
  const std::filesystem::path file = folder / "text";
  write_whole(file, old, Durability::of_disk);
  std::atomic<bool> is_done{false};
  std::jthread writer([&] {
    for (int i = 0; i < 50; ++i) write_whole(file, i % 2 ? old : fresh);
    is_done = true;
  });
  while (!is_done) {
    const std::string seen = text_of(file);
    REQUIRE((seen == old || seen == fresh));
  }
  CHECK(files_in(folder) == 1);
}

TEST_CASE("a file that cannot be written is named, and nothing is left beside it") {
  const Folder folder;
  CHECK_THROWS_WITH_AS(write_whole(folder / "none/text", "text"), doctest::Contains("none/text"), RunFailed);
  std::filesystem::create_directories(folder / "taken/by");
  CHECK_THROWS_WITH_AS(write_whole(folder / "taken", "text"), doctest::Contains("directory"), RunFailed);
  CHECK(files_in(folder) == 1);
}
