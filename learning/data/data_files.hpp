// Own files become a data set.
#pragma once

#include <memory>

#include "learning/data/dataset.hpp"
#include "learning/options.hpp"

namespace rubato {

/// What can be told of a request without opening its files. Throws std::invalid_argument as load_files() does.
void check_request(const DataFiles& files, const DataOptions& options);

/// By name, a format is that of the name's ending (.csv, .tsv, .data; .libsvm, .svm; .npy; .npz; ubyte, .idx; .bin)
/// with or without .gz or .xz. Where there is no test file, an .npz archive may hold a test part, else one is split
/// off. Throws std::invalid_argument with a sentence naming file or key.
template <class Real>
std::shared_ptr<const Dataset<Real>> load_files(const DataFiles& files, const DataOptions& options, std::uint64_t seed = 0);

}  // namespace rubato
