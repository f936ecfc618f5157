// Global model: what the clients of a server round and their centre have in common. The centre hands its model out, the
// selected work on it and answer, the centre combines the answers.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "algos/algorithm.hpp"
#include "algos/catalogue.hpp"
#include "algos/options.hpp"

namespace rubato {

/// The phases of a server round.
inline constexpr std::uint8_t to_clients = 0, to_centre = 1;

/// An algorithm around a model that only the centre changes. Who derives from it says how a client answers a model and
/// what the centre makes of the answers.
template <class Real>
class GlobalModel : public Algorithm<Real> {
 public:
  Payload publish(Work<Real>&, const Step& step) override {
    Payload payload;
    payload.common[0] = step.phase == to_clients || !answer_ ? model_ : std::exchange(answer_, {});
    return payload;
  }

  void merge(Work<Real>& work, const Step& step, std::span<const Received<Real>> window) override {
    round_ = step.index;
    if (step.phase == to_clients) {
      if (!window.empty()) model_ = window.back().payload.common[0];
      return;
    }
    combine(work, window);
    answer_ = {};
    ++round_;
  }

  void adopt(ConstVectorRef<Real> model) override { model_ = copy_of<Real>(model, pool_); }

  /// As it was last heard of, or as it is at the centre.
  ConstVectorRef<Real> model() const override { return numbers_of<Real>(model_); }
  void inspect(Probe& probe) const override { show(probe, "x", model()); }
  void archive(Archive& archive) override {
    archive.fixed(model_);
    archive.optional(answer_, scalar_of<Real>, model_.count());
    archive(round_);
  }

 protected:
  GlobalModel(const ClientView& client_view, ConstVectorRef<Real> start, TensorPool& pool)
      : seat_{client_view}, pool_{pool}, model_{copy_of<Real>(start, pool)} {}

  /// The centre's step: `window` holds the others' answers, senders ascending; the centre's own is with each_answer().
  virtual void combine(Work<Real>& work, std::span<const Received<Real>> window) = 0;

  const ClientView& client_view() const { return seat_; }
  bool is_centre() const { return seat_.client == seat_.centre; }
  /// The round that the model belongs to, from 0.
  std::uint64_t round() const { return round_; }

  const Tensor& model_tensor() const { return model_; }
  void set_model(Tensor model) { model_ = std::move(model); }
  /// What this client will publish to the centre, or adds to the others' answers where it is the centre.
  void set_answer(Tensor answer) { answer_ = std::move(answer); }

  /// visit(client, tensor) for every answer, the centre's own included, clients ascending.
  template <class Visit>
  void each_answer(std::span<const Received<Real>> window, Visit visit) const {
    bool is_mine_due = static_cast<bool>(answer_);
    for (const Received<Real>& message : window) {
      if (is_mine_due && seat_.client < message.sender) {
        visit(seat_.client, answer_);
        is_mine_due = false;
      }
      visit(message.sender, message.payload.common[0]);
    }
    if (is_mine_due) visit(seat_.client, answer_);
  }

  /// The mean of the answers, each with the weight of its client; empty if there are none.
  template <class Weight>
  Tensor mean_answer(std::span<const Received<Real>> window, TensorPool& pool, Weight weight) const {
    double total = 0;
    each_answer(window, [&](ClientId client, const Tensor&) { total += weight(client); });
    if (!(total > 0)) return {};
    Tensor mean = zeros<Real>(model_.count(), pool);
    each_answer(window, [&](ClientId client, const Tensor& answer) {
      numbers_of<Real>(mean) += static_cast<Real>(weight(client) / total) * numbers_of<Real>(answer);
    });
    return mean;
  }

 private:
  ClientView seat_;
  TensorPool& pool_;
  Tensor model_;   // immutable: it is handed out as it is, and kept as it came
  Tensor answer_;  // empty: nothing computed since the last answer
  std::uint64_t round_ = 0;
};

/// How much an answer counts: samples | uniform.
class Weighting {
 public:
  Weighting() = default;
  Weighting(const AlgorithmOptions& options, const std::string& fallback) {
    const std::string word = options.word("weighting", fallback);
    if (word != "samples" && word != "uniform") refuse_option("weighting", '"' + word + '"', "must be \"samples\" or \"uniform\"");
    by_samples_ = word == "samples";
    if (options.has("weights")) given_ = options.numbers("weights", 1);
  }
  double operator()(const ClientView& client_view, ClientId client) const {
    if (!given_.empty()) return given_.at(client.value);
    return by_samples_ ? static_cast<double>(client_view.samples[client.value]) : 1;
  }
  /// The weights are listed, client by client.
  bool is_given() const { return !given_.empty(); }

 private:
  bool by_samples_ = false;
  std::vector<double> given_;  // instead of both
};

}  // namespace rubato
