// Every key stands in an example, and what stands there is known.
#include <doctest/doctest.h>

#include <filesystem>
#include <set>
#include <string>

#include "experiment/file/keys.hpp"
#include "experiment/file/parse.hpp"
#include "tests/actors/support.hpp"

using namespace rubato;
using namespace rubato::test;

namespace {

using KeyNames = std::set<std::string>;

// The keys of a table of this path and of all tables in it, as `rubato list --keys` calls them.
void note_keys(const config::Table& table, const std::string& path, KeyNames& names) {
  for (const auto& [name, value] : table.entries)
    for (const config::Key* key : config::keys_of(path)) {
      if (key->name != name) continue;
      names.insert(config::dotted(key->table, key->name));
      const std::string inner = key->type == config::Type::table ? config::dotted(path, key->name) : "law";
      if (const auto* one = value.as<config::Table>()) note_keys(*one, inner, names);
      if (const auto* list = value.as<config::List>(); list && key->type == config::Type::tables)
        for (const config::Value& element : *list)
          if (const auto* one = element.as<config::Table>()) note_keys(*one, std::string(key->element), names);
    }
}

KeyNames keys_of_examples() {
  KeyNames names;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(RUBATO_SOURCE_DIR "/examples")) {
    if (entry.path().extension() != ".toml") continue;
    const auto read = config::parse_document(text_of(entry.path()));
    REQUIRE_MESSAGE(std::holds_alternative<config::Table>(read), entry.path().string());
    note_keys(std::get<config::Table>(read), "", names);
  }
  return names;
}

}  // namespace

TEST_CASE("every key of an experiment stands in an example") {
  const KeyNames names = keys_of_examples();
  CHECK(config::all_keys().size() > 400);
  for (const config::Key& key : config::all_keys()) {
    const std::string name = config::dotted(key.table, key.name);
    CHECK_MESSAGE(names.contains(name), name, " stands in no file of examples/");
  }
}

TEST_CASE("every algorithm has a file in examples/algorithms") {
  const config::Key* name = config::find_key("algorithm", "name");
  REQUIRE(name);
  const auto all = config::words_of(name->choices);
  CHECK(all.size() > 40);
  for (const std::string_view each : all)
    CHECK_MESSAGE(std::filesystem::exists(RUBATO_SOURCE_DIR "/examples/algorithms/" + std::string(each) + ".toml"), each);
}
