#include "results/sampling_law.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <stdexcept>

#include "runtime/elementary.hpp"
#include "runtime/random.hpp"

namespace rubato {

namespace {

constexpr std::pair<std::string_view, SampledKey::Law> laws[] = {{"uniform", SampledKey::Law::uniform},
                                                                 {"log", SampledKey::Law::log},
                                                                 {"integer", SampledKey::Law::integer},
                                                                 {"one_of", SampledKey::Law::one_of}};

double number_of(const std::string& text) {
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto [last, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{} || last != end || !std::isfinite(number)) throw std::invalid_argument("'" + text + "' is no number");
  return number;
}

std::string value_of(const SampledKey& key, const DrawnPair& drawn) {
  const double share = uniform01(drawn.first);
  switch (key.law) {
    case SampledKey::Law::uniform:
      return fmt::format("{:.4g}", key.from + share * (key.to - key.from));
    case SampledKey::Law::log: {
      const double from = elementary::log(key.from), to = elementary::log(key.to);
      return fmt::format("{:.4g}", elementary::exp(from + share * (to - from)));
    }
    case SampledKey::Law::integer:
      return fmt::format("{:.0f}", std::min(key.to, key.from + std::floor(share * (key.to - key.from + 1))));
    case SampledKey::Law::one_of:
      break;
  }
  return key.words[static_cast<std::size_t>(share * static_cast<double>(key.words.size()))];
}

// Of the key's name, so that its draws do not depend on the other keys (FNV-1a).
std::uint32_t address_of(const std::string& key) {
  std::uint32_t address = 2166136261u;
  for (const char letter : key) address = (address ^ static_cast<unsigned char>(letter)) * 16777619u;
  return address;
}

}  // namespace

SampledKey parse_sample(const std::string& text) {
  const auto refuse = [&](const std::string& why) -> std::invalid_argument {
    return std::invalid_argument("--sample " + text + ": " + why +
                                 "; must be key=log(FROM,TO), uniform(FROM,TO), integer(FROM,TO) or one_of(VALUE,...)");
  };
  const std::size_t equals = text.find('='), open = text.find('(', equals);
  if (equals == text.npos || equals == 0 || open == text.npos || text.back() != ')') throw refuse("is no key with a law");
  const std::string name = text.substr(equals + 1, open - equals - 1);
  const auto law = std::ranges::find(laws, name, &std::pair<std::string_view, SampledKey::Law>::first);
  if (law == std::ranges::end(laws)) throw refuse("'" + name + "' is no law");
  // Commas are read as those of a grid: not inside quotes and brackets.
  const GridKey values = parse_grid(text.substr(0, equals) + "=" + text.substr(open + 1, text.size() - open - 2));
  SampledKey key{.key = values.key, .law = law->second};
  if (key.law == SampledKey::Law::one_of) {
    key.words = values.values;
    return key;
  }
  if (values.values.size() != 2) throw refuse("has not two ends");
  try {
    key.from = number_of(values.values[0]), key.to = number_of(values.values[1]);
  } catch (const std::invalid_argument& fault) {
    throw refuse(fault.what());
  }
  if (!(key.from < key.to)) throw refuse("begins behind its end");
  if (key.law == SampledKey::Law::log && key.from <= 0) throw refuse("has a logarithm only above 0");
  const auto is_whole = [](double number) { return number == std::floor(number) && std::abs(number) < 0x1p53; };
  if (key.law == SampledKey::Law::integer && !(is_whole(key.from) && is_whole(key.to))) throw refuse("has no whole ends");
  return key;
}

std::vector<GridPoint> sampled_points(std::span<const SampledKey> keys, std::size_t count, std::uint64_t seed) {
  for (std::size_t i = 0; i < keys.size(); ++i)
    if (std::ranges::find(keys.first(i), keys[i].key, &SampledKey::key) != keys.first(i).end())
      throw std::invalid_argument("--sample " + keys[i].key + ": is there twice");
  std::vector<GridPoint> points(count);
  for (std::size_t i = 0; i < count; ++i)
    for (const SampledKey& key : keys)
      points[i].emplace_back(key.key, value_of(key, draw(seed, {0}, Purpose::setting, i, address_of(key.key))));
  return points;
}

std::vector<GridPoint> all_with_all(const std::vector<GridPoint>& some, const std::vector<GridPoint>& others) {
  std::vector<GridPoint> points;
  for (const GridPoint& one : some)
    for (const GridPoint& other : others) {
      points.push_back(one);
      points.back().insert(points.back().end(), other.begin(), other.end());
    }
  return points;
}

}  // namespace rubato
