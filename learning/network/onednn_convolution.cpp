// Convolution in float through oneDNN. Its primitives are made once for every number of samples and used by all
// threads; each thread has a stream of its own, and one thread does all of a primitive's work.
#include <algorithm>
#include <map>
#include <mutex>
#include <oneapi/dnnl/dnnl.hpp>
#include <shared_mutex>
#include <unordered_map>

#include "learning/network/operations.hpp"
#include "learning/one_thread.hpp"

namespace rubato {

namespace {

using dnnl::algorithm;
using dnnl::memory;
using dnnl::prop_kind;
using Tag = memory::format_tag;
using Forward = dnnl::convolution_forward;
using BackwardData = dnnl::convolution_backward_data;
using BackwardWeights = dnnl::convolution_backward_weights;

const dnnl::engine& engine() {
  static const dnnl::engine processor(dnnl::engine::kind::cpu, 0);
  return processor;
}

dnnl::stream& stream_of_thread() {
  static thread_local dnnl::stream stream(engine());
  return stream;
}

// Batch sizes that a convolution keeps its primitives for. Where every client has a batch of its own size there are
// many more; oneDNN keeps what it compiled, so that making them again is cheap.
constexpr std::size_t most_sizes = 32;

memory::desc described(const memory::dims& sizes, Tag tag) { return {sizes, memory::data_type::f32, tag}; }

/// Weights in the order a primitive wants them, and the way there or back.
struct Ordered {
  memory::desc desc;
  dnnl::reorder reorder;
};

/// Memory that is not its own.
memory lent(const memory::desc& desc, const void* data) { return {desc, engine(), const_cast<void*>(data)}; }

struct Descriptions {
  memory::desc in, weights, bias, out;
};

/// Everything for batches of one size.
class Primitives {
 public:
  Primitives(const ConvolutionForm& form, Index rows) : form_{form}, rows_{rows} {
    const OneThread one_thread;
    make_forward();
    make_backward();
  }

  void forward(const float* in, const float* parameters, float* out, Scratch<float>& scratch) const {
    const memory weights = ordered_weights(to_forward_, parameters, scratch);
    Arguments arguments{{DNNL_ARG_SRC, lent(forward_desc_.src_desc(), in)},
                        {DNNL_ARG_WEIGHTS, weights},
                        {DNNL_ARG_DST, lent(forward_desc_.dst_desc(), out)}};
    if (form_.has_bias) arguments.emplace(DNNL_ARG_BIAS, lent(forward_desc_.bias_desc(), parameters + form_.weights()));
    run(forward_, forward_desc_, arguments, scratch);
  }

  void backward_data(const float* delta, const float* parameters, float* in, Scratch<float>& scratch) const {
    const memory weights = ordered_weights(to_backward_, parameters, scratch);
    Arguments arguments{{DNNL_ARG_DIFF_DST, lent(data_desc_.diff_dst_desc(), delta)},
                        {DNNL_ARG_WEIGHTS, weights},
                        {DNNL_ARG_DIFF_SRC, lent(data_desc_.diff_src_desc(), in)}};
    run(backward_data_, data_desc_, arguments, scratch);
  }

  void backward_weights(const float* in, const float* delta, float* gradient, Scratch<float>& scratch) const {
    Scratch<float>::Frame frame(scratch);
    const memory weights = lent(from_weights_.desc, room(from_weights_.desc, scratch));
    Arguments arguments{{DNNL_ARG_SRC, lent(weights_desc_.src_desc(), in)},
                        {DNNL_ARG_DIFF_DST, lent(weights_desc_.diff_dst_desc(), delta)},
                        {DNNL_ARG_DIFF_WEIGHTS, weights}};
    if (form_.has_bias) arguments.emplace(DNNL_ARG_DIFF_BIAS, lent(weights_desc_.diff_bias_desc(), gradient + form_.weights()));
    run(backward_weights_, weights_desc_, arguments, scratch);
    const OneThread one_thread;
    memory plain = lent(plain_weights(), gradient), ordered = weights;
    from_weights_.reorder.execute(stream_of_thread(), ordered, plain);
  }

 private:
  using Arguments = std::unordered_map<int, memory>;

  memory::dims in_sizes() const { return {rows_, form_.in.channels, form_.in.height, form_.in.width}; }
  memory::dims out_sizes() const { return {rows_, form_.outputs, form_.out().height, form_.out().width}; }
  memory::dims weight_sizes() const { return {form_.outputs, form_.in.channels, form_.kernel_rows(), form_.kernel}; }
  memory::desc plain_weights() const { return described(weight_sizes(), Tag::oihw); }

  // Pixel by pixel is what all arrays are. With 16 channels that is the same as oneDNN's blocks of 16, and with one
  // channel the same as planes; said in those words it has faster code for some cases (measured with AVX-512).
  Tag in_tag(bool in_blocks) const {
    if (!in_blocks) return Tag::nhwc;
    return form_.in.channels == 1 ? Tag::nchw : Tag::nChw16c;
  }
  Tag out_tag(bool in_blocks) const { return in_blocks ? Tag::nChw16c : Tag::nhwc; }
  bool forward_in_blocks() const { return form_.outputs == 16 && (form_.in.channels == 1 || form_.in.channels == 16); }
  bool backward_in_blocks() const { return form_.outputs == 16 && form_.in.channels == 1; }

  Descriptions descriptions(bool in_blocks) const {
    return {described(in_sizes(), in_tag(in_blocks)), described(weight_sizes(), Tag::any), described({form_.outputs}, Tag::a),
            described(out_sizes(), out_tag(in_blocks))};
  }

  memory::dims strides() const { return {form_.stride_rows(), form_.stride}; }
  memory::dims padding() const { return {form_.padding_rows(), form_.padding}; }

  Forward::primitive_desc forward_description(bool in_blocks) const {
    const Descriptions d = descriptions(in_blocks);
    dnnl::primitive_attr attributes;
    attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
    if (form_.has_relu) {
      dnnl::post_ops after;
      after.append_eltwise(1, algorithm::eltwise_relu, 0, 0);
      attributes.set_post_ops(after);
    }
    const Forward::desc desc = form_.has_bias ? Forward::desc(prop_kind::forward_training, algorithm::convolution_direct, d.in,
                                                              d.weights, d.bias, d.out, strides(), padding(), padding())
                                              : Forward::desc(prop_kind::forward_training, algorithm::convolution_direct, d.in,
                                                              d.weights, d.out, strides(), padding(), padding());
    return {desc, attributes, engine()};
  }

  void make_forward() {
    forward_desc_ = forward_description(forward_in_blocks());
    forward_ = Forward(forward_desc_);
    to_forward_ = {forward_desc_.weights_desc(), reorder(plain_weights(), forward_desc_.weights_desc())};
  }

  void make_backward() {
    const bool in_blocks = backward_in_blocks();
    const Descriptions d = descriptions(in_blocks);
    const Forward::primitive_desc hint = forward_description(in_blocks);
    dnnl::primitive_attr attributes;
    attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
    data_desc_ = {BackwardData::desc(algorithm::convolution_direct, d.in, d.weights, d.out, strides(), padding(), padding()),
                  attributes, engine(), hint};
    backward_data_ = BackwardData(data_desc_);
    to_backward_ = {data_desc_.weights_desc(), reorder(plain_weights(), data_desc_.weights_desc())};
    const BackwardWeights::desc desc =
        form_.has_bias
            ? BackwardWeights::desc(algorithm::convolution_direct, d.in, d.weights, d.bias, d.out, strides(), padding(), padding())
            : BackwardWeights::desc(algorithm::convolution_direct, d.in, d.weights, d.out, strides(), padding(), padding());
    weights_desc_ = {desc, attributes, engine(), hint};
    backward_weights_ = BackwardWeights(weights_desc_);
    from_weights_ = {weights_desc_.diff_weights_desc(), reorder(weights_desc_.diff_weights_desc(), plain_weights())};
  }

  static dnnl::reorder reorder(const memory::desc& from, const memory::desc& to) {
    return dnnl::reorder(dnnl::reorder::primitive_desc(engine(), from, engine(), to));
  }

  static float* room(const memory::desc& desc, Scratch<float>& scratch) {
    return scratch.vector(static_cast<Index>(desc.get_size() / sizeof(float) + 1)).data();
  }

  // Valid until the caller's frame ends.
  memory ordered_weights(const Ordered& order, const float* parameters, Scratch<float>& scratch) const {
    const OneThread one_thread;
    memory plain = lent(plain_weights(), parameters), ordered = lent(order.desc, room(order.desc, scratch));
    order.reorder.execute(stream_of_thread(), plain, ordered);
    return ordered;
  }

  template <class Description>
  static void run(const dnnl::primitive& primitive, const Description& description, Arguments& arguments, Scratch<float>& scratch) {
    const OneThread one_thread;
    const memory::desc desc = description.scratchpad_desc();
    arguments.emplace(DNNL_ARG_SCRATCHPAD, lent(desc, room(desc, scratch)));
    primitive.execute(stream_of_thread(), arguments);
  }

  ConvolutionForm form_;
  Index rows_;
  Forward::primitive_desc forward_desc_;
  BackwardData::primitive_desc data_desc_;
  BackwardWeights::primitive_desc weights_desc_;
  dnnl::primitive forward_, backward_data_, backward_weights_;
  Ordered to_forward_, to_backward_, from_weights_;
};

class OnednnConvolution final : public Operation<float> {
 public:
  explicit OnednnConvolution(const ConvolutionForm& form)
      : Operation<float>(form.offset), form_{form}, plain_{make_plain_convolution<float>(form)} {}

  Index parameters() const override { return form_.parameters(); }
  void initialise(float* x, StartLaw law, Stream& stream) const override { plain_->initialise(x, law, stream); }

  void forward(const Pass<float>& pass, const Arrays<float>& arrays) const override {
    Scratch<float>::Frame frame(pass.scratch);
    primitives(pass.rows)->forward(arrays.in, pass.parameters + form_.offset, arrays.out, pass.scratch);
  }

  void backward(const Pass<float>& pass, const Arrays<float>& arrays, const Gradients<float>& gradients) const override {
    Scratch<float>::Frame frame(pass.scratch);
    if (form_.has_relu && form_.masks) mask(arrays.out, gradients.out, pass.rows * form_.out().size());
    const std::shared_ptr<const Primitives> prepared = primitives(pass.rows);
    prepared->backward_weights(arrays.in, gradients.out, gradients.parameters + form_.offset, pass.scratch);
    if (gradients.in) prepared->backward_data(gradients.out, pass.parameters + form_.offset, gradients.in, pass.scratch);
  }

 private:
  std::shared_ptr<const Primitives> primitives(Index rows) const {
    {
      const std::shared_lock lock(guard_);
      const auto found = prepared_.find(rows);
      if (found != prepared_.end()) return found->second;
    }
    const auto made = std::make_shared<const Primitives>(form_, rows);
    const std::unique_lock lock(guard_);
    if (prepared_.size() >= most_sizes) prepared_.erase(prepared_.begin());
    return prepared_.emplace(rows, made).first->second;
  }

  ConvolutionForm form_;
  OperationPtr<float> plain_;
  mutable std::shared_mutex guard_;
  mutable std::map<Index, std::shared_ptr<const Primitives>> prepared_;  // by number of samples
};

}  // namespace

template <>
OperationPtr<float> make_convolution<float>(const ConvolutionForm& form) {
  return std::make_unique<OnednnConvolution>(form);
}

}  // namespace rubato
