#include "results/sampling_law.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <set>

#include "tests/actors/support.hpp"

using namespace rubato;
using namespace rubato::test;

namespace {

std::vector<double> numbers_of(const std::string& text, std::size_t count, std::uint64_t seed = 1) {
  std::vector<double> numbers;
  for (const GridPoint& point : sampled_points(std::vector{parse_sample(text)}, count, seed))
    numbers.push_back(std::strtod(point.at(0).second.c_str(), nullptr));
  return numbers;
}

double share_below(const std::vector<double>& numbers, double limit) {
  return static_cast<double>(std::ranges::count_if(numbers, [&](double number) { return number < limit; })) /
         static_cast<double>(numbers.size());
}

}  // namespace

TEST_CASE("drawn values lie between their ends, as densely as their law says") {
  const auto uniform = numbers_of("channel.loss=uniform(0.2,0.6)", 4000), log = numbers_of("algorithm.eta=log(1e-4,1)", 4000);
  CHECK(*std::ranges::min_element(uniform) >= 0.2);
  CHECK(*std::ranges::max_element(uniform) <= 0.6);
  CHECK(share_below(uniform, 0.3) == doctest::Approx(0.25).epsilon(0.12));
  CHECK(*std::ranges::min_element(log) >= 1e-4);
  CHECK(*std::ranges::max_element(log) <= 1);
  for (const double decade : {1e-3, 1e-2, 1e-1}) {
    const double share = decade == 1e-3 ? 0.25 : decade == 1e-2 ? 0.5 : 0.75;
    CHECK(share_below(log, decade) == doctest::Approx(share).epsilon(0.12));
  }
  const auto whole = numbers_of("algorithm.period=integer(2,5)", 400);
  CHECK(std::set<double>(whole.begin(), whole.end()) == std::set<double>{2, 3, 4, 5});
}

TEST_CASE("words are drawn as they stand, commas inside brackets separate nothing") {
  std::set<std::string> words;
  for (const GridPoint& point : sampled_points(std::vector{parse_sample("model.hidden=one_of([64,32],[])")}, 40, 1))
    words.insert(point.at(0).second);
  CHECK(words == std::set<std::string>{"[64,32]", "[]"});
}

TEST_CASE("a drawn point is the same however many are drawn and whatever the other keys are; another seed has others") {
  const SampledKey eta = parse_sample("algorithm.eta=log(1e-4,1)"), loss = parse_sample("channel.loss=uniform(0,1)");
  const auto few = sampled_points(std::vector{eta}, 3, 7), many = sampled_points(std::vector{loss, eta}, 30, 7);
  for (std::size_t i = 0; i < few.size(); ++i) CHECK(few[i].at(0) == many[i].at(1));
  CHECK(sampled_points(std::vector{eta}, 3, 8) != few);
}

TEST_CASE("a sample without key, law or sensible ends is refused with what it must be") {
  for (const char* text : {"eta", "eta=3", "=log(1,2)", "eta=log(1,2", "eta=normal(0,1)", "eta=log(0,1)", "eta=uniform(2,1)",
                           "eta=uniform(1)", "eta=uniform(a,b)", "eta=integer(0.5,2)", "eta=uniform(0,inf)"}) {
    CAPTURE(text);
    CHECK(complaint<std::invalid_argument>([&] { parse_sample(text); }).starts_with("--"));
  }
  const SampledKey twice = parse_sample("eta=log(1,2)");
  CHECK(contains(complaint<std::invalid_argument>([&] { sampled_points(std::vector{twice, twice}, 1, 1); }), "twice"));
}
