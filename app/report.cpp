#include <cstdio>

#include "app/commands.hpp"
#include "web/report.hpp"

namespace rubato::app {

int report(const std::vector<std::filesystem::path>& folders) {
  for (const std::filesystem::path& folder : folders) {
    web::write_report(folder);
    std::printf("the report is %s\n", (std::filesystem::absolute(folder) / "report.html").lexically_normal().c_str());
  }
  return ok;
}

}  // namespace rubato::app
