// The experiment file: the strict way from text to an Experiment and back.
#pragma once

#include <cstddef>
#include <filesystem>
#include <iosfwd>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "experiment/experiment.hpp"

namespace rubato::config {

/// Longer files are refused.
inline constexpr std::size_t max_experiment_bytes = 16u << 20;

/// Reads the file and lays the overrides ("key=value") over it. Notes are sentences, one a line,
/// about what was dropped. The tables in `own` are the program's own business, as in validate(). Throws BadExperiment, also where
/// the file cannot be read.
Experiment read_experiment(const std::filesystem::path& file, std::span<const std::string> overrides, std::ostream& notes,
                           std::span<const std::string_view> own = {});

/// The same for a text. `file` names it in faults, and paths in it are relative to that file's folder.
Experiment parse_experiment(std::string_view text, const std::filesystem::path& file, std::span<const std::string> overrides,
                            std::ostream& notes);

/// The same for a text, judged as a run judges it: throws BadExperiment with what is wrong with graph, timers, channel and other
/// parts that are built from it, too. The tables in `own` are the program's own business, as in validate().
Experiment judge_experiment(std::string_view text, const std::filesystem::path& file, std::span<const std::string> overrides,
                            std::ostream& notes, std::span<const std::string_view> own = {});

/// An experiment that a program has filled in, judged as a file is: throws BadExperiment with all faults at once, which
/// begin with "experiment: ". Keys that the choices in force do not know are not judged and get their defaults; what follows
/// from other keys is filled in, and paths are made absolute. The tables in `own` ("algorithm", "data", "model") are the
/// program's own business and stay as they are, but for model.batch, which is judged. Addresses of the roster are judged
/// by the transport that carries them.
Experiment validate(const Experiment& experiment, std::span<const std::string_view> own = {});

/// The complete file, defaults filled in and paths absolute: parse_experiment gives an equal Experiment back.
std::string write_experiment(const Experiment& experiment);

/// A key of the experiment file, in words.
struct KeyInfo {
  std::string table;               ///< where it stands: "" is the top, "timer", "law" and "link" serve several tables
  std::string name;                ///< in its table
  std::string type;                ///< as docs/experiment-file.md has it: "number", "list of texts"
  std::string fallback;            ///< the default as TOML; "must be set" where there is none, empty for a table
  std::string meaning;             ///< a line
  std::string rule;                ///< limits, and the choices that know the key; may be empty
  std::vector<std::string> words;  ///< of a choice
};
/// Every key, in the order of the documentation. Options of algorithms are those of the catalogue as it is now.
std::vector<KeyInfo> key_list();

/// A table of the experiment file, in words.
struct TableInfo {
  std::string table;  ///< as in KeyInfo
  std::string title;  ///< as the documentation heads it
  std::string words;  ///< what it is about
};
/// Every table, in the order of the documentation.
std::vector<TableInfo> table_list();

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
