#include "learning/data/file_stream.hpp"

#include <zlib.h>

#include <algorithm>

namespace rubato {

namespace {

constexpr std::size_t piece_size = 64 * 1024;
constexpr std::size_t first_reserve = std::size_t{64} << 20;
constexpr std::size_t growth = 8;  // the old memory, which is there beside the new, is to be small

}  // namespace

FileStream::FileStream(const std::filesystem::path& file) : name_{file.string()} {
  open(file);
  refill();
  decoder_ = make_decoder(coding_of(stored_), name_);
}

FileStream::FileStream(const std::filesystem::path& file, const Section& section)
    : name_{file.string()}, section_{section}, stored_left_{section.length}, decoder_{make_decoder(section.coding, name_)} {
  open(file);
  stream_.seekg(static_cast<std::streamoff>(section.offset));
  refill();
}

void FileStream::open(const std::filesystem::path& file) {
  if (std::error_code ignored; std::filesystem::is_directory(file, ignored)) fail("is a folder, not a file");
  stream_.open(file, std::ios::binary);
  if (!stream_) fail("cannot be opened");
  piece_.resize(piece_size);
}

void FileStream::refill() {
  const auto wanted = static_cast<std::streamsize>(std::min<std::uint64_t>(piece_.size(), stored_left_));
  stream_.read(reinterpret_cast<char*>(piece_.data()), wanted);
  if (stream_.bad()) fail("cannot be read");
  const auto count = static_cast<std::size_t>(stream_.gcount());
  stored_left_ -= count;
  is_last_piece_ = count < piece_.size();
  stored_ = {piece_.data(), count};
}

void FileStream::note(std::span<const unsigned char> unfolded) {
  unfolded_ += unfolded.size();
  checksum_ = static_cast<std::uint32_t>(crc32_z(checksum_, unfolded.data(), unfolded.size()));
}

void FileStream::check_whole() const {
  if (unfolded_ != section_->contents)
    fail("is damaged: one of its files has ", unfolded_, " bytes; its directory says ", section_->contents);
  if (checksum_ != section_->checksum) fail("is damaged: the CRC-32 of one of its files is not what its directory says");
}

std::size_t FileStream::read(std::span<unsigned char> out) {
  std::size_t done = 0;
  if (has_ahead_ && !out.empty()) {
    out[done++] = ahead_;
    has_ahead_ = false;
  }
  while (done < out.size()) {
    if (stored_.empty() && !is_last_piece_) refill();
    const Decoded step = decoder_->decode(stored_, out.subspan(done), is_last_piece_);
    stored_ = stored_.subspan(step.taken);
    if (section_) note(out.subspan(done, step.written));
    done += step.written;
    if (step.taken > 0 || step.written > 0 || !is_last_piece_) continue;
    if (!decoder_->is_complete()) fail("is cut short: its compressed data end too early");
    if (section_) check_whole();
    break;
  }
  position_ += done;
  return done;
}

std::size_t FileStream::append(std::vector<std::uint8_t>& out, std::size_t count) {
  const std::size_t before = out.size(), wanted = before + count;
  while (out.size() < wanted) {
    if (out.size() == out.capacity()) {
      const bool are_many = count < piece_size;  // of small records more will follow
      out.reserve(are_many ? std::max(wanted, 2 * out.size()) : std::min(wanted, std::max(first_reserve, growth * out.size())));
    }
    const std::size_t done = out.size(), room = std::min({out.capacity(), wanted, done + piece_size}) - done;
    out.resize(done + room);
    const std::size_t got = read(std::span(out).subspan(done));
    out.resize(done + got);
    if (got < room) break;
  }
  return out.size() - before;
}

bool FileStream::is_at_end() {
  if (has_ahead_) return false;
  has_ahead_ = read({&ahead_, 1}) == 1;
  if (has_ahead_) --position_;
  return !has_ahead_;
}

void check_stored(const FileStream& file, std::uint64_t rows, std::uint64_t row_bytes, std::size_t limit) {
  if (row_bytes == 0 || rows <= limit / row_bytes) return;
  file.fail("has ", rows, " rows of ", row_bytes, " bytes; allowed are ", limit, " bytes");
}

}  // namespace rubato
