// NumPy files: arrays of numbers, and final models, a row for each client.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "results/run_result.hpp"

namespace rubato {

/// What stands before the numbers of an .npy file of an array of this shape: floats of 4 or 8 bytes, or integers ('i') of these.
std::string npy_head(const std::vector<std::size_t>& shape, std::size_t scalar_bytes, char kind = 'f');

/// The bytes of an .npy file of clients x dimension numbers; result.models must be there.
std::string models_npy(const RunResult& result);

}  // namespace rubato
