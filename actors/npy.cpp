#include "actors/npy.hpp"

namespace rubato {

std::string models_npy(const RunResult& result) {
  std::string head = std::string("{'descr': '<f") + (result.scalar_bytes == 8 ? "8" : "4") +
                     "', 'fortran_order': False, 'shape': (" + std::to_string(result.models.size()) + ", " +
                     std::to_string(result.dimension) + "), }";
  constexpr std::size_t before_head = 10;  // magic, version, length
  while ((before_head + head.size() + 1) % 64 != 0) head += ' ';
  head += '\n';
  std::string file("\x93NUMPY\x01\x00", 8);
  file += static_cast<char>(head.size() & 255);
  file += static_cast<char>(head.size() >> 8);
  file += head;
  for (const auto& model : result.models) file.append(reinterpret_cast<const char*>(model.data()), model.size());
  return file;
}

}  // namespace rubato
