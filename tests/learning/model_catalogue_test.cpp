#include "learning/models/model_catalogue.hpp"

#include <doctest/doctest.h>

#include "tests/learning/support.hpp"

using namespace rubato;
using test::complaint;
using test::contains;

namespace {

Index size_of(const ModelOptions& options, const Shape& shape, std::uint32_t classes) {
  return make_model<float>(options, shape, classes)->dimension();
}

constexpr Shape mnist{1, 28, 28}, a9a{1, 1, 123};

}  // namespace

TEST_CASE("models have the parameters that the papers count") {
  CHECK(size_of({.name = "linear"}, mnist, 10) == 7850);
  CHECK(size_of({.name = "linear"}, a9a, 2) == 248);
  CHECK(size_of({.name = "softmax"}, mnist, 10) == 7850);
  CHECK(size_of({.name = "svm"}, mnist, 10) == 7850);
  CHECK(size_of({.name = "logistic"}, a9a, 2) == 124);
  CHECK(size_of({.name = "linear"}, a9a, 0) == 124);
  CHECK(size_of({.name = "mlp", .hidden = {128, 64}}, mnist, 10) == 109'386);
  CHECK(size_of({.name = "mlp_draco"}, {1, 1, 85}, 10) == 12'910);
  CHECK(size_of({.name = "resnet18_7x7"}, {3, 32, 32}, 10) == 11'181'642);
  // DEPOSITUM's numbers for letters count an unused class 0.
  CHECK(size_of({.name = "softmax"}, mnist, 27) == 21'195);
  CHECK(size_of({.name = "mlp", .hidden = {128, 64}}, mnist, 27) == 110'491);
  CHECK(size_of({.name = "cnn_depositum"}, mnist, 27) == 270'555);
  CHECK(size_of({.name = "resnet18_7x7"}, {1, 28, 28}, 27) == 11'184'091);
  // 400 inputs: 256, 512, 512, 256, 256, 128, 128, 64 and 4 classes.
  CHECK(size_of({.name = "decefl_dnn"}, {1, 1, 400}, 4) ==
        401 * 256 + 257 * 512 + 513 * 512 + 513 * 256 + 257 * 256 + 257 * 128 + 129 * 128 + 129 * 64 + 65 * 4);
}

TEST_CASE("every known model can be made for the data it fits, and says nothing where it does not") {
  for (const KnownModel& model : known_models()) {
    CAPTURE(model.name);
    CHECK_FALSE(model.summary.empty());
    if (model.name == "torchscript") continue;  // its module is a file
    CHECK((parameters_of(model, {3, 32, 32}, 2) || parameters_of(model, {1, 28, 28}, 10) || parameters_of(model, {1, 1, 300}, 10)));
  }
  const KnownModel& logistic = known_models()[2];
  REQUIRE(logistic.name == "logistic");
  CHECK(parameters_of(logistic, mnist, 10) == std::nullopt);
  CHECK(parameters_of(logistic, a9a, 2) == 124);
}

TEST_CASE("an unknown model is answered with the known ones, and classifiers refuse numbers") {
  CHECK(contains(complaint([] { make_model<float>({.name = "sotfmax"}, mnist, 10); }),
                 "model.name is \"sotfmax\"; allowed are softmax, linear, logistic, svm, mlp"));
  CHECK(contains(complaint([] { make_model<float>({.name = "svm"}, mnist, 0); }), "tells classes apart"));
}

TEST_CASE("linear models start at zero and perceptrons at random weights, unless they are told otherwise") {
  const auto norm_of = [](const ModelOptions& options) {
    const auto model = make_model<double>(options, mnist, 10);
    Vector<double> x(model->dimension());
    Stream stream(1, {0}, Purpose::init);
    model->initialise(view(x), stream);
    return x.norm();
  };
  CHECK(norm_of({.name = "svm"}) == 0);
  CHECK(norm_of({.name = "svm", .init = Start::he}) > 0);
  CHECK(norm_of({.name = "mlp", .hidden = {9}}) > 0);
  CHECK(norm_of({.name = "mlp", .hidden = {9}, .init = Start::zero}) == 0);
  CHECK(norm_of({.name = "mlp", .hidden = {9}, .activation = Activation::tanh}) <
        norm_of({.name = "mlp", .hidden = {9}, .activation = Activation::relu}));
}
