// Laws checked on random cases by rapidcheck, with a seed that stays the same: a test that passes today passes
// tomorrow.
#pragma once

#include <rapidcheck.h>
#include <rapidcheck/detail/TestListenerAdapter.h>

#include <cstdint>
#include <sstream>
#include <string>
#include <unordered_map>
#include <utility>

namespace rubato::test {

/// Empty if the property holds for `cases` random cases; else the smallest case found that breaks it.
template <class Property>
std::string broken(Property&& property, int cases = 200, std::uint64_t seed = 1) {
  rc::detail::TestParams params;
  params.seed = seed;
  params.maxSuccess = cases;
  rc::detail::TestListenerAdapter silent;
  const auto result = rc::detail::checkTestable(std::forward<Property>(property), rc::detail::TestMetadata{}, params, silent,
                                                std::unordered_map<std::string, rc::detail::Reproduce>{});
  if (result.template is<rc::detail::SuccessResult>()) return "";
  std::ostringstream sentence;
  rc::detail::printResultMessage(result, sentence);
  return sentence.str();
}

}  // namespace rubato::test
