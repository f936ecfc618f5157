// Stored answers: a server model that is made of the last answer of every client, also of those that were not selected.
#pragma once

#include <utility>
#include <vector>

#include "algos/global_model.hpp"
#include "algos/penalty.hpp"

namespace rubato {

/// xbar <- prox_{eta h}(mean_i xhat_i), where xhat_i is what client i answered last, at first the start model.
template <class Real>
class StoredAnswers : public GlobalModel<Real> {
 public:
  void archive(Archive& archive) override {
    GlobalModel<Real>::archive(archive);
    for (Tensor& xhat : stored_) archive.fixed(xhat);
  }

 protected:
  StoredAnswers(const ClientView& client_view, ConstVectorRef<Real> start, TensorPool& pool)
      : GlobalModel<Real>(client_view, start, pool) {
    if (this->is_centre()) stored_.assign(client_view.samples.size(), this->model_tensor());
  }

  virtual const Penalty& penalty() const = 0;
  virtual double eta() const = 0;

 private:
  void combine(Work<Real>& work, std::span<const Received<Real>> window) final {
    this->each_answer(window, [&](ClientId client, const Tensor& answer) { stored_[client.value] = answer; });
    Tensor xbar = zeros<Real>(this->model_tensor().count(), work.pool);
    VectorRef<Real> numbers = numbers_of<Real>(xbar);
    for (const Tensor& xhat : stored_) numbers += numbers_of<Real>(xhat);
    numbers /= static_cast<Real>(stored_.size());
    penalty().prox(numbers, eta());
    this->set_model(std::move(xbar));
  }

  std::vector<Tensor> stored_;  // by client; at the centre alone
};

}  // namespace rubato
