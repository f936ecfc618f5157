#include "app/golden/options.hpp"

#include <set>

namespace rubato::golden {

AlgorithmOptions::Value to_option(const Json& value) {
  if (value.is_boolean()) return value.get<bool>();
  if (value.is_number_integer()) return value.get<std::int64_t>();
  if (value.is_number()) return value.get<double>();
  if (value.is_string()) return value.get<std::string>();
  return value.get<std::vector<double>>();
}

namespace {

constexpr double moves_nothing = 1e-300;

double step_of(const Json& value) {
  const auto step = value.get<double>();
  return step == 0 ? moves_nothing : step;
}

}  // namespace

void set_step(const std::string& name, const Json& value, AlgorithmOptions& options) {
  if (value.is_array()) {
    std::vector<double> steps;
    for (const Json& step : value) steps.push_back(step_of(step));
    return options.set(name, std::move(steps));
  }
  if (!value.is_object()) return options.set(name, step_of(value));
  options.set(name, step_of(value.at("delta")));
  options.set("step", std::string("diminishing"));
  options.set("step_offset", value.at("Gamma").get<double>());
}

void set_penalty_of(const Json& penalty, AlgorithmOptions& options) {
  options.set("h", penalty.at("type").get<std::string>());
  for (const char* name : {"lam", "theta", "a"})
    if (penalty.contains(name)) options.set(std::string("h_") + name, penalty.at(name).get<double>());
}

void set_penalty(const Json& parameters, AlgorithmOptions& options) {
  if (parameters.contains("h") && parameters.at("h").is_object()) set_penalty_of(parameters.at("h"), options);
}

void set_compressor(const Json& compressor, AlgorithmOptions& options) {
  options.set("compressor", compressor.at("type").get<std::string>());
  for (const char* name : {"k", "unbiased", "bits"})
    if (compressor.contains(name)) options.set(name, to_option(compressor.at(name)));
}

AlgorithmOptions to_options(const Json& parameters) {
  static const std::set<std::string> others{"x0", "W", "A", "B", "P", "Q", "c0", "W_cycle", "P_cycle", "rounds", "weights", "p"};
  static const std::set<std::string> steps{"eta", "eta_c", "eta_s", "alpha", "local_lr", "inner_lr", "ft_lr"};
  AlgorithmOptions options;
  for (const auto& [name, value] : parameters.items()) {
    if (others.contains(name) || value.is_null()) continue;
    if (name == "compressor")
      set_compressor(value, options);
    else if (name == "h")
      set_penalty(parameters, options);
    else if (name == "weighting" && value == "size")
      options.set(name, std::string("samples"));
    else if (value.is_object() || steps.contains(name))
      set_step(name, value, options);
    else
      options.set(name, to_option(value));
  }
  return options;
}

}  // namespace rubato::golden
