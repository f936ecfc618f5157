// Plug-ins: algorithms and laws of timers in a shared library, which the built command meets with --plugin. It is linked with
// rubato::app of the package that the command is of, and has one function with C's linkage:
//
//   extern "C" const rubato::Plugin* rubato_plugin() {
//     static const rubato::Plugin plugin = rubato::plugin_of(algorithms, laws);
//     return &plugin;
//   }
#pragma once

#include <filesystem>
#include <span>

#include "algos/catalogue.hpp"
#include "experiment/experiment.hpp"

namespace rubato {

/// What a shared library brings.
struct Plugin {
  const char* built_with = nullptr;                     ///< build_of_plugins() where it was built; looked at before anything else
  std::span<const CatalogueEntry* const> algorithms{};  ///< for experiments to name; they live as long as the library
  std::span<const OwnTimerLaw* const> laws{};           ///< likewise
};

/// Version and commit of this package: a plug-in of another one is refused, because what it hands over may have changed its form.
const char* build_of_plugins();

/// A plug-in of this package. The lists outlive it.
Plugin plugin_of(std::span<const CatalogueEntry* const> algorithms, std::span<const OwnTimerLaw* const> laws = {});

/// Loads a library and makes known what it brings; it stays loaded. To be called while nothing else of the library is at work.
/// Throws std::invalid_argument where it cannot be loaded, is no plug-in, is of another package, or brings a name that is taken.
void load_plugin(const std::filesystem::path& library);

}  // namespace rubato
