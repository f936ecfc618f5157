#include "learning/network/builder.hpp"

#include <algorithm>
#include <initializer_list>

#include "learning/network/layer_words.hpp"
#include "learning/network/operations.hpp"
#include "runtime/words.hpp"

namespace rubato {

namespace {

constexpr Index most_groups = 8;
constexpr Index most_numbers = Index{1} << 28;  // of one layer's parameters, or of what it makes of one sample

// Throws if their product is too large, without computing it.
void check_size(const LayerWords& layer, std::initializer_list<Index> factors) {
  Index room = most_numbers;
  for (const Index factor : factors) room /= std::max<Index>(factor, 1);
  if (room == 0) layer.fail("it would have more than ", most_numbers, " numbers");
}

std::vector<LayerWords> read_layers(const std::vector<std::string>& texts) {
  std::vector<LayerWords> layers;
  for (const std::string& text : texts) layers.push_back(read_layer(text));
  return layers;
}

template <class Real>
class Builder {
 public:
  Builder(const NetworkSpec& spec, const Shape& input)
      : layers_{read_layers(spec.layers)},
        normalisation_{spec.normalisation},
        program_{input.size()},
        shape_{input},
        is_signal_{!layers_.empty() && layers_.front().word == "signal"} {}

  BuiltNetwork<Real> build(std::uint32_t classes) {
    const bool is_row = shape_.channels == 1 && shape_.height == 1;
    if (is_signal_ && shape_.height != 1) layers_.front().fail("a signal is one row high; a sample of these data is " + image());
    if (!is_signal_ && is_row)
      see_row();
    else if (shape_.channels > 1 && reads_pixels())
      append(make_to_pixels<Real>(shape_), shape_);
    std::string base = std::to_string(shape_.channels) + " x " + image() + " " + std::string(word_of(normalisation_));
    std::vector<BuiltLayer> built;
    for (; next_ < layers_.size(); ++next_) {
      const std::size_t first = next_;
      add(layers_[first]);  // may take the next one along
      for (std::size_t i = first; i <= next_; ++i) base += ", " + layers_[i].text;
      built.push_back({{layers_[first].text, shape_.size(), offset_, base}, current_});
    }
    dense(static_cast<Index>(classes), false);
    program_.finish();
    return {std::move(program_), offset_, std::move(built)};
  }

 private:
  // Anything before the first dense layer that knows what a pixel is.
  bool reads_pixels() const {
    for (const LayerWords& layer : layers_) {
      if (layer.word == "dense") return false;
      for (const char* const word : {"conv", "maxpool", "meanpool", "norm", "residual"})
        if (layer.word == word) return true;
    }
    return false;
  }

  // A row of numbers: each is a channel of its own, which has one pixel.
  void see_row() {
    for (const LayerWords& layer : layers_) {
      if (layer.word == "dense") break;
      for (const char* const word : {"conv", "maxpool", "meanpool", "residual"})
        if (layer.word == word)
          refuse("model.layers need images; a sample of these data is a row of ", shape_.width,
                 " numbers (if they are a signal, begin with the layer \"signal\")");
    }
    shape_ = {shape_.width, 1, 1};
  }

  void add(const LayerWords& layer) {
    if (layer.word == "conv") return convolution(layer);
    if (layer.word == "maxpool") return max_pooling(layer);
    if (layer.word == "meanpool") return append(make_mean_pooling<Real>(shape_), {shape_.channels, 1, 1});
    if (layer.word == "dense") {
      check_size(layer, {shape_.size(), layer.size(0)});
      return dense(layer.size(0), takes_next("relu"));
    }
    if (layer.word == "dropout") return dropout(layer);
    if (layer.word == "norm") return norm(shape_, takes_next("relu"));
    if (layer.word == "residual") return residual(layer);
    if (layer.word == "signal" && &layer != &layers_.front()) layer.fail("it can be the first layer only");
    if (layer.word == "flatten" || layer.word == "signal") return;
    append(make_activation<Real>(choice_of<Activation>(layer.word), shape_.size()), shape_);
  }

  bool is_next(const std::string& word, std::size_t ahead = 1) const {
    return next_ + ahead < layers_.size() && layers_[next_ + ahead].word == word;
  }

  // The next layer becomes part of this one if it is this word.
  bool takes_next(const std::string& word) {
    if (!is_next(word)) return false;
    ++next_;
    return true;
  }

  void append(OperationPtr<Real> operation, const Shape& out, std::optional<ArrayId> other = std::nullopt) {
    offset_ += operation->parameters();
    current_ = program_.add(std::move(operation), current_, out.size(), other);
    shape_ = out;
    is_masked_by_next_ = false;
  }

  void convolution(const LayerWords& layer) {
    const Index kernel = layer.size(1);
    if (layer.has("same") && layer.has("pad")) layer.fail("pad and same exclude each other");
    if (layer.has("same") && kernel % 2 == 0) layer.fail("same needs an odd kernel");
    const Index padding = layer.has("same") ? kernel / 2 : layer.option("pad", 0, 0);
    const Index stride = layer.option("stride", 1, 1);
    if ((!is_signal_ && kernel > shape_.height + 2 * padding) || kernel > shape_.width + 2 * padding)
      layer.fail("its kernel is larger than the image, which is " + image());
    if (is_signal_ && padding >= kernel) layer.fail("pad must be less than its kernel");
    check_size(layer, {layer.size(0), shape_.channels, is_signal_ ? 1 : kernel, kernel});
    check_size(layer, {std::max(layer.size(0), shape_.channels), shape_.height + 2 * padding, shape_.width + 2 * padding});
    const bool has_bias = !is_next("norm");
    const bool has_relu = takes_next("relu");
    convolve(layer.size(0), kernel, stride, padding, has_bias, has_relu);
  }

  void convolve(Index outputs, Index kernel, Index stride, Index padding, bool has_bias, bool has_relu) {
    if (padding >= kernel) {  // oneDNN has fast code for windows that touch the image only
      append(make_framing<Real>(shape_, padding), {shape_.channels, shape_.height + 2 * padding, shape_.width + 2 * padding});
      padding = 0;
    }
    ConvolutionForm form;
    form.in = shape_;
    form.outputs = outputs;
    form.kernel = kernel;
    form.stride = stride;
    form.padding = padding;
    form.is_row = is_signal_;
    form.has_bias = has_bias;
    form.has_relu = has_relu;
    form.masks = !is_next("maxpool");
    form.offset = offset_;
    append(make_convolution<Real>(form), form.out());
    is_masked_by_next_ = has_relu && !form.masks;
  }

  void max_pooling(const LayerWords& layer) {
    PoolingForm form;
    form.in = shape_;
    form.size = layer.size(0);
    form.stride = layer.option("stride", 1, form.size);
    form.padding = layer.option("pad", 0, 0);
    form.is_row = is_signal_;
    form.masks_relu = is_masked_by_next_;
    if (form.padding >= form.size) layer.fail("pad must be less than its size");
    if (form.rows() > shape_.height + 2 * form.padding || form.size > shape_.width + 2 * form.padding)
      layer.fail("it is larger than the image, which is " + image());
    append(make_max_pooling<Real>(form), form.out());
  }

  void dense(Index outputs, bool has_relu) { append(make_dense<Real>(shape_.size(), outputs, has_relu, offset_), {outputs, 1, 1}); }

  void dropout(const LayerWords& layer) {
    const double chance = layer.numbers[0];
    if (!(chance >= 0 && chance < 1)) layer.fail("its chance is at least 0 and less than 1");
    append(make_dropout<Real>(chance, shape_.size(), dropouts_++), shape_);
  }

  void norm(const Shape& shape, bool has_relu, std::optional<ArrayId> other = std::nullopt) {
    NormalisationForm form;
    form.shape = shape;
    form.kind = normalisation_;
    form.groups = most_groups;
    while (shape.channels % form.groups != 0) --form.groups;
    form.has_relu = has_relu;
    form.offset = offset_;
    append(make_normalisation<Real>(form), shape, other);
  }

  void residual(const LayerWords& layer) {
    const Index outputs = layer.size(0), stride = layer.option("stride", 1, 1);
    const Shape before = shape_;
    const ArrayId start = current_;
    check_size(layer, {outputs, std::max(outputs, before.channels), 9});
    check_size(layer, {outputs, before.height, before.width});
    if (outputs < before.channels && !layer.has("project"))
      layer.fail("a shortcut without project cannot lose channels; there are ", before.channels);
    const bool is_same = outputs == before.channels && stride == 1;
    convolve(outputs, 3, stride, 1, false, false);
    norm(shape_, true);
    convolve(outputs, 3, 1, 1, false, false);
    const ArrayId branch = current_;
    const Shape after = shape_;
    if (!is_same) shortcut(layer, start, before, outputs, stride);
    const ArrayId other = is_same ? start : current_;
    current_ = branch;
    norm(after, true, other);
  }

  void shortcut(const LayerWords& layer, ArrayId start, const Shape& before, Index outputs, Index stride) {
    current_ = start;
    shape_ = before;
    if (!layer.has("project")) {
      const Shape after{outputs, (before.height + stride - 1) / stride, (before.width + stride - 1) / stride};
      return append(make_thinning<Real>(before, stride, outputs), after);
    }
    convolve(outputs, 1, stride, 0, false, false);
    norm(shape_, false);
  }

  std::string image() const { return std::to_string(shape_.height) + " x " + std::to_string(shape_.width); }

  std::vector<LayerWords> layers_;
  Normalisation normalisation_;
  Program<Real> program_;
  Shape shape_;
  std::size_t next_ = 0;
  ArrayId current_ = 0;
  Index offset_ = 0;
  std::uint32_t dropouts_ = 0;
  bool is_signal_;  // windows are one row high
  bool is_masked_by_next_ = false;
};

}  // namespace

template <class Real>
BuiltNetwork<Real> build_network(const NetworkSpec& spec, const Shape& input, std::uint32_t classes) {
  return Builder<Real>(spec, input).build(classes);
}

template BuiltNetwork<float> build_network(const NetworkSpec&, const Shape&, std::uint32_t);
template BuiltNetwork<double> build_network(const NetworkSpec&, const Shape&, std::uint32_t);

}  // namespace rubato
