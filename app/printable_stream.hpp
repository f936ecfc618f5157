// PrintableStream: what the command prints steers no terminal, whatever files and hosts hold.
#pragma once

#include <cstddef>
#include <iosfwd>
#include <memory>

namespace rubato::app {

/// As long as it lives, control characters that are written to the stream are shown as \xNN, all but the ends of lines, and a
/// line beyond `longest` bytes is cut: names and values come from files, folders and hosts of others. The stream
/// outlives it; several threads may write.
class PrintableStream {
 public:
  explicit PrintableStream(std::ostream& stream, std::size_t longest = static_cast<std::size_t>(-1));
  ~PrintableStream();
  PrintableStream(const PrintableStream&) = delete;
  PrintableStream& operator=(const PrintableStream&) = delete;

 private:
  class Buffer;
  std::ostream& stream_;
  std::unique_ptr<Buffer> buffer_;
};

}  // namespace rubato::app
