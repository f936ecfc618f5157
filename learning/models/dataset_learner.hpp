// DatasetLearner: a model, a shared dataset, and the rows of it that belong to one client.
#pragma once

#include <memory>

#include "learning/data/dataset.hpp"
#include "learning/learner.hpp"
#include "learning/model.hpp"
#include "learning/models/architectures.hpp"

namespace rubato {

template <class Real>
class DatasetLearner final : public Learner<Real> {
 public:
  /// `rows` of dataset->train are the client's samples, in this order. `test_rows` of dataset->test score it; null: all
  /// of them. Throws std::invalid_argument if there are no rows, a row does not exist, or model and data differ in
  /// inputs or classes. `peers`: the models of all clients, where they are not all alike.
  DatasetLearner(std::shared_ptr<const Model<Real>> model, std::shared_ptr<const Dataset<Real>> dataset, Rows rows,
                 std::shared_ptr<const Rows> test_rows = nullptr, std::shared_ptr<const Architectures<Real>> peers = nullptr);

  Index dimension() const override { return model_->dimension(); }
  std::uint32_t samples() const override { return static_cast<std::uint32_t>(rows_.size()); }
  std::uint32_t classes() const override { return model_->classes(); }
  /// Many samples are gathered and added up block by block, so the scratch memory stays small.
  Real gradient(ConstVectorRef<Real> x, Picks picks, VectorRef<Real> g, Scratch<Real>& scratch) const override;
  Real descend(VectorRef<Real> x, Picks picks, Real step, Scratch<Real>& scratch) const override;
  void initialise(VectorRef<Real> x, Stream& stream) const override { model_->initialise(x, stream); }
  Score score(ConstVectorRef<Real> x, Part part, Scratch<Real>& scratch) const override;
  void predict(ConstVectorRef<Real> x, Picks picks, MatrixRef<Real> out, Scratch<Real>& scratch) const override;
  Cut cut(std::string_view layer, std::uint32_t architecture) const override {
    return cut_of(model_of(architecture), layer, architecture);
  }
  void outputs_at(const Cut& cut, ConstVectorRef<Real> x, Picks picks, MatrixRef<Real> out, Scratch<Real>& scratch) const override;

 private:
  const Model<Real>& model_of(std::uint32_t architecture) const { return peers_ ? *peers_->at(architecture) : *model_; }
  Index count(Picks picks) const;
  Batch<Real> gather(Picks picks, Index first, Index size, Scratch<Real>& scratch) const;

  std::shared_ptr<const Model<Real>> model_;
  std::shared_ptr<const Dataset<Real>> dataset_;
  Rows rows_;
  std::shared_ptr<const Rows> test_rows_;
  std::shared_ptr<const Architectures<Real>> peers_;  // null: all have this model
};

extern template class DatasetLearner<float>;
extern template class DatasetLearner<double>;

}  // namespace rubato
