// The command line as a page of `man` and as completion for bash, made from the tables that --help is made of.
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace rubato::app {

/// In the language of roff: `rubato manual | man -l -`.
std::string manual_page(const CLI::App& command, const std::string& version);

/// A script to be sourced: `source <(rubato completion)`.
std::string bash_completion(const CLI::App& command);

}  // namespace rubato::app
