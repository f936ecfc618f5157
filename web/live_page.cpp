#include "web/live_page.hpp"

#include "web/report.hpp"
#include "web/report_page.hpp"

namespace rubato::web {

namespace {

// The frame of a report allows no connection; that of a page which fetches its data must.
std::string with_connections(std::string page) {
  constexpr std::string_view closed = "script-src 'unsafe-inline'\"";
  const std::size_t place = page.find(closed);
  return place == page.npos ? page : page.insert(place + closed.size() - 1, "; connect-src 'self'");
}

}  // namespace

const std::string& live_page() {
  static const std::string page = with_connections(page_of("live", live_main, R"({"live":true})", live_script));
  return page;
}

}  // namespace rubato::web
