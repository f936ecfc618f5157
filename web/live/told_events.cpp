#include "web/live/told_events.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ranges>

#include "web/live/page_json.hpp"

namespace rubato::web {

void ToldEvents::add(double seconds, const std::string& what, const std::string& level, const std::string& host,
                     const std::string& text, std::int32_t client) {
  constexpr std::size_t most_told = 4096;
  ResultJson clients = ResultJson::array();
  if (client >= 0) clients.push_back(client);
  rows_.push_back(page_text({{"n", count()},
                             {"seconds", page_number(seconds)},
                             {"what", what},
                             {"level", level},
                             {"host", host},
                             {"clients", std::move(clients)},
                             {"text", text}}));
  if (rows_.size() > most_told) rows_.pop_front(), ++first_;
}

std::string ToldEvents::frame(std::uint64_t from) const {
  const std::uint64_t begin = std::clamp(from, first_, count());
  const auto known = static_cast<std::ptrdiff_t>(begin - first_);
  return fmt::format(R"({{"type":"events","first":{},"next":{},"rows":[{}]}})", begin, count(),
                     fmt::join(rows_ | std::views::drop(known), ","));
}

}  // namespace rubato::web
