// The conditions of PaME, DEPOSITUM, DeceFL and DRACO (docs/references.md); those of Spod-GT are in spodgt_conditions.cpp.
#include "experiment/build/conditions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "algos/option_table.hpp"
#include "algos/penalty.hpp"
#include "experiment/build/expected_weights.hpp"
#include "runtime/protocols/link_choice.hpp"
#include "runtime/world/changing.hpp"
#include "runtime/world/spectrum.hpp"
#include "runtime/world/topology.hpp"

namespace rubato {

namespace {

using config::Experiment;

constexpr std::size_t most_for_spectra = 1000;  // for spectra of dense matrices
constexpr const char* no_smoothness = "metrics.smoothness does not say L of the losses";

/// The options of the algorithm, all of which a resolved experiment has.
struct NamedOptions {
  const AlgorithmOptions& given;

  double number(const char* name) const { return given.number(name, std::numeric_limits<double>::quiet_NaN()); }
  double least(const char* name) const { return std::ranges::min(given.numbers(name, number_or_nan())); }
  double greatest(const char* name) const { return std::ranges::max(given.numbers(name, number_or_nan())); }
  std::int64_t whole(const char* name) const { return given.whole(name, 1); }
  bool is(const char* name, const char* word) const { return given.word(name, "") == word; }

 private:
  static double number_or_nan() { return std::numeric_limits<double>::quiet_NaN(); }
};

// ---- PaME: Setup 1 and assumption 1 of section IV

// The largest eigenvalue of D^-1/2 A D^-1/2 but one, as an absolute value: that of the neighbour averages.
double second_eigenvalue(const Graph& graph) {
  const std::size_t m = graph.clients();
  DenseMatrix matrix(m, std::vector<double>(m));
  const double all = static_cast<double>(graph.links());
  for (std::uint32_t i = 0; i < m; ++i)
    for (std::uint32_t j = 0; j < m; ++j) {
      const double root = std::sqrt(static_cast<double>(graph.out_degree({i}) * graph.out_degree({j})));
      matrix[i][j] = (graph.find_link({i}, {j}) ? 1 / root : 0) - root / all;
    }
  return spectral_norm(matrix);
}

struct Pame {
  double zeta, p, gamma;
  double k0;  // the least common multiple of the kappas
  PerClientNumber nu;
  std::vector<std::size_t> taken;  // t_i
};

double common_period(const std::vector<std::uint32_t>& periods) {
  double k0 = 1;
  for (const std::uint32_t period : periods) {
    const auto so_far = static_cast<std::uint64_t>(k0);
    k0 = static_cast<double>(so_far / std::gcd(so_far, std::uint64_t{period})) * period;
    if (k0 > 1e9) return k0;
  }
  return k0;
}

Condition pame_12(const Pame& is, const Graph& graph) {
  const double root = std::pow(is.gamma, -is.k0 / 2) - is.zeta, right = root * root;
  double worst = -1;
  std::uint32_t whose = 0;
  for (std::uint32_t i = 0; i < graph.clients(); ++i) {
    double shares = 0;
    for (const ClientId j : graph.senders_to({i})) shares += is.nu.of(j.value);
    const double left = std::pow(1 - is.p, static_cast<double>(is.taken[i])) * (1 + is.zeta) * (1 + is.zeta) + 2 * is.p * shares;
    if (left > worst) worst = left, whose = i;
  }
  const bool is_free = worst >= 1;
  return judged("(12)", root > 0 && worst < right, "the left side is {:.4g} (client {}, degree {}, t {}), the right side {:.4g}{}",
                worst, whose, graph.in_degree({whose}), is.taken[whose], right,
                is_free ? "; a right side is below 1 for every gamma and k0" : "");
}

Condition pame_13(const Experiment& experiment, const Pame& is, double sigma0) {
  const config::Theory& theory = experiment.theory;
  const auto& smoothness = experiment.metrics.smoothness;
  if (smoothness && sigma0 < 4 * *smoothness)
    return judged("(13)", false, "sigma0 = {:g} is less than 4 L = {:g}", sigma0, 4 * *smoothness);
  if (!smoothness) return unknown("(13)", no_smoothness);
  if (!theory.spread || !theory.radius)
    return unknown("(13)", "theory.spread and theory.radius do not say epsilon and delta; sigma0 is at least 4 L");
  const auto fewest = static_cast<double>(std::ranges::min(is.taken));
  const double second = *theory.spread * is.gamma / ((is.gamma - 1) * *theory.radius * fewest);
  return judged("(13)", sigma0 >= second, "sigma0 = {:g}, 4 L = {:g}, epsilon gamma / ((gamma - 1) delta t_min) = {:.4g}", sigma0,
                4 * *smoothness, second);
}

std::vector<Condition> pame_conditions(const TheoryInput& input) {
  if (input.graphs.size() > 1) return {unknown("(11) to (13)", "the graph changes; the paper's B is that of one graph")};
  const Graph& graph = input.graphs.front();
  const NamedOptions options{input.experiment.algorithm.options};
  if (graph.is_directed())
    return {unknown("(11) to (13)", "the graph is directed; the paper's B has the same neighbours both ways")};
  if (graph.clients() > most_for_spectra) return {unknown("(11) to (13)", "the graph is too large for its spectrum")};
  Pame is{second_eigenvalue(graph),
          options.least("share"),
          options.least("gamma"),
          common_period(input.absorb_every),
          PerClientNumber(options.given.numbers("nu", 1)),
          {}};
  for (std::uint32_t i = 0; i < graph.clients(); ++i) is.taken.push_back(share_of(is.nu.of(i), graph.in_degree({i})));
  const double defect = column_defect(weights::neighbours_only(graph));
  const double gamma_most = is.zeta > 0 ? std::pow(is.zeta, -2 / is.k0) : std::numeric_limits<double>::infinity();
  return {
      judged("assumption 1", defect <= sum_tolerance && is.zeta < 1 - 1e-12,
             "zeta = {:.6g}; the columns of the neighbours' averages are off 1 by {:.2g}{}", is.zeta, defect <= 1e-12 ? 0 : defect,
             defect <= sum_tolerance ? "" : ", because degrees differ"),
      judged("(11)", is.gamma > 1 && is.gamma < gamma_most && is.p < 1 && is.p > 0,
             "gamma = {:g} must lie between 1 and zeta^(-2/k0) = {:.6g}, k0 = {:g} the least common multiple of kappa; p = {:g}",
             is.gamma, gamma_most, is.k0, is.p),
      pame_12(is, graph), pame_13(input.experiment, is, options.least("sigma0"))};
}

// ---- DEPOSITUM: theorem 1

struct Depositum {
  double lambda, alpha, beta, gamma, rho, omega;
  double T0, n;
  bool is_option_2;
};

// delta_1 and delta_2 before proposition 2; with alpha rho = 0 they are one.
double depositum_delta(const Depositum& is, double alpha_rho) {
  if (is.lambda < 1e-12) return std::pow(is.T0, is.T0) * std::pow(1 - alpha_rho, 2 * is.T0 + 2) / std::pow(1 + is.T0, is.T0 + 1);
  return is.lambda * (1 - is.lambda) * ((1 - alpha_rho) * (1 - alpha_rho) - std::pow(is.lambda, 1 / is.T0));
}

Condition depositum_alpha(const Depositum& is, const std::optional<double>& smoothness) {
  constexpr std::string_view name = "alpha";
  const double by_rho = is.rho > 0 ? 1 / (48 * is.rho) : std::numeric_limits<double>::infinity();
  if (is.alpha > by_rho) return judged(name, false, "alpha = {:g} is above 1 / (48 rho) = {:.4g}", is.alpha, by_rho);
  if (!smoothness) return unknown(name, no_smoothness);
  const double L = *smoothness, momentum = is.is_option_2 ? is.gamma * is.gamma : is.gamma;
  const double by_gamma = momentum > 0 ? (1 - is.gamma) / (24 * momentum * L) : std::numeric_limits<double>::infinity();
  const double most = std::min({1 / (16 * L), by_gamma, by_rho});
  return judged(name, is.alpha <= most, "alpha = {:g}; min(1 / 16 L, (1 - gamma) / 24 gamma{} L, 1 / 48 rho) = {:.4g}", is.alpha,
                is.is_option_2 ? "^2" : "", most);
}

Condition depositum_beta(const Depositum& is) {
  constexpr std::string_view name = "beta";
  const double d1 = depositum_delta(is, is.alpha * is.rho), d2 = depositum_delta(is, 0);
  if (d1 <= 0) return judged(name, false, "delta_1 = {:.4g} is not positive: alpha rho is too large for lambda and T0", d1);
  const double square = 8 * d1 * d2 * (96 * is.n - 71) / (9 * is.omega * is.T0 * (11 * d1 + 6 * is.T0 + 2 * is.n * is.T0));
  const double most = std::sqrt(square);
  return judged(name, is.beta <= most,
                "beta = {:g}; its bound is {:.4g} (delta_1 = {:.4g}, delta_2 = {:.4g}, n = {:g}, T0 = {:g}){}", is.beta, most, d1,
                d2, is.n, is.T0, is.beta > most ? fmt::format(", {:.0f} times less", is.beta / most) : "");
}

std::vector<Condition> depositum_conditions(const TheoryInput& input) {
  const Graph& graph = input.graphs.front();
  if (input.graphs.size() > 1) return {unknown("theorem 1", "the graph changes; theorem 1 is about one matrix W")};
  if (graph.clients() > most_for_spectra) return {unknown("theorem 1", "the graph is too large for its spectrum")};
  const Experiment& experiment = input.experiment;
  const NamedOptions options{experiment.algorithm.options};
  if (!options.is("tracks", "gradient")) return {unknown("theorem 1", "it is about trackers of gradients, tracks = \"gradient\"")};
  const Penalty penalty(experiment.algorithm.options);
  const double gamma = options.number("gamma");
  const bool is_option_2 = options.is("option", "II");
  Depositum is{.lambda = consensus_rate(expected_weights(graph, experiment, input.resolved, {}, false)),
               .alpha = options.greatest("alpha"),
               .beta = options.number("beta"),
               .gamma = gamma,
               .rho = penalty.weak_convexity(),
               .omega = is_option_2 ? (1 + 3 * gamma) / (1 - gamma) : 1,
               .T0 = static_cast<double>(options.whole("T0")),
               .n = static_cast<double>(graph.clients()),
               .is_option_2 = is_option_2};
  if (is.lambda < 1e-12) is.lambda = 0;
  const double alpha_most = is.rho > 0 ? (1 - std::pow(is.lambda, 1 / is.T0)) / is.rho : std::numeric_limits<double>::infinity();
  return {judged("W", is.lambda < 1, "lambda = {:.6g} of the weights", is.lambda),
          judged("(14), (15)", is.alpha < alpha_most, "alpha = {:g} must be below (1 - lambda^(1/T0)) / rho = {:.4g}", is.alpha,
                 alpha_most),
          depositum_alpha(is, experiment.metrics.smoothness), depositum_beta(is)};
}

// ---- DeceFL: theorem 1 of the text, theorems 1 and 3 of the supplement

struct JointSpectrum {
  std::size_t graphs = 0;  // B: so many in a row
  double lambda = 1;
  std::string why{};  // not known
};

// The smallest B for which the product of any B matrices in a row is nearer to the mean than 1.
JointSpectrum joint_spectrum(const std::vector<MixingMatrix>& matrices) {
  constexpr double most_work = 3e9, below_one = 1 - 1e-9;
  const std::size_t m = matrices.front().graph().clients(), count = matrices.size();
  const double one = static_cast<double>(m) * static_cast<double>(m) * static_cast<double>(m);
  std::vector<DenseMatrix> factors, products;
  for (const MixingMatrix& matrix : matrices) factors.push_back(matrix.dense());
  products = factors;
  std::size_t worst = 0;
  const auto distance = [m](DenseMatrix product) {
    for (std::vector<double>& row : product)
      for (double& entry : row) entry -= 1 / static_cast<double>(m);
    return spectral_norm(product);
  };
  for (std::size_t B = 1; B <= count; ++B) {
    if (one * static_cast<double>(count) * static_cast<double>(B) > most_work)
      return {B, 1, fmt::format("no {} matrices in a row are enough, and more take too long to multiply", B - 1)};
    if (B > 1)
      for (std::size_t t = 0; t < count; ++t) products[t] = product_of(factors[(t + B - 1) % count], products[t]);
    if (distance(products[worst]) >= below_one) continue;  // usually it is this one again
    double lambda = 0;
    for (std::size_t t = 0; t < count; ++t)
      if (const double now = distance(products[t]); now > lambda) lambda = now, worst = t;
    if (lambda < below_one) return {B, lambda};
  }
  return {};
}

Condition decefl_gamma(std::string_view name, double Gamma, double least, bool is_strict) {
  return judged(name, is_strict ? Gamma > least : Gamma >= least, "Gamma = {:g} must be {} {:.6g}", Gamma,
                is_strict ? "greater than" : "at least", least);
}

Condition decefl_step(std::string_view name, double delta, double Gamma, const std::optional<double>& L, double factor) {
  if (!L) return unknown(name, no_smoothness);
  return judged(name, delta / Gamma <= 1 / (factor * *L), "delta / Gamma = {:.4g}; its bound is {:.4g}", delta / Gamma,
                1 / (factor * *L));
}

std::vector<Condition> decefl_conditions(const TheoryInput& input) {
  const Experiment& experiment = input.experiment;
  const NamedOptions options{experiment.algorithm.options};
  if (input.graphs.front().clients() > most_for_spectra) return {unknown("theorem 1", "the graph is too large for its spectrum")};
  if (!options.is("form", "gradient"))
    return {unknown("theorem 1", "it is about form = \"gradient\"; local training has no such bound")};
  const Graph whole = joined(input.graphs);
  std::vector<MixingMatrix> matrices;
  for (const Graph& graph : input.graphs) matrices.push_back(expected_weights(graph, experiment, input.resolved, {}, false));
  const JointSpectrum joint = joint_spectrum(matrices);
  const bool is_one = input.graphs.size() == 1;
  std::vector<Condition> all;
  if (!joint.why.empty()) return {unknown("joint spectrum", joint.why)};
  if (joint.graphs == 0)
    return {judged("joint spectrum", false, "not even a pass through all {} matrices brings clients closer", matrices.size())};
  if (!is_one)
    all.push_back(
        judged("joint spectrum", true, "any B = {} matrices in a row have lambda = {:.6g} below 1", joint.graphs, joint.lambda));
  if (!options.is("step", "diminishing")) {
    all.push_back(judged("step", false, "eta stays {:g}; the theorems have eta = delta / (t + Gamma), step = \"diminishing\"",
                         options.greatest("eta")));
    return all;
  }
  const double delta = options.greatest("eta"), Gamma = options.number("step_offset"), lambda = joint.lambda;
  const double B = static_cast<double>(joint.graphs), square = lambda * lambda;
  const auto& L = experiment.metrics.smoothness;
  if (!experiment.theory.convexity)
    all.push_back(unknown("delta", "theory.convexity does not say mu"));
  else
    all.push_back(judged("delta", options.least("eta") > 1 / *experiment.theory.convexity,
                         "delta = {:g} must be greater than 1 / mu = {:.4g}", options.least("eta"),
                         1 / *experiment.theory.convexity));
  if (is_one) {
    all.push_back(decefl_gamma("Gamma, theorem 1", Gamma, lambda / (1 - lambda), true));
    all.push_back(decefl_step("delta / Gamma, theorem 1", delta, Gamma, L, 1));
    all.push_back(decefl_gamma("Gamma, supplement", Gamma, (std::sqrt(2 * (1 + square)) + 1 + square) / (1 - square), false));
    all.push_back(decefl_step("delta / Gamma, supplement", delta, Gamma, L, 2));
  } else {
    all.push_back(decefl_gamma("Gamma, theorem 3", Gamma, B * (2 + std::sqrt(2 * (1 + square))) / (1 - square) - 1, false));
    all.push_back(decefl_step("delta / Gamma, theorem 3", delta, Gamma, L, 2));
  }
  return all;
}

// ---- DRACO: theorem 3.1

std::vector<Condition> draco_conditions(const TheoryInput& input) {
  const Experiment& experiment = input.experiment;
  const NamedOptions options{experiment.algorithm.options};
  const double N = static_cast<double>(experiment.clients.count);
  std::vector<Condition> all{judged("N", N > 4, "{:g} clients; more than 4 are needed", N)};
  if (!experiment.mailbox.cap) {
    all.push_back(unknown("Psi", "mailbox.cap does not say how many messages a client accepts in a period"));
    all.push_back(unknown("eta", "its bound has Psi"));
    return all;
  }
  const double Psi = static_cast<double>(*experiment.mailbox.cap);
  all.push_back(judged("Psi", Psi >= 3, "Psi = {:g}; at least 3 are needed", Psi));
  if (!experiment.metrics.smoothness) {
    all.push_back(unknown("eta", no_smoothness));
    return all;
  }
  const double B = static_cast<double>(options.given.whole("local_batches", 1)), eta = options.greatest("eta");
  const double most = 1 / (8 * B * *experiment.metrics.smoothness * N * Psi);
  all.push_back(judged("eta", eta <= most, "eta = {:g}; 1 / (8 B L N Psi) = {:.4g} with B = {:g}", eta, most, B));
  return all;
}

constexpr std::string_view verdicts = "holds|does not hold|unknown";

}  // namespace

std::vector<Condition> conditions_of(const TheoryInput& input) {
  const std::string& name = input.experiment.algorithm.name;
  if (name == "pame") return pame_conditions(input);
  if (name == "depositum") return depositum_conditions(input);
  if (name == "decefl") return decefl_conditions(input);
  if (name == "draco") return draco_conditions(input);
  if (name == "spodgt" || name == "ab" || name == "g_push_pull" || name == "sporadic_kgt") return spodgt_conditions(input);
  return {};
}

std::string describe(const std::vector<Condition>& conditions) {
  std::string text;
  for (const Condition& condition : conditions) {
    const std::string_view verdict = word_at(verdicts, static_cast<std::size_t>(condition.verdict));
    text += fmt::format("  {:<26}{}{}{}\n", condition.name, verdict, condition.verdict == Verdict::unknown ? " " : ": ",
                        condition.numbers);
  }
  return text;
}

}  // namespace rubato
