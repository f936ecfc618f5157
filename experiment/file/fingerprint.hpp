// The fingerprint of an experiment: what runs of the same experiment have in common.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "experiment/experiment.hpp"
#include "runtime/archive.hpp"

namespace rubato {

/// One thing that hosts of a run have in common, to be shown.
struct FingerprintPart {
  std::string name;   ///< a key, or a file of a data set
  std::string value;  ///< as it is written; cut short with a checksum of all of it; of a file its name, length and checksum

  void archive(Archive& archive) { archive(name, value); }
};

inline constexpr std::size_t most_fingerprint_parts = 256;
inline constexpr std::size_t longest_fingerprint_part = 200;  ///< bytes of a name or a value

/// What hosts of a run have in common, as a whole and in parts.
struct Fingerprint {
  std::string sum;
  std::vector<FingerprintPart> parts;  ///< none where they would be too many
};

/// Of the experiment without addresses, limits and folders; of every key that is a file its content, decompressed for those of
/// [data] and [model]; and of a data set by name what is in its files.
Fingerprint fingerprint_of(const config::Experiment& experiment, const std::filesystem::path& data_dir);

/// The same without reading data: as a whole, of the files of [data] and [model] name and size, of data sets only the name.
std::string fingerprint(const config::Experiment& experiment);

}  // namespace rubato
