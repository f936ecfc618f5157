#include "learning/data/decoder.hpp"

#include <lzma.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <new>
#include <stdexcept>
#include <utility>

namespace rubato {

namespace {

constexpr std::size_t most_at_once = std::size_t{1} << 30;  // zlib counts in 32 bits
constexpr std::uint64_t most_memory_for_xz = std::uint64_t{128} << 20;
constexpr std::array<unsigned char, 2> gzip_start{0x1f, 0x8b};
constexpr std::array<unsigned char, 6> xz_start{0xfd, '7', 'z', 'X', 'Z', 0};

class PlainDecoder final : public Decoder {
 public:
  Decoded decode(std::span<const unsigned char> stored, std::span<unsigned char> contents, bool) override {
    const std::size_t count = std::min(stored.size(), contents.size());
    std::copy_n(stored.begin(), count, contents.begin());
    return {count, count};
  }
  bool is_complete() const override { return true; }
};

/// gzip members, or one stretch of bare deflate.
class ZlibDecoder final : public Decoder {
 public:
  ZlibDecoder(std::string file, bool is_gzip) : file_{std::move(file)}, is_gzip_{is_gzip}, has_ended_{is_gzip} {
    constexpr int gzip_only = 16 + MAX_WBITS;
    if (inflateInit2(&state_, is_gzip ? gzip_only : -MAX_WBITS) != Z_OK) throw std::bad_alloc();
  }
  ~ZlibDecoder() override { inflateEnd(&state_); }
  ZlibDecoder(const ZlibDecoder&) = delete;
  ZlibDecoder& operator=(const ZlibDecoder&) = delete;

  Decoded decode(std::span<const unsigned char> stored, std::span<unsigned char> contents, bool) override {
    if (has_ended_ && stored.empty()) return {};
    if (has_ended_) begin_member(stored.front());
    const auto most = [](std::size_t size) { return static_cast<uInt>(std::min(size, most_at_once)); };
    state_.next_in = const_cast<unsigned char*>(stored.data());  // zlib reads only
    state_.avail_in = most(stored.size());
    state_.next_out = contents.data();
    state_.avail_out = most(contents.size());
    const int answer = inflate(&state_, Z_NO_FLUSH);
    check(answer);
    has_ended_ = answer == Z_STREAM_END;
    return {most(stored.size()) - state_.avail_in, most(contents.size()) - state_.avail_out};
  }
  bool is_complete() const override { return has_ended_; }

 private:
  void begin_member(unsigned char first) {
    if (!is_gzip_ || first != gzip_start[0]) throw std::invalid_argument(file_ + ": has trailing bytes after its compressed data");
    inflateReset(&state_);
  }
  void check(int answer) const {
    if (answer == Z_MEM_ERROR) throw std::bad_alloc();
    if (answer == Z_OK || answer == Z_STREAM_END || answer == Z_BUF_ERROR) return;
    throw std::invalid_argument(file_ + ": the compressed data are corrupt (" +
                                (state_.msg ? state_.msg : "they need a dictionary") + ")");
  }

  std::string file_;
  bool is_gzip_;
  bool has_ended_;
  z_stream state_{};
};

class XzDecoder final : public Decoder {
 public:
  explicit XzDecoder(std::string file) : file_{std::move(file)} {
    if (lzma_stream_decoder(&state_, most_memory_for_xz, LZMA_CONCATENATED) != LZMA_OK) throw std::bad_alloc();
  }
  ~XzDecoder() override { lzma_end(&state_); }
  XzDecoder(const XzDecoder&) = delete;
  XzDecoder& operator=(const XzDecoder&) = delete;

  Decoded decode(std::span<const unsigned char> stored, std::span<unsigned char> contents, bool is_last) override {
    if (has_ended_) return {};
    state_.next_in = stored.data();
    state_.avail_in = stored.size();
    state_.next_out = contents.data();
    state_.avail_out = contents.size();
    const lzma_ret answer = lzma_code(&state_, is_last ? LZMA_FINISH : LZMA_RUN);
    has_ended_ = answer == LZMA_STREAM_END;
    check(answer);
    return {stored.size() - state_.avail_in, contents.size() - state_.avail_out};
  }
  bool is_complete() const override { return has_ended_; }

 private:
  void check(lzma_ret answer) const {
    if (answer == LZMA_MEM_ERROR) throw std::bad_alloc();
    if (answer == LZMA_OK || answer == LZMA_STREAM_END || answer == LZMA_BUF_ERROR) return;
    if (answer == LZMA_MEMLIMIT_ERROR)
      throw std::invalid_argument(file_ + ": its xz data need more than the allowed 128 MiB of memory to be read");
    throw std::invalid_argument(file_ + ": the compressed data are corrupt");
  }

  std::string file_;
  lzma_stream state_ = LZMA_STREAM_INIT;
  bool has_ended_ = false;
};

bool starts_with(std::span<const unsigned char> start, std::span<const unsigned char> mark) {
  return start.size() >= mark.size() && std::equal(mark.begin(), mark.end(), start.begin());
}

}  // namespace

Coding coding_of(std::span<const unsigned char> start) {
  if (starts_with(start, gzip_start)) return Coding::gzip;
  return starts_with(start, xz_start) ? Coding::xz : Coding::plain;
}

std::unique_ptr<Decoder> make_decoder(Coding coding, std::string file) {
  switch (coding) {
    case Coding::gzip:
    case Coding::deflate:
      return std::make_unique<ZlibDecoder>(std::move(file), coding == Coding::gzip);
    case Coding::xz:
      return std::make_unique<XzDecoder>(std::move(file));
    case Coding::plain:
      break;
  }
  return std::make_unique<PlainDecoder>();
}

}  // namespace rubato
