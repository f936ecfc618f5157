// AnswerRows: the gradients of each worker at a centre, summed and counted, for methods where every worker counts the same.
#pragma once

#include <cstdint>
#include <vector>

#include "algos/algorithm.hpp"

namespace rubato {

template <class Real>
class AnswerRows {
 public:
  /// By client.
  explicit AnswerRows(std::size_t clients) : rows_(clients) {}

  /// G_i <- G_i + g,  b_i <- b_i + 1
  void add(ClientId worker, const Tensor& answer, TensorPool& pool) {
    Row& row = rows_.at(worker.value);
    if (row.count++ == 0) row.sum = zeros<Real>(answer.count(), pool);
    numbers_of<Real>(row.sum) += numbers_of<Real>(answer);
  }
  /// (1/n) sum_i G_i / b_i over the rows that hold something; zeros if none does.
  Tensor mean(std::size_t dimension, TensorPool& pool) const {
    Tensor mean = zeros<Real>(dimension, pool);
    VectorRef<Real> numbers = numbers_of<Real>(mean);
    std::size_t workers = 0;
    for (const Row& row : rows_)
      if (row.count > 0) numbers += numbers_of<Real>(row.sum) / static_cast<Real>(row.count), ++workers;
    if (workers > 0) numbers /= static_cast<Real>(workers);
    return mean;
  }
  void clear() {
    for (Row& row : rows_) row = {};
  }
  void archive(Archive& archive, std::size_t dimension) {
    for (auto& [sum, count] : rows_) archive.optional(sum, scalar_of<Real>, dimension), archive(count);
  }

 private:
  struct Row {
    Tensor sum;
    std::uint64_t count = 0;
  };
  std::vector<Row> rows_;
};

}  // namespace rubato
