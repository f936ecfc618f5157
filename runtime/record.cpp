// The format, little endian: "RBTSTEP3", u32 clients; then blocks of u32 length, u64 checksum, bytes. A block of length
// 0 says that the record was cut at its limit. A step is a byte (kind in the low four bits, kept 16, gradient 32,
// entries 64) and numbers of seven bits a byte: message kind * 2^40 + phase * 2^32 + client, time since the last step
// (zigzag), index, incarnation, and, with entries, their count and for each: peer, sequence, a byte (lost 1, new weight
// 2, incarnation 4, copies 8), the weight's eight bytes if new, the incarnation and the copies if any, age, place.
// Times and weights start afresh in every block.
#include "runtime/record.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <span>
#include <stdexcept>

#include "runtime/checksum.hpp"

namespace rubato {

namespace {

constexpr char magic[8] = {'R', 'B', 'T', 'S', 'T', 'E', 'P', '3'};
constexpr std::size_t block_limit = 1 << 18;
constexpr std::size_t largest_block = 1 << 28;  // one step with very many receivers may exceed the limit

std::uint64_t zigzag(std::int64_t value) {
  return static_cast<std::uint64_t>(value) << 1 ^ static_cast<std::uint64_t>(value >> 63);
}

std::int64_t from_zigzag(std::uint64_t value) {
  return static_cast<std::int64_t>(value >> 1) ^ -static_cast<std::int64_t>(value & 1);
}

}  // namespace

Recorder::Recorder(std::FILE* file, std::string name, std::uint64_t most_bytes)
    : file_{file}, name_{std::move(name)}, most_bytes_{most_bytes} {
  if (!file_) throw std::runtime_error("cannot write " + name_ + ": " + std::strerror(errno));
  block_.reserve(block_limit + 4096);
}

std::unique_ptr<Recorder> Recorder::go_on(const std::filesystem::path& file, std::uint64_t intact, std::uint64_t most_bytes) {
  std::filesystem::resize_file(file, intact);
  std::unique_ptr<Recorder> recorder(new Recorder(std::fopen(file.c_str(), "ab"), file.string(), most_bytes));
  recorder->bytes_ = intact;
  return recorder;
}

Recorder::Recorder(const std::filesystem::path& file, std::uint32_t clients, std::uint64_t most_bytes)
    : Recorder(std::fopen(file.c_str(), "wb"), file.string(), most_bytes) {
  write(magic, sizeof magic);
  write(&clients, sizeof clients);
}

Recorder::~Recorder() { flush(); }

void Recorder::write(const void* data, std::size_t size) {
  if (!error_.empty()) return;
  if (std::fwrite(data, 1, size, file_.get()) != size) error_ = "cannot write " + name_ + ": " + std::strerror(errno);
  bytes_ += size;
}

void Recorder::write_block() {
  const auto size = static_cast<std::uint32_t>(block_.size());
  const std::uint64_t sum = checksum(std::as_bytes(std::span{block_}));
  write(&size, sizeof size);
  write(&sum, sizeof sum);
  write(block_.data(), block_.size());
  block_.clear();
  last_at_ = 0;
  last_weight_ = 1;
}

void Recorder::flush() {
  if (!block_.empty()) write_block();
  if (error_.empty() && std::fflush(file_.get()) != 0) error_ = "cannot write " + name_ + ": " + std::strerror(errno);
}

void Recorder::number(std::uint64_t value) {
  while (value >= 128) {
    block_.push_back(static_cast<unsigned char>(value | 128));
    value >>= 7;
  }
  block_.push_back(static_cast<unsigned char>(value));
}

void Recorder::add(const Step& step) {
  if (is_cut_ || !error_.empty()) return;
  if (most_bytes_ > 0 && bytes() > most_bytes_) {
    if (!block_.empty()) write_block();
    write_block();  // the empty block: cut here
    is_cut_ = true;
    return;
  }
  block_.push_back(static_cast<unsigned char>(static_cast<unsigned>(step.kind) | (step.keeps ? 16u : 0u) |
                                              (step.with_gradient ? 32u : 0u) | (step.entries.empty() ? 0u : 64u)));
  number(static_cast<std::uint64_t>(step.message) << 40 | static_cast<std::uint64_t>(step.phase) << 32 | step.client.value);
  const std::int64_t at = step.at.time_since_epoch().count();
  number(zigzag(at - last_at_));
  last_at_ = at;
  number(step.index);
  number(step.incarnation);
  if (!step.entries.empty()) number(step.entries.size());
  for (const StepEntry& entry : step.entries) {
    number(entry.peer.value);
    number(entry.sequence);
    const bool is_new = std::bit_cast<std::uint64_t>(entry.weight) != std::bit_cast<std::uint64_t>(last_weight_);
    block_.push_back(static_cast<unsigned char>((entry.lost ? 1u : 0u) | (is_new ? 2u : 0u) | (entry.incarnation ? 4u : 0u) |
                                                (entry.copies ? 8u : 0u)));
    if (is_new) {
      const auto bits = std::bit_cast<std::array<unsigned char, 8>>(entry.weight);
      block_.insert(block_.end(), bits.begin(), bits.end());
      last_weight_ = entry.weight;
    }
    if (entry.incarnation) number(entry.incarnation);
    if (entry.copies) number(entry.copies);
    number(zigzag(entry.age.count()));
    number(entry.place);
  }
  if (block_.size() >= block_limit) write_block();
}

RecordReader::RecordReader(const std::filesystem::path& file) : file_{std::fopen(file.c_str(), "rb")} {
  if (!file_) throw std::runtime_error("cannot read " + file.string() + ": " + std::strerror(errno));
  char start[sizeof magic] = {};
  const bool is_record = std::fread(start, 1, sizeof start, file_.get()) == sizeof start &&
                         std::memcmp(start, magic, sizeof magic) == 0 &&
                         std::fread(&clients_, sizeof clients_, 1, file_.get()) == 1;
  intact_bytes_ = sizeof start + sizeof clients_;
  if (is_record) return;
  const bool is_older = std::memcmp(start, magic, sizeof magic - 1) == 0 && start[7] >= '0' && start[7] < magic[7];
  throw std::runtime_error(file.string() +
                           (is_older ? " was written by an earlier version of Rubato" : " is not a record of a run"));
}

bool RecordReader::read_block() {
  std::uint32_t size = 0;
  std::uint64_t sum = 0;
  if (std::fread(&size, 1, 1, file_.get()) != 1) return false;  // the end
  const bool has_head = std::fread(reinterpret_cast<char*>(&size) + 1, sizeof size - 1, 1, file_.get()) == 1 &&
                        std::fread(&sum, sizeof sum, 1, file_.get()) == 1;
  is_incomplete_ = !has_head || size == 0 || size > largest_block;
  if (is_incomplete_) return false;
  is_incomplete_ = !read_bytes(size) || checksum(std::as_bytes(std::span{block_})) != sum;
  position_ = 0;
  last_at_ = 0;
  last_weight_ = 1;
  if (!is_incomplete_) intact_bytes_ += sizeof size + sizeof sum + size;
  return !is_incomplete_;
}

// Memory grows with what is there, not with what the file says.
bool RecordReader::read_bytes(std::size_t size) {
  block_.clear();
  while (block_.size() < size) {
    const std::size_t before = block_.size();
    block_.resize(std::min(size, before + block_limit));
    if (std::fread(block_.data() + before, 1, block_.size() - before, file_.get()) != block_.size() - before) return false;
  }
  return true;
}

std::uint64_t RecordReader::number() {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    if (position_ >= block_.size()) break;
    const unsigned char byte = block_[position_++];
    value |= static_cast<std::uint64_t>(byte & 127) << shift;
    if (byte < 128) return value;
  }
  is_damaged_ = true;
  return 0;
}

bool RecordReader::decode() {
  const unsigned char head = block_[position_++];
  const std::uint64_t who = number();
  step_ = {};
  step_.kind = static_cast<StepKind>(head & 15);
  step_.keeps = head & 16;
  step_.message = static_cast<MessageKind>(who >> 40 & 255);
  step_.with_gradient = head & 32;
  step_.phase = static_cast<std::uint8_t>(who >> 32);
  step_.client = ClientId{static_cast<std::uint32_t>(who)};
  last_at_ = static_cast<std::int64_t>(static_cast<std::uint64_t>(last_at_) +
                                       static_cast<std::uint64_t>(from_zigzag(number())));  // a stranger's may wrap
  step_.at = Time{Duration{last_at_}};
  step_.index = number();
  step_.incarnation = static_cast<std::uint32_t>(number());
  const std::uint64_t entries = head & 64 ? number() : 0;
  if (is_damaged_ || entries > block_.size() || step_.client.value >= clients_ || (head & 15) > 11 || who >> 40 > 4) return false;
  const bool names_one = step_.kind == StepKind::adopt || step_.kind == StepKind::reclaim;
  if (step_.kind == StepKind::measure || (names_one && entries != 1)) return false;
  entries_.assign(entries, {});
  for (StepEntry& entry : entries_) {
    entry.peer = ClientId{static_cast<std::uint32_t>(number())};
    entry.sequence = static_cast<Sequence>(number());
    const unsigned flags = position_ < block_.size() ? block_[position_++] : 255;
    entry.lost = flags & 1;
    if (flags & 2) {
      if (position_ + 8 > block_.size()) return false;
      std::memcpy(&last_weight_, block_.data() + position_, 8);
      position_ += 8;
    }
    entry.weight = last_weight_;
    if (flags & 4) entry.incarnation = static_cast<std::uint16_t>(number());
    if (flags & 8) entry.copies = static_cast<std::uint8_t>(number());
    entry.age = Duration{from_zigzag(number())};
    entry.place = static_cast<std::uint32_t>(number());
    if (is_damaged_ || entry.peer.value >= clients_) return false;
  }
  step_.entries = entries_;
  return true;
}

const Step* RecordReader::next() {
  if (is_incomplete_) return nullptr;
  if (position_ >= block_.size() && !read_block()) return nullptr;
  is_incomplete_ = !decode();
  return is_incomplete_ ? nullptr : &step_;
}

}  // namespace rubato
