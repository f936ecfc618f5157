// Ringmaster ASGD. Asynchronous SGD that leaves out gradients of R or more versions ago; with stops no such work goes on.
//
//   answer of delay tau    tau < R:  x <- x - gamma g;     else it is left out
//   then                   the worker that has answered gets the model; with stops also every worker whose model is R or more
//                          versions old, and it drops its work
//
// Settings of the theorem: R = max{1, ceil(sigma^2/eps)}, gamma = min{1/(2RL), eps/(4 L sigma^2)} (`rubato bound` computes them).
// Source: A. Maranjyan, A. Tyurin, P. Richtarik, "Ringmaster ASGD: the first asynchronous SGD with optimal time complexity"
// (docs/references.md#ringmaster). Equal data alone: a small R leaves slow workers out for ever (RM-3).
#include "algos/answering.hpp"
#include "algos/entries.hpp"

namespace rubato {

namespace {

template <class Real>
class Ringmaster final : public AnsweringGradients<Real, CentreStep> {
  using Base = AnsweringGradients<Real, CentreStep>;

 public:
  using Base::Base;

 private:
  void collect(Work<Real>& work, ClientId, const Tensor& answer, const typename Base::Circumstances&) override {
    this->move_x(static_cast<Real>(-this->settings().gamma), numbers_of<Real>(answer), work.pool);
  }
};

constexpr OptionSpec ringmaster_own[] = {
    gamma_option(),
    {"R", OptionType::whole, "0", "answers of so many or more versions ago are left out; 0: none", 0, 1e9},
    {"stops", OptionType::flag, "true", "work that would be left out is cancelled"},
};
constexpr auto ringmaster_table = combined(ringmaster_own, answer_options());

Needs ringmaster_needs(const OptionReader& options) {
  AnswerRule rule;
  if (const std::uint64_t R = options.whole("R"); R > 0) rule.greatest_delay = R - 1, rule.stops = options.flag("stops");
  return needs_of_answers(options, rule);
}

}  // namespace

constinit const CatalogueEntry entries::ringmaster{
    .name = "ringmaster",
    .summary = "asynchronous SGD that leaves out what is too old, and stops the work on it",
    .options = ringmaster_table,
    .runs = {ProtocolKind::server},
    .graphs = Graphs::centred,
    .needs = needs_by<ringmaster_needs, ringmaster_table>,
    .make = made_by<Ringmaster, read_centre_step, ringmaster_table>,
};

}  // namespace rubato
