#include "algos/options.hpp"

#include <sstream>
#include <stdexcept>

namespace rubato {

namespace {

template <class Type>
Type value_of(const std::map<std::string, AlgorithmOptions::Value>& values, const std::string& name, Type fallback,
              const char* expected) {
  const auto found = values.find(name);
  if (found == values.end()) return fallback;
  if (const Type* value = std::get_if<Type>(&found->second)) return *value;
  throw std::invalid_argument("algorithm." + name + " must be " + expected);
}

}  // namespace

double AlgorithmOptions::number(const std::string& name, double fallback) const {
  const auto found = values_.find(name);
  if (found != values_.end())
    if (const auto* whole = std::get_if<std::int64_t>(&found->second)) return static_cast<double>(*whole);
  return value_of(values_, name, fallback, "a number");
}

std::int64_t AlgorithmOptions::whole(const std::string& name, std::int64_t fallback) const {
  return value_of(values_, name, fallback, "a whole number");
}

bool AlgorithmOptions::flag(const std::string& name, bool fallback) const {
  return value_of(values_, name, fallback, "true or false");
}

std::string AlgorithmOptions::word(const std::string& name, const std::string& fallback) const {
  return value_of(values_, name, fallback, "a word");
}

std::vector<double> AlgorithmOptions::numbers(const std::string& name, double fallback) const {
  const auto found = values_.find(name);
  if (found != values_.end())
    if (const auto* list = std::get_if<std::vector<double>>(&found->second)) return *list;
  return {number(name, fallback)};
}

void refuse_option(const std::string& name, const std::string& value, const std::string& condition) {
  throw std::invalid_argument("algorithm." + name + " = " + value + ": " + condition);
}

void refuse_option(const std::string& name, double value, const std::string& condition) {
  std::ostringstream text;
  text << value;
  refuse_option(name, text.str(), condition);
}

}  // namespace rubato
