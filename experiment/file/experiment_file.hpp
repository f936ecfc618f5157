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
/// about what was dropped. Throws BadExperiment, also where the file cannot be read.
Experiment read_experiment(const std::filesystem::path& file, std::span<const std::string> overrides, std::ostream& notes);

/// The same for a text. `file` names it in faults, and paths in it are relative to that file's folder.
Experiment parse_experiment(std::string_view text, const std::filesystem::path& file, std::span<const std::string> overrides,
                            std::ostream& notes);

/// An experiment that a program has filled in, judged as a file is: throws BadExperiment with all faults at once, which
/// begin with "experiment: ". Keys that the choices in force do not know are not judged and get their defaults; what follows
/// from other keys is filled in, and paths are made absolute. The tables in `own` ("algorithm", "data", "model") are the
/// program's own business and stay as they are, but for model.batch, which is judged. Addresses of the roster are judged
/// by the transport that carries them.
Experiment validate(const Experiment& experiment, std::span<const std::string_view> own = {});

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
