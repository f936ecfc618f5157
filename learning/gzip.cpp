#include "learning/gzip.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <new>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>

namespace rubato {

namespace {

using Bytes = std::vector<unsigned char>;

constexpr std::size_t piece = 64 * 1024;

[[noreturn]] void fail(const std::filesystem::path& file, const std::string& what) {
  throw std::invalid_argument(file.string() + ": " + what);
}

[[noreturn]] void fail_too_long(const std::filesystem::path& file, std::size_t limit) {
  fail(file, "holds more than the allowed " + std::to_string(limit) + " bytes");
}

/// The file piece by piece; an empty piece is its end.
class Pieces {
 public:
  explicit Pieces(const std::filesystem::path& file) : file_{file}, stream_{file, std::ios::binary} {
    if (std::filesystem::is_directory(file)) fail(file, "is a folder, not a file");
    if (!stream_) fail(file, "cannot be opened");
  }

  std::span<unsigned char> next() {
    stream_.read(reinterpret_cast<char*>(memory_.data()), static_cast<std::streamsize>(memory_.size()));
    if (stream_.bad()) fail(file_, "cannot be read");
    return {memory_.data(), static_cast<std::size_t>(stream_.gcount())};
  }

 private:
  std::filesystem::path file_;
  std::ifstream stream_;
  std::array<unsigned char, piece> memory_;
};

/// zlib's state, ended with the object.
class Inflater {
 public:
  Inflater() {
    constexpr int gzip_only = 16 + MAX_WBITS;
    if (inflateInit2(&state, gzip_only) != Z_OK) throw std::bad_alloc();
  }
  ~Inflater() { inflateEnd(&state); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  z_stream state{};
};

bool looks_like_gzip(std::span<const unsigned char> start) {
  return start.size() >= 2 && start[0] == 0x1f && start[1] == 0x8b;
}

// Room for at least one byte beyond the limit, so that a file of exactly `limit` bytes can be told from a longer one.
void grow(Bytes& bytes, std::size_t used, std::size_t limit) {
  if (used < bytes.size()) return;
  bytes.resize(std::min(limit + 1, std::max(piece, 2 * bytes.size())));
}

Bytes read_plain(const std::filesystem::path& file, Pieces& pieces, std::span<unsigned char> start, std::size_t limit) {
  Bytes bytes;
  for (; !start.empty(); start = pieces.next()) {
    if (start.size() > limit - bytes.size()) fail_too_long(file, limit);
    bytes.insert(bytes.end(), start.begin(), start.end());
  }
  return bytes;
}

/// gzip data arriving in pieces, growing into bytes. A file may hold several gzip members, one after the other.
class Gunzip {
 public:
  Gunzip(const std::filesystem::path& file, std::size_t limit) : file_{file}, limit_{limit} {}

  void feed(std::span<unsigned char> input) {
    z_stream& state = inflater_.state;
    state.next_in = input.data();
    state.avail_in = static_cast<uInt>(input.size());
    while (state.avail_in > 0 || is_output_full_) {
      if (member_ended_) begin_member();
      inflate_some();
    }
  }

  Bytes finish() {
    if (!member_ended_) fail(file_, "is cut short: the gzip data end too early");
    bytes_.resize(used_);
    return std::move(bytes_);
  }

 private:
  void begin_member() {
    if (inflater_.state.next_in[0] != 0x1f) fail(file_, "has trailing bytes after its gzip data");
    inflateReset(&inflater_.state);
    member_ended_ = false;
  }

  void inflate_some() {
    grow(bytes_, used_, limit_);
    z_stream& state = inflater_.state;
    const std::size_t room = std::min(bytes_.size() - used_, most_at_once);
    state.next_out = bytes_.data() + used_;
    state.avail_out = static_cast<uInt>(room);
    const int answer = inflate(&state, Z_NO_FLUSH);
    used_ += room - state.avail_out;
    if (used_ > limit_) fail_too_long(file_, limit_);
    check(answer);
    member_ended_ = answer == Z_STREAM_END;
    is_output_full_ = state.avail_out == 0 && !member_ended_;
  }

  void check(int answer) const {
    if (answer == Z_MEM_ERROR) throw std::bad_alloc();
    if (answer == Z_OK || answer == Z_STREAM_END || answer == Z_BUF_ERROR) return;
    const char* const reason = inflater_.state.msg ? inflater_.state.msg : "unknown code";
    fail(file_, std::string("the gzip data are corrupt (") + reason + ")");
  }

  static constexpr std::size_t most_at_once = std::size_t{1} << 30;  // zlib counts in 32 bits

  const std::filesystem::path& file_;
  std::size_t limit_;
  Inflater inflater_;
  Bytes bytes_;
  std::size_t used_ = 0;
  bool member_ended_ = false;
  bool is_output_full_ = false;
};

Bytes read_gzip(const std::filesystem::path& file, Pieces& pieces, std::span<unsigned char> start, std::size_t limit) {
  Gunzip gunzip(file, limit);
  for (; !start.empty(); start = pieces.next()) gunzip.feed(start);
  return gunzip.finish();
}

}  // namespace

std::vector<unsigned char> read_whole_file(const std::filesystem::path& file, std::size_t limit) {
  Pieces pieces(file);
  const std::span<unsigned char> start = pieces.next();
  return looks_like_gzip(start) ? read_gzip(file, pieces, start, limit) : read_plain(file, pieces, start, limit);
}

}  // namespace rubato
