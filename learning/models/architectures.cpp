#include "learning/models/architectures.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "runtime/number_from.hpp"
#include "runtime/sentence.hpp"

namespace rubato {

namespace {

// A model and zeros behind it, which nothing reads and no gradient moves.
template <class Real>
class PaddedModel final : public Model<Real> {
 public:
  PaddedModel(std::shared_ptr<const Model<Real>> model, Index dimension) : model_{std::move(model)}, dimension_{dimension} {}

  Index dimension() const override { return dimension_; }
  Index own_dimension() const override { return model_->dimension(); }
  Index inputs() const override { return model_->inputs(); }
  std::uint32_t classes() const override { return model_->classes(); }
  std::vector<Range> statistics() const override { return model_->statistics(); }
  Index block_rows() const override { return model_->block_rows(); }
  std::vector<HiddenLayer> hidden_layers() const override { return model_->hidden_layers(); }

  void initialise(VectorRef<Real> x, Stream& stream) const override {
    model_->initialise(own(x), stream);
    clear_rest(x);
  }
  Real gradient(ConstVectorRef<Real> x, const Batch<Real>& batch, VectorRef<Real> g, Scratch<Real>& scratch) const override {
    clear_rest(g);
    return model_->gradient(own(x), batch, own(g), scratch);
  }
  Real descend(VectorRef<Real> x, const Batch<Real>& batch, Real step, Scratch<Real>& scratch) const override {
    return model_->descend(own(x), batch, step, scratch);
  }
  void logits(ConstVectorRef<Real> x, ConstMatrixRef<Real> inputs, MatrixRef<Real> out, Scratch<Real>& scratch) const override {
    model_->logits(own(x), inputs, out, scratch);
  }
  void hidden_outputs(std::size_t layer, ConstVectorRef<Real> x, ConstMatrixRef<Real> inputs, MatrixRef<Real> out,
                      Scratch<Real>& scratch) const override {
    model_->hidden_outputs(layer, x, inputs, out, scratch);
  }
  double cost(const Batch<Real>& batch, Index row, Real* logits) const override { return model_->cost(batch, row, logits); }

 private:
  ConstVectorRef<Real> own(ConstVectorRef<Real> x) const { return {x.data(), model_->dimension()}; }
  VectorRef<Real> own(VectorRef<Real> x) const { return {x.data(), model_->dimension()}; }
  void clear_rest(VectorRef<Real> x) const { x.tail(x.size() - model_->dimension()).setZero(); }

  std::shared_ptr<const Model<Real>> model_;
  Index dimension_;
};

// From 0; nothing if there is none of this name or number, or several.
std::optional<std::size_t> place_in(const std::vector<HiddenLayer>& layers, std::string_view layer) {
  const auto count = static_cast<std::int64_t>(layers.size());
  if (const auto number = number_from<std::int64_t>(layer)) {
    const std::int64_t place = *number > 0 ? *number - 1 : count + *number;
    if (*number == 0 || place < 0 || place >= count) return std::nullopt;
    return static_cast<std::size_t>(place);
  }
  const auto found = std::ranges::find(layers, layer, &HiddenLayer::name);
  if (std::ranges::count(layers, layer, &HiddenLayer::name) != 1) return std::nullopt;
  return static_cast<std::size_t>(found - layers.begin());
}

std::string listed(const std::vector<HiddenLayer>& layers) {
  std::string text = "\"output\"";
  for (std::size_t i = 0; i < layers.size(); ++i) text += ", \"" + std::to_string(i + 1) + "\" (" + layers[i].name + ")";
  return text;
}

}  // namespace

template <class Real>
Architectures<Real> padded(Architectures<Real> models) {
  Index dimension = 0;
  for (const auto& model : models) dimension = std::max(dimension, model->dimension());
  for (auto& model : models)
    if (model->dimension() < dimension) model = std::make_shared<const PaddedModel<Real>>(std::move(model), dimension);
  return models;
}

template <class Real>
Cut cut_of(const Model<Real>& model, std::string_view layer, std::uint32_t architecture) {
  if (layer == "output")
    return {.architecture = architecture,
            .outputs = static_cast<Index>(model.classes()),
            .parameters = model.own_dimension(),
            .base = "model " + std::to_string(architecture)};
  const std::vector<HiddenLayer> layers = model.hidden_layers();
  const std::optional<std::size_t> place = place_in(layers, layer);
  if (!place)
    refuse("algorithm.layer is \"", layer, "\"; a model of ", model.own_dimension(), " parameters has ", listed(layers),
           ", also by words that are there once, or from the last on as -1, -2, ...");
  if (layers[*place].parameters == 0) refuse("algorithm.layer is \"", layer, "\", and no parameters are below it");
  return {.architecture = architecture,
          .is_output = false,
          .layer = *place,
          .outputs = layers[*place].outputs,
          .parameters = layers[*place].parameters,
          .base = layers[*place].base};
}

template Architectures<float> padded(Architectures<float>);
template Architectures<double> padded(Architectures<double>);
template Cut cut_of(const Model<float>&, std::string_view, std::uint32_t);
template Cut cut_of(const Model<double>&, std::string_view, std::uint32_t);

}  // namespace rubato
