#include "tests/learning/support.hpp"

#include <zlib.h>

namespace rubato::test {

std::vector<unsigned char> gzipped(std::span<const unsigned char> bytes) {
  z_stream state{};
  deflateInit2(&state, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  std::vector<unsigned char> out(deflateBound(&state, bytes.size()) + 64);
  state.next_in = const_cast<unsigned char*>(bytes.data());
  state.avail_in = static_cast<uInt>(bytes.size());
  state.next_out = out.data();
  state.avail_out = static_cast<uInt>(out.size());
  deflate(&state, Z_FINISH);
  out.resize(state.total_out);
  deflateEnd(&state);
  return out;
}

std::vector<unsigned char> idx_bytes(const std::vector<std::uint32_t>& dimensions, unsigned modulus) {
  std::vector<unsigned char> bytes{0, 0, 8, static_cast<unsigned char>(dimensions.size())};
  std::size_t items = 1;
  for (const std::uint32_t dimension : dimensions) {
    for (int shift = 24; shift >= 0; shift -= 8) bytes.push_back(static_cast<unsigned char>(dimension >> shift));
    items *= dimension;
  }
  for (std::size_t i = 0; i < items; ++i) bytes.push_back(static_cast<unsigned char>(i % modulus));
  return bytes;
}

}  // namespace rubato::test
