// Golden cases of functions: penalties, partial means, compressors, the weights of DeceFL's changing graph.
#include <cmath>

#include "algos/anq.hpp"
#include "algos/compressor.hpp"
#include "algos/penalty.hpp"
#include "algos/pme.hpp"
#include "app/golden/cases.hpp"
#include "app/golden/options.hpp"
#include "learning/models/problems.hpp"
#include "runtime/world/mixing.hpp"
#include "runtime/world/spectrum.hpp"

namespace rubato::golden {

namespace {

Json to_json(const Eigen::Ref<const Vector<double>>& vector) {
  return std::vector<double>(vector.data(), vector.data() + vector.size());
}

// Work with a table of choices and nothing to learn.
struct Workshop {
  explicit Workshop(Index dimension)
      : learner{make_quadratic<double>(Matrix<double>::Zero(dimension, dimension), Vector<double>::Zero(dimension))} {
    plan.table = &table;
  }
  Work<double> work() { return Work<double>(*learner, plan, scratch, pool); }

  std::unique_ptr<Learner<double>> learner;
  ChoiceTable table;
  BatchPlan plan;
  Scratch<double> scratch;
  TensorPool pool;
};

Json compressed(const Json& golden_case, const AlgorithmOptions& options) {
  const Vector<double> x = to_vector(golden_case.at("x"));
  Workshop shop(x.size());
  if (golden_case.contains("coords"))
    shop.table.coordinates[{0, 0}] = numbers_below(static_cast<std::size_t>(x.size()), golden_case.at("coords"));
  if (golden_case.contains("uniforms")) shop.table.uniforms[0] = golden_case.at("uniforms").get<std::vector<double>>();
  const Scratch<double>::Frame frame(shop.scratch);
  Work<double> work = shop.work();
  const Compressed left = Compressor(options).compress(work, 0, ClientId{0}, view(x));
  Vector<double> whole = Vector<double>::Zero(x.size());
  add_compressed<double>(left.values, left.coordinates, 1, view(whole));
  return to_json(whole);
}

// "top3", "rand_coords", "rand_coords_unbiased", "gsgd_b3" as options.
AlgorithmOptions named_compressor(const std::string& name, const Json& golden_case) {
  AlgorithmOptions options;
  if (name == "identity") options.set("compressor", std::string("identity"));
  if (name.starts_with("top")) {
    options.set("compressor", std::string("top"));
    options.set("k", std::int64_t{std::stoll(name.substr(3))});
  }
  if (name.starts_with("rand")) {
    options.set("compressor", std::string("rand"));
    options.set("k", static_cast<std::int64_t>(golden_case.at("coords").size()));
    options.set("unbiased", name.ends_with("unbiased"));
  }
  if (name.starts_with("gsgd_b")) {
    options.set("compressor", std::string("gsgd"));
    options.set("bits", std::int64_t{std::stoll(name.substr(6))});
  }
  return options;
}

Json quantised(const Json& golden_case, const Json& golden) {
  const Anq anq(golden.at("eta").get<double>(), golden.at("omega").get<double>());
  Json levels = Json::array(), values = Json::array();
  std::int64_t bits = 0;
  for (const Json& number : golden_case.at("x")) {
    const std::int32_t level = anq.level(number.get<double>());
    levels.push_back(level);
    values.push_back(anq.value(level));
    bits += elias_gamma_bits(zigzag(level));
  }
  Json answer = golden;
  answer["levels"] = levels;
  answer["values"] = values;
  answer["elias_bits"] = bits;
  return answer;
}

struct Mean {
  std::vector<double> values;
  std::vector<std::uint32_t> lambda;
};

Mean partial_mean(const Vector<double>& own, const std::vector<std::pair<Rows, Vector<double>>>& messages) {
  Scratch<double> scratch;
  const Scratch<double>::Frame frame(scratch);
  PartialMean<double> pme(own.size(), scratch);
  for (const auto& [coordinates, values] : messages) pme.add(coordinates, view(values));
  Vector<double> result(own.size());
  pme.fill(view(own), view(result));
  return {{result.data(), result.data() + result.size()}, {pme.lambda().begin(), pme.lambda().end()}};
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

}  // namespace

Json answer_prox(const Json& golden_case) {
  Json rows = Json::array();
  for (const Json& golden : golden_case.at("expect").at("rows")) {
    AlgorithmOptions options;
    set_penalty_of(golden.at("h"), options);
    const Penalty penalty(options);
    Json out = Json::array(), values = Json::array();
    for (const Json& x : golden_case.at("x")) {
      out.push_back(penalty.prox(x.get<double>(), golden.at("alpha").get<double>()));
      values.push_back(penalty.value(x.get<double>()));
    }
    rows.push_back({{"h", golden.at("h")}, {"alpha", golden.at("alpha")}, {"out", out}, {"penalty", values}});
  }
  return {{"rows", rows}};
}

Json answer_pme(const Json& golden_case) {
  const Vector<double> own = to_vector(golden_case.at("own"));
  std::vector<std::pair<Rows, Vector<double>>> messages;
  Json bits = Json::array();
  for (const Json& message : golden_case.at("messages")) {
    messages.emplace_back(numbers_below(static_cast<std::size_t>(own.size()), message.at("coords")),
                          to_vector(message.at("values")));
    if (static_cast<Index>(messages.back().first.size()) != messages.back().second.size())
      throw std::invalid_argument("a message has not one value a coordinate");
    bits.push_back(static_cast<std::int64_t>(
        pme_message_bits(own.size(), static_cast<Index>(messages.back().first.size()), golden_case.at("value_bits"))));
  }
  const Mean mean = partial_mean(own, messages);
  return {{"vbar", mean.values}, {"lambda", mean.lambda}, {"bits_per_message", bits}};
}

// Every way in which each vector may send s of its coordinates, all equally likely.
Json answer_pme_expectation(const Json& golden_case) {
  std::vector<Vector<double>> vectors;
  for (const Json& vector : golden_case.at("vectors")) vectors.push_back(to_vector(vector));
  const auto n = static_cast<std::size_t>(vectors.at(0).size());
  for (const Vector<double>& vector : vectors)
    if (vector.size() != vectors[0].size()) throw std::invalid_argument("the vectors are not of one size");
  const auto choices = choices_of(static_cast<std::uint32_t>(n), golden_case.at("s").get<std::uint32_t>());
  std::vector<double> of_pme(n), of_naive(n), naive(n), times(n), plain(n);
  std::size_t all = 1;
  for (std::size_t q = 0; q < vectors.size(); ++q) all *= choices.size();
  for (std::size_t code = 0; code < all; ++code) {
    std::vector<std::pair<Rows, Vector<double>>> messages;
    Vector<double> sum = Vector<double>::Zero(static_cast<Index>(n));
    for (std::size_t q = 0, rest = code; q < vectors.size(); ++q, rest /= choices.size()) {
      const Rows& rows = choices[rest % choices.size()];
      Vector<double> values(static_cast<Index>(rows.size()));
      for (std::size_t i = 0; i < rows.size(); ++i) values[static_cast<Index>(i)] = vectors[q][rows[i]];
      for (const std::uint32_t row : rows) sum[row] += vectors[q][row];
      messages.emplace_back(rows, values);
    }
    const Mean mean = partial_mean(Vector<double>::Zero(static_cast<Index>(n)), messages);
    for (std::size_t l = 0; l < n; ++l) {
      const double average = sum[static_cast<Index>(l)] / static_cast<double>(vectors.size());
      naive[l] += average / static_cast<double>(all);
      if (mean.lambda[l] == 0) continue;
      ++times[l];
      of_pme[l] += mean.values[l];
      of_naive[l] += average;
    }
  }
  for (std::size_t l = 0; l < n; ++l) {
    of_pme[l] /= times[l];
    of_naive[l] /= times[l];
    for (const auto& vector : vectors) plain[l] += vector[static_cast<Index>(l)] / static_cast<double>(vectors.size());
  }
  return {{"cond_mean_pme", of_pme},
          {"plain_mean", plain},
          {"uncond_mean_naive", naive},
          {"cond_mean_naive_given_lambda_positive", of_naive}};
}

Json answer_compressors(const Json& golden_case) {
  Json answer = Json::object();
  for (const auto& [name, golden] : golden_case.at("expect").items())
    if (name == "anq")
      for (const Json& of_pair : golden) answer[name].push_back(quantised(golden_case, of_pair));
    else
      answer[name] = compressed(golden_case, named_compressor(name, golden_case));
  return answer;
}

// Weights 1/3 along the edges of a path, the rest on oneself; whoever is not on the path keeps its model.
Json answer_decefl_weights(const Json& golden_case) {
  constexpr std::size_t clients = 8;
  std::vector<Matrix<double>> matrices;
  Json answer = Json::object();
  for (const Json& path : golden_case.at("paths_1based")) {
    Matrix<double> w = Matrix<double>::Identity(clients, clients);
    for (std::size_t k = 0; k + 1 < path.size(); ++k) {
      const Index a = Index{number_below(clients + 1, path.at(k))} - 1, b = Index{number_below(clients + 1, path.at(k + 1))} - 1;
      if (a < 0 || b < 0) throw std::out_of_range("clients of a path are counted from 1");
      w(a, b) = w(b, a) = 1.0 / 3;
      w(a, a) -= 1.0 / 3;
      w(b, b) -= 1.0 / 3;
    }
    matrices.push_back(w);
    Json rows = Json::array();
    for (Index i = 0; i < w.rows(); ++i) rows.push_back(to_json(w.row(i).transpose()));
    answer["W" + std::to_string(matrices.size())] = rows;
  }
  if (matrices.size() != 3) throw std::invalid_argument("the weights are those of three paths");
  const Matrix<double> product = matrices[0] * matrices[1] * matrices[2] * matrices[1] * matrices[0];
  Json rows = Json::array(), zeros = Json::array();
  for (Index i = 0; i < product.rows(); ++i) rows.push_back(to_json(product.row(i).transpose()));
  answer["product"] = rows;
  // The largest singular value of the product less J, from the largest eigenvalue of its Gram matrix.
  const Matrix<double> off = product - Matrix<double>::Constant(clients, clients, 1.0 / clients);
  Matrix<double> gram = off.transpose() * off;
  Vector<double> x = Vector<double>::LinSpaced(clients, 1, 2);
  double value = 0;
  for (int k = 0; k < 20000; ++k) {
    const Vector<double> next = gram * x;
    value = next.norm() / x.norm();
    x = next / next.norm();
  }
  answer["sigma_max_product_minus_J"] = std::sqrt(value);
  Matrix<double> power = Matrix<double>::Identity(clients, clients);
  for (int k = 0; k < 3; ++k) {
    power = power * product;
    zeros.push_back((power.array() == 0).count());
  }
  answer["zero_entries_after_5_10_15_steps"] = zeros;
  return by_formula(std::move(answer));
}

}  // namespace rubato::golden
