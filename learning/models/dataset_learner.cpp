#include "learning/models/dataset_learner.hpp"

#include <algorithm>
#include <cassert>
#include <stdexcept>
#include <string>
#include <utility>

#include "runtime/sentence.hpp"

namespace rubato {

namespace {

// Samples that are scored at once. Fixed, because it decides how sums are split.
constexpr Index rows_at_once = 1024;

// Sample first + i is row row_of(first + i).
template <class Real, class RowOf>
Batch<Real> gather_samples(const Samples<Real>& samples, Index first, Index size, const RowOf& row_of, Scratch<Real>& scratch) {
  const bool is_classified = samples.targets.empty();
  MatrixRef<Real> inputs = scratch.matrix(size, samples.features.cols());
  const std::span<Label> labels = scratch.indices(is_classified ? size : 0);
  VectorRef<Real> targets = scratch.vector(is_classified ? 0 : size);
  for (Index i = 0; i < size; ++i) {
    const std::uint32_t row = row_of(static_cast<std::size_t>(first + i));
    samples.features.copy_row(row, inputs.data() + i * inputs.cols());
    if (is_classified)
      labels[static_cast<std::size_t>(i)] = samples.labels[row];
    else
      targets[i] = samples.targets[row];
  }
  return {read_only(inputs), labels, {targets.data(), static_cast<std::size_t>(targets.size())}};
}

// Block by block, so that bytes become numbers in scratch memory only.
template <class Real, class RowOf>
Score score_rows(const Model<Real>& model, ConstVectorRef<Real> x, const Samples<Real>& samples, std::size_t rows,
                 const RowOf& row_of, Scratch<Real>& scratch) {
  const Index count = static_cast<Index>(rows);
  Score score = empty_score(model.classes());
  for (Index first = 0; first < count; first += rows_at_once) {
    typename Scratch<Real>::Frame frame(scratch);
    const Batch<Real> batch = gather_samples(samples, first, std::min(rows_at_once, count - first), row_of, scratch);
    score += model.score(x, batch, scratch);
  }
  return score;
}

void check_rows(const Rows& rows, std::size_t available, const std::string& part) {
  for (const std::uint32_t row : rows) {
    if (row < available) continue;
    refuse("the ", part, " rows of a client name row ", row, "; the data have ", available, " rows, counted from 0");
  }
}

template <class Real>
void check_fit(const Model<Real>& model, const Dataset<Real>& dataset) {
  if (model.inputs() != dataset.inputs()) {
    refuse("the model takes ", model.inputs(), " numbers a sample; data set ", dataset.name, " has ", dataset.inputs(),
           " features");
  }
  if (model.classes() < dataset.classes) {
    refuse("the model knows ", model.classes(), " classes; data set ", dataset.name, " has ", dataset.classes);
  }
}

}  // namespace

template <class Real>
DatasetLearner<Real>::DatasetLearner(std::shared_ptr<const Model<Real>> model, std::shared_ptr<const Dataset<Real>> dataset,
                                     Rows rows, std::shared_ptr<const Rows> test_rows,
                                     std::shared_ptr<const Architectures<Real>> peers)
    : model_{std::move(model)},
      dataset_{std::move(dataset)},
      rows_{std::move(rows)},
      test_rows_{std::move(test_rows)},
      peers_{std::move(peers)} {
  check_fit(*model_, *dataset_);
  if (rows_.empty()) throw std::invalid_argument("a client has no training rows; it needs at least one");
  check_rows(rows_, dataset_->train.size(), "training");
  if (test_rows_) check_rows(*test_rows_, dataset_->test.size(), "test");
}

template <class Real>
Real DatasetLearner<Real>::gradient(ConstVectorRef<Real> x, Picks picks, VectorRef<Real> g, Scratch<Real>& scratch) const {
  const Index all = count(picks), block_size = model_->block_rows();
  if (all <= block_size) {
    typename Scratch<Real>::Frame frame(scratch);
    return model_->gradient(x, gather(picks, 0, all, scratch), g, scratch);
  }
  g.setZero();
  Real loss = 0;
  for (Index first = 0; first < all; first += block_size) {
    typename Scratch<Real>::Frame frame(scratch);
    const Index size = std::min(block_size, all - first);
    const Real share = static_cast<Real>(size) / static_cast<Real>(all);
    const VectorRef<Real> of_block = scratch.vector(dimension());
    loss += share * model_->gradient(x, gather(picks, first, size, scratch), of_block, scratch);
    g += share * of_block;
  }
  return loss;
}

template <class Real>
Real DatasetLearner<Real>::descend(VectorRef<Real> x, Picks picks, Real step, Scratch<Real>& scratch) const {
  if (count(picks) > model_->block_rows()) return Learner<Real>::descend(x, picks, step, scratch);
  typename Scratch<Real>::Frame frame(scratch);
  return model_->descend(x, gather(picks, 0, count(picks), scratch), step, scratch);
}

template <class Real>
Score DatasetLearner<Real>::score(ConstVectorRef<Real> x, Part part, Scratch<Real>& scratch) const {
  const auto listed = [](const Rows& rows) { return [&rows](std::size_t i) { return rows[i]; }; };
  if (part == Part::train) return score_rows(*model_, x, dataset_->train, rows_.size(), listed(rows_), scratch);
  const Samples<Real>& test = dataset_->test;
  if (test_rows_) return score_rows(*model_, x, test, test_rows_->size(), listed(*test_rows_), scratch);
  return score_rows(
      *model_, x, test, test.size(), [](std::size_t i) { return static_cast<std::uint32_t>(i); }, scratch);
}

template <class Real>
void DatasetLearner<Real>::predict(ConstVectorRef<Real> x, Picks picks, MatrixRef<Real> out, Scratch<Real>& scratch) const {
  typename Scratch<Real>::Frame frame(scratch);
  model_->predict(x, gather(picks, 0, count(picks), scratch).inputs, out, scratch);
}

template <class Real>
void DatasetLearner<Real>::outputs_at(const Cut& cut, ConstVectorRef<Real> x, Picks picks, MatrixRef<Real> out,
                                      Scratch<Real>& scratch) const {
  typename Scratch<Real>::Frame frame(scratch);
  const ConstMatrixRef<Real> inputs = gather(picks, 0, count(picks), scratch).inputs;
  if (cut.is_output)
    model_of(cut.architecture).predict(x, inputs, out, scratch);
  else
    model_of(cut.architecture).hidden_outputs(cut.layer, x, inputs, out, scratch);
}

template <class Real>
Index DatasetLearner<Real>::count(Picks picks) const {
  return static_cast<Index>(picks.empty() ? rows_.size() : picks.size());
}

template <class Real>
Batch<Real> DatasetLearner<Real>::gather(Picks picks, Index first, Index size, Scratch<Real>& scratch) const {
  const auto row_of = [&](std::size_t i) {
    assert((picks.empty() || picks[i] < rows_.size()) && "picks are below samples()");
    return rows_[picks.empty() ? i : picks[i]];
  };
  Batch<Real> batch = gather_samples(dataset_->train, first, size, row_of, scratch);
  batch.chance = picks.chance();
  if (batch.chance) batch.chance->block = static_cast<std::uint32_t>(first / model_->block_rows());
  return batch;
}

template class DatasetLearner<float>;
template class DatasetLearner<double>;

}  // namespace rubato
