// What an experiment chooses from in models and data, with the file's words (runtime/words.hpp).
#pragma once

#include <string_view>

namespace rubato {

/// What a layer does to each of its numbers.
enum class Activation { relu, sigmoid, tanh, none };
constexpr std::string_view word_list(Activation) { return "relu|sigmoid|tanh"; }

/// Over groups of channels of one sample, or over the samples of a batch.
enum class Normalisation { group, batch };
constexpr std::string_view word_list(Normalisation) { return "group|batch"; }

/// Where training starts: weights 0, or normal with variance 2 / inputs (he) or 2 / (inputs + outputs) (xavier) of
/// their layer; biases are 0. `usual`: what suits the model.
enum class Start { zero, he, xavier, usual };
constexpr std::string_view word_list(Start) { return "zero|he|xavier|default"; }

/// Of features, with the numbers of the training part. `usual`: what the set is commonly given, which the list of named
/// sets says; of other files, images become 0 to 1 and all else `standard`. `none`: as it stands in the file. `unit`: from 0
/// to 1 (images whose file has bytes: a byte / 255). `standard`: mean 0 and deviation 1 (images: for each channel).
/// What is constant becomes 0.
enum class Normalise { usual, none, unit, standard };
constexpr std::string_view word_list(Normalise) { return "default|none|unit|standard"; }

/// What the first line of a csv file is: column names, a sample, or something to be passed over. `automatic`: names, if
/// it has the label's name, or another field that is neither a number nor a missing one (nothing, ? or NaN).
enum class FirstLine { automatic, names, sample, skipped };
constexpr std::string_view word_list(FirstLine) { return "auto|names|none"; }

/// What becomes of cells of own files that are no finite numbers: the file is refused, their rows are left out, or they are the
/// mean of their column in the training rows.
enum class Missing { refuse, drop, mean };
constexpr std::string_view word_list(Missing) { return "refuse|drop|mean"; }

/// Where two clients may have the same row: nowhere, among test rows, or among training rows as well.
enum class Overlap { none, test, both };
constexpr std::string_view word_list(Overlap) { return "none|test|both"; }

/// How a data file is read. `by_name`: as its name's ending says.
enum class FileFormat { by_name, csv, libsvm, npy, npz, idx, cifar };
constexpr std::string_view word_list(FileFormat) { return "auto|csv|libsvm|npy|npz|idx|cifar"; }

/// What labels are: classes, or numbers to be learned.
enum class LearnKind { classes, number };
constexpr std::string_view word_list(LearnKind) { return "classes|number"; }

/// The hinge loss, or the sum of its squares.
enum class HingeKind { plain, squared };
constexpr std::string_view word_list(HingeKind) { return "plain|squared"; }

}  // namespace rubato
