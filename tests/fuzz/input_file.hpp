// InputFile: bytes that a fuzzer made, as a file that readers can open.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>

#include "tests/fuzz/insist.hpp"

namespace rubato::fuzz {

/// In memory alone; its path is valid as long as it lives.
class InputFile {
 public:
  explicit InputFile(std::span<const std::byte> bytes) : descriptor_{memfd_create("fuzz", MFD_CLOEXEC)} {
    insist(descriptor_ >= 0);
    while (!bytes.empty()) {
      const ssize_t written = write(descriptor_, bytes.data(), bytes.size());
      insist(written > 0);
      bytes = bytes.subspan(static_cast<std::size_t>(written));
    }
  }
  ~InputFile() { close(descriptor_); }
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  std::filesystem::path path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

 private:
  int descriptor_;
};

}  // namespace rubato::fuzz
