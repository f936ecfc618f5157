#include "learning/learner.hpp"

#include <stdexcept>
#include <string>

namespace rubato {

template <class Real>
Real Learner<Real>::descend(VectorRef<Real> x, Picks picks, Real step, Scratch<Real>& scratch) const {
  typename Scratch<Real>::Frame frame(scratch);
  const VectorRef<Real> g = scratch.vector(dimension());
  const Real loss = gradient(read_only(x), picks, g, scratch);
  x -= step * g;
  return loss;
}

template <class Real>
void Learner<Real>::initialise(VectorRef<Real> x, Stream&) const {
  x.setZero();
}

template <class Real>
Score Learner<Real>::score(ConstVectorRef<Real> x, Part, Scratch<Real>& scratch) const {
  typename Scratch<Real>::Frame frame(scratch);
  Score score;
  score.samples = 1;
  score.loss_sum = static_cast<double>(gradient(x, {}, scratch.vector(dimension()), scratch));
  return score;
}

template <class Real>
void Learner<Real>::predict(ConstVectorRef<Real>, Picks, MatrixRef<Real>, Scratch<Real>&) const {
  throw std::logic_error("this learner predicts no classes");
}

template <class Real>
Cut Learner<Real>::cut(std::string_view layer, std::uint32_t architecture) const {
  if (layer != "output" || architecture != 0)
    throw std::invalid_argument("algorithm.layer is \"" + std::string(layer) + "\"; this learner has the layer output alone");
  return {.outputs = static_cast<Index>(classes()), .parameters = dimension(), .base = "model 0"};
}

template <class Real>
void Learner<Real>::outputs_at(const Cut&, ConstVectorRef<Real> x, Picks picks, MatrixRef<Real> out, Scratch<Real>& scratch) const {
  predict(x, picks, out, scratch);
}

template class Learner<float>;
template class Learner<double>;

}  // namespace rubato
