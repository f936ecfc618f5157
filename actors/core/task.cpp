#include "actors/core/task.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "experiment/digest.hpp"
#include "learning/data/data_files.hpp"
#include "learning/data/named_sets.hpp"
#include "learning/data/npy_reader.hpp"
#include "learning/data/partition.hpp"
#include "learning/gradient_rules.hpp"
#include "learning/models/dataset_learner.hpp"
#include "learning/models/model_catalogue.hpp"
#include "learning/models/problems.hpp"
#include "learning/models/synthetic.hpp"

namespace rubato {

namespace {

using config::Experiment;

ModelOptions options_of(const config::Model& model) {
  return {.name = model.name,
          .hidden = {model.hidden.begin(), model.hidden.end()},
          .activation = model.activation,
          .dropout = model.dropout,
          .l2 = model.l2,
          .label_smoothing = model.label_smoothing,
          .squares_hinge = model.hinge == config::HingeKind::squared,
          .layers = model.layers,
          .module = model.module,
          .normalisation = model.normalisation,
          .start = model.init};
}

GradientRules rules_of(const config::Model& model, std::vector<Range> exempt) {
  return {.clip = model.clip, .weight_decay = model.weight_decay, .exempt = std::move(exempt)};
}

// What stationarity is measured with, where it is.
std::optional<Composite> composite_of(const Experiment& experiment) {
  if (!experiment.metrics.stationarity) return std::nullopt;
  if (experiment.algorithm.name != "depositum")
    throw std::invalid_argument("metrics.stationarity is true; algorithm.name is \"" + experiment.algorithm.name +
                                "\", and only depositum has the tracker that it compares");
  if (experiment.metrics.clients > 0)
    throw std::invalid_argument("metrics.stationarity is true, which needs all clients; leave metrics.clients out");
  const config::Model& model = experiment.model;
  if (model.clip > 0 || model.weight_decay > 0 || model.normalisation == Normalisation::batch)
    throw std::invalid_argument(
        "metrics.stationarity is true, which needs the gradients of the loss alone; leave "
        "model.clip, model.weight_decay and batch normalisation out");
  const AlgorithmOptions& options = experiment.algorithm.options;
  return Composite{Penalty(options), options.number("alpha", 0.05), experiment.metrics.smoothness};
}

// Of data that are made up, the one model that they are made for; nothing of others.
std::string_view model_of(const config::Data& data) {
  if (data.name == "quadratic") return "quadratic";
  if (data.name == "pame_regression") return "least_squares";
  return data.name == "pame_logistic" ? "logistic" : "";
}

bool is_made_up(const config::Data& data) { return !model_of(data).empty(); }

DataFiles files_of(const config::Data& data) {
  return {.format = data.format,
          .train = data.train,
          .train_labels = data.train_labels.value_or(""),
          .test = data.test.value_or(""),
          .test_labels = data.test_labels.value_or(""),
          .label = data.label,
          .first_line = data.header,
          .order = data.label_order.value_or(std::vector<std::string>{}),
          .features = static_cast<std::uint32_t>(data.features),
          .shape = data.shape,
          .are_targets = data.learn == config::LearnKind::number};
}

DataOptions options_of(const config::Data& data, std::uint64_t seed) {
  return {.normalise = data.normalise,
          .test_share = data.test_share,
          .shuffle = data.shuffle,
          .seed = seed,
          .classes = static_cast<std::uint32_t>(data.classes),
          .one_hot = data.one_hot};
}

template <class Real>
std::shared_ptr<const Dataset<Real>> load(const Experiment& experiment, const std::filesystem::path& data_dir) {
  const DataOptions options = options_of(experiment.data, static_cast<std::uint64_t>(experiment.seed));
  if (experiment.data.name == "files") return load_files<Real>(files_of(experiment.data), options);
  return load_dataset<Real>(experiment.data.name, data_dir, options);
}

Partition deal(const config::Data& data, std::uint32_t clients, std::uint64_t seed, const Labelled& train, const Labelled& test) {
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
      use_own_learners(own, clients);
    else if (is_made_up(experiment.data))
      make_synthetic(experiment, clients);
    else
      deal_dataset(experiment, data_dir, clients);
    factory_ = own.algorithm ? own.algorithm
                             : make_algorithm<Real>(catalogue_entry(experiment.algorithm.name), experiment.algorithm.options);
    start(experiment.model);
    for (const auto& learner : learners_) samples_.push_back(learner->samples());
    evaluation_ = std::make_unique<EvaluationOf<Real>>(learners_, shared_test_, composite_of(experiment));
  }

  std::size_t dimension() const override { return static_cast<std::size_t>(start_.size()); }
  std::size_t scalar_bytes() const override { return sizeof(Real); }
  const Evaluation& evaluation() const override { return *evaluation_; }
  const std::vector<std::string>& notes() const override { return notes_; }
  std::span<const std::uint32_t> samples() const override { return samples_; }
  const std::vector<ClassCount>& class_counts() const override { return class_counts_; }

  std::string data_digest() const override {
    Sha256 digest;
    const auto take = [&](std::span<const std::byte> bytes) {
      const std::uint64_t length = bytes.size();
      digest.add(std::as_bytes(std::span{&length, 1}));
      digest.add(bytes);
    };
    take(std::as_bytes(std::span{start_.data(), dimension()}));
    take(std::as_bytes(std::span{samples_}));
    if (dataset_)
      for (const Samples<Real>* part : {&dataset_->train, &dataset_->test}) {
        part->features.visit_stored(take);
        take(std::as_bytes(std::span{part->labels}));
        take(std::as_bytes(std::span{part->targets}));
      }
    return digest.hex();
  }

  std::unique_ptr<Performer> make_performer(const ClientView& client_view, TensorPool& pool) const override {
    const Learner<Real>& learner = *learners_[client_view.client.value];
    return std::make_unique<PerformerOf<Real>>(factory_(client_view, view(start_), pool), learner,
                                               BatchPlan{seed_, client_view.client, batch_, nullptr}, pool);
  }

 private:
  void use_own_learners(const OwnParts<Real>& own, std::uint32_t clients) {
    for (std::uint32_t i = 0; i < clients; ++i) {
      learners_.push_back(own.learner(ClientId{i}));
      if (learners_.back()->dimension() != learners_.front()->dimension())
        throw std::invalid_argument("the learner of client " + std::to_string(i) + " has dimension " +
                                    std::to_string(learners_.back()->dimension()) + ", that of client 0 has " +
                                    std::to_string(learners_.front()->dimension()));
    }
    shared_test_ = own.shared_test;
  }

  // Problems that are made up from the seed, each client's own.
  void make_synthetic(const Experiment& experiment, std::uint32_t clients) {
    if (experiment.model.name != model_of(experiment.data))
      throw std::invalid_argument("data.name = \"" + experiment.data.name + "\" needs model.name = \"" +
                                  std::string(model_of(experiment.data)) + '"');
    const auto rules = std::make_shared<const GradientRules>(rules_of(experiment.model, {}));
    const auto problem_of = problems(experiment.data, static_cast<Real>(experiment.model.l2), clients);
    for (std::uint32_t i = 0; i < clients; ++i) learners_.push_back(with_rules<Real>(problem_of(ClientId{i}), rules));
    shared_test_ = false;
  }

  std::function<std::unique_ptr<Learner<Real>>(ClientId)> problems(const config::Data& data, Real l2, std::uint32_t clients) const {
    const auto dimension = static_cast<Index>(data.dimension);
    const std::uint64_t seed = seed_;
    if (data.name == "quadratic") {
      const auto centres = std::make_shared<const Centres<Real>>(seed, clients, dimension);
      return [centres](ClientId client) { return make_centre_learner<Real>(centres, client.value); };
    }
    const auto samples = static_cast<std::uint32_t>(data.samples_per_client);
    const Vector<Real> solution = sparse_solution<Real>(seed, dimension, data.support);
    if (data.name == "pame_regression")
      return [=, noise = data.noise](ClientId client) {
        return make_sparse_regression<Real>(seed, client, solution, samples, noise, l2);
      };
    return [=](ClientId client) { return make_sparse_classification<Real>(seed, client, solution, samples, l2); };
  }

  void deal_dataset(const Experiment& experiment, const std::filesystem::path& data_dir, std::uint32_t clients) {
    const auto dataset = dataset_ = load<Real>(experiment, data_dir);
    const auto model = make_model<Real>(options_of(experiment.model), dataset->shape, dataset->classes);
    const std::vector<Label> train_labels = labels_to_deal(dataset->train), test_labels = labels_to_deal(dataset->test);
    const std::uint32_t classes = std::max(dataset->classes, 1u);
    std::span<const Label> labels = train_labels;
    if (experiment.data.train_rows > 0)
      labels = labels.first(std::min(labels.size(), static_cast<std::size_t>(experiment.data.train_rows)));
    Partition parts = deal(experiment.data, clients, seed_, {labels, classes}, {test_labels, classes});
    if (experiment.data.samples_per_client > 0)
      parts = with_at_most(std::move(parts), static_cast<std::uint32_t>(experiment.data.samples_per_client));
    if (dataset->classes > 0) count_classes(*dataset, parts);
    notes_ = dataset->notes;
    notes_.insert(notes_.end(), parts.notes.begin(), parts.notes.end());
    const std::size_t unused = parts.unused + train_labels.size() - labels.size();
    if (unused > 0) notes_.push_back(std::to_string(unused) + " training rows are not used");
    const auto shared_rows = first_test_rows(dataset->test.size(), experiment.metrics.test_samples);
    shared_test_ = parts.test_rows.empty();
    const auto rules = std::make_shared<const GradientRules>(rules_of(experiment.model, model->statistics()));
    for (std::uint32_t i = 0; i < clients; ++i) {
      const auto test_rows = shared_test_ ? shared_rows : first_of(std::move(parts.test_rows[i]), experiment.metrics.test_samples);
      learners_.push_back(
          with_rules<Real>(std::make_unique<DatasetLearner<Real>>(model, dataset, std::move(parts.rows[i]), test_rows), rules));
    }
  }

  // Where numbers are learned, all rows are of one class.
  static std::vector<Label> labels_to_deal(const Samples<Real>& samples) {
    return samples.targets.empty() ? samples.labels : std::vector<Label>(samples.size());
  }

  void count_classes(const Dataset<Real>& dataset, const Partition& parts) {
    std::vector<std::uint32_t> counts(dataset.classes);
    for (std::uint32_t i = 0; i < parts.rows.size(); ++i) {
      std::fill(counts.begin(), counts.end(), 0u);
      for (const std::uint32_t row : parts.rows[i]) ++counts[dataset.train.labels[row]];
      for (Label label = 0; label < dataset.classes; ++label)
        if (counts[label] > 0) class_counts_.push_back({ClientId{i}, label, counts[label]});
    }
  }

  static std::shared_ptr<const Rows> first_test_rows(std::size_t available, std::int64_t wanted) {
    if (wanted <= 0 || static_cast<std::size_t>(wanted) >= available) return nullptr;
    Rows rows(static_cast<std::size_t>(wanted));
    for (std::uint32_t i = 0; i < rows.size(); ++i) rows[i] = i;
    return std::make_shared<const Rows>(std::move(rows));
  }

  static std::shared_ptr<const Rows> first_of(Rows rows, std::int64_t wanted) {
    if (wanted > 0 && static_cast<std::size_t>(wanted) < rows.size()) rows.resize(static_cast<std::size_t>(wanted));
    return std::make_shared<const Rows>(std::move(rows));
  }

  // All clients start from one model.
  void start(const config::Model& model) {
    start_.setZero(learners_.front()->dimension());
    if (model.init_from) return start_from(*model.init_from);
    if (model.init == Start::zero) return;
    Stream stream(seed_, no_client, Purpose::init);
    learners_.front()->initialise(view(start_), stream);
  }

  void start_from(const std::filesystem::path& file) {
    const std::vector<double> numbers = read_npy_vector(FileStream(file));
    if (numbers.size() != dimension())
      throw std::invalid_argument("model.init_from: " + file.string() + " has " + std::to_string(numbers.size()) +
                                  " numbers; the model has " + std::to_string(dimension()));
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const auto number = static_cast<Real>(numbers[i]);
      if (!std::isfinite(number))
        throw std::invalid_argument("model.init_from: number " + std::to_string(i) + " of " + file.string() +
                                    " is too large for the precision of the experiment");
      start_[static_cast<Index>(i)] = number;
    }
  }

  std::uint64_t seed_;
  std::uint32_t batch_;
  bool shared_test_ = true;
  std::shared_ptr<const Dataset<Real>> dataset_;  // none where problems are made up
  std::vector<std::unique_ptr<Learner<Real>>> learners_;
  std::vector<std::uint32_t> samples_;
  std::vector<ClassCount> class_counts_;
  Vector<Real> start_;
  AlgorithmFactory<Real> factory_;
  std::unique_ptr<Evaluation> evaluation_;
  std::vector<std::string> notes_;
};

}  // namespace

template <class Real>
std::unique_ptr<Task> make_task(const Experiment& experiment, const std::filesystem::path& data_dir, const OwnParts<Real>& own) {
  return std::make_unique<TaskOf<Real>>(experiment, data_dir, own);
}

std::size_t dimension_of(const Experiment& experiment, const std::filesystem::path& data_dir) {
  if (is_made_up(experiment.data)) return static_cast<std::size_t>(experiment.data.dimension);
  const auto dataset = load<float>(experiment, data_dir);
  return static_cast<std::size_t>(make_model<float>(options_of(experiment.model), dataset->shape, dataset->classes)->dimension());
}

template std::unique_ptr<Task> make_task<float>(const Experiment&, const std::filesystem::path&, const OwnParts<float>&);
template std::unique_ptr<Task> make_task<double>(const Experiment&, const std::filesystem::path&, const OwnParts<double>&);

}  // namespace rubato
