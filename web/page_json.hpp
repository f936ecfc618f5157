// How JSON is written for a page, which any text in it must not break.
#pragma once

#include <string>

#include "results/result_text.hpp"

namespace rubato::web {

/// A number of a page: what is not finite is the word for it.
ResultJson page_number(double value);
/// In one line; what is not UTF-8 is replaced.
std::string page_text(const ResultJson& json);

}  // namespace rubato::web
