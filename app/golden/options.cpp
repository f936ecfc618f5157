#include "app/golden/options.hpp"

namespace rubato::golden {

namespace {

constexpr double moves_nothing = 1e-300;
constexpr OptionSpec part_of_option{"", OptionType::whole, "", ""};

AlgorithmOptions::Value to_option(const Json& value, const OptionSpec& spec) {
  const auto allowed = [&](double number) { return number == 0 && spec.low == 0 && spec.low_is_out ? moves_nothing : number; };
  if (value.is_boolean()) return value.get<bool>();
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_integer() && spec.type == OptionType::whole) return value.get<std::int64_t>();
  if (value.is_number()) return allowed(value.get<double>());
  auto numbers = value.get<std::vector<double>>();
  for (double& number : numbers) number = allowed(number);
  return numbers;
}

// {type, ...} as the word of that name and options of their own.
void set_parts(const Json& whole, const std::string& name, const std::string& prefix, std::initializer_list<const char*> parts,
               AlgorithmOptions& options) {
  options.set(name, whole.at("type").get<std::string>());
  for (const char* part : parts)
    if (whole.contains(part)) options.set(prefix + part, to_option(whole.at(part), part_of_option));
}

}  // namespace

AlgorithmOptions to_options(const Json& parameters, std::span<const OptionSpec> known) {
  AlgorithmOptions options;
  for (const OptionSpec& spec : known) {
    const std::string name(spec.name);
    const Json* value = given(parameters, name.c_str());
    if (!value) continue;
    if (name == "h" && value->is_object()) {
      set_parts(*value, name, "h_", {"lam", "theta", "a"}, options);
    } else if (name == "compressor") {
      set_parts(*value, name, "", {"k", "unbiased", "bits"}, options);
    } else if (name == "weighting" && *value == "size") {
      options.set(name, std::string("samples"));
    } else if (value->is_object()) {
      options.set(name, to_option(value->at("delta"), spec));
      options.set("step", std::string("diminishing"));
      options.set("step_offset", value->at("Gamma").get<double>());
    } else {
      options.set(name, to_option(*value, spec));
    }
  }
  return options;
}

}  // namespace rubato::golden
