// Answering: what the workers of a centre without rounds and the centre itself have in common (runtime/protocols/async_server.hpp).
// A worker answers the model that it was given; the centre takes every answer in by itself.
#pragma once

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "algos/catalogue.hpp"

namespace rubato {

/// A derived class says how a client answers a model (compute, with set_answer) and what the centre makes of an answer.
template <class Real, class Settings>
class Answering : public Algorithm<Real> {
 public:
  explicit Answering(const Setup<Real, Settings>& setup)
      : settings_{setup.settings},
        client_view_{setup.client_view},
        pool_{setup.pool},
        x_{copy_of<Real>(setup.start, setup.pool)},
        held_{x_} {}

  Payload publish(Work<Real>&, const Step& step) override {
    Payload payload;
    payload.common[0] = step.phase == hands_out || !answer_ ? x_ : std::exchange(answer_, {});
    return payload;
  }

  void merge(Work<Real>& work, const Step& step, std::span<const Received<Real>> window) final {
    switch (step.phase) {
      case at_work::begins:
        held_ = window.empty() ? x_ : window.back().payload.common[0];
        return;
      case at_work::keeps_own:
        return kept_.push_back(x_);
      case at_work::begins_kept:
        if (kept_.empty()) return;
        held_ = kept_.front();
        kept_.erase(kept_.begin());
        return;
      case at_work::forgets_kept:
        return kept_.clear();
      default:
        break;
    }
    const bool is_own = window.empty();
    const Tensor answer = is_own ? std::exchange(answer_, {}) : window.back().payload.common[0];
    const bool is_for_next = (step.phase & at_work::collects_for_next) != 0;
    if ((step.phase & at_work::collects || is_for_next) && answer)
      collect(work, is_own ? client_view_.client : window.back().sender, answer, {step.index, is_for_next});
    if (step.phase & at_work::updates) update(work);
    if (step.phase & at_work::ends_round) end_round();
  }

  void adopt(ConstVectorRef<Real> model) override { x_ = held_ = copy_of<Real>(model, pool_); }

  /// At the centre the one that answers change, elsewhere the one that is worked at.
  ConstVectorRef<Real> model() const override { return numbers_of<Real>(is_centre() ? x_ : held_); }
  void inspect(Probe& probe) const override { show(probe, "x", model()); }
  void archive(Archive& archive) override {
    archive.fixed(x_);
    archive.fixed(held_);
    archive.optional(answer_, scalar_of<Real>, x_.count());
    archive.list(kept_, [&](Archive& part, Tensor& model) { part.optional(model, scalar_of<Real>, x_.count()); });
  }

 protected:
  struct Circumstances {
    std::uint64_t delay;  ///< in versions
    bool is_for_next;     ///< into the table of the next round
  };
  /// The centre takes an answer in. Where each answer is an update this is all.
  virtual void collect(Work<Real>& work, ClientId worker, const Tensor& answer, const Circumstances& how) = 0;
  /// The model moves by what was collected since the last update.
  virtual void update(Work<Real>&) {}
  virtual void end_round() {}

  const Settings& settings() const { return *settings_; }
  const ClientView& client_view() const { return client_view_; }
  bool is_centre() const { return client_view_.client == client_view_.centre; }
  std::size_t clients() const { return client_view_.samples.size(); }
  TensorPool& pool() const { return pool_; }

  /// The model that the job is about.
  ConstVectorRef<Real> held() const { return numbers_of<Real>(held_); }
  /// The centre's model; it is handed out as it is, so a change makes another tensor.
  ConstVectorRef<Real> x() const { return numbers_of<Real>(x_); }
  std::size_t dimension() const { return x_.count(); }
  void set_x(Tensor x) { x_ = std::move(x); }
  /// x <- x + factor direction
  void move_x(Real factor, ConstVectorRef<Real> direction, TensorPool& pool) {
    Tensor next = pool.make<Real>(dimension());
    numbers_of<Real>(next) = x() + factor * direction;
    x_ = std::move(next);
  }
  void set_answer(Tensor answer) { answer_ = std::move(answer); }

 private:
  std::shared_ptr<const Settings> settings_;
  ClientView client_view_;
  TensorPool& pool_;
  Tensor x_;  // immutable, likewise the others
  Tensor held_;
  Tensor answer_;             // empty: nothing was computed since the last one
  std::vector<Tensor> kept_;  // models of later jobs, the oldest first
};

/// One whose answers are gradients at the models.
template <class Real, class Settings>
class AnsweringGradients : public Answering<Real, Settings> {
 public:
  using Answering<Real, Settings>::Answering;

  void compute(Work<Real>& work, const Step& step) override {
    Tensor g = zeros<Real>(this->dimension(), work.pool);
    work.gradient(this->held(), step.index, numbers_of<Real>(g));
    this->set_answer(std::move(g));
  }
};

/// Of the rule for answers, as options of an algorithm. `arriving`: what suits it.
constexpr std::array<OptionSpec, 3> answer_options(std::string_view arriving = "cancel") {
  return {word_option("arriving", arriving,
                      "a model at a worker that is at work: it drops the work, or finishes it and the newest model waits, or all "
                      "models wait",
                      word_list(Arriving{})),
          OptionSpec{"patience", OptionType::number, "0",
                     "seconds after which an order that is not answered is given up and its worker gets the model anew; 0: never",
                     0, 1e9},
          OptionSpec{"center_works", OptionType::flag, "false", "the centre is a worker, too"}};
}

/// What an algorithm with this rule needs, and with those options; their rows are in the reader's table.
Needs needs_of_answers(const OptionReader& options, AnswerRule rule = {});
/// How many clients work.
std::size_t workers_of(const OptionReader& options, const Graph& graph);

/// The step size of centres whose answers are gradients.
constexpr OptionSpec gamma_option(std::string_view meaning = "step size of the centre") {
  return {"gamma", OptionType::number, "0.05", meaning, 0, 1e9, true};
}
/// The settings of a centre that has that option alone.
struct CentreStep {
  double gamma;
};
inline CentreStep read_centre_step(const OptionReader& options) { return {options.number("gamma")}; }

}  // namespace rubato
