#include "results/evaluation.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <utility>

#include "results/columns.hpp"

namespace rubato {

namespace {

void archive_as_tensor(Archive& archive, std::vector<double>& values, TensorPool* pool) {
  Tensor tensor;
  if (!archive.is_reading()) {
    tensor = pool->make<double>(values.size());
    std::copy(values.begin(), values.end(), tensor.writable<double>());
  }
  archive(tensor);
  archive.require(tensor && tensor.scalar() == Scalar::float64);
  if (!archive.is_reading()) return;
  values.assign(tensor.data<double>(), tensor.data<double>() + tensor.count());
}

Vector<double> vector_of(const NamedVector& vector) {
  Vector<double> numbers(static_cast<Index>(vector.values.size()));
  std::ranges::copy(vector.values, numbers.data());
  return numbers;
}

// The vector of this name among those that a snapshot has; zeros where the algorithm has not shown it.
Vector<double> find_tracked(const Snapshot& snapshot, std::string_view name, Index size) {
  const auto found = std::ranges::find(snapshot.tracked, name, &NamedVector::name);
  return found == snapshot.tracked.end() ? Vector<double>(Vector<double>::Zero(size)) : vector_of(*found);
}

}  // namespace

void Snapshot::archive(Archive& archive, TensorPool* pool) {
  const auto each = [pool](Archive& part, NamedVector& vector) {
    part(vector.name);
    archive_as_tensor(part, vector.values, pool);
  };
  archive(model, traffic);
  archive.list(balance, each);
  archive.list(tracked, each);
  archive_row(archive, collaboration);
  archive.list(owed, each);
}

bool Measures::fits(const Snapshot& snapshot, std::size_t numbers) const {
  return std::ranges::equal(snapshot.tracked, tracked, [numbers](const NamedVector& vector, const std::string& name) {
    return vector.name == name && vector.values.size() == numbers;
  });
}

std::optional<Sample> SampleGatherer::add(std::uint64_t number, ClientId client, Snapshot snapshot, Scores scores,
                                          ThreadMemory& memory) {
  InProgress& progress = open_.at(number);
  progress.traffic[client.value] = snapshot.traffic;
  if (snapshot.model)
    progress.early.emplace(client, std::pair{std::move(snapshot), std::move(scores)});
  else
    ++progress.counted;
  while (!progress.early.empty() && progress.early.begin()->first == progress.sample.header.client(progress.next)) {
    const auto first = progress.early.extract(progress.early.begin());
    count(progress, first.key(), first.mapped().first, first.mapped().second);
    ++progress.next;
  }
  const SampleHeader& header = progress.sample.header;
  if (progress.next < header.clients || progress.counted < header.others) return std::nullopt;
  Sample sample = finish(progress, memory);
  open_.erase(number);
  return sample;
}

void SampleGatherer::balance(InProgress& progress, ClientId client, const Snapshot& snapshot) {
  if (progress.sums.empty())
    for (const NamedVector& part : snapshot.balance) progress.sums.push_back({part.name, std::vector<Number>(part.values.size())});
  const auto is_summed = [](const NamedVector& part, const Sum& sum) {
    return part.name == sum.name && part.values.size() == sum.numbers.size();
  };
  if (!std::ranges::equal(snapshot.balance, progress.sums, is_summed)) {  // another host has made it up
    progress.has_foreign_sums = true;
    return;
  }
  for (std::size_t k = 0; k < snapshot.balance.size(); ++k)
    for (std::size_t i = 0; i < snapshot.balance[k].values.size(); ++i) {
      const double part = snapshot.balance[k].values[i], size = std::abs(part);
      Number& number = progress.sums[k].numbers[i];
      number.value += part;
      number.size += size;
      if (size < number.largest) continue;
      number.largest = size;
      number.of = client;
    }
}

void SampleGatherer::add_owed(InProgress& progress, const Snapshot& snapshot) {
  if (progress.next == 0)
    for (const NamedVector& part : snapshot.owed) progress.owed.emplace_back(part.values.size());
  const auto is_summed = [](const NamedVector& part, const std::vector<double>& sum) { return part.values.size() == sum.size(); };
  if (!std::ranges::equal(snapshot.owed, progress.owed, is_summed)) {
    progress.has_foreign_sums = true;
    return;
  }
  for (std::size_t k = 0; k < progress.owed.size(); ++k)
    std::ranges::transform(progress.owed[k], snapshot.owed[k].values, progress.owed[k].begin(), std::plus{});
}

// The length of what is owed in all; nothing where it is not counted.
std::optional<double> SampleGatherer::owed_of(const InProgress& progress) {
  if (progress.owed.empty()) return std::nullopt;
  double squares = 0;
  for (const std::vector<double>& sum : progress.owed)
    for (const double number : sum) squares += number * number;
  return std::sqrt(squares);
}

Defect SampleGatherer::defect_of(const InProgress& progress) {
  Defect worst;
  double worst_excess = 0;  // beyond what rounding explains
  for (const Sum& sum : progress.sums)
    for (std::size_t i = 0; i < sum.numbers.size(); ++i) {
      const Number& number = sum.numbers[i];
      const double size = std::abs(number.value), excess = size / std::max(1.0, number.size);
      if (!worst.name.empty() && (std::isnan(worst_excess) || excess <= worst_excess)) continue;
      worst = {size, number.size, sum.name, i, number.of};
      worst_excess = excess;
    }
  return worst;
}

void SampleGatherer::count(InProgress& progress, ClientId client, const Snapshot& snapshot, const Scores& scores) {
  const Tensor& model = snapshot.model;
  if (!evaluation_.are_unlike()) evaluation_.add(progress.consensus, model);
  if (evaluation_.has_joint_objective()) progress.collaborators.push_back({model, snapshot.collaboration});
  if (!model.is_finite()) progress.sample.diverged.push_back(client);
  balance(progress, client, snapshot);
  add_owed(progress, snapshot);
  count_measures(progress, client, snapshot, scores);
  if (progress.sample.header.after_unification) {
    if (!progress.first) progress.first = model;
    const bool is_equal = std::memcmp(progress.first.data<std::byte>(), model.data<std::byte>(), model.bytes()) == 0;
    if (!is_equal && !progress.different) progress.different = client;
  }
  progress.sample.accuracies.push_back(scores.score.accuracy());
  progress.sample.losses.push_back(scores.score.mean_loss());
  progress.f1.push_back(scores.score.macro_f1());
  progress.classes = scores.score.classes;
}

void SampleGatherer::count_measures(InProgress& progress, ClientId client, const Snapshot& snapshot, const Scores& scores) {
  const Measures& measures = evaluation_.measures();
  if (measures.composite)
    progress.stationarity.add(scores.part.prox_gradient, scores.part.gradient,
                              measures.composite->tracker_scale * find_tracked(snapshot, "nu", scores.part.gradient.size()));
  progress.training_accuracy += scores.training.accuracy();
  progress.training_loss += scores.training.mean_loss();
  progress.tracked.resize(measures.tracked.size());
  for (std::size_t k = 0; k < snapshot.tracked.size(); ++k) {
    const Vector<double> vector = vector_of(snapshot.tracked[k]);
    progress.tracked[k].add(view(vector));
  }
  if (measures.mean_weights.empty()) return;
  const double weight = measures.mean_weights[client.value];
  evaluation_.add_weighted(progress.weighted, weight, snapshot.model);
  progress.weight += weight;
}

// What is asked for beside the scores on the test part.
void SampleGatherer::finish_measures(const InProgress& progress, Sample& sample, ThreadMemory& memory) const {
  const Measures& measures = evaluation_.measures();
  const MeanModel& mean = progress.consensus.mean_model();
  if (measures.composite) sample.stationarity = progress.stationarity.finish(sample.consensus, measures.composite->smoothness);
  if (measures.training) {
    const double clients = static_cast<double>(mean.count());
    sample.training = evaluation_.score_training_of_mean(mean, memory);
    sample.training->accuracy_mean = progress.training_accuracy / clients;
    sample.training->loss_mean = progress.training_loss / clients;
    if (!sample.is_classified) sample.training->accuracy_mean = sample.training->accuracy_mean_model = not_known;
  }
  if (measures.gradient) sample.gradient = evaluation_.mean_gradient(mean.mean(), memory);
  if (progress.weight > 0) sample.gradient_weighted = evaluation_.mean_gradient(progress.weighted / progress.weight, memory).norm;
  for (std::size_t k = 0; k < measures.tracked.size(); ++k)
    (measures.tracked[k] == "y" ? sample.consensus_y : sample.consensus_nu) = progress.tracked[k].squared_sum();
}

Sample SampleGatherer::finish(InProgress& progress, ThreadMemory& memory) {
  Sample& sample = progress.sample;
  sample.different = progress.different;
  const bool has_all = progress.sample.header.clients == evaluation_.clients();
  if ((has_all || sample.header.covers_all) && sample.header.mass_is_whole && !progress.has_foreign_sums) {
    sample.defect = defect_of(progress);
    sample.owed_mass = owed_of(progress);
  }
  for (const Traffic& traffic : progress.traffic) sample.traffic += traffic;
  const Score of_mean =
      evaluation_.are_unlike() ? empty_score(progress.classes) : evaluation_.score_mean(progress.consensus.mean_model(), memory);
  add_scores(sample, progress.f1, of_mean);
  sample.consensus = progress.consensus.squared_sum();
  sample.consensus_mean = progress.consensus.squared_mean();
  if (evaluation_.are_unlike()) {
    for (double* const number : {&sample.accuracy_mean_model, &sample.f1_macro_mean_model, &sample.loss_mean_model,
                                 &sample.consensus, &sample.consensus_mean})
      *number = not_known;
  }
  if (evaluation_.has_joint_objective()) sample.joint_objective = evaluation_.joint_objective(progress.collaborators, memory);
  finish_measures(progress, sample, memory);
  return std::move(sample);
}

}  // namespace rubato
