// Golden cases of functions: penalties, partial means, compressors, the weights of DeceFL's changing graph.
#include <cmath>

#include "algos/anq.hpp"
#include "algos/compressor.hpp"
#include "algos/penalty.hpp"
#include "algos/pme.hpp"
#include "app/golden/cases.hpp"
#include "app/golden/script.hpp"
#include "learning/models/problems.hpp"

namespace rubato::golden {

namespace {

// What a compressor, "top3", "rand_coords", "rand_coords_unbiased" or "gsgd_b3", leaves of x.
Json compressed(const std::string& name, const Json& golden_case) {
  const auto x = golden_case.at("x").get<Vector<double>>();
  AlgorithmOptions options;
  const std::string type = name.starts_with("rand") ? "rand" : name.starts_with("top") ? "top" : name.substr(0, name.find('_'));
  options.set("compressor", type);
  if (type == "top") options.set("k", std::int64_t{std::stoll(name.substr(3))});
  if (type == "rand") options.set("k", static_cast<std::int64_t>(golden_case.at("coords").size()));
  if (type == "rand") options.set("unbiased", name.ends_with("unbiased"));
  if (type == "gsgd") options.set("bits", std::int64_t{std::stoll(name.substr(6))});
  ChoiceTable table;
  if (const Json* drawn = given(golden_case, "coords"))
    table.coordinates[{0, 0}] = numbers_below(static_cast<std::size_t>(x.size()), *drawn);
  read(golden_case, "uniforms", table.uniforms[0]);
  // Nothing is learned.
  const auto learner = make_quadratic<double>(Matrix<double>::Zero(x.size(), x.size()), Vector<double>::Zero(x.size()));
  const BatchPlan plan{.client = {}, .table = &table};
  Scratch<double> scratch;
  TensorPool pool;
  const Scratch<double>::Frame frame(scratch);
  Work<double> work(*learner, plan, scratch, pool);
  const Compressed left = Compressor(options).compress(work, 0, ClientId{0}, view(x));
  Vector<double> whole = Vector<double>::Zero(x.size());
  add_compressed<double>(left.values, left.coordinates, 1, view(whole));
  return whole;
}

Json quantised(const Json& golden_case, const Json& golden) {
  const Anq anq(golden.at("eta").get<double>(), golden.at("omega").get<double>());
  Json answer = golden;
  for (const char* list : {"levels", "values"}) answer[list] = Json::array();
  std::int64_t bits = 0;
  for (const Json& number : golden_case.at("x")) {
    const std::int32_t level = anq.level(number.get<double>());
    answer["levels"].push_back(level);
    answer["values"].push_back(anq.value(level));
    bits += elias_gamma_bits(zigzag(level));
  }
  answer["elias_bits"] = bits;
  return answer;
}

Json answer_compressors(const Json& golden_case) {
  Json answer = Json::object();
  for (const auto& [name, golden] : golden_case.at("expect").items())
    answer[name] = name == "anq" ? list_from(golden, [&](const Json& of_pair) { return quantised(golden_case, of_pair); })
                                 : compressed(name, golden_case);
  return answer;
}

Json answer_prox(const Json& golden_case) {
  const Json& points = golden_case.at("x");
  const auto row = [&](const Json& golden) -> Json {
    const Penalty penalty(to_options(golden, penalty_options));
    const auto alpha = golden.at("alpha").get<double>();
    return {{"h", golden.at("h")},
            {"alpha", alpha},
            {"out", list_from(points, [&](const Json& x) { return penalty.prox(x.get<double>(), alpha); })},
            {"penalty", list_from(points, [&](const Json& x) { return penalty.value(x.get<double>()); })}};
  };
  return {{"rows", list_from(golden_case.at("expect").at("rows"), row)}};
}

// Some coordinates of a vector, and their values.
using Part = std::pair<Rows, Vector<double>>;

struct Mean {
  Vector<double> values;
  std::vector<std::uint32_t> lambda;
};

Mean partial_mean(const Vector<double>& own, const std::vector<Part>& messages) {
  Scratch<double> scratch;
  const Scratch<double>::Frame frame(scratch);
  PartialMean<double> pme(own.size(), scratch);
  for (const auto& [coordinates, values] : messages) pme.add(coordinates, view(values));
  Vector<double> result(own.size());
  pme.fill(view(own), view(result));
  return {std::move(result), {pme.lambda().begin(), pme.lambda().end()}};
}

Json answer_pme(const Json& golden_case) {
  const auto own = golden_case.at("own").get<Vector<double>>();
  std::vector<Part> messages;
  Json bits = Json::array();
  for (const Json& message : golden_case.at("messages")) {
    const auto& [coordinates, values] = messages.emplace_back(
        numbers_below(static_cast<std::size_t>(own.size()), message.at("coords")), message.at("values").get<Vector<double>>());
    const auto count = static_cast<Index>(coordinates.size());
    if (count != values.size()) throw std::invalid_argument("a message has not one value a coordinate");
    bits.push_back(static_cast<std::int64_t>(pme_message_bits(own.size(), count, golden_case.at("value_bits"))));
  }
  const Mean mean = partial_mean(own, messages);
  return {{"vbar", mean.values}, {"lambda", mean.lambda}, {"bits_per_message", bits}};
}

// All choices of `count` of n coordinates.
std::vector<Rows> choices_of(std::uint32_t n, std::uint32_t count) {
  std::vector<Rows> all;
  for (std::uint32_t bits = 0; bits < 1u << n; ++bits) {
    Rows rows;
    for (std::uint32_t i = 0; i < n; ++i)
      if (bits >> i & 1) rows.push_back(i);
    if (rows.size() == count) all.push_back(rows);
  }
  return all;
}

// Every way in which each vector may send s of its coordinates, all equally likely.
Json answer_pme_expectation(const Json& golden_case) {
  const auto vectors = golden_case.at("vectors").get<std::vector<Vector<double>>>();
  const Index n = vectors.at(0).size();
  const Vector<double> zero = Vector<double>::Zero(n);
  Vector<double> plain = zero;
  for (const Vector<double>& vector : vectors) {
    if (vector.size() != n) throw std::invalid_argument("the vectors are not of one size");
    plain += vector / static_cast<double>(vectors.size());
  }
  const auto choices = choices_of(static_cast<std::uint32_t>(n), golden_case.at("s").get<std::uint32_t>());
  Vector<double> of_pme = zero, of_naive = zero, naive = zero, times = zero;
  std::size_t all = 1;
  for (std::size_t q = 0; q < vectors.size(); ++q) all *= choices.size();
  for (std::size_t code = 0; code < all; ++code) {
    std::vector<Part> messages;
    Vector<double> average = zero;
    for (std::size_t q = 0, rest = code; q < vectors.size(); ++q, rest /= choices.size()) {
      const Rows& rows = choices[rest % choices.size()];
      messages.emplace_back(rows, vectors[q](rows));
      for (const std::uint32_t row : rows) average[row] += vectors[q][row];
    }
    average /= static_cast<double>(vectors.size());
    naive += average / static_cast<double>(all);
    const Mean mean = partial_mean(zero, messages);
    for (Index l = 0; l < n; ++l) {
      if (mean.lambda[static_cast<std::size_t>(l)] == 0) continue;
      ++times[l];
      of_pme[l] += mean.values[l];
      of_naive[l] += average[l];
    }
  }
  return {{"cond_mean_pme", Vector<double>(of_pme.cwiseQuotient(times))},
          {"plain_mean", plain},
          {"uncond_mean_naive", naive},
          {"cond_mean_naive_given_lambda_positive", Vector<double>(of_naive.cwiseQuotient(times))}};
}

// Weights 1/3 along the edges of a path, the rest on oneself; a client that is not on the path keeps its model.
Json answer_decefl_weights(const Json& golden_case) {
  constexpr std::size_t clients = 8;
  const Matrix<double> identity = Matrix<double>::Identity(clients, clients);
  std::vector<Matrix<double>> matrices;
  Json answer = Json::object();
  for (const Json& path : golden_case.at("paths_1based")) {
    Matrix<double>& w = matrices.emplace_back(identity);
    for (std::size_t k = 0; k + 1 < path.size(); ++k) {
      const Index a = Index{number_below(clients + 1, path.at(k))} - 1, b = Index{number_below(clients + 1, path.at(k + 1))} - 1;
      if (a < 0 || b < 0) throw std::out_of_range("clients of a path are counted from 1");
      w(a, b) = w(b, a) = 1.0 / 3;
      w(a, a) -= 1.0 / 3;
      w(b, b) -= 1.0 / 3;
    }
    answer["W" + std::to_string(matrices.size())] = w;
  }
  if (matrices.size() != 3) throw std::invalid_argument("the weights are those of three paths");
  const Matrix<double> product = matrices[0] * matrices[1] * matrices[2] * matrices[1] * matrices[0];
  answer["product"] = product;
  // The largest singular value of the product less J, from the largest eigenvalue of its Gram matrix.
  const Matrix<double> off = product - Matrix<double>::Constant(clients, clients, 1.0 / clients);
  const Matrix<double> gram = off.transpose() * off;
  Vector<double> x = Vector<double>::LinSpaced(clients, 1, 2);
  double value = 0;
  for (int k = 0; k < 20000; ++k) {
    const Vector<double> next = gram * x;
    value = next.norm() / x.norm();
    x = next / next.norm();
  }
  answer["sigma_max_product_minus_J"] = std::sqrt(value);
  Matrix<double> power = identity;
  answer["zero_entries_after_5_10_15_steps"] = list_of(3, [&](std::size_t) {
    power = power * product;
    return (power.array() == 0).count();
  });
  return answer;
}

}  // namespace

std::vector<CaseKind> function_kinds() {
  return {{"prox", "", answer_prox},
          {"pme", "", answer_pme},
          {"pme_expectation", "", answer_pme_expectation},
          {"compressors", "", answer_compressors},
          {"decefl_weights", "", answer_decefl_weights, true}};
}

}  // namespace rubato::golden
