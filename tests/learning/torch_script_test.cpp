// TorchScript modules as models: the same numbers as our own models, statistics, chance, and what does not fit.
#include "learning/models/torch_script.hpp"

#include <torch/script.h>
// libtorch brings macros of these names.
#undef CHECK
#include <doctest/doctest.h>

#include "learning/network/network.hpp"
#include "tests/learning/support.hpp"

using namespace rubato;
using test::complaint;
using test::contains;
using test::random_labels;
using test::random_matrix;
using test::random_vector;

namespace {

using Fill = std::function<void(torch::jit::Module&)>;

std::filesystem::path saved(const test::Folder& folder, const Fill& fill, const std::string& code) {
  torch::jit::Module module("Net");
  fill(module);
  module.define(code);
  const std::filesystem::path path = folder.path() / "net.pt";
  module.save(path.string());
  return path;
}

void linear_parts(torch::jit::Module& module) {
  module.register_parameter("weight", torch::zeros({3, 5}).set_requires_grad(true), false);
  module.register_parameter("bias", torch::ones({3}).set_requires_grad(true), false);
  module.register_attribute("training", c10::BoolType::get(), true);
}

const std::string linear_code = "def forward(self, x):\n  return torch.linear(x, self.weight, self.bias)\n";

Vector<double> gradient(const Model<double>& model, const Vector<double>& x, std::optional<Chance> chance = std::nullopt) {
  const Matrix<double> inputs = random_matrix<double>(8, model.inputs(), 3);
  const std::vector<Label> labels = random_labels(8, 3, 4);
  Batch<double> batch{read_only(inputs), labels};
  batch.chance = chance;
  Vector<double> g(model.dimension());
  Scratch<double> scratch;
  model.gradient(read_only(x), batch, view(g), scratch);
  return g;
}

}  // namespace

TEST_CASE("a linear TorchScript module has the loss, gradient, scores and start of the softmax model") {
  const test::Folder folder;
  const auto model = make_torch_model<double>({.module = saved(folder, linear_parts, linear_code), .l2 = 0.1}, {1, 1, 5}, 3);
  const auto own = make_softmax<double>(5, 3, 0.1);
  REQUIRE(model->dimension() == own->dimension());
  const Vector<double> x = random_vector<double>(18, 1);
  CHECK((gradient(*model, x) - gradient(*own, x)).norm() < 1e-12);
  const Matrix<double> inputs = random_matrix<double>(4, 5, 2);
  Matrix<double> theirs(4, 3), ours(4, 3);
  Scratch<double> scratch;
  model->logits(read_only(x), read_only(inputs), view(theirs), scratch);
  own->logits(read_only(x), read_only(inputs), view(ours), scratch);
  CHECK((theirs - ours).norm() < 1e-12);
  Vector<double> start(18);
  Stream stream(1, no_client, Purpose::init);
  model->initialise(view(start), stream);
  CHECK(start.head(15).isZero());
  CHECK(start.tail(3).isOnes());
}

TEST_CASE("the floating-point buffers of a TorchScript module are statistics that move to what training makes of them") {
  const test::Folder folder;
  const auto parts = [](torch::jit::Module& module) {
    linear_parts(module);
    module.register_buffer("running", torch::zeros({5}));
  };
  const std::string code =
      "def forward(self, x):\n  if self.training:\n    self.running.copy_(x.mean(0))\n"
      "  return torch.linear(x - self.running, self.weight, self.bias)\n";
  const auto model = make_torch_model<double>({.module = saved(folder, parts, code)}, {1, 1, 5}, 3);
  REQUIRE(model->statistics().size() == 1);
  CHECK((model->statistics().front() == Range{18, 5}));
  const Vector<double> x = random_vector<double>(23, 1);
  const Vector<double> mean = random_matrix<double>(8, 5, 3).colwise().mean();
  CHECK((gradient(*model, x).tail(5) - (x.tail(5) - mean)).norm() < 1e-12);
}

TEST_CASE("a TorchScript module that draws random numbers draws the same for the same chance") {
  const test::Folder folder;
  const std::string code =
      "def forward(self, x):\n  return torch.linear(torch.dropout(x, 0.5, self.training), self.weight, self.bias)\n";
  const auto model = make_torch_model<double>({.module = saved(folder, linear_parts, code)}, {1, 1, 5}, 3);
  const Vector<double> x = random_vector<double>(18, 1);
  const Vector<double> first = gradient(*model, x, Chance{.seed = 1, .number = 7});
  CHECK(first == gradient(*model, x, Chance{.seed = 1, .number = 7}));
  CHECK(first != gradient(*model, x, Chance{.seed = 1, .number = 8}));
}

TEST_CASE("a TorchScript module that does not fit is refused with a sentence") {
  const test::Folder folder;
  const auto refused = [&](const std::filesystem::path& module, const Shape& shape, std::uint32_t classes) {
    return complaint([&] { make_torch_model<float>({.module = module}, shape, classes); });
  };
  CHECK(contains(refused(folder.path() / "none.pt", {1, 1, 5}, 3), "cannot be read as a TorchScript module"));
  const std::filesystem::path linear = saved(folder, linear_parts, linear_code);
  CHECK(contains(refused(linear, {1, 1, 5}, 4), "one row of 4 scores"));
  CHECK(contains(refused(linear, {1, 1, 6}, 3), "does not take the data's samples"));
}
