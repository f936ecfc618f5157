// Final models as a NumPy file: one row per client.
#pragma once

#include <string>

#include "results/run_result.hpp"

namespace rubato {

/// What stands before the numbers of an .npy file of rows x columns floats of 4 or 8 bytes.
std::string npy_head(std::size_t rows, std::size_t columns, std::size_t scalar_bytes);

/// The bytes of an .npy file of clients x dimension numbers; result.models must be there.
std::string models_npy(const RunResult& result);

}  // namespace rubato
