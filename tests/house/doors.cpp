#include "tests/house/doors.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <span>

namespace rubato::house {

namespace {

using Names = std::vector<std::string_view>;

// A door is a folder; with a slash behind it, a whole room with all its folders.
struct Folder {
  std::string_view name;
  Names doors;  // without the folder itself
};

const std::array folders{
    Folder{"runtime", {}},
    Folder{"runtime/world", {"runtime"}},
    Folder{"runtime/protocols", {"runtime", "runtime/world"}},
    Folder{"runtime/engine", {"runtime", "runtime/protocols", "runtime/world"}},
    Folder{"learning", {"runtime"}},
    Folder{"learning/data", {"learning", "runtime"}},
    Folder{"learning/network", {"learning", "runtime"}},
    Folder{"learning/models", {"learning", "learning/data", "learning/network", "runtime"}},
    Folder{"algos", {"learning", "runtime", "runtime/protocols", "runtime/world"}},
    Folder{"transports", {"runtime"}},
    Folder{"experiment", {"algos", "learning/", "runtime/", "transports"}},
    Folder{"experiment/build", {"algos", "experiment", "learning/", "runtime/"}},
    Folder{"experiment/file", {"algos", "experiment", "experiment/build", "learning/", "runtime/", "transports"}},
    Folder{"results", {"algos", "experiment/", "learning", "runtime/"}},
    Folder{"actors/core", {"algos", "experiment/", "learning/", "results", "runtime/", "transports"}},
    Folder{"actors/virtual", {"actors/core", "algos", "experiment/", "results", "runtime/"}},
    Folder{"actors/hosts", {"actors/core", "actors/virtual", "algos", "experiment/", "results", "runtime/", "transports"}},
    Folder{"actors/wall", {"actors/core", "actors/hosts", "algos", "experiment/", "results", "runtime/", "transports"}},
    Folder{"actors", {"actors/", "algos", "experiment/", "learning/", "results", "runtime/", "transports"}},
    Folder{"rubato", {"actors", "experiment/file"}},
    Folder{"web", {"experiment/", "results", "runtime/"}},
    Folder{"web/live", {"experiment/", "results", "runtime/", "web"}},
    Folder{"app/golden", {"actors/", "algos", "experiment/", "learning/", "results", "runtime/"}},
    Folder{"app/text", {"runtime/"}},
    Folder{"app",
           {"actors/", "algos", "app/golden", "app/text", "experiment/", "learning/", "results", "runtime/", "transports", "web/"}},
    Folder{"examples", {"actors/", "algos", "app", "experiment/", "learning/", "results", "rubato", "runtime/", "transports"}},
    Folder{"python", {"actors/", "algos", "app", "experiment/", "learning/", "results", "rubato", "runtime/", "transports"}},
    Folder{"bench", {"actors/", "algos", "experiment/", "learning/", "results", "runtime/", "transports"}},
};

// The link line of a room's target names these rooms.
struct Room {
  std::string_view name;
  Names doors;        // in alphabetical order, without the room itself
  bool all_are_used;  // its link line names every door
};

const std::array rooms{
    Room{"runtime", {}, true},
    Room{"learning", {"runtime"}, true},
    Room{"algos", {"learning", "runtime"}, true},
    Room{"transports", {"runtime"}, true},
    Room{"experiment", {"algos", "learning", "runtime", "transports"}, true},
    Room{"results", {"algos", "experiment", "learning", "runtime"}, true},
    Room{"actors", {"algos", "experiment", "learning", "results", "runtime", "transports"}, true},
    Room{"web", {"experiment", "results", "runtime"}, true},
    Room{"app", {"actors", "algos", "experiment", "learning", "results", "runtime", "transports", "web"}, false},
    Room{"examples", {"actors", "algos", "app", "experiment", "learning", "results", "runtime", "transports"}, false},
    Room{"python", {"actors", "algos", "app", "experiment", "learning", "results", "runtime", "transports"}, false},
    Room{"bench", {"actors", "algos", "experiment", "learning", "results", "runtime", "transports"}, false},
};

constexpr std::size_t most_files = 50;  // in a folder

// A library and the only places that may name it; a place is the beginning of a path.
struct Library {
  std::string_view name;
  std::string_view cmake_family;  // of its CMake target; empty if it has none
  Names headers;                  // beginnings of what one includes
  Names places;
};

// A place that begins with a star is the end of a path.
const std::array libraries{
    Library{"Random123", "", {"Random123/"}, {"runtime/random.cpp"}},
    Library{"Eigen", "Eigen3", {"Eigen/", "unsupported/Eigen/"}, {"learning/", "algos/"}},
    Library{"oneDNN", "DNNL", {"dnnl", "oneapi/dnnl"}, {"learning/"}},
    Library{"OpenMP", "OpenMP", {"omp.h"}, {"learning/one_thread.hpp"}},
    Library{"libtorch", "", {"torch/"}, {"learning/models/torch_script.cpp"}},
    Library{"zlib", "ZLIB", {"zlib.h"}, {"learning/data/", "web/"}},
    Library{"liblzma", "LibLZMA", {"lzma.h"}, {"learning/data/"}},
    Library{"cppzmq", "cppzmq", {"zmq.h", "zmq_addon.hpp"}, {"transports/zmq"}},
    Library{"CAF", "CAF", {"caf/"}, {"actors/core/caf.hpp", "*_actor.hpp", "*_actor.cpp"}},
    Library{"toml++", "tomlplusplus", {"toml++/", "toml.hpp"}, {"experiment/file/parse.cpp"}},
    Library{"Beast", "", {"boost/beast"}, {"web/"}},
    Library{"Asio", "", {"boost/asio"}, {"actors/wall/clock.", "app/", "web/"}},
    Library{"libsodium", "sodium", {"sodium"}, {"experiment/digest.cpp", "app/", "transports/zmq"}},
    Library{"nlohmann-json", "nlohmann_json", {"nlohmann/"}, {"results/", "app/", "web/", "bench/"}},
    Library{"fmt", "fmt", {"fmt/"}, {"experiment/", "results/", "actors/", "app/", "web/", "bench/"}},
    Library{"CLI11", "CLI11", {"CLI/"}, {"app/", "bench/"}},
    Library{"doctest", "doctest", {"doctest"}, {"tests/"}},
    Library{"rapidcheck", "rapidcheck", {"rapidcheck"}, {"tests/"}},
    Library{"pybind11", "pybind11", {"pybind11/", "Python.h"}, {"python/"}},
    Library{"a socket", "", {"sys/socket.h", "sys/un.h", "netinet/", "arpa/", "netdb.h", "linux/tcp.h"}, {"transports/", "web/"}},
    Library{"Boost", "Boost", {"boost/"}, {"actors/wall/clock.", "app/", "web/"}},  // what is left of it
};

// The kernel's and the compiler's headers are open to everyone.
const std::array system_headers{"sys/",   "unistd.h",    "fcntl.h", "signal.h", "poll.h",    "termios.h", "sched.h",
                                "time.h", "immintrin.h", "cpuid.h", "cxxabi.h", "pthread.h", "dlfcn.h",   "semaphore.h"};

struct Include {
  std::string name;
  bool is_angled;
};

bool starts_with_any(std::string_view text, std::span<const std::string_view> beginnings) {
  return std::ranges::any_of(beginnings, [&](std::string_view b) { return text.starts_with(b); });
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::string_view without_leading_space(std::string_view line) {
  line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  return line;
}

std::optional<Include> include_on(std::string_view line) {
  line = without_leading_space(line);
  if (!line.starts_with('#')) return {};
  line = without_leading_space(line.substr(1));
  if (!line.starts_with("include")) return {};
  line = without_leading_space(line.substr(std::string_view{"include"}.size()));
  const bool is_angled = line.starts_with('<');
  if (!is_angled && !line.starts_with('"')) return Include{std::string{line}, false};
  line.remove_prefix(1);
  return Include{std::string{line.substr(0, line.find(is_angled ? '>' : '"'))}, is_angled};
}

std::vector<Include> includes_of(std::string_view text) {
  std::vector<Include> includes;
  for (const std::string_view line : lines_of(text))
    if (auto include = include_on(line)) includes.push_back(*std::move(include));
  return includes;
}

std::string_view first_folder(std::string_view path) { return path.substr(0, path.find('/')); }

std::string_view folder_of(std::string_view path) {
  const auto slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string_view{} : path.substr(0, slash);
}

// Folders that have no row, such as examples/own_model, keep the rules of the one above.
const Folder* row_of(std::string_view folder) {
  for (; !folder.empty(); folder = folder_of(folder)) {
    const auto found = std::ranges::find(folders, folder, &Folder::name);
    if (found != folders.end()) return &*found;
  }
  return nullptr;
}

bool opens(std::string_view door, std::string_view folder) {
  if (!door.ends_with('/')) return folder == door;
  return folder.starts_with(door) || folder == door.substr(0, door.size() - 1);
}

bool is_place(std::string_view place, std::string_view path) {
  return place.starts_with('*') ? path.ends_with(place.substr(1)) : path.starts_with(place);
}

const Room* room_named(std::string_view name) {
  const auto found = std::ranges::find(rooms, name, &Room::name);
  return found == rooms.end() ? nullptr : &*found;
}

template <class Names>
std::string listed(const Names& names, std::string_view if_none) {
  if (names.empty()) return std::string{if_none};
  std::string list{names.front()};
  for (std::size_t i = 1; i < names.size(); ++i) list.append(i + 1 == names.size() ? " and " : ", ").append(names[i]);
  return list;
}

std::string complaint(std::string_view path, std::string_view verb, std::string_view what, std::string_view rule) {
  return std::string{path}.append(" ").append(verb).append(" ").append(what).append("; ").append(rule);
}

bool is_standard(std::string_view header) { return header.find_first_of("./") == std::string_view::npos; }

void check_folder_include(std::string_view path, const Folder& folder, std::string_view header, Faults& faults) {
  const std::string_view target = folder_of(header);
  if (row_of(target) == &folder) return;
  if (std::ranges::any_of(folder.doors, [&](std::string_view door) { return opens(door, target); })) return;
  const std::string rule = std::string{folder.name} + " may include " + listed(folder.doors, "only the standard library");
  faults.push_back(complaint(path, "includes", header, rule));
}

void check_library_include(std::string_view path, std::string_view header, Faults& faults) {
  for (const Library& library : libraries) {
    if (!starts_with_any(header, library.headers)) continue;
    if (std::ranges::none_of(library.places, [&](std::string_view place) { return is_place(place, path); })) {
      const std::string rule = std::string{library.name} + " is named only in " + listed(library.places, "");
      faults.push_back(complaint(path, "includes", header, rule));
    }
    return;
  }
  if (std::ranges::any_of(system_headers, [&](std::string_view known) { return header.starts_with(known); })) return;
  faults.push_back(complaint(path, "includes", header, "no door leads there (tests/house/doors.cpp lists them)"));
}

}  // namespace

Faults door_faults(std::string_view path, std::string_view text) {
  Faults faults;
  const Folder* folder = row_of(folder_of(path));
  if (!folder) return faults;
  for (const Include& include : includes_of(text)) {
    std::string_view header = include.name;
    const bool is_public_form = include.is_angled && header.starts_with("rubato/");
    if (is_public_form && header != "rubato/run.hpp") header.remove_prefix(std::string_view{"rubato/"}.size());
    if (is_public_form || room_named(first_folder(header)) || first_folder(header) == "tests") {
      check_folder_include(path, *folder, header, faults);
      const bool is_of_user = folder->name == "examples" || folder->name == "python";
      if (is_of_user && !is_public_form && first_folder(header) != folder->name)
        faults.push_back(complaint(path, "includes", header, "a user writes <rubato/" + std::string{header} + ">"));
    } else if (!include.is_angled) {
      faults.push_back(complaint(path, "includes", header, "begin with the room, as in \"runtime/time.hpp\""));
    } else if (!is_standard(header)) {
      check_library_include(path, header, faults);
    }
  }
  return faults;
}

void FolderGraph::add(std::string_view path, std::string_view text) {
  const std::string from{folder_of(path)};
  ++files_[from];
  for (const Include& include : includes_of(text)) {
    if (include.is_angled || !room_named(first_folder(include.name))) continue;
    const std::string to{folder_of(include.name)};
    if (to != from) includes_[from].emplace(to, std::string{path} + " includes " + include.name);
  }
}

Faults FolderGraph::faults() const {
  Faults faults;
  for (const auto& [folder, count] : files_)
    if (count > most_files && folder != "algos")
      faults.push_back(folder + " has " + std::to_string(count) + " files; at most " + std::to_string(most_files) +
                       " belong in a folder, but for algos, where a file is an algorithm");
  for (const auto& [folder, others] : includes_)
    for (const auto& [other, example] : others) {
      const auto back = includes_.find(other);
      if (folder > other || back == includes_.end()) continue;
      if (const auto found = back->second.find(folder); found != back->second.end())
        faults.push_back(folder + " and " + other + " include each other: " + example + ", and " + found->second);
    }
  return faults;
}

Faults header_faults(std::string_view path, std::string_view text) {
  if (!path.ends_with(".hpp")) return {};
  for (const std::string_view line : lines_of(text))
    if (line == "#pragma once") return {};
  return {std::string{path} + " is a header without #pragma once"};
}

Faults own_header_faults(std::string_view path, std::string_view text) {
  const std::string own = std::string{path.substr(0, path.rfind('.'))} + ".hpp";
  const auto includes = includes_of(text);
  if (!includes.empty() && (includes.front().name == own || includes.front().name == "rubato/" + own)) return {};
  return {complaint(path, "does not include", own + " first", "so nothing shows that this header compiles alone")};
}

Faults word_faults(std::string_view path, std::string_view text) {
  static const std::string to_do = std::string{"TO"} + "DO";
  constexpr std::size_t shortest_reason = 12;
  const std::vector<std::string_view> papers{"../shared", "shared/design", "algorithms.md", "design.md", "style.md"};
  Faults faults;
  std::size_t number = 0;
  for (const std::string_view line : lines_of(text)) {
    const std::string place = std::string{path} + ":" + std::to_string(++number);
    const auto note = line.find(to_do);
    if (note != std::string_view::npos && line.substr(note + to_do.size()).size() < shortest_reason)
      faults.push_back(place + " says " + to_do + " without what would settle it");
    for (const std::string_view paper : papers)
      if (line.find(paper) != std::string_view::npos)
        faults.push_back(complaint(place, "names", paper, "no clone has this file: cite the thesis or docs/"));
  }
  return faults;
}

Faults person_faults(std::string_view path, std::string_view text) {
  constexpr std::array<std::string_view, 7> persons{"nobody", "somebody", "anybody", "everybody", "everyone", "whoever", "someone"};
  const auto is_of_word = [](unsigned char letter) { return std::isalnum(letter) || letter == '_'; };
  Faults faults;
  std::size_t number = 0;
  for (const std::string_view line : lines_of(text)) {
    ++number;
    for (auto begin = std::ranges::find_if(line, is_of_word); begin != line.end();) {
      const auto end = std::find_if_not(begin, line.end(), is_of_word);
      std::string word(begin, end);
      std::ranges::transform(word, word.begin(), [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
      if (std::ranges::find(persons, word) != persons.end())
        faults.push_back(complaint(std::string{path} + ":" + std::to_string(number), "says", word,
                                   "a sentence is about the thing: which client, host, thread or file?"));
      begin = std::find_if(end, line.end(), is_of_word);
    }
  }
  return faults;
}

Faults link_faults(std::string_view folder, const std::vector<std::string>& link_line) {
  const Room* room = room_named(first_folder(folder));
  if (!room) return {std::string{folder} + " is no room"};
  const bool is_whole_room = folder == room->name;
  Faults faults;
  Names linked;
  for (const std::string_view target : link_line) {
    const auto colons = target.find("::");
    if (colons == std::string_view::npos) continue;
    const std::string_view family = target.substr(0, colons);
    if (family == "rubato") {
      const std::string_view other = target.substr(colons + 2);
      if (room_named(other) || is_whole_room) linked.push_back(other);
      continue;
    }
    const auto library = std::ranges::find(libraries, family, &Library::cmake_family);
    const bool is_open =
        family == "Threads" || (library != libraries.end() && std::ranges::any_of(library->places, [&](std::string_view place) {
                                  return first_folder(place) == room->name;
                                }));
    if (!is_open) faults.push_back(complaint(folder, "links", target, "no file in there may include it"));
  }
  const std::string doors = listed(room->doors, "nothing of ours");
  for (const std::string_view other : linked) {
    const bool is_part = !room_named(other);
    if (!is_part && (other == room->name ? is_whole_room : std::ranges::find(room->doors, other) == room->doors.end()))
      faults.push_back(complaint(folder, "links", "rubato::" + std::string{other}, "its doors are " + doors));
  }
  if (!is_whole_room || !room->all_are_used) return faults;
  for (const std::string_view door : room->doors)
    if (std::ranges::find(linked, door) == linked.end())
      faults.push_back(complaint(folder, "does not link", "rubato::" + std::string{door}, "its doors are " + doors));
  return faults;
}

}  // namespace rubato::house
