// Fingerprints of a run: SHA-256 over models and over step hashes.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/hash.hpp"

namespace rubato {

/// SHA-256 of bytes that come one after the other.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;
  void add(std::span<const std::byte> bytes);
  /// Lower-case hexadecimal; once.
  std::string hex();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Of one text.
std::string sha256_of(std::string_view text);

std::string timeline_digest(const std::vector<StepHash>& hashes);

}  // namespace rubato
