// AnswerBook: what a centre has gathered since its last update, as counts.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "runtime/archive.hpp"
#include "runtime/ids.hpp"
#include "runtime/protocols/needs.hpp"

namespace rubato {

/// What becomes of one answer.
struct AnswerFate {
  enum class Reason : std::uint8_t { none, stale, superseded, table, next, update };

  Reason reason = Reason::none;
  std::uint8_t phase = 0;  ///< of the merge step, see at_work; 0: there is none

  bool is_used() const { return phase != 0; }
  bool updates() const { return (phase & at_work::updates) != 0; }
};

class AnswerBook {
 public:
  /// `workers`: how many there are; `clients`: by which rows are counted.
  AnswerBook(const AnswerRule& rule, std::uint32_t workers, std::uint32_t clients)
      : rule_{rule}, workers_{workers}, counts_(clients), next_(clients), versions_(clients), next_versions_(clients) {}

  /// An answer that may be used, so many versions after its model's `version`; `asked`: how many a round waits for.
  AnswerFate take(ClientId worker, std::uint64_t version, std::uint64_t now, std::uint32_t asked) {
    switch (rule_.gather) {
      case Gather::each:
        return {AnswerFate::Reason::none, at_work::collects | at_work::updates};
      case Gather::count:
        return gathered(++gathered_ == rule_.count);
      case Gather::round:
        return gathered(++gathered_ >= asked);
      case Gather::harmonic:
        ++counts_[worker.value];
        return gathered(is_harmonic_enough());
      case Gather::table:
        return into_table(worker, version, now);
    }
    return {};
  }

  /// A round is ended with the answers that came; whether there were any.
  bool close_round() { return std::exchange(gathered_, 0) > 0; }
  std::uint32_t gathered() const { return gathered_; }

  /// Of each client in the present table, and in the next one.
  const std::vector<std::uint32_t>& counts() const { return counts_; }
  const std::vector<std::uint32_t>& next_counts() const { return next_; }
  /// In versions, of a row when it was used.
  std::uint64_t largest_delay() const { return largest_delay_; }

  void archive(Archive& archive) {
    archive(gathered_, second_phase_, largest_delay_);
    for (auto* row : {&counts_, &next_}) archive.list(*row, [](Archive& part, std::uint32_t& count) { part(count); });
    for (auto* row : {&versions_, &next_versions_})
      archive.list(*row, [](Archive& part, std::uint64_t& version) { part(version); });
    archive.list(left_, [](Archive& part, ClientId& client) { part(client); });
  }

 private:
  AnswerFate gathered(bool is_enough) {
    if (!is_enough) return {AnswerFate::Reason::none, at_work::collects};
    gathered_ = 0;
    std::ranges::fill(counts_, 0u);
    return {AnswerFate::Reason::none, at_work::collects | at_work::updates};
  }

  // n / sum of 1/b >= S/n, where all b > 0.
  bool is_harmonic_enough() {
    const auto n = static_cast<double>(workers_);
    constexpr double slack = 1 - 1e-12;
    double inverse = 0;
    std::uint32_t rows = 0;
    for (const std::uint32_t count : counts_)
      if (count > 0) inverse += 1 / static_cast<double>(count), ++rows;
    return rows == workers_ && n / inverse >= slack * rule_.gradients / n;
  }

  AnswerFate into_table(ClientId worker, std::uint64_t version, std::uint64_t now) {
    const auto mine = std::ranges::find(left_, worker);
    if (second_phase_ && mine == left_.end()) {
      ++next_[worker.value];
      next_versions_[worker.value] = version;
      return {AnswerFate::Reason::next, at_work::collects_for_next};
    }
    ++counts_[worker.value];
    versions_[worker.value] = version;
    if (!second_phase_) {
      left_.clear();
      for (std::uint32_t i = 0; i < counts_.size(); ++i)
        if (counts_[i] > 0) left_.push_back({i});
      second_phase_ = left_.size() == workers_;
      if (!second_phase_) return {AnswerFate::Reason::table, at_work::collects};
    }
    for (std::uint32_t i = 0; i < counts_.size(); ++i)
      if (counts_[i] > 0) largest_delay_ = std::max(largest_delay_, now - versions_[i]);
    std::erase(left_, worker);
    const std::uint8_t last = left_.empty() ? at_work::ends_round : 0;
    if (last) {
      counts_.swap(next_);
      versions_.swap(next_versions_);
      std::ranges::fill(next_, 0u);
      second_phase_ = false;
    }
    return {AnswerFate::Reason::update, static_cast<std::uint8_t>(at_work::collects | at_work::updates | last)};
  }

  const AnswerRule& rule_;
  std::uint32_t workers_;
  std::uint32_t gathered_ = 0;
  std::vector<std::uint32_t> counts_, next_;             // by client
  std::vector<std::uint64_t> versions_, next_versions_;  // of the models of these rows
  std::vector<ClientId> left_;                           // in the second phase: workers whose update is still to come
  bool second_phase_ = false;
  std::uint64_t largest_delay_ = 0;
};

}  // namespace rubato
