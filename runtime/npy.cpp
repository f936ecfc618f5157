#include "runtime/npy.hpp"

namespace rubato {

std::string npy_head(const std::vector<std::size_t>& shape, std::size_t scalar_bytes, char kind) {
  std::string lengths;
  for (const std::size_t length : shape) lengths += (lengths.empty() ? "" : " ") + std::to_string(length) + ",";
  if (shape.size() > 1) lengths.pop_back();  // as Python writes a tuple
  std::string head = std::string("{'descr': '<") + kind + (scalar_bytes == 8 ? "8" : "4") +
                     "', 'fortran_order': False, 'shape': (" + lengths + "), }";
  constexpr std::size_t before_head = 10;  // magic, version, length
  while ((before_head + head.size() + 1) % 64 != 0) head += ' ';
  head += '\n';
  std::string file("\x93NUMPY\x01\x00", 8);
  file += static_cast<char>(head.size() & 255);
  file += static_cast<char>(head.size() >> 8);
  return file + head;
}

}  // namespace rubato
