// Quadratic losses.  A: square matrix, c: centre.
//   f(x) = 1/2 (x - c)^T A (x - c)      gradient: (A + A^T)/2 (x - c)
// The catalogue's `quadratic` has A = I and only a centre per client.
#include <utility>

#include "learning/models/problems.hpp"
#include "runtime/sentence.hpp"

namespace rubato {

namespace {

template <class Real>
class Quadratic final : public Learner<Real> {
 public:
  Quadratic(const Matrix<Real>& a, Vector<Real> centre) : a_{(a + a.transpose()) / Real{2}}, centre_{std::move(centre)} {}

  Index dimension() const override { return centre_.size(); }
  std::uint32_t samples() const override { return 1; }

  Real gradient(ConstVectorRef<Real> x, Picks, VectorRef<Real> g, Scratch<Real>& scratch) const override {
    typename Scratch<Real>::Frame frame(scratch);
    VectorRef<Real> away = scratch.vector(dimension());
    away = x - centre_;
    g.noalias() = a_ * away;  // `away` is scratch, not g
    return away.dot(g) / 2;
  }

 private:
  Matrix<Real> a_;
  Vector<Real> centre_;
};

template <class Real>
class CentreLearner final : public Learner<Real> {
 public:
  CentreLearner(std::shared_ptr<const Centres<Real>> centres, std::uint32_t client)
      : centres_{std::move(centres)}, client_{client} {}

  Index dimension() const override { return centres_->dimension(); }
  std::uint32_t samples() const override { return 1; }

  Real gradient(ConstVectorRef<Real> x, Picks, VectorRef<Real> g, Scratch<Real>&) const override {
    g = x - (*centres_)[client_];
    return g.squaredNorm() / 2;
  }

  Real descend(VectorRef<Real> x, Picks, Real step, Scratch<Real>&) const override {
    const ConstVectorRef<Real> centre = (*centres_)[client_];
    const Real loss = (x - centre).squaredNorm() / 2;
    x -= step * (x - centre);
    return loss;
  }

 private:
  std::shared_ptr<const Centres<Real>> centres_;
  std::uint32_t client_;
};

template <class Real>
Index whole_lines(Index numbers) {
  constexpr Index line = static_cast<Index>(buffer_alignment / sizeof(Real));
  return (numbers + line - 1) / line * line;
}

}  // namespace

template <class Real>
std::unique_ptr<Learner<Real>> make_quadratic(const Matrix<Real>& a, Vector<Real> centre) {
  if (a.rows() == centre.size() && a.cols() == centre.size() && centre.size() > 0)
    return std::make_unique<Quadratic<Real>>(a, std::move(centre));
  refuse("the matrix of quadratic is ", a.rows(), " x ", a.cols(), " and c has ", centre.size(),
         " numbers; A must be square and as large as c");
}

template <class Real>
Centres<Real>::Centres(std::uint64_t seed, std::uint32_t clients, Index dimension, double deviation)
    : dimension_{dimension}, numbers_{Matrix<Real>::Zero(clients, whole_lines<Real>(dimension))} {
  for (std::uint32_t client = 0; client < clients; ++client) {
    Stream stream(seed, {client}, Purpose::init);
    for (Index i = 0; i < dimension; ++i) numbers_(client, i) = static_cast<Real>(deviation * stream.normal());
  }
}

template <class Real>
std::unique_ptr<Learner<Real>> make_centre_learner(std::shared_ptr<const Centres<Real>> centres, std::uint32_t client) {
  if (client < centres->clients()) return std::make_unique<CentreLearner<Real>>(std::move(centres), client);
  refuse("the client of quadratic is ", client, "; there are centres for ", centres->clients(), " clients, counted from 0");
}

template class Centres<float>;
template class Centres<double>;
template std::unique_ptr<Learner<float>> make_quadratic(const Matrix<float>&, Vector<float>);
template std::unique_ptr<Learner<double>> make_quadratic(const Matrix<double>&, Vector<double>);
template std::unique_ptr<Learner<float>> make_centre_learner(std::shared_ptr<const Centres<float>>, std::uint32_t);
template std::unique_ptr<Learner<double>> make_centre_learner(std::shared_ptr<const Centres<double>>, std::uint32_t);

}  // namespace rubato
