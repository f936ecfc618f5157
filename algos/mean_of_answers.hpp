// MeanOfAnswers: answers are gradients at one model, and a step goes along the mean of those that were collected for it.
#pragma once

#include <cstdint>
#include <utility>

#include "algos/answering.hpp"

namespace rubato {

/// Which answers are a step is the protocol's to say: the rule of the algorithm.
template <class Real>
class MeanOfAnswers final : public AnsweringGradients<Real, CentreStep> {
  using Base = AnsweringGradients<Real, CentreStep>;

 public:
  using Base::Base;

  void archive(Archive& archive) override {
    Base::archive(archive);
    archive.optional(sum_, scalar_of<Real>, this->dimension());
    archive(count_);
  }

 private:
  void collect(Work<Real>& work, ClientId, const Tensor& answer, const typename Base::Circumstances&) override {
    if (count_++ == 0) sum_ = zeros<Real>(this->dimension(), work.pool);
    numbers_of<Real>(sum_) += numbers_of<Real>(answer);
  }
  void update(Work<Real>& work) override {
    if (count_ == 0) return;
    this->move_x(static_cast<Real>(-this->settings().gamma / static_cast<double>(count_)), numbers_of<Real>(std::as_const(sum_)),
                 work.pool);
    sum_ = {};
    count_ = 0;
  }

  Tensor sum_;  // empty: nothing is collected
  std::uint64_t count_ = 0;
};

}  // namespace rubato
