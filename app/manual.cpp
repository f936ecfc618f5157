#include "app/manual.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <string_view>
#include <vector>

namespace rubato::app {

namespace {

// Text that roff takes as it is: hyphens are those of options, and no line is a request.
std::string roff(std::string_view text) {
  std::string safe;
  bool begins_line = true;
  for (const char letter : text) {
    if (begins_line && (letter == '.' || letter == '\'')) safe += "\\&";
    begins_line = letter == '\n';
    letter == '\\' ? safe += "\\e" : letter == '-' ? safe += "\\-" : safe += letter;
  }
  return safe;
}

std::string upper(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char letter) { return static_cast<char>(std::toupper(letter)); });
  return text;
}

bool is_shown(const CLI::Option* option) { return !option->get_group().empty(); }

std::vector<const CLI::App*> commands_of(const CLI::App& command) {
  return command.get_subcommands([](const CLI::App* each) { return !each->get_group().empty(); });
}

// "--set TEXT", "FILE"
std::string head_of(const CLI::Option& option) {
  if (option.get_positional()) return "\\fI" + roff(option.get_name()) + "\\fR";
  std::string head = "\\fB" + roff(option.get_name()) + "\\fR";
  const std::string type = option.get_type_size() > 0 ? option.get_type_name() : "";
  const std::string word = type.substr(0, type.find_first_of(": "));
  if (!word.empty()) head += " \\fI" + roff(word) + "\\fR";
  return head;
}

std::string options_text(const CLI::App& command) {
  std::string text;
  for (const CLI::Option* option : command.get_options())
    if (is_shown(option)) text += ".TP\n" + head_of(*option) + "\n" + roff(option->get_description()) + "\n";
  return text;
}

// "rubato run FILE [options]"
std::string synopsis(const CLI::App& command, const std::string& program) {
  std::string text = "\\fB" + roff(program) + " " + roff(command.get_name()) + "\\fR";
  for (const CLI::Option* option : command.get_options())
    if (is_shown(option) && option->get_positional())
      text += fmt::format(fmt::runtime(option->get_required() ? " \\fI{}\\fR{}" : " [\\fI{}\\fR{}]"), roff(option->get_name()),
                          option->get_items_expected_max() > 1 ? "..." : "");
  return text + " [options]";
}

// The words of a choice stand in its type: "WHEN:{auto,always,never}".
std::string choices_of(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const std::size_t begin = type.rfind('{'), end = type.rfind('}');
  if (begin == type.npos || end == type.npos || end < begin) return {};
  std::string words = type.substr(begin + 1, end - begin - 1);
  for (char& letter : words)
    if (letter == ',') letter = ' ';
  return words;
}

}  // namespace

std::string manual_page(const CLI::App& command, const std::string& version) {
  const std::string name = command.get_name();
  std::string text = fmt::format(".TH {} 1 \"\" \"{} {}\"\n.SH NAME\n{} \\- {}\n.SH SYNOPSIS\n", upper(name), name, roff(version),
                                 name, roff(command.get_description()));
  text += "\\fB" + name + "\\fR \\fICOMMAND\\fR [arguments] [options]\n.SH COMMANDS\n";
  for (const CLI::App* each : commands_of(command)) {
    text += fmt::format(".SS {}\n{}\n.PP\n{}\n", roff(each->get_name()), synopsis(*each, name), roff(each->get_description()));
    text += options_text(*each);
    if (each->get_footer() != command.get_footer()) text += ".PP\n" + roff(each->get_footer()) + "\n";
  }
  text += ".SH OPTIONS\n" + options_text(command);
  text += ".SH EXIT STATUS\n" + roff(command.get_footer()) + "\n";
  text +=
      ".SH ENVIRONMENT\n.TP\n\\fBRUBATO_DATA\\fR\nthe folder of the data sets, where \\-\\-data names none\n"
      ".TP\n\\fBNO_COLOR\\fR\nno colours, unless \\-\\-color asks for them\n";
  return text;
}

std::string bash_completion(const CLI::App& command) {
  std::vector<std::string> names;
  std::string options, choices;
  for (const CLI::App* each : commands_of(command)) {
    names.push_back(each->get_name());
    std::vector<std::string> words;
    for (const CLI::Option* option : each->get_options()) {
      if (!is_shown(option)) continue;
      for (const std::string& word : option->get_lnames()) words.push_back("--" + word);
      const std::string some = choices_of(*option);
      if (!some.empty() && !option->get_positional())
        choices += fmt::format("    {}:--{}) COMPREPLY=($(compgen -W '{}' -- \"$word\")); return ;;\n", each->get_name(),
                               option->get_lnames().front(), some);
    }
    options += fmt::format("    {}) options='{}' ;;\n", each->get_name(), fmt::join(words, " "));
  }
  return fmt::format(R"(# Completion of {0} for bash: source it, or put it into share/bash-completion/completions.
_{0}() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} command=${{COMP_WORDS[1]}} options=
  if ((COMP_CWORD == 1)); then
    COMPREPLY=($(compgen -W '{1}' -- "$word"))
    return
  fi
  case $command:$before in
{2}    help:help) COMPREPLY=($(compgen -W '{1}' -- "$word")); return ;;
    list:list) COMPREPLY=($(compgen -W 'algorithms channels datasets models protocols topologies --keys' -- "$word")); return ;;
  esac
  case $command in
{3}  esac
  if [[ $word == -* ]]; then
    COMPREPLY=($(compgen -W "$options" -- "$word"))
  else
    COMPREPLY=($(compgen -f -- "$word"))
  fi
}}
complete -o filenames -F _{0} {0}
)",
                     command.get_name(), fmt::join(names, " "), choices, options);
}

}  // namespace rubato::app
