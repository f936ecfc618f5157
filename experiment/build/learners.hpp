// From the experiment to what its clients learn: data, model, a learner a client.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "experiment/build/class_count.hpp"
#include "experiment/faults.hpp"
#include "experiment/own_parts.hpp"
#include "learning/data/dataset.hpp"
#include "learning/data/partition.hpp"
#include "learning/learner.hpp"

namespace rubato {

/// The learners of a run in client order, and what is known of their data.
template <class Real>
struct ClientLearners {
  std::vector<std::unique_ptr<Learner<Real>>> learners;
  bool share_test = true;                        ///< all learners test on the same rows
  std::size_t test_rows = 0;                     ///< of a client; 0: its own samples
  std::shared_ptr<const Dataset<Real>> dataset;  ///< null where problems are made up, or the program's own
  std::vector<ClassCount> class_counts;          ///< those above 0, by client and class; empty where there are no classes
  Vector<Real> start;                            ///< the model that all clients begin with
  std::vector<std::uint32_t> architectures{};    ///< of every client's model; empty: all are alike
  std::vector<Vector<Real>> own_starts{};        ///< instead, by client, where they differ; else empty
  std::vector<std::string> notes;                ///< sentences about the data that the run should say

  /// What this client begins with.
  ConstVectorRef<Real> start_of(ClientId client) const { return view(own_starts.empty() ? start : own_starts[client.value]); }
};

/// Reads the data and deals it. Throws std::invalid_argument where the experiment and the data do not fit.
template <class Real>
ClientLearners<Real> make_learners(const config::Experiment& experiment, const std::filesystem::path& data_dir,
                                   const OwnParts<Real>& own);

/// Which client has which rows, as [data] and [data.partition] say; rows beyond data.train_rows are unused. Throws
/// std::invalid_argument where the rows cannot be dealt so.
Partition deal_rows(const config::Experiment& experiment, const Labelled& train, const Labelled& test);

/// A data set that is read and dealt, without learners.
template <class Real>
struct DealtDataset {
  std::shared_ptr<const Dataset<Real>> dataset;
  Partition parts;
};

/// The data that an experiment names. Throws std::invalid_argument where they cannot be read or dealt, or are made up.
template <class Real>
DealtDataset<Real> read_and_deal(const config::Experiment& experiment, const std::filesystem::path& data_dir);

/// Rows of one mini-batch of each client; 0: all rows.
std::vector<std::uint32_t> batches_of(const config::Experiment& experiment, std::size_t clients);

/// What can be told of data and model without reading data: whether the set is known, its files can be asked for so, and
/// the model fits a set whose shape is known.
void judge_data(const config::Experiment& experiment, config::Faults& faults);

}  // namespace rubato
