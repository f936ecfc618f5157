// Asynchronous SGD. A worker sends the gradient at the model that it was given; the centre takes every gradient at once, at a
// step size that may follow its delay tau (versions since that model), and gives its new model to the worker that has answered, or
// to one that is drawn.
//
//   answer    g = g_i(x at its version)
//   centre    x <- x - step(tau) g         the laws of step: algos/staleness.hpp
//
// Sources: A. Koloskova, S. Stich, M. Jaggi, "Sharper convergence guarantees for asynchronous SGD for distributed and federated
// learning", algorithms 1 and 2, equation 11; K. Mishchenko et al., "Asynchronous SGD beats minibatch SGD under arbitrary delays"
// (docs/references.md#asgd). The model that is handed out holds the answer's own update (AS-1).
#include "algos/answering.hpp"
#include "algos/entries.hpp"
#include "algos/staleness.hpp"

namespace rubato {

namespace {

struct AsgdSettings {
  DelayStep step;
  bool centre_works;
};

template <class Real>
class AsynchronousSgd final : public AnsweringGradients<Real, AsgdSettings> {
  using Base = AnsweringGradients<Real, AsgdSettings>;

 public:
  explicit AsynchronousSgd(const Setup<Real, AsgdSettings>& setup) : Base(setup), step_{setup.settings->step} {
    const bool all_work = setup.settings->centre_works;
    if (step_.workers == 0) step_.workers = static_cast<double>(this->clients() - (all_work ? 0 : 1));
  }

 private:
  void collect(Work<Real>& work, ClientId, const Tensor& answer, const typename Base::Circumstances& how) override {
    this->move_x(static_cast<Real>(-step_(how.delay)), numbers_of<Real>(answer), work.pool);
  }

  DelayStep step_;
};

constexpr OptionSpec asgd_own[] = {
    gamma_option("step size of an answer without delay"),
    word_option("law", "constant", "how the step size follows the delay tau in versions", word_list(DelayLaw{})),
    {"n", OptionType::whole, "0", "of law = \"mishchenko\": gamma n / max(n, tau); 0: the number of workers", 0, 1e9},
    {"concurrency", OptionType::number, "1", "of law = \"koloskova\": the step falls above this delay", 0, 1e9},
    {"L", OptionType::number, "1", "of law = \"koloskova\": the smoothness", 0, 1e12, true},
    word_option("next", "answerer", "which worker gets the model after an answer: the one that has answered, or one that is drawn",
                "answerer|uniform"),
};
constexpr auto asgd_table = combined(asgd_own, answer_options("queue"));

AsgdSettings read_asgd(const OptionReader& options) {
  return {{options.number("gamma"), options.choice<DelayLaw>("law"), static_cast<double>(options.whole("n")),
           options.number("concurrency"), options.number("L")},
          options.flag("center_works")};
}

Needs asgd_needs(const OptionReader& options) { return needs_of_answers(options, {.draws_next = options.is("next", "uniform")}); }

}  // namespace

constinit const CatalogueEntry entries::asgd{
    .name = "asgd",
    .summary = "a server takes every gradient as it comes, with steps that may follow the delay",
    .options = asgd_table,
    .runs = {ProtocolKind::server},
    .graphs = Graphs::centred,
    .needs = needs_by<asgd_needs, asgd_table>,
    .make = made_by<AsynchronousSgd, read_asgd, asgd_table>,
};

}  // namespace rubato
