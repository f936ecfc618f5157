// A checkpoint of somebody else, with or without a seal that is right: reading it breaks nothing and takes no memory that
// its bytes do not need; what is wrong with it is a sentence.
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <string>

#include "results/run_checkpoint.hpp"
#include "results/wall_checkpoint.hpp"
#include "tests/fuzz/input_file.hpp"

using namespace rubato;
using namespace rubato::fuzz;

namespace {

namespace fs = std::filesystem;

// With one file, which is written again for each input. run.sh removes it.
const fs::path& folder() {
  static const fs::path path = [] {
    const fs::path made = fs::current_path() / ("scratch-" + std::to_string(getpid()));
    fs::create_directories(made);
    return made;
  }();
  return path;
}

void read_states(const fs::path& path) {
  TensorPool pool;
  SealedReader reader(path);
  RunCheckpointFile::read_head(reader);
  while (reader.bytes_left() > 0) {
    Archive archive(reader.take_list(), pool);
    std::uint64_t name = 0;
    Payload payload;
    archive(name);
    archive.payload(payload);
    archive.expect_end();
  }
}

template <class Read>
void said(Read read) try {
  read();
} catch (const BadArchive&) {
} catch (const std::invalid_argument&) {
}

}  // namespace

// The first byte: 0 takes the bytes as they are, else they are sealed.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const auto bytes = std::as_bytes(std::span{data, size}).subspan(1);
  const SealedSeries series(folder());
  {
    std::ofstream file(series.file(1), std::ios::binary | std::ios::trunc);
    file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    if (data[0] != 0) {
      Sha256 digest;
      digest.add(bytes);
      file << digest.hex();
    }
    insist(static_cast<bool>(file.flush()));
  }
  said([&] { static_cast<void>(find_run_checkpoint(folder(), "/dev/null")); });
  said([&] { static_cast<void>(WallCheckpoint::find(folder(), "f00d")); });
  said([&] { read_states(series.file(1)); });
  return 0;
}
