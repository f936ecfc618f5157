#include "learning/data/dataset.hpp"

#include "runtime/sentence.hpp"

namespace rubato {

namespace {

template <class Real>
void check_part(const Dataset<Real>& dataset, const Samples<Real>& samples, const std::string& part) {
  const auto fail = [&](const auto&... what) { refuse("data set ", dataset.name, ", ", part, " part: ", what...); };
  const bool is_classified = dataset.classes > 0;
  const std::size_t known = is_classified ? samples.labels.size() : samples.targets.size();
  if (known != samples.size()) fail(samples.size(), " rows of features for ", known, is_classified ? " labels" : " targets");
  for (std::size_t i = 0; i < samples.labels.size(); ++i) {
    if (samples.labels[i] < dataset.classes) continue;
    fail("row ", i, " has the label ", samples.labels[i], "; allowed are labels below ", dataset.classes);
  }
}

}  // namespace

template <class Real>
void check(const Dataset<Real>& dataset) {
  check_part(dataset, dataset.train, "training");
  check_part(dataset, dataset.test, "test");
  if (dataset.test.size() == 0 || dataset.test.features.cols() == dataset.train.features.cols()) return;
  refuse("data set ", dataset.name, ": the training part has ", dataset.train.features.cols(), " features and the test part ",
         dataset.test.features.cols());
}

template void check(const Dataset<float>&);
template void check(const Dataset<double>&);

}  // namespace rubato
