#include "experiment/build/learners.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <stdexcept>
#include <utility>

#include "experiment/build/architectures.hpp"
#include "experiment/build/sampling.hpp"
#include "experiment/build/timers.hpp"
#include "experiment/client_ranges.hpp"
#include "learning/data/data_files.hpp"
#include "learning/data/named_sets.hpp"
#include "learning/data/npy_reader.hpp"
#include "learning/data/partition.hpp"
#include "learning/gradient_rules.hpp"
#include "learning/models/architectures.hpp"
#include "learning/models/dataset_learner.hpp"
#include "learning/models/model_catalogue.hpp"
#include "learning/models/problems.hpp"
#include "learning/models/synthetic.hpp"

namespace rubato {

namespace {

using config::Experiment;

GradientRules rules_of(const config::Model& model, std::vector<Range> exempt) {
  return {.clip = model.clip, .weight_decay = model.weight_decay, .exempt = std::move(exempt)};
}

template <class Real>
std::shared_ptr<const Dataset<Real>> load(const Experiment& experiment, const std::filesystem::path& data_dir) {
  const config::Data& data = experiment.data;
  const auto seed = static_cast<std::uint64_t>(experiment.seed);
  return data.name == "files" ? load_files<Real>(data, data, seed) : load_dataset<Real>(data.name, data_dir, data, seed);
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
      return partition_dirichlet_by_client(train, test, clients,
                                           {.concentration = how.alpha,
                                            .fewest = static_cast<std::uint32_t>(how.fewest),
                                            .most = static_cast<std::uint32_t>(how.most),
                                            .test_rows = static_cast<std::uint32_t>(how.test_rows),
                                            .overlap = how.overlap},
                                           seed);
    case config::PartitionKind::decefl_table3:
      return partition_decefl_table3(train, clients, seed);
  }
  return {};
}

// Where numbers are learned, all rows are of one class.
template <class Real>
std::vector<Label> labels_to_deal(const Samples<Real>& samples) {
  return samples.targets.empty() ? samples.labels : std::vector<Label>(samples.size());
}

template <class Real>
Architectures<Real> models_for(const ExperimentModels& wanted, const Shape& shape, std::uint32_t classes) {
  Architectures<Real> models;
  for (const ModelOptions& options : wanted.options) models.push_back(make_model<Real>(options, shape, classes));
  return padded(std::move(models));
}

// The layer that kdpdfl compares is there in all models that clients have, with as many numbers.
template <class Real>
void require_layer(const Experiment& experiment, const Architectures<Real>& models) {
  if (experiment.algorithm.name != "kdpdfl") return;
  const std::string layer = experiment.algorithm.options.word("layer", "output");
  const std::vector<std::uint32_t> of_client = models_of(experiment).of_client;
  std::optional<Cut> first;
  for (std::uint32_t a = 0; a < models.size(); ++a) {
    if (!of_client.empty() && std::ranges::find(of_client, a) == of_client.end()) continue;
    const Cut cut = cut_of(*models[a], layer, a);
    if (first && cut.outputs != first->outputs)
      throw std::invalid_argument(
          fmt::format("algorithm.layer is \"{}\", which has {} numbers in one of the clients' models and {} in another; outputs of "
                      "unlike models "
                      "are compared at a layer that is equally wide",
                      layer, first->outputs, cut.outputs));
    if (!first) first = cut;
  }
}

/// Fills in what is asked for, part by part.
template <class Real>
class LearnerMaker {
 public:
  LearnerMaker(const Experiment& experiment, const std::filesystem::path& data_dir, const OwnParts<Real>& own)
      : seed_{static_cast<std::uint64_t>(experiment.seed)} {
    const auto clients = static_cast<std::uint32_t>(experiment.clients.count);
    made_.learners.reserve(clients);
    if (own.learner)
      use_own_learners(own, clients);
    else if (experiment.data.is_made_up())
      make_synthetic(experiment, clients);
    else
      deal_dataset(experiment, data_dir, clients);
    if (own.learner || !experiment.data.has_no_rows()) say_large_batches(experiment);
    start(experiment);
  }

  ClientLearners<Real> take() { return std::move(made_); }

 private:
  void use_own_learners(const OwnParts<Real>& own, std::uint32_t clients) {
    for (std::uint32_t i = 0; i < clients; ++i) {
      made_.learners.push_back(own_learner(own, ClientId{i}));
      if (made_.learners.back()->dimension() != made_.learners.front()->dimension())
        throw std::invalid_argument(fmt::format("the learner of client {} has dimension {}, that of client 0 has {}", i,
                                                made_.learners.back()->dimension(), made_.learners.front()->dimension()));
    }
    made_.share_test = own.shared_test;
  }

  // Problems that are made up from the seed, each client's own.
  void make_synthetic(const Experiment& experiment, std::uint32_t clients) {
    const auto rules = std::make_shared<const GradientRules>(rules_of(experiment.model, {}));
    const auto problem_of = problems(experiment.data, static_cast<Real>(experiment.model.l2), clients);
    for (std::uint32_t i = 0; i < clients; ++i) made_.learners.push_back(with_rules<Real>(problem_of(ClientId{i}), rules));
    made_.share_test = false;
  }

  std::function<std::unique_ptr<Learner<Real>>(ClientId)> problems(const config::Data& data, Real l2, std::uint32_t clients) {
    const auto dimension = static_cast<Index>(data.dimension);
    const std::uint64_t seed = seed_;
    if (data.name == "quadratic") {
      const auto centres = centres_ = std::make_shared<const Centres<Real>>(seed, clients, dimension);
      return [centres](ClientId client) { return make_centre_learner<Real>(centres, client.value); };
    }
    if (data.name == "tridiagonal") {
      std::shared_ptr<const Shifts<Real>> shifts;
      if (data.spread > 0) shifts = std::make_shared<const Shifts<Real>>(seed, clients, dimension, data.spread);
      return [=, noise = static_cast<Real>(data.noise)](ClientId client) {
        return make_tridiagonal<Real>(dimension, shifts, client.value, noise);
      };
    }
    const auto samples = static_cast<std::uint32_t>(data.samples_per_client);
    const auto tests = static_cast<std::uint32_t>(data.test_per_client);
    made_.test_rows = tests;
    const Vector<Real> solution = sparse_solution<Real>(seed, dimension, data.support);
    if (data.name == "pame_regression")
      return [=, noise = data.noise](ClientId client) {
        return make_sparse_regression<Real>(seed, client, solution, samples, noise, l2, tests);
      };
    return [=](ClientId client) { return make_sparse_classification<Real>(seed, client, solution, samples, l2, tests); };
  }

  void deal_dataset(const Experiment& experiment, const std::filesystem::path& data_dir, std::uint32_t clients) {
    const auto dataset = made_.dataset = load<Real>(experiment, data_dir);
    const ExperimentModels wanted = models_of(experiment);
    const auto models = std::make_shared<const Architectures<Real>>(models_for<Real>(wanted, dataset->shape, dataset->classes));
    made_.architectures = wanted.of_client;
    require_layer(experiment, *models);
    const std::vector<Label> train_labels = labels_to_deal(dataset->train), test_labels = labels_to_deal(dataset->test);
    const std::uint32_t classes = std::max(dataset->classes, 1u);
    Partition parts = deal_rows(experiment, {train_labels, classes}, {test_labels, classes});
    if (dataset->classes > 0) count_classes(*dataset, parts);
    made_.notes = dataset->notes;
    made_.notes.insert(made_.notes.end(), parts.notes.begin(), parts.notes.end());
    if (parts.unused > 0) made_.notes.push_back(std::to_string(parts.unused) + " training rows are not used");
    const auto shared_rows = used_test_rows(experiment, dataset->test.size());
    made_.share_test = parts.test_rows.empty();
    made_.test_rows = shared_rows ? shared_rows->size() : dataset->test.size();
    if (!made_.share_test) made_.test_rows = mean_rows(parts.test_rows, experiment);
    std::vector<std::shared_ptr<const GradientRules>> rules;
    for (const auto& model : *models)
      rules.push_back(std::make_shared<const GradientRules>(rules_of(experiment.model, model->statistics())));
    for (std::uint32_t i = 0; i < clients; ++i) {
      const auto test_rows = made_.share_test ? shared_rows : some_of(std::move(parts.test_rows[i]), experiment);
      const std::uint32_t architecture = made_.architectures.empty() ? 0 : made_.architectures[i];
      made_.learners.push_back(with_rules<Real>(
          std::make_unique<DatasetLearner<Real>>((*models)[architecture], dataset, std::move(parts.rows[i]), test_rows, models),
          rules[architecture]));
    }
  }

  void count_classes(const Dataset<Real>& dataset, const Partition& parts) {
    std::vector<std::uint32_t> counts(dataset.classes);
    for (std::uint32_t i = 0; i < parts.rows.size(); ++i) {
      std::fill(counts.begin(), counts.end(), 0u);
      for (const std::uint32_t row : parts.rows[i]) ++counts[dataset.train.labels[row]];
      for (Label label = 0; label < dataset.classes; ++label)
        if (counts[label] > 0) made_.class_counts.push_back({ClientId{i}, label, counts[label]});
    }
  }

  static std::shared_ptr<const Rows> some_of(Rows rows, const Experiment& experiment) {
    if (const auto used = used_test_rows(experiment, rows.size())) {
      for (std::size_t i = 0; i < used->size(); ++i)
        rows[i] = rows[(*used)[i]];  // ascending: none is overwritten before it is read
      rows.resize(used->size());
    }
    return std::make_shared<const Rows>(std::move(rows));
  }

  static std::size_t mean_rows(const std::vector<Rows>& parts, const Experiment& experiment) {
    std::size_t sum = 0;
    for (const Rows& rows : parts) {
      const auto used = used_test_rows(experiment, rows.size());
      sum += used ? used->size() : rows.size();
    }
    return sum / std::max<std::size_t>(parts.size(), 1);
  }

  // Batches are drawn with replacement, however large they are.
  void say_large_batches(const Experiment& experiment) {
    constexpr std::size_t most_ranges = 8;
    const std::vector<std::uint32_t> batches = batches_of(experiment, made_.learners.size());
    std::vector<std::uint32_t> small;
    std::uint32_t fewest = std::numeric_limits<std::uint32_t>::max();
    for (std::uint32_t i = 0; i < made_.learners.size(); ++i)
      if (const std::uint32_t samples = made_.learners[i]->samples(); samples < batches[i])
        small.push_back(i), fewest = std::min(fewest, samples);
    if (small.empty()) return;
    const bool is_one = small.size() == 1;
    made_.notes.push_back(
        fmt::format("{}: {} {} {} fewer rows ({}), which are drawn with replacement, so that a batch has some of them "
                    "more than once; model.batch = 0 takes each row once",
                    experiment.model.client_batch ? "of the batches that model.client_batch asks for"
                                                  : fmt::format("model.batch is {}", experiment.model.batch),
                    is_one ? "client" : "clients", ranges_of(small, most_ranges), is_one ? "has" : "have",
                    is_one ? std::to_string(fewest) : fmt::format("{} at the least", fewest)));
  }

  // All clients start from one model, or each from its own.
  void start(const Experiment& experiment) {
    const config::Model& model = experiment.model;
    made_.start.setZero(made_.learners.front()->dimension());
    const bool are_unlike = !made_.architectures.empty();
    if (model.starts != config::StartsKind::one || are_unlike) made_.own_starts.assign(made_.learners.size(), made_.start);
    if (model.starts == config::StartsKind::centre) return start_in_centres();
    if (are_unlike && model.starts == config::StartsKind::one) return start_by_architecture();
    if (model.init_from) return start_from(*model.init_from);
    if (model.starts == config::StartsKind::each) return draw_each(model);
    if (model.init == Start::zero) return;
    Stream stream(seed_, no_client, Purpose::init);
    made_.learners.front()->initialise(view(made_.start), stream);
  }

  // Each architecture has a start of its own, which all clients that have it begin with.
  void start_by_architecture() {
    for (std::uint32_t i = 0; i < made_.learners.size(); ++i) {
      Stream stream(seed_, no_client, Purpose::init);
      made_.learners[i]->initialise(view(made_.own_starts[i]), stream);
    }
  }

  void draw_each(const config::Model& model) {
    constexpr std::uint32_t detail = 2;  // 0 and 1 are of problems that are made up
    bool any = false;
    for (std::uint32_t i = 0; i < made_.learners.size() && model.init != Start::zero; ++i) {
      Stream stream(seed_, ClientId{i}, Purpose::init, detail);
      made_.learners[i]->initialise(view(made_.own_starts[i]), stream);
      any = any || made_.own_starts[i] != made_.start;
    }
    if (!any)
      throw std::invalid_argument(
          "model.starts = \"each\": this model starts at 0, so that nothing is drawn; set model.init_from, or model.init = \"he\" "
          "where the model has it");
  }

  void start_in_centres() {
    if (!centres_) throw std::invalid_argument("model.starts = \"centre\" needs data.name = \"quadratic\"");
    for (std::uint32_t i = 0; i < made_.learners.size(); ++i) made_.own_starts[i] = (*centres_)[i];
  }

  // A model in one row, or one in a row for each client.
  void start_from(const std::filesystem::path& file) {
    const bool is_each = !made_.own_starts.empty();
    const std::size_t dimension = static_cast<std::size_t>(made_.start.size()), rows = is_each ? made_.own_starts.size() : 1;
    const std::vector<double> numbers = is_each ? read_npy_rows(FileStream(file), rows) : read_npy_vector(FileStream(file));
    if (numbers.size() != dimension * rows)
      throw std::invalid_argument(fmt::format("model.init_from: {} has {} numbers{}; the model has {}", file.string(),
                                              numbers.size() / rows, is_each ? " a row" : "", dimension));
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const auto number = static_cast<Real>(numbers[i]);
      if (!std::isfinite(number))
        throw std::invalid_argument(
            fmt::format("model.init_from: number {} of {} is too large for the precision of the experiment", i, file.string()));
      Vector<Real>& start = is_each ? made_.own_starts[i / dimension] : made_.start;
      start[static_cast<Index>(i % dimension)] = number;
    }
  }

  std::uint64_t seed_;
  std::shared_ptr<const Centres<Real>> centres_;  // of quadratic losses
  ClientLearners<Real> made_;
};

}  // namespace

std::vector<std::uint32_t> batches_of(const Experiment& experiment, std::size_t clients) {
  const config::Model& model = experiment.model;
  std::vector<std::uint32_t> batches(clients, static_cast<std::uint32_t>(model.batch));
  if (!model.client_batch) return batches;
  const PerClient drawn(*model.client_batch, static_cast<std::uint64_t>(experiment.seed), 12);
  for (std::uint32_t i = 0; i < clients; ++i)
    batches[i] = static_cast<std::uint32_t>(std::clamp(std::round(drawn.of({i})), 1.0, 1e9));
  return batches;
}

template <class Real>
ClientLearners<Real> make_learners(const Experiment& experiment, const std::filesystem::path& data_dir, const OwnParts<Real>& own) {
  const OwnLearners* const known = own_learners();
  if (own.learner || !known) return LearnerMaker<Real>(experiment, data_dir, own).take();
  OwnParts<Real> parts;
  parts.shared_test = known->shared_test;
  parts.learner = [&](ClientId client) {
    if constexpr (std::is_same_v<Real, float>)
      return known->of_float(client, experiment);
    else
      return known->of_double(client, experiment);
  };
  return LearnerMaker<Real>(experiment, data_dir, parts).take();
}

Partition deal_rows(const Experiment& experiment, const Labelled& train, const Labelled& test) {
  const config::Data& data = experiment.data;
  std::span<const Label> labels = train.labels;
  if (data.train_rows > 0) labels = labels.first(std::min(labels.size(), static_cast<std::size_t>(data.train_rows)));
  Partition parts = deal(data, static_cast<std::uint32_t>(experiment.clients.count), static_cast<std::uint64_t>(experiment.seed),
                         {labels, train.classes}, test);
  if (data.samples_per_client > 0) parts = with_at_most(std::move(parts), static_cast<std::uint32_t>(data.samples_per_client));
  parts.unused += train.labels.size() - labels.size();
  return parts;
}

template <class Real>
DealtDataset<Real> read_and_deal(const Experiment& experiment, const std::filesystem::path& data_dir) {
  if (experiment.data.is_made_up())
    throw std::invalid_argument("data.name = \"" + experiment.data.name + "\" is made up from the seed: there are no rows to read");
  DealtDataset<Real> dealt{load<Real>(experiment, data_dir), {}};
  const std::vector<Label> train = labels_to_deal(dealt.dataset->train), test = labels_to_deal(dealt.dataset->test);
  const std::uint32_t classes = std::max(dealt.dataset->classes, 1u);
  dealt.parts = deal_rows(experiment, {train, classes}, {test, classes});
  return dealt;
}

template DealtDataset<float> read_and_deal(const Experiment&, const std::filesystem::path&);
template DealtDataset<double> read_and_deal(const Experiment&, const std::filesystem::path&);

void judge_data(const Experiment& experiment, config::Faults& faults) {
  const config::Data& data = experiment.data;
  if (data.is_made_up()) return;
  if (data.name == "files") return faults.attempt({"data"}, [&] { check_request(data, data); });
  DatasetFacts facts;
  faults.attempt({"data"}, [&] { facts = usual_facts(data.name); });
  const bool is_as_usual =
      data.classes == 0 && data.one_hot && data.columns == DataOptions{}.columns;  // else shape and classes differ
  if (is_as_usual && experiment.model.name != "torchscript")
    faults.attempt({"model", "data", "clients.classes", "algorithm.layer"},
                   [&] { require_layer(experiment, models_for<float>(models_of(experiment), facts.shape, facts.classes)); });
}

template ClientLearners<float> make_learners<float>(const Experiment&, const std::filesystem::path&, const OwnParts<float>&);
template ClientLearners<double> make_learners<double>(const Experiment&, const std::filesystem::path&, const OwnParts<double>&);

}  // namespace rubato
