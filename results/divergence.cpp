#include "results/divergence.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace rubato {

std::vector<std::string> sentences_about(const std::vector<Divergence>& diverged) {
  std::vector<std::string> sentences;
  for (auto first = diverged.begin(); first != diverged.end();) {
    const auto last = std::find_if(first, diverged.end(), [&](const Divergence& one) { return one.seconds != first->seconds; });
    if (last - first == 1)
      sentences.push_back(
          fmt::format("at {:g} s the model of client {} is not finite any more", first->seconds, first->client.value));
    else
      sentences.push_back(fmt::format("at {:g} s the models of client {} and {} more are not finite any more", first->seconds,
                                      first->client.value, last - first - 1));
    first = last;
  }
  return sentences;
}

std::vector<std::string> Divergences::look_at(const Sample& sample) {
  const double now = to_seconds(sample.header.at), loss = sample.loss_mean;
  std::vector<Divergence> fresh;
  for (const ClientId client : sample.diverged)
    if (std::ranges::find(clients_, client, &Divergence::client) == clients_.end()) fresh.push_back({client, now});
  clients_.insert(clients_.end(), fresh.begin(), fresh.end());
  std::vector<std::string> sentences = sentences_about(fresh);

  if (!first_loss_ && std::isfinite(loss)) first_loss_ = loss;
  runs_away_ = first_loss_ && std::isfinite(loss) && loss > far * std::max(std::abs(*first_loss_), 1.0);
  if (runs_away_ && !ran_away_at_) {
    ran_away_at_ = now;
    sentences.push_back(fmt::format("at {:g} s the mean loss of the clients is {:.3g}, after {:.3g} at first: the models run away",
                                    now, loss, *first_loss_));
  }
  said_.insert(said_.end(), sentences.begin(), sentences.end());
  return sentences;
}

void Divergences::archive(Archive& archive) {
  archive.list(clients_, [](Archive& part, Divergence& one) { part(one.client, one.seconds); });
  archive(first_loss_, ran_away_at_, runs_away_);
  archive.list(said_, [](Archive& part, std::string& sentence) { part(sentence); });
}

}  // namespace rubato
