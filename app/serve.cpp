#include <chrono>
#include <stdexcept>
#include <thread>

#include "app/serving.hpp"
#include "app/signals.hpp"
#include "web/live/folder_run.hpp"

namespace rubato::app {

int serve(const std::vector<std::filesystem::path>& folders, ServeArguments arguments) {
  std::vector<std::shared_ptr<web::RunSource>> runs;
  for (const std::filesystem::path& folder : folders) {
    const auto found = web::runs_at(folder);
    if (found.empty()) throw std::invalid_argument(folder.string() + " is no folder of a run, and holds none");
    for (const std::filesystem::path& place : found) runs.push_back(std::make_shared<web::FolderRun>(place));
  }
  if (arguments.listen.empty()) arguments.listen = "8080";
  const std::atomic<bool>& stop = watch_signals(true);
  const auto server = open_server(arguments, std::move(runs));
  constexpr std::chrono::milliseconds between_looks{100};
  while (!stop.load()) std::this_thread::sleep_for(between_looks);
  return ok;
}

}  // namespace rubato::app
