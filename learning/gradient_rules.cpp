#include "learning/gradient_rules.hpp"

#include <cmath>
#include <stdexcept>
#include <string>
#include <utility>

namespace rubato {

namespace {

template <class Real>
class RuledLearner final : public Learner<Real> {
 public:
  RuledLearner(std::unique_ptr<Learner<Real>> learner, std::shared_ptr<const GradientRules> rules)
      : learner_{std::move(learner)}, rules_{std::move(rules)} {}

  Index dimension() const override { return learner_->dimension(); }
  std::uint32_t samples() const override { return learner_->samples(); }
  std::uint32_t classes() const override { return learner_->classes(); }

  Real gradient(ConstVectorRef<Real> x, Picks picks, VectorRef<Real> g, Scratch<Real>& scratch) const override {
    const Real loss = learner_->gradient(x, picks, g, scratch);
    if (rules_->clip > 0) clip(g);
    if (rules_->weight_decay > 0)
      for_each_part([&](Index first, Index count) {
        g.segment(first, count) += static_cast<Real>(rules_->weight_decay) * x.segment(first, count);
      });
    return loss;
  }

  void initialise(VectorRef<Real> x, Stream& stream) const override { learner_->initialise(x, stream); }
  Score score(ConstVectorRef<Real> x, Part part, Scratch<Real>& scratch) const override {
    return learner_->score(x, part, scratch);
  }
  void predict(ConstVectorRef<Real> x, Picks picks, MatrixRef<Real> out, Scratch<Real>& scratch) const override {
    learner_->predict(x, picks, out, scratch);
  }
  Cut cut(std::string_view layer, std::uint32_t architecture) const override { return learner_->cut(layer, architecture); }
  void outputs_at(const Cut& cut, ConstVectorRef<Real> x, Picks picks, MatrixRef<Real> out, Scratch<Real>& scratch) const override {
    learner_->outputs_at(cut, x, picks, out, scratch);
  }

 private:
  void clip(VectorRef<Real> g) const {
    double squares = 0;
    for_each_part([&](Index first, Index count) { squares += static_cast<double>(g.segment(first, count).squaredNorm()); });
    const double norm = std::sqrt(squares);
    if (!(norm > rules_->clip)) return;
    const Real factor = static_cast<Real>(rules_->clip / norm);
    for_each_part([&](Index first, Index count) { g.segment(first, count) *= factor; });
  }

  template <class Act>
  void for_each_part(const Act& act) const {
    for_each_between(rules_->exempt, dimension(), act);
  }

  std::unique_ptr<Learner<Real>> learner_;
  std::shared_ptr<const GradientRules> rules_;
};

void check_not_negative(const char* name, double value) {
  if (value >= 0) return;
  throw std::invalid_argument("model." + std::string(name) + " is " + std::to_string(value) + "; allowed are numbers from 0");
}

}  // namespace

template <class Real>
std::unique_ptr<Learner<Real>> with_rules(std::unique_ptr<Learner<Real>> learner, std::shared_ptr<const GradientRules> rules) {
  check_not_negative("clip", rules->clip);
  check_not_negative("weight_decay", rules->weight_decay);
  if (rules->clip == 0 && rules->weight_decay == 0) return learner;
  return std::make_unique<RuledLearner<Real>>(std::move(learner), std::move(rules));
}

template std::unique_ptr<Learner<float>> with_rules(std::unique_ptr<Learner<float>>, std::shared_ptr<const GradientRules>);
template std::unique_ptr<Learner<double>> with_rules(std::unique_ptr<Learner<double>>, std::shared_ptr<const GradientRules>);

}  // namespace rubato
