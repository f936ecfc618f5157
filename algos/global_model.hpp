// Global model: what the clients of a server round and their centre have in common. The centre hands its model out, the
// selected work on it and answer, the centre combines the answers.
#pragma once

#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "algos/catalogue.hpp"
#include "algos/penalty.hpp"

namespace rubato {

/// The phases of a server round.
inline constexpr std::uint8_t to_clients = 0, to_centre = 1;

/// Of a step size that the server's rounds diminish.
inline constexpr std::string_view round_law = "diminishing: eta / (round + step_offset)";

/// An algorithm around a model that only the centre changes. A derived class says how a client answers a model and
/// what the centre makes of the answers.
template <class Real, class Settings>
class GlobalModel : public Algorithm<Real> {
 public:
  explicit GlobalModel(const Setup<Real, Settings>& setup)
      : settings_{setup.settings},
        client_view_{setup.client_view},
        pool_{setup.pool},
        model_{copy_of<Real>(setup.start, setup.pool)} {}

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
  /// The centre's step: `window` holds the others' answers, senders ascending; the centre's own is with each_answer().
  virtual void combine(Work<Real>& work, std::span<const Received<Real>> window) = 0;

  const Settings& settings() const { return *settings_; }
  const ClientView& client_view() const { return client_view_; }
  bool is_centre() const { return client_view_.client == client_view_.centre; }
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
      if (is_mine_due && client_view_.client < message.sender) {
        visit(client_view_.client, answer_);
        is_mine_due = false;
      }
      visit(message.sender, message.payload.common[0]);
    }
    if (is_mine_due) visit(client_view_.client, answer_);
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
  std::shared_ptr<const Settings> settings_;
  ClientView client_view_;
  TensorPool& pool_;
  Tensor model_;   // immutable: it is handed out as it is, and kept as it came
  Tensor answer_;  // empty: nothing computed since the last answer
  std::uint64_t round_ = 0;
};

/// xbar <- prox_{eta h}(mean_i xhat_i), where xhat_i is what client i answered last, at first the start model; eta and
/// the penalty h are in the settings. A client keeps its model x_i, at first the start model, and a vector beside it, which probes
/// know by `name`.
template <class Real, class Settings>
class StoredAnswers : public GlobalModel<Real, Settings> {
 public:
  StoredAnswers(const Setup<Real, Settings>& setup, const char* name, Tensor beside)
      : GlobalModel<Real, Settings>(setup), name_{name}, x_{copy_of<Real>(setup.start, setup.pool)}, beside_{std::move(beside)} {
    if (this->is_centre()) stored_.assign(setup.client_view.samples.size(), this->model_tensor());
  }

  void archive(Archive& archive) override {
    GlobalModel<Real, Settings>::archive(archive);
    for (Tensor& xhat : stored_) archive.fixed(xhat);
    archive.fixed(x_);
    archive.fixed(beside_);
  }

  void inspect(Probe& probe) const override {
    show(probe, "xbar", this->model());
    show(probe, "x", numbers_of<Real>(x_));
    show(probe, name_, numbers_of<Real>(beside_));
  }

 protected:
  VectorRef<Real> x() { return numbers_of<Real>(x_); }
  VectorRef<Real> beside() { return numbers_of<Real>(beside_); }

 private:
  void combine(Work<Real>& work, std::span<const Received<Real>> window) final {
    this->each_answer(window, [&](ClientId client, const Tensor& answer) { stored_[client.value] = answer; });
    Tensor xbar = zeros<Real>(this->model_tensor().count(), work.pool);
    VectorRef<Real> numbers = numbers_of<Real>(xbar);
    for (const Tensor& xhat : stored_) numbers += numbers_of<Real>(xhat);
    numbers /= static_cast<Real>(stored_.size());
    this->settings().penalty.prox(numbers, this->settings().eta);
    this->set_model(std::move(xbar));
  }

  std::vector<Tensor> stored_;  // by client; at the centre alone
  const char* name_;
  Tensor x_, beside_;
};

/// What Weighting reads.
constexpr std::array<OptionSpec, 1> weighting_options(
    std::string_view fallback,
    std::string_view meaning = "how much a client counts: as much as its samples, or as much as any other") {
  return {word_option("weighting", fallback, meaning, "samples|uniform")};
}

/// How much an answer counts.
class Weighting {
 public:
  explicit Weighting(const OptionReader& options) : by_samples_{options.is("weighting", "samples")} {
    if (options.given().has("weights")) given_ = options.given().numbers("weights", 1);
  }
  double operator()(const ClientView& client_view, ClientId client) const {
    if (!given_.empty()) return given_.at(client.value);
    return by_samples_ ? static_cast<double>(client_view.samples[client.value]) : 1;
  }
  /// The weights are listed, client by client.
  bool is_given() const { return !given_.empty(); }

 private:
  bool by_samples_;
  std::vector<double> given_;  // instead of both
};

}  // namespace rubato
