#include "actors/evaluation.hpp"

#include <limits>
#include <utility>

namespace rubato {

std::optional<Sample> SampleGatherer::add(std::uint64_t number, ClientId client, Tensor model, Score score,
                                          ThreadMemory& memory) {
  InProgress& progress = open_.at(number);
  progress.early.emplace(client, Scored{std::move(model), std::move(score)});
  while (!progress.early.empty() && progress.early.begin()->first.value == progress.next) {
    count(progress, progress.early.begin()->second);
    progress.early.erase(progress.early.begin());
    ++progress.next;
  }
  if (progress.next < progress.sample.header.clients) return std::nullopt;
  Sample sample = finish(progress, memory);
  open_.erase(number);
  return sample;
}

void SampleGatherer::count(InProgress& progress, const Scored& scored) {
  evaluation_.add(progress.consensus, scored.model);
  progress.sample.accuracies.push_back(scored.score.accuracy());
  progress.sample.losses.push_back(scored.score.mean_loss());
  progress.f1.push_back(scored.score.macro_f1());
}

Sample SampleGatherer::finish(InProgress& progress, ThreadMemory& memory) {
  Sample& sample = progress.sample;
  const Score of_mean = evaluation_.score_mean(progress.consensus.mean_model(), memory);
  sample.is_classified = of_mean.classes > 0;
  sample.accuracy_mean = mean(sample.accuracies);
  sample.accuracy_deviation = population_deviation(sample.accuracies);
  sample.accuracy_mean_model = of_mean.accuracy();
  sample.f1_macro = mean(progress.f1);
  if (!sample.is_classified)
    sample.accuracy_mean = sample.accuracy_deviation = sample.accuracy_mean_model = sample.f1_macro =
        std::numeric_limits<double>::quiet_NaN();
  sample.loss_mean = mean(sample.losses);
  sample.loss_mean_model = of_mean.mean_loss();
  sample.consensus = progress.consensus.squared_sum();
  return std::move(sample);
}

}  // namespace rubato
