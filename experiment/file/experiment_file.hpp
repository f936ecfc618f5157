// The experiment file: the strict way from text to an Experiment and back.
#pragma once

#include <cstddef>
#include <filesystem>
#include <iosfwd>
#include <span>
#include <string>
#include <string_view>

#include "experiment/experiment.hpp"

namespace rubato::config {

/// Longer files are refused.
inline constexpr std::size_t max_experiment_bytes = 16u << 20;

/// Reads the file and lays the overrides ("key=value") over it. Notes are sentences, one a line,
/// about what was dropped or looks unwise. Throws BadExperiment, also where the file cannot be read.
Experiment read_experiment(const std::filesystem::path& file, std::span<const std::string> overrides, std::ostream& notes);

/// The same for a text. `file` names it in faults, and paths in it are relative to that file's folder.
Experiment parse_experiment(std::string_view text, const std::filesystem::path& file, std::span<const std::string> overrides,
                            std::ostream& notes);

/// The complete file, defaults filled in and paths absolute: parse_experiment gives an equal Experiment back.
std::string write_experiment(const Experiment& experiment);

/// Every key with type, default and meaning: the text of `rubato list --keys`.
std::string describe_keys();

/// The text of docs/experiment-file.md.
std::string experiment_file_document();

}  // namespace rubato::config

namespace rubato {

using config::parse_experiment;
using config::read_experiment;
using config::write_experiment;

}  // namespace rubato
