#include "learning/data/readers.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

namespace rubato {

std::vector<float> read_series(const std::filesystem::path& path, std::size_t limit) {
  FileStream file(path);
  std::vector<float> series;
  std::array<unsigned char, 4096 * sizeof(float)> piece;
  for (std::size_t got = piece.size(); got == piece.size();) {
    got = file.read(piece);
    if (got % sizeof(float) != 0) file.fail("is cut short: it ends within a number of 4 bytes");
    // While it grows, the old and the doubled are there.
    check_stored(file, series.size() + got / sizeof(float), sizeof(float), limit / 3);
    for (std::size_t i = 0; i < got; i += sizeof(float)) {
      const std::uint32_t bits = std::uint32_t{piece[i]} | std::uint32_t{piece[i + 1]} << 8 | std::uint32_t{piece[i + 2]} << 16 |
                                 std::uint32_t{piece[i + 3]} << 24;
      series.push_back(std::bit_cast<float>(bits));
      if (!std::isfinite(series.back())) file.fail("number ", series.size() - 1, " is not finite");
    }
  }
  if (series.empty()) file.fail("is empty");
  return series;
}

}  // namespace rubato
