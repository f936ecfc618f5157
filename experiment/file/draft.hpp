// Draft: an experiment that has been judged key by key and key against key, with what is wrong with it so far.
#pragma once

#include <filesystem>
#include <iosfwd>
#include <span>
#include <string>
#include <string_view>

#include "experiment/file/check.hpp"

namespace rubato::config {

/// The tree as it is written with defaults filled in, its faults, and its values: those in order, others as declared.
struct Draft {
  Table root;
  Faults faults;
  Experiment experiment;
};

/// As read_experiment, parse_experiment and validate, which throw what is wrong with it.
Draft drafted(const std::filesystem::path& file, std::span<const std::string> overrides, std::ostream& notes);
Draft drafted(std::string_view text, const std::filesystem::path& file, std::span<const std::string> overrides,
              std::ostream& notes);
Draft drafted(const Experiment& experiment, std::span<const std::string_view> own);

}  // namespace rubato::config
