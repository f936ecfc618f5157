// From the experiment file to the half of a run that knows what: data, model, one learner and one algorithm per client.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "actors/core/client_pool.hpp"
#include "experiment/build/client_views.hpp"
#include "experiment/build/sampling.hpp"
#include "experiment/experiment.hpp"
#include "experiment/own_parts.hpp"
#include "results/evaluation.hpp"
#include "results/run_result.hpp"

namespace rubato {

/// Learners, start model and evaluation of a run.
class Task {
 public:
  virtual ~Task() = default;
  virtual std::size_t dimension() const = 0;
  virtual std::size_t scalar_bytes() const = 0;
  virtual const Evaluation& evaluation() const = 0;
  /// A client's numeric half. Calls may come in any order: models do not depend on it.
  virtual std::unique_ptr<Performer> make_performer(const ClientView& client_view, TensorPool& pool) const = 0;
  /// Sentences about the data that the run should say.
  virtual const std::vector<std::string>& notes() const = 0;
  /// What forecasts of its cost go by.
  virtual TaskSize size() const { return {.dimension = dimension()}; }
  /// Training samples of every client.
  virtual std::span<const std::uint32_t> samples() const = 0;
  /// SHA-256 of the samples and of the start model, if there are any: other data have another.
  virtual std::string data_digest() const { return {}; }
  /// Those above 0, by client and class; empty where the run knows no classes.
  virtual std::span<const ClassCount> class_counts() const { return {}; }
  /// A label of the own files for each class; empty where there are none.
  virtual std::vector<std::string> class_names() const { return {}; }
};

/// Reads the data and deals it. Throws std::invalid_argument where the experiment and the data do not fit.
template <class Real>
std::unique_ptr<Task> make_task(const config::Experiment& experiment, const std::filesystem::path& data_dir,
                                const OwnParts<Real>& own);

}  // namespace rubato
