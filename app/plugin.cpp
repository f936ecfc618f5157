#include "app/plugin.hpp"

#include <dlfcn.h>

#include <stdexcept>
#include <string>

#include "app/commands.hpp"
#include "results/summary.hpp"

namespace rubato {

namespace {

[[noreturn]] void refuse_plugin(const std::filesystem::path& library, const std::string& why) {
  throw std::invalid_argument("--plugin " + library.string() + ": " + why);
}

void make_known(const Plugin& brought) {
  extend_catalogue(brought.algorithms);
  extend_timer_laws(brought.laws);
  extend_transports(brought.transports);
  if (brought.learners) extend_learners(*brought.learners);
}

}  // namespace

const char* build_of_plugins() {
  static const std::string build = version() + (commit().empty() ? "" : " of commit " + commit());
  return build.c_str();
}

Plugin plugin_of(Plugin brought) {
  fix_eigen_blocking();  // of the library's own Eigen
  brought.built_with = build_of_plugins();
  return brought;
}

int rubato_main(int argc, char** argv, const Plugin& brought) {
  make_known(brought);
  return app::command(argc, argv, nullptr);
}

void load_plugin(const std::filesystem::path& library) {
  void* const handle = dlopen(std::filesystem::absolute(library).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    const char* const reason = dlerror();
    refuse_plugin(library, std::string("cannot be loaded: ") + (reason ? reason : "no reason is given"));
  }
  void* const symbol = dlsym(handle, "rubato_plugin");
  if (!symbol) refuse_plugin(library, "is no plug-in of Rubato: it has no function rubato_plugin()");
  const Plugin* const plugin = reinterpret_cast<const Plugin* (*)()>(symbol)();
  if (!plugin || !plugin->built_with) refuse_plugin(library, "its rubato_plugin() gives nothing");
  const std::string other = plugin->built_with, own = build_of_plugins();
  if (other != own) refuse_plugin(library, "was built with Rubato " + other + ", and this is " + own + ": build it with this one");
  make_known(*plugin);
}

}  // namespace rubato
