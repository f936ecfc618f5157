#include "web/page_json.hpp"

#include <cmath>

namespace rubato::web {

ResultJson page_number(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

std::string page_text(const ResultJson& json) { return json.dump(-1, ' ', false, ResultJson::error_handler_t::replace); }

}  // namespace rubato::web
