// Decoder: stored bytes become contents piece by piece: as they are, or out of gzip, xz or deflate.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

namespace rubato {

/// Takes from the front of `stored` and writes to the front of `contents`.
struct Decoded {
  std::size_t taken = 0;
  std::size_t written = 0;
};

/// Faults of the data are thrown as std::invalid_argument with a sentence that starts with the name of the file.
class Decoder {
 public:
  virtual ~Decoder() = default;

  /// Goes on until either side is used up or nothing more can be said. `is_last`: nothing is stored beyond this.
  virtual Decoded decode(std::span<const unsigned char> stored, std::span<unsigned char> contents, bool is_last) = 0;

  /// Whether the stored data may end here.
  virtual bool is_complete() const = 0;
};

enum class Coding { plain, gzip, xz, deflate };

/// What a file that starts like this is stored as. Deflate cannot be told by its start.
Coding coding_of(std::span<const unsigned char> start);

/// A file may hold several gzip members or xz streams, one after the other. xz takes at most 128 MiB to be decoded.
std::unique_ptr<Decoder> make_decoder(Coding coding, std::string file);

}  // namespace rubato
