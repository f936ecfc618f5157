#include "experiment/digest.hpp"

#include <fmt/format.h>
#include <sodium.h>

#include <array>
#include <bit>

namespace rubato {

static_assert(std::endian::native == std::endian::little, "digests are over little-endian numbers");

struct Sha256::State {
  crypto_hash_sha256_state sodium;
};

Sha256::Sha256() : state_{std::make_unique<State>()} { crypto_hash_sha256_init(&state_->sodium); }
Sha256::~Sha256() = default;

void Sha256::add(std::span<const std::byte> bytes) {
  crypto_hash_sha256_update(&state_->sodium, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
}

std::string Sha256::hex() {
  std::array<unsigned char, crypto_hash_sha256_BYTES> hash{};
  crypto_hash_sha256_final(&state_->sodium, hash.data());
  return fmt::format("{:02x}", fmt::join(hash, ""));
}

std::string sha256_of(std::string_view text) {
  Sha256 sum;
  sum.add(std::as_bytes(std::span{text}));
  return sum.hex();
}

std::string timeline_digest(const std::vector<StepHash>& hashes) {
  Sha256 sum;
  for (const StepHash& hash : hashes) {
    const std::array<std::uint64_t, 2> words{hash.low(), hash.high()};
    sum.add(std::as_bytes(std::span{words}));
  }
  return sum.hex();
}

}  // namespace rubato
