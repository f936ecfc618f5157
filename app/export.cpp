#include <iostream>
#include <stdexcept>

#include "app/commands.hpp"
#include "web/live/folder_run.hpp"
#include "web/tensorboard.hpp"

namespace rubato::app {

namespace fs = std::filesystem;

int export_runs(const std::vector<fs::path>& folders, const fs::path& tensorboard) {
  if (tensorboard.empty()) throw std::invalid_argument("--tensorboard: name the folder that the event files go to");
  std::vector<fs::path> runs;
  for (const fs::path& folder : folders)
    for (const fs::path& run : web::runs_at(folder)) runs.push_back(run);
  if (runs.empty()) throw std::invalid_argument(folders.front().string() + " is no folder of a run, and holds none");
  for (const fs::path& run : runs) {
    const fs::path place = runs.size() == 1 ? tensorboard : tensorboard / run.filename();  // a run each, as TensorBoard has them
    std::cout << web::write_tensorboard(web::contents_of(run), place).string() << "\n";
  }
  return ok;
}

}  // namespace rubato::app
