// The command `rubato` with parts of one's own: in a program whose main() hands its arguments on to rubato_main(), or in a shared
// library, a plug-in, which the built command loads with --plugin. That is linked with rubato::app of the package that the command
// is of, and has one function with C's linkage:
//
//   extern "C" const rubato::Plugin* rubato_plugin() {
//     static const rubato::Plugin plugin = rubato::plugin_of({.algorithms = algorithms, .laws = laws});
//     return &plugin;
//   }
#pragma once

#include <filesystem>
#include <span>

#include "algos/catalogue.hpp"
#include "experiment/experiment.hpp"
#include "experiment/own_parts.hpp"
#include "transports/transport.hpp"

namespace rubato {

/// What a program or a shared library brings.
struct Plugin {
  const char* built_with = nullptr;                     ///< of a library, by plugin_of(); looked at before anything else
  std::span<const CatalogueEntry* const> algorithms{};  ///< for experiments to name; they live as long as the library
  std::span<const OwnTimerLaw* const> laws{};           ///< likewise
  std::span<const OwnTransport* const> transports{};    ///< likewise, for rosters
  const OwnLearners* learners = nullptr;                ///< instead of [data] and [model] of every experiment; null: none
};

/// Version and commit of this package: a plug-in of another one is refused, because what it hands over may have changed its form.
const char* build_of_plugins();

/// What is brought, as a plug-in of this package; `built_with` is filled in. The lists outlive it.
Plugin plugin_of(Plugin brought);

/// Everything that `rubato` does - run, node, compare, resume, replay, report, list and the rest - with experiment files
/// that may name what is brought, besides what the library has. The exit code is that of `rubato --help`; what is wrong is said on
/// standard error. To be called once.
int rubato_main(int argc, char** argv, const Plugin& brought = {});

/// Loads a library and makes known what it brings; it stays loaded. To be called while nothing else of the library is at work.
/// Throws std::invalid_argument where it cannot be loaded, is no plug-in, is of another package, or brings a name that is taken.
void load_plugin(const std::filesystem::path& library);

}  // namespace rubato
