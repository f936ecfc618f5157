#include "web/live/told_events.hpp"

#include "web/page_json.hpp"

namespace rubato::web {

void ToldEvents::add(double seconds, const std::string& what, const std::string& level, const std::string& host,
                     const std::string& text, std::int32_t client) {
  ResultJson clients = ResultJson::array();
  if (client >= 0) clients.push_back(client);
  rows_.add(page_text({{"n", count()},
                       {"seconds", page_number(seconds)},
                       {"what", what},
                       {"level", level},
                       {"host", host},
                       {"clients", std::move(clients)},
                       {"text", text}}));
}

}  // namespace rubato::web
