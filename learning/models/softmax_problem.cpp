#include <numeric>

#include "learning/models/dataset_learner.hpp"
#include "learning/models/problems.hpp"

namespace rubato {

template <class Real>
std::unique_ptr<Learner<Real>> make_softmax_problem(Matrix<Real> inputs, std::vector<Label> labels, std::uint32_t classes,
                                                    Real l2) {
  const auto own = std::make_shared<Dataset<Real>>();
  own->name = "softmax problem";
  own->classes = classes;
  own->train = {std::move(inputs), std::move(labels)};
  own->test = own->train;
  check(*own);
  Rows rows(own->train.size());
  std::iota(rows.begin(), rows.end(), 0u);
  return std::make_unique<DatasetLearner<Real>>(make_softmax<Real>(own->inputs(), classes, l2), own, std::move(rows));
}

template std::unique_ptr<Learner<float>> make_softmax_problem(Matrix<float>, std::vector<Label>, std::uint32_t, float);
template std::unique_ptr<Learner<double>> make_softmax_problem(Matrix<double>, std::vector<Label>, std::uint32_t, double);

}  // namespace rubato
