// The accuracy and loss of each measured client in each sample: a row a sample while a run goes on, samples.npz when it is over.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "results/sample.hpp"

namespace rubato {

/// Where the rows stand in the folder of a run.
inline constexpr const char* scores_file = "samples.part";
/// Bytes of it: beyond, no samples.npz is made of it.
inline constexpr std::uintmax_t most_scores = 512'000'000;

/// Of the row of a sample with so many clients.
std::size_t bytes_of_row(std::size_t clients);
/// The row of a sample. Rows stand one behind the other in a file that grows with the run.
std::string scores_row(const Sample& sample);

/// How many bytes the first rows have, at most so many of them; a row that is cut short is none.
std::size_t bytes_of_rows(std::string_view rows, std::uint64_t samples);

/// How many whole ones there are.
std::uint64_t count_rows(std::string_view rows);

/// The bytes of an .npz file of these rows: `sample` and `seconds` by sample, `client` the clients that are in any of them,
/// ascending, `accuracy` and `loss` by sample and client. Not a number: the client is not in the sample, or that is not known of
/// it.
std::string samples_npz(std::string_view rows);

/// What the clients of a sample had, in the order of their numbers.
struct SampleScores {
  double number = 0, seconds = 0;                         ///< of the sample
  std::vector<double> clients{}, accuracies{}, losses{};  ///< of the clients of which anything is known
};
/// What samples_npz() has made. Throws std::invalid_argument where it has not made the file.
std::vector<SampleScores> read_samples(std::string_view npz);

/// The rows that samples_npz() was given. Throws std::invalid_argument where it has not made the file.
std::string rows_of_npz(std::string_view npz);

}  // namespace rubato
