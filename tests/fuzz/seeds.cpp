// Writes the inputs that fuzzing begins with: fuzz_seeds DIRECTORY fills a folder there for each of frame, connection,
// record and checkpoint.
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "results/run_checkpoint.hpp"
#include "results/wall_checkpoint.hpp"
#include "runtime/record.hpp"
#include "transports/frame.hpp"
#include "transports/known_sums.hpp"

using namespace rubato;

namespace {

using Bytes = std::vector<std::byte>;

void append(Bytes& bytes, FramePart more) { bytes.insert(bytes.end(), more.begin(), more.end()); }
void append(Bytes& bytes, std::initializer_list<int> more) {
  for (const int byte : more) bytes.push_back(static_cast<std::byte>(byte));
}

std::vector<Parcel> parcels(TensorPool& pool) {
  std::vector<Parcel> all(6);
  all[1] = {.kind = ParcelKind::control, .head = Bytes(24, std::byte{7}), .tensors = {}};
  all[2] = {.kind = ParcelKind::message, .head = Bytes(16, std::byte{1}), .tensors = {pool.make<float>(100)}};
  all[3] = {.kind = ParcelKind::payload,
            .head = Bytes(3, std::byte{2}),
            .tensors = {pool.make<double>(17), Tensor{}, pool.make<std::uint32_t>(0), pool.make<std::uint32_t>(9)}};
  all[4] = {.kind = ParcelKind::result, .head = Bytes(1, std::byte{3}), .tensors = {pool.make<float>(500), pool.make<double>(2)}};
  all[5] = {.kind = ParcelKind::view, .when_full = WhenFull::give_way, .head = Bytes(78, std::byte{0}), .tensors = {}};
  for (const Parcel& parcel : all)
    for (Tensor tensor : parcel.tensors)
      if (tensor) std::fill_n(tensor.writable<std::byte>(), tensor.bytes(), std::byte{0x3e});
  return all;
}

// The frames of a parcel, each as one row of bytes.
std::vector<Bytes> frames_of(const Parcel& parcel, Envelope envelope, std::size_t piece) {
  std::vector<Bytes> frames;
  std::size_t first = 0;
  do {
    const std::size_t bytes = std::min(piece, parcel.bytes() - first);
    WrittenFrame written;
    ++envelope.sequence;
    KnownSums sums;
    write_frame(envelope, parcel, first, bytes, &sums, written);
    Bytes frame = written.first_part;
    for (const TensorSlice& slice : written.slices)
      append(frame, FramePart{parcel.tensors[slice.tensor].data<std::byte>() + slice.first, slice.bytes});
    frames.push_back(std::move(frame));
    first += bytes;
  } while (first < parcel.bytes());
  return frames;
}

class Folder {
 public:
  explicit Folder(std::filesystem::path path) : path_{std::move(path)} { std::filesystem::create_directories(path_); }
  void write(const Bytes& bytes) {
    std::ofstream file(path_ / ("seed" + std::to_string(count_++)), std::ios::binary);
    file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    if (!file.flush()) throw std::runtime_error("cannot write to " + path_.string());
  }

 private:
  std::filesystem::path path_;
  int count_ = 0;
};

// The first byte says what is mended: nothing, or both checksums.
void write_frames(Folder folder, const std::vector<Parcel>& parcels) {
  for (const Parcel& parcel : parcels)
    for (const Bytes& frame : frames_of(parcel, {HostId{1}, HostId{0}, 5, 40}, 1000))
      for (const int mending : {0, 3}) {
        Bytes input;
        append(input, {mending});
        append(input, frame);
        folder.write(input);
      }
}

// Moves as connection_fuzz.cpp reads them: 0x40 + 8 * 3 is a frame of host 1 with mended checksums, 2 an honest parcel,
// 5 the last frame again, 6 lets go of what was received.
void write_connections(Folder folder, const std::vector<Parcel>& parcels) {
  Bytes everything;
  std::uint64_t sequence = 0;
  for (const Parcel& parcel : parcels) {
    Bytes input;
    for (const Bytes& frame : frames_of(parcel, {HostId{1}, HostId{0}, 5, sequence}, 700)) {
      append(input, {0x40 + 8 * 3, static_cast<int>(frame.size() & 0xFF), static_cast<int>(frame.size() >> 8)});
      append(input, frame);
      ++sequence;
    }
    folder.write(input);
    append(everything, input);
    append(everything, {2, 0, 20, 2, 0, 100, 0, 1, 50, 0, 200, 0, 5, 2, 0xFD, 3, 1, 2, 200, 1, 16, 0, 7, 7, 1, 7, 6});
    append(everything, {2, 0, 20, 1, 0, 120, 0, 200, 0, 2, 3, 7, 2, 7, 2, 3, 2, 7, 7});  // equal forms, pieces left out
  }
  folder.write(everything);
}

Bytes bytes_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  Bytes bytes;
  append(bytes, std::as_bytes(std::span{text}));
  return bytes;
}

// A short run of three clients: 0 publishes, 1 merges, 2 has lost it.
void write_records(const std::filesystem::path& path) {
  Folder folder(path);
  const std::filesystem::path file = path / "record.rbt";
  {
    Recorder recorder(file, 3);
    for (std::uint64_t index = 0; index < 3; ++index) {
      const Time at{std::chrono::milliseconds(10 * index)};
      std::vector<StepEntry> to{{.peer = {1}, .sequence = static_cast<Sequence>(index)},
                                {.peer = {2}, .sequence = static_cast<Sequence>(index), .lost = 1}};
      std::vector<StepEntry> from{{.peer = {0}, .sequence = static_cast<Sequence>(index), .weight = 0.5}};
      recorder.add({.kind = StepKind::compute, .client = {0}, .index = index, .at = at, .entries = {}});
      recorder.add({.kind = StepKind::publish, .client = {0}, .index = index, .at = at, .entries = to});
      recorder.add({.kind = StepKind::merge, .client = {1}, .index = index, .at = at, .entries = from});
    }
  }
  const Bytes whole = bytes_of(file);
  std::filesystem::remove(file);
  Bytes as_it_is, block;
  append(as_it_is, {0});
  append(as_it_is, whole);
  folder.write(as_it_is);
  append(block, {3});
  append(block, std::span{whole}.subspan(24));  // behind the file's head and the block's
  folder.write(block);
}

void write_checkpoints(const std::filesystem::path& path) {
  Folder folder(path);
  const auto keep = [&](const std::filesystem::path& file) {
    const Bytes whole = bytes_of(file);
    std::filesystem::remove(file);
    Bytes sealed;
    append(sealed, {1});
    append(sealed, std::span{whole}.first(whole.size() - 64));  // without the digest
    folder.write(sealed);
  };
  const SealedSeries series(path);
  WallCheckpoint wall{.number = 1, .states = {}};
  wall.states[{0}] = Bytes(20, std::byte{1});
  wall.states[{3}] = Bytes(30, std::byte{2});
  wall.write(path, "f00d");
  keep(series.file(1));
  series.write(1, [](SealedWriter& writer) {
    RunCheckpoint head{.identity = {.rubato = "1", .experiment = "f00d", .arithmetic = "a", .data = "d"}, .number = 1};
    head.last_sample.emplace();
    RunCheckpointFile::write_head(writer, head);
    TensorPool pool;
    Payload payload;
    payload.common[0] = pool.make<float>(5);
    payload.own.push_back(pool.make<double>(2));
    Archive archive;
    std::uint64_t name = 7;
    archive(name);
    archive.payload(payload);
    writer.add_list(archive.bytes());
  });
  keep(series.file(1));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return std::fputs("fuzz_seeds DIRECTORY\n", stderr), 2;
  try {
    TensorPool pool;
    const std::vector<Parcel> all = parcels(pool);
    const std::filesystem::path folder(argv[1]);
    write_frames(Folder(folder / "frame"), all);
    write_connections(Folder(folder / "connection"), all);
    write_records(folder / "record");
    write_checkpoints(folder / "checkpoint");
  } catch (const std::exception& fault) {
    return std::fprintf(stderr, "fuzz_seeds: %s\n", fault.what()), 1;
  }
  return 0;
}
