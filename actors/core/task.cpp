#include "actors/core/task.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <sstream>

#include "algos/catalogue.hpp"
#include "algos/option_table.hpp"
#include "experiment/build/devices.hpp"
#include "experiment/build/expected_weights.hpp"
#include "experiment/build/learners.hpp"
#include "experiment/digest.hpp"

namespace rubato {

namespace {

using config::Experiment;

// What stationarity is measured with, where it is.
std::optional<Composite> composite_of(const Experiment& experiment) {
  const config::Metrics& metrics = experiment.metrics;
  if (!metrics.stationarity) return std::nullopt;
  const AlgorithmOptions& options = experiment.algorithm.options;
  const double scale = metrics.tracker == config::TrackerScale::over_beta ? 1 / options.number("beta", 0.5) : 1;
  return Composite{Penalty(options), options.number("alpha", 0.05), metrics.smoothness.value_or(1), scale};
}

// The vectors that samples ask clients for, by name.
std::vector<std::string> tracked_of(const Experiment& experiment) {
  if (!experiment.metrics.tracked && !experiment.metrics.stationarity) return {};
  std::istringstream names{std::string(catalogue_entry(experiment.algorithm.name).tracks)};
  return {std::istream_iterator<std::string>(names), {}};
}

// What the joint objective of KD-PDFL is measured with, where it is.
std::optional<JointTerms> joint_of(const Experiment& experiment) {
  if (!experiment.metrics.joint_objective) return std::nullopt;
  const AlgorithmOptions& options = experiment.algorithm.options;
  return JointTerms{options.number("mu1", 1), options.number("mu2", 0.2), options.number("delta", 1e-6),
                    options.word("layer", "output")};
}

Measures measures_of(const Experiment& experiment, const std::vector<std::uint32_t>& samples) {
  const config::Metrics& metrics = experiment.metrics;
  Measures measures{.composite = composite_of(experiment),
                    .training = metrics.training,
                    .gradient = metrics.gradient_norm,
                    .tracked = tracked_of(experiment),
                    .joint = joint_of(experiment)};
  if (metrics.gradient_norm) {
    measures.penalty = Penalty(experiment.algorithm.options);
    measures.mean_weights = mean_weights(experiment, samples);
  }
  return measures;
}

template <class Real>
class TaskOf final : public Task {
 public:
  TaskOf(const Experiment& experiment, const std::filesystem::path& data_dir, const OwnParts<Real>& own)
      : seed_{static_cast<std::uint64_t>(experiment.seed)},
        local_batches_{local_batches_of(experiment.algorithm.options)},
        in_epochs_{experiment.model.batches == config::BatchRule::epochs},
        norm_limit_{experiment.mailbox.norm_limit},
        made_{make_learners(experiment, data_dir, own)} {
    factory_ = own.algorithm ? own.algorithm
                             : make_algorithm<Real>(catalogue_entry(experiment.algorithm.name), options_in_force(experiment));
    for (const auto& learner : made_.learners) samples_.push_back(learner->samples());
    batches_ = batches_of(experiment, made_.learners.size());
    Measures measures = measures_of(experiment, samples_);
    measures.architectures = made_.architectures;
    evaluation_ =
        std::make_unique<EvaluationOf<Real>>(made_.learners, made_.share_test, std::move(measures), measured_clients(experiment));
  }

  std::size_t dimension() const override { return static_cast<std::size_t>(made_.start.size()); }
  std::size_t scalar_bytes() const override { return sizeof(Real); }
  const Evaluation& evaluation() const override { return *evaluation_; }
  const std::vector<std::string>& notes() const override { return made_.notes; }
  std::span<const std::uint32_t> samples() const override { return samples_; }
  TaskSize size() const override {
    const auto clients = static_cast<double>(samples_.size());
    double all = 0, used = 0;
    for (std::size_t i = 0; i < samples_.size(); ++i)
      all += samples_[i], used += batches_[i] > 0 ? std::min(batches_[i], samples_[i]) : samples_[i];
    const auto own = static_cast<std::size_t>(std::ceil(all / clients));
    return {dimension(), used / clients, made_.test_rows > 0 ? made_.test_rows : own, made_.share_test, all / clients};
  }
  std::span<const ClassCount> class_counts() const override { return made_.class_counts; }

  std::vector<std::string> class_names() const override {
    return made_.dataset ? made_.dataset->class_names : std::vector<std::string>{};
  }

  std::string data_digest() const override {
    Sha256 digest;
    const auto take = [&](std::span<const std::byte> bytes) {
      const std::uint64_t length = bytes.size();
      digest.add(std::as_bytes(std::span{&length, 1}));
      digest.add(bytes);
    };
    take(std::as_bytes(std::span{made_.start.data(), dimension()}));
    for (const Vector<Real>& own : made_.own_starts) take(std::as_bytes(std::span{own.data(), dimension()}));
    take(std::as_bytes(std::span{samples_}));
    if (made_.dataset)
      for (const Samples<Real>* part : {&made_.dataset->train, &made_.dataset->test}) {
        part->features.visit_stored(take);
        take(std::as_bytes(std::span{part->labels}));
        take(std::as_bytes(std::span{part->targets}));
      }
    return digest.hex();
  }

  std::unique_ptr<Performer> make_performer(const ClientView& client_view, TensorPool& pool) const override {
    const Learner<Real>& learner = *made_.learners[client_view.client.value];
    ClientView with_models = client_view;
    with_models.architectures = made_.architectures;
    return std::make_unique<PerformerOf<Real>>(factory_(with_models, made_.start_of(client_view.client), pool), learner,
                                               BatchPlan{.seed = seed_,
                                                         .client = client_view.client,
                                                         .size = batches_[client_view.client.value],
                                                         .local_batches = local_batches_,
                                                         .in_epochs = in_epochs_},
                                               pool, norm_limit_);
  }

 private:
  std::uint64_t seed_;
  std::uint64_t local_batches_;
  bool in_epochs_;
  std::vector<std::uint32_t> batches_;  // by client; 0: all rows
  double norm_limit_;
  ClientLearners<Real> made_;
  std::vector<std::uint32_t> samples_;
  AlgorithmFactory<Real> factory_;
  std::unique_ptr<Evaluation> evaluation_;
};

}  // namespace

template <class Real>
std::unique_ptr<Task> make_task(const Experiment& experiment, const std::filesystem::path& data_dir, const OwnParts<Real>& own) {
  return std::make_unique<TaskOf<Real>>(experiment, data_dir, own);
}

template std::unique_ptr<Task> make_task<float>(const Experiment&, const std::filesystem::path&, const OwnParts<float>&);
template std::unique_ptr<Task> make_task<double>(const Experiment&, const std::filesystem::path&, const OwnParts<double>&);

}  // namespace rubato
