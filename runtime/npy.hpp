// NumPy files: arrays of numbers.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace rubato {

/// What stands before the numbers of an .npy file of an array of this shape: floats of 4 or 8 bytes, or integers ('i') of these.
std::string npy_head(const std::vector<std::size_t>& shape, std::size_t scalar_bytes, char kind = 'f');

}  // namespace rubato
