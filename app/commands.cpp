#include "app/commands.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <ranges>
#include <sstream>
#include <stdexcept>

#include "algos/catalogue.hpp"
#include "algos/protocol_kind.hpp"
#include "app/bindings.hpp"
#include "app/text/fitted_line.hpp"
#include "experiment/build/conditions.hpp"
#include "experiment/build/world.hpp"
#include "experiment/experiment.hpp"
#include "experiment/file/experiment_file.hpp"
#include "experiment/file/resolve.hpp"
#include "learning/data/named_sets.hpp"
#include "learning/models/model_catalogue.hpp"
#include "results/whole_file.hpp"
#include "runtime/record.hpp"
#include "runtime/world/changing.hpp"
#include "runtime/world/report.hpp"
#include "runtime/world/spectrum.hpp"
#include "runtime/world/topology.hpp"
#include "transports/zmq_identity.hpp"
#include "web/report.hpp"
#include "web/svg.hpp"

namespace rubato::app {

namespace {

using NamedRows = std::vector<std::pair<std::string, std::string>>;  // a name and what it stands for

// "650 on digits; 7850 on mnist, fashion-mnist": what a model has on the sets that it fits.
std::string sizes_of(const KnownModel& model) {
  std::vector<std::pair<Index, std::vector<std::string>>> sizes;
  for (const std::string& name : dataset_names()) {
    const DatasetFacts facts = usual_facts(name);
    const std::optional<Index> size = parameters_of(model, facts.shape, facts.classes);
    if (!size) continue;
    auto same = std::ranges::find(sizes, *size, [](const auto& entry) { return entry.first; });
    if (same == sizes.end()) same = sizes.insert(same, {*size, {}});
    same->second.push_back(name);
  }
  std::vector<std::string> texts;
  for (const auto& [size, names] : sizes) texts.push_back(fmt::format("{} on {}", size, fmt::join(names, ", ")));
  return fmt::format("{}", fmt::join(texts, "; "));
}

// What a model is measured with where its size is the user's choice.
std::string example_of(const KnownModel& model) {
  if (!model.hidden.empty()) return fmt::format("hidden = [{}]", fmt::join(model.hidden, ", "));
  if (!model.layers.empty()) return fmt::format("layers = [\"{}\"]", fmt::join(model.layers, "\", \""));
  return {};
}

NamedRows list_models() {
  NamedRows rows;
  for (const KnownModel& model : known_models()) {
    rows.emplace_back(model.name, model.summary);
    if (!model.keys.empty()) rows.emplace_back("", "keys: " + std::string(model.keys));
    const std::string sizes = sizes_of(model), example = example_of(model);
    if (!sizes.empty()) rows.emplace_back("", "parameters" + (example.empty() ? "" : ", " + example) + ": " + sizes);
  }
  rows.emplace_back(
      "quadratic",
      "f_i(x) = 1/2 |x - c_i|^2, or the tridiagonal one, with data.name = \"quadratic\" or \"tridiagonal\", data.dimension");
  rows.emplace_back("least_squares",
                    "linear regression without a bias, with data.name = \"pame_regression\"; with \"pame_logistic\" "
                    "goes logistic, also without");
  return rows;
}

std::string inputs_of(const DatasetFacts& facts) {
  const auto& [height, width, channels] = std::tie(facts.shape.height, facts.shape.width, facts.shape.channels);
  const bool is_row = height == 1 && channels == 1;
  const std::string inputs = is_row ? std::to_string(width) : fmt::format("{} x {} x {}", channels, height, width);
  return fmt::format("{} inputs, {} classes; ", inputs, facts.classes);
}

std::string about_dataset(const std::string& name) {
  const auto folder = find_dataset(name);
  if (folder.empty()) return inputs_of(usual_facts(name)) + "not found here";
  try {
    const DatasetFacts facts = facts_of(name);
    return fmt::format("{} + {} rows, {}found in {}", facts.train_rows, facts.test_rows, inputs_of(facts), folder.string());
  } catch (const std::invalid_argument& fault) {
    return inputs_of(usual_facts(name)) + "cannot be read: " + fault.what();
  }
}

NamedRows list_datasets() {
  NamedRows rows;
  for (const std::string& name : dataset_names()) rows.emplace_back(name, about_dataset(name));
  rows.emplace_back("files", "your own: data.train, data.test, data.format");
  rows.emplace_back("quadratic", "made up from the seed: data.dimension numbers a client");
  rows.emplace_back("tridiagonal",
                    "a worst case of gradient methods with data.dimension numbers, data.noise and data.spread, for quadratic");
  rows.emplace_back("pame_regression",
                    "made up likewise: data.samples_per_client samples around a sparse solution, for least_squares");
  rows.emplace_back("pame_logistic", "the same with two classes, for logistic");
  return rows;
}

// The experiment file has one word per kind.
NamedRows list_topologies() {
  NamedRows rows;
  for (const TopologyKind& kind : topology_kinds())
    if (kind.name != "cycle" && kind.name != "mesh") rows.emplace_back(kind.name, kind.meaning);
  rows.emplace_back("edges", "topology.edges = [[source, target], ...]");
  return rows;
}

NamedRows list_algorithms() {
  NamedRows rows;
  for (const CatalogueEntry* entry : catalogue()) rows.emplace_back(entry->name, entry->summary);
  return rows;
}

std::string_view meaning_of(config::ChannelKind kind) {
  switch (kind) {
    using enum config::ChannelKind;
    case ideal:
      return "nothing is lost; one constant delay";
    case random:
      return "delays by any law, independent losses and duplicates; links may differ";
    case table:
      return "delay and loss of every link";
    case wireless:
      return "path loss, Rayleigh fading and interference of clients in a cell, which may wander";
    case rayleigh_threshold:
      return "links that are up or down for a round or a coherence time";
    case aircomp:
      return "models that add up in the air, in slots, with noise";
    case bandwidth:
      return "capacities up and down, shared by what is under way";
    case trace:
      return "delay and loss of every link over time, from a file";
    case bursty:
      return "links that are good and bad in turn, with losses of their own in each state";
  }
  return "";
}

std::string_view meaning_of(ProtocolKind kind) {
  switch (kind) {
    using enum ProtocolKind;
    case push:
      return "independent compute and transmit timers, no client waits for another";
    case rounds:
      return "barriers: all compute, all exchange, all combine";
    case server:
      return "a centre, or a leader that changes: it hands its model out, others work and answer, it combines";
    case token:
      return "each client learns alone while a few tokens walk from neighbour to neighbour";
    case pull:
      return "a client asks its neighbours, takes the first answers or those in time, and absorbs them together";
    case tree:
      return "gradients are added up along the links of a tree on their way to its root, and models handed down";
    case pair:
      return "a client asks one neighbour at a time, and the two average their models together or not at all";
  }
  return "";
}

// The words of a choice with their meanings.
template <class Choice>
NamedRows list_words() {
  constexpr std::string_view words = word_list(Choice{});
  NamedRows rows;
  for (std::size_t place = 0; place <= static_cast<std::size_t>(std::ranges::count(words, '|')); ++place)
    rows.emplace_back(word_at(words, place), meaning_of(static_cast<Choice>(place)));
  return rows;
}

const std::map<std::string, std::function<NamedRows()>>& lists() {
  static const std::map<std::string, std::function<NamedRows()>> all{
      {"algorithms", list_algorithms}, {"channels", list_words<config::ChannelKind>}, {"datasets", list_datasets},
      {"models", list_models},         {"protocols", list_words<ProtocolKind>},       {"topologies", list_topologies}};
  return all;
}

void refuse_unknown_list(const std::string& what) {
  if (lists().contains(what)) return;
  throw std::invalid_argument(
      fmt::format("there is no list \"{}\"; there are: {}; and --keys", what, fmt::join(std::views::keys(lists()), ", ")));
}

bool ends_early(const std::filesystem::path& record) {
  if (!std::filesystem::exists(record)) return false;
  RecordReader reader(record);
  while (reader.next()) {
  }
  return reader.is_incomplete();
}

}  // namespace

namespace {

std::optional<std::pair<double, double>> stretch_of(const std::string& text) {
  if (text.empty()) return std::nullopt;
  const std::size_t dots = text.find("..");
  const auto number = [&](std::string_view part) {
    double value = -1;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), value);
    return error == std::errc{} && end == part.data() + part.size() ? value : -1;
  };
  if (dots == text.npos) return std::pair{-1.0, -1.0};  // which the picture refuses
  return std::pair{number(std::string_view(text).substr(0, dots)), number(std::string_view(text).substr(dots + 2))};
}

}  // namespace

int report(const ReportArguments& arguments) {
  for (const std::filesystem::path& folder : arguments.folders) {
    web::require_ended_run(folder);
    for (const std::string& card : arguments.svg)
      write_whole(folder / (card + ".svg"), web::svg_card(folder, card, stretch_of(arguments.stretch)));
    web::write_report(folder);
    if (ends_early(folder / "timeline.rbt"))
      std::cerr << "note: " << (folder / "timeline.rbt").string()
                << " ends early: it was cut at its limit or is damaged, and the report shows what is before\n";
    std::cout << "the report is " << (std::filesystem::absolute(folder) / "report.html").lexically_normal().string() << "\n";
  }
  return ok;
}

int keygen(const std::string& name, const std::filesystem::path& out) {
  const Identity identity = make_identity();
  const IdentityFiles files = write_identity(identity, out.empty() ? "." : out, name);
  std::cout << fmt::format(
      "# {0} stays on this host. What follows goes into the experiment file, on every host.\n"
      "[[roster]]\nname = \"{1}\"\naddress = \"tcp://{1}:7001\"\npublic_key = \"{2}\"\n",
      files.secret.string(), name, identity.public_key);
  return ok;
}

namespace {

// The theorems' conditions of an experiment that could be run; nothing of one that could not.
std::string conditions_text(const std::filesystem::path& file, const std::vector<std::string>& set) try {
  std::ostringstream said;  // by reading, already
  const ResolvedExperiment resolved = resolve(file, set, said);
  const std::vector<Graph> graphs = make_graphs(resolved.experiment);
  const ClientSettings& settings = resolved.timing->settings;
  const std::vector<Condition> conditions = conditions_of(
      {resolved.experiment, resolved.algorithm, graphs, settings.chances.computes, settings.chances.links, settings.absorb_every});
  if (conditions.empty()) return {};
  return fmt::format("\nconditions of {}\n{}", resolved.experiment.algorithm.name, describe(conditions));
} catch (const std::invalid_argument& fault) {
  return fmt::format("\nconditions are not known: the experiment cannot be run\n{}\n", fault.what());
}

// The spectral gap of Metropolis weights on the links that are up, over so many draws of them.
std::string draws_text(const config::Experiment& experiment, const Graph& graph, std::uint64_t draws) {
  const bool fades =
      experiment.channel.kind == config::ChannelKind::rayleigh_threshold || experiment.channel.kind == config::ChannelKind::aircomp;
  if (!fades || graph.is_directed())
    throw std::invalid_argument(
        "--draws: links come and go with channel.kind = \"rayleigh_threshold\" or \"aircomp\" on an undirected graph");
  constexpr std::uint64_t most = 1'000'000;
  if (draws > most || graph.clients() > largest_dense)
    throw std::invalid_argument(fmt::format("--draws: at most {} draws of at most {} clients", most, largest_dense));
  const FadingLinks links(graph, fading_of(experiment));
  std::vector<double> gaps;
  double up = 0;
  for (std::uint64_t k = 0; k < draws; ++k) {
    const Graph drawn = links.up(k);
    gaps.push_back(1 - consensus_rate(weights::metropolis(drawn)));
    up += static_cast<double>(drawn.links());
  }
  const double share = up / static_cast<double>(std::max<std::size_t>(graph.links(), 1) * draws);
  return fmt::format(
      "\ndraws of links that are up: {}, {:.4f} of all links\nspectral gap with metropolis: mean {:.4f}, deviation {:.4f}\n", draws,
      share, mean(gaps), population_deviation(gaps));
}

}  // namespace

int topology(const std::filesystem::path& file, const std::vector<std::string>& set, std::uint64_t draws) {
  const config::Experiment experiment = config::read_experiment(file, set, std::cerr);
  const std::vector<Graph> graphs = make_graphs(experiment);
  const Graph whole = joined(graphs);
  std::cout << describe(whole);
  if (graphs.size() > 1) std::cout << describe_changes(graphs);
  if (draws > 0) std::cout << draws_text(experiment, whole, draws);
  const auto fault = connection_fault(whole);
  const bool is_one_step = experiment.topology.kind == config::TopologyKind::one_peer_exponential && graphs.size() == 1;
  if (!fault || is_one_step) std::cout << conditions_text(file, set);
  std::cout << std::flush;
  if (!fault || is_one_step) return ok;
  std::cerr << *fault << "\n";
  return bad_input;
}

namespace {

// On a terminal what a word means goes on below its beginning.
void print_row(const std::string& word, const std::string& meaning, std::size_t columns) {
  constexpr std::size_t indent = 25, least = 30;
  const std::vector<std::string> lines = columns < indent + least ? std::vector{meaning} : wrapped(meaning, columns - indent);
  std::cout << fmt::format("  {:<22} {}\n", word, lines.empty() ? "" : lines.front());
  for (std::size_t i = 1; i < lines.size(); ++i) std::cout << std::string(indent, ' ') << lines[i] << "\n";
}

void print_json(const std::string& what) {
  nlohmann::ordered_json all;
  for (const auto& [name, rows] : lists()) {
    if (!what.empty() && what != name) continue;
    for (const auto& [word, meaning] : rows()) all[name].push_back({{"name", word}, {"meaning", meaning}});
  }
  std::cout << all.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) << "\n";
}

}  // namespace

std::vector<std::string> list_names() {
  const auto names = std::views::keys(lists());
  return {names.begin(), names.end()};
}

int list(const std::string& what, bool keys, bool json) {
  if (keys) {
    std::cout << config::describe_keys() << std::flush;
    return ok;
  }
  if (!what.empty()) refuse_unknown_list(what);
  if (json) {
    print_json(what);
    return ok;
  }
  const bool is_wide = !terminal_on_output(Colour::never).is_there;
  const std::size_t columns = is_wide ? std::string::npos : size_of_output().columns;
  for (const auto& [name, rows] : lists()) {
    if (!what.empty() && what != name) continue;
    std::cout << name << "\n";
    for (const auto& [word, meaning] : rows()) print_row(word, meaning, columns);
  }
  return ok;
}

}  // namespace rubato::app

namespace rubato {

std::vector<std::pair<std::string, std::string>> list_of(const std::string& what) {
  app::refuse_unknown_list(what);
  return app::lists().at(what)();
}

}  // namespace rubato
