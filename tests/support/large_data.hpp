// The data sets that are not shipped, where they are.
#pragma once

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "learning/data/named_sets.hpp"

namespace rubato::test {

/// RUBATO_DATA, or the folder beside the project.
inline std::filesystem::path large_data() {
  if (const char* const chosen = std::getenv("RUBATO_DATA"); chosen && *chosen) return chosen;
  return std::filesystem::path(RUBATO_SOURCE_DIR) / "../shared/data";
}

/// Says so if the set is not here.
inline bool is_here(const std::string& set) {
  const bool found = !find_dataset(set, large_data()).empty();
  if (!found) MESSAGE("skipped: data set ", set, " is not in ", large_data().string());
  return found;
}

}  // namespace rubato::test
