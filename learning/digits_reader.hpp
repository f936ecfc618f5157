// The text format of UCI's handwritten digits: 64 integers 0..16 and the digit, separated by commas, a line a sample.
#pragma once

#include <filesystem>

#include "learning/dataset.hpp"

namespace rubato {

/// Features scaled to 0..1. Plain or gzip. Throws std::invalid_argument with a sentence naming file and line.
template <class Real>
Samples<Real> read_digits(const std::filesystem::path& file);

}  // namespace rubato
