#include "actors/task.hpp"

#include <algorithm>
#include <stdexcept>

#include "learning/dataset_learner.hpp"
#include "learning/model.hpp"
#include "learning/named_sets.hpp"
#include "learning/partition.hpp"
#include "learning/problems.hpp"

namespace rubato {

namespace {

using config::Experiment;

template <class Real>
std::shared_ptr<const Model<Real>> make_model(const config::Model& model, Index inputs, std::uint32_t classes) {
  const auto l2 = static_cast<Real>(model.l2);
  if (model.name == "softmax") return make_softmax<Real>(inputs, classes, l2);
  const std::vector<Index> hidden(model.hidden.begin(), model.hidden.end());
  if (model.name == "mlp") return make_mlp<Real>(inputs, hidden, classes, l2);
  throw std::invalid_argument("model.name = \"" + model.name + "\" does not learn from data.name; use softmax or mlp");
}

Partition deal(const config::Data& data, std::uint32_t clients, std::uint64_t seed, const Labelled& train,
               const Labelled& test) {
  const config::Partition& how = data.partition;
  switch (how.kind) {
    case config::PartitionKind::iid:
      return partition_iid(train, clients, seed);
    case config::PartitionKind::by_class:
      return partition_by_class(train, clients, static_cast<std::uint32_t>(how.classes), how.random, seed);
    case config::PartitionKind::dirichlet_by_class:
      return partition_dirichlet_by_class(train, clients, how.alpha, static_cast<std::uint32_t>(how.min_samples), seed);
    case config::PartitionKind::dirichlet_by_client:
      return partition_dirichlet_by_client(train, test, clients, how.alpha, 15, 100, seed);
    case config::PartitionKind::decefl_table3:
      return partition_decefl_table3(train, clients, seed);
  }
  return {};
}

template <class Real>
class TaskOf final : public Task {
 public:
  TaskOf(const Experiment& experiment, const std::filesystem::path& data_dir, const OwnParts<Real>& own)
      : seed_{static_cast<std::uint64_t>(experiment.seed)}, batch_{static_cast<std::uint32_t>(experiment.model.batch)} {
    const auto clients = static_cast<std::uint32_t>(experiment.clients.count);
    learners_.reserve(clients);
    if (own.learner)
      bring(own, clients);
    else if (experiment.data.name == "quadratic")
      pose_quadratic(experiment, clients);
    else
      deal_dataset(experiment, data_dir, clients);
    factory_ = own.algorithm ? own.algorithm
                             : make_algorithm<Real>(catalogue_entry(experiment.algorithm.name),
                                                    experiment.algorithm.options);
    start(experiment);
    for (const auto& learner : learners_) samples_.push_back(learner->samples());
    evaluation_ = std::make_unique<EvaluationOf<Real>>(learners_, shared_test_);
  }

  std::size_t dimension() const override { return static_cast<std::size_t>(start_.size()); }
  std::size_t scalar_bytes() const override { return sizeof(Real); }
  const Evaluation& evaluation() const override { return *evaluation_; }
  const std::vector<std::string>& notes() const override { return notes_; }
  std::span<const std::uint32_t> samples() const override { return samples_; }

  std::unique_ptr<Performer> make_performer(const Seat& seat, TensorPool& pool) const override {
    const Learner<Real>& learner = *learners_[seat.client.value];
    return std::make_unique<PerformerOf<Real>>(factory_(seat, view(start_), pool), learner,
                                               BatchPlan{seed_, seat.client, batch_, nullptr}, pool);
  }

 private:
  void bring(const OwnParts<Real>& own, std::uint32_t clients) {
    for (std::uint32_t i = 0; i < clients; ++i) {
      learners_.push_back(own.learner(ClientId{i}));
      if (learners_.back()->dimension() != learners_.front()->dimension())
        throw std::invalid_argument("the learner of client " + std::to_string(i) + " has dimension " +
                                    std::to_string(learners_.back()->dimension()) + ", that of client 0 has " +
                                    std::to_string(learners_.front()->dimension()));
    }
    shared_test_ = own.shared_test;
  }

  void pose_quadratic(const Experiment& experiment, std::uint32_t clients) {
    if (experiment.model.name != "quadratic")
      throw std::invalid_argument("data.name = \"quadratic\" needs model.name = \"quadratic\"");
    const auto centres =
        std::make_shared<const Centres<Real>>(seed_, clients, static_cast<Index>(experiment.data.dimension));
    for (std::uint32_t i = 0; i < clients; ++i) learners_.push_back(make_centre_learner<Real>(centres, i));
    shared_test_ = false;
  }

  void deal_dataset(const Experiment& experiment, const std::filesystem::path& data_dir, std::uint32_t clients) {
    const auto dataset = load_dataset<Real>(experiment.data.name, data_dir);
    const auto model = make_model<Real>(experiment.model, dataset->inputs(), dataset->classes);
    std::span<const Label> labels = dataset->train.labels;
    if (experiment.data.train_rows > 0)
      labels = labels.first(std::min(labels.size(), static_cast<std::size_t>(experiment.data.train_rows)));
    Partition parts = deal(experiment.data, clients, seed_, {labels, dataset->classes},
                           {dataset->test.labels, dataset->classes});
    if (experiment.data.samples_per_client > 0)
      parts = with_at_most(std::move(parts), static_cast<std::uint32_t>(experiment.data.samples_per_client));
    notes_ = parts.notes;
    if (parts.unused > 0) notes_.push_back(std::to_string(parts.unused) + " training rows are not used");
    const auto shared_rows = first_test_rows(dataset->test.size(), experiment.metrics.test_samples);
    shared_test_ = parts.test_rows.empty();
    for (std::uint32_t i = 0; i < clients; ++i) {
      const auto test_rows = shared_test_ ? shared_rows : std::make_shared<const Rows>(parts.test_rows[i]);
      learners_.push_back(
          std::make_unique<DatasetLearner<Real>>(model, dataset, std::move(parts.rows[i]), test_rows));
    }
  }

  static std::shared_ptr<const Rows> first_test_rows(std::size_t available, std::int64_t wanted) {
    if (wanted <= 0 || static_cast<std::size_t>(wanted) >= available) return nullptr;
    Rows rows(static_cast<std::size_t>(wanted));
    for (std::uint32_t i = 0; i < rows.size(); ++i) rows[i] = i;
    return std::make_shared<const Rows>(std::move(rows));
  }

  // All clients start from one model.
  void start(const Experiment& experiment) {
    start_.setZero(learners_.front()->dimension());
    if (experiment.model.init == config::InitKind::zero) return;
    if (experiment.model.init == config::InitKind::he && experiment.model.name != "mlp")
      throw std::invalid_argument("model.init = \"he\" is for model.name = \"mlp\"; " + experiment.model.name + " starts at zero");
    Stream stream(seed_, no_client, Purpose::init);
    learners_.front()->initialise(view(start_), stream);
  }

  std::uint64_t seed_;
  std::uint32_t batch_;
  bool shared_test_ = true;
  std::vector<std::unique_ptr<Learner<Real>>> learners_;
  std::vector<std::uint32_t> samples_;
  Vector<Real> start_;
  AlgorithmFactory<Real> factory_;
  std::unique_ptr<Evaluation> evaluation_;
  std::vector<std::string> notes_;
};

}  // namespace

template <class Real>
std::unique_ptr<Task> make_task(const Experiment& experiment, const std::filesystem::path& data_dir,
                                const OwnParts<Real>& own) {
  return std::make_unique<TaskOf<Real>>(experiment, data_dir, own);
}

std::size_t dimension_of(const Experiment& experiment, const std::filesystem::path& data_dir) {
  if (experiment.data.name == "quadratic") return static_cast<std::size_t>(experiment.data.dimension);
  const auto dataset = load_dataset<float>(experiment.data.name, data_dir);
  return static_cast<std::size_t>(make_model<float>(experiment.model, dataset->inputs(), dataset->classes)->dimension());
}

template std::unique_ptr<Task> make_task<float>(const Experiment&, const std::filesystem::path&, const OwnParts<float>&);
template std::unique_ptr<Task> make_task<double>(const Experiment&, const std::filesystem::path&,
                                                 const OwnParts<double>&);

}  // namespace rubato
