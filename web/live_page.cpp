#include "web/live_page.hpp"

#include "web/report.hpp"

namespace rubato::web {

const std::string& live_page() {
  static const std::string page = bundled_page("Rubato", "", R"({"live":true})", "; connect-src 'self'");
  return page;
}

}  // namespace rubato::web
