// rubato: decentralised learning in free time, from the command line.
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <iostream>
#include <limits>
#include <map>
#include <string_view>
#include <system_error>

#include "actors/run.hpp"
#include "algos/arithmetic.hpp"
#include "app/commands.hpp"
#include "app/manual.hpp"
#include "app/plugin.hpp"
#include "app/printable_stream.hpp"
#include "experiment/experiment.hpp"
#include "experiment/file/check.hpp"
#include "results/summary.hpp"
#include "runtime/limits.hpp"

namespace rubato {

namespace {

constexpr const char* exit_codes =
    "Exit codes: 0 done; 1 a case, a replay or a client failed, no model is finite any more, or with --check nothing\n"
    "happened or arrived; 2 the command line, the experiment or the data cannot be used; 3 the results cannot be\n"
    "written; 130 ended early by Ctrl-C or SIGTERM, with the results so far.";

constexpr const char* node_help =
    "Starts this host of the experiment's roster and waits for the others, in any order. In real time the others go "
    "on\n"
    "when a host is lost; started again with the same --out it goes on from its last checkpoint.";

constexpr const char* compare_help =
    "Runs every file with every point of the grid and every seed (seed, seed + 1, ... of the first file), each on one\n"
    "thread and as many at a time as --threads says, under the same clocks, links, data and start. Files must agree "
    "in\n"
    "clients.count, [data], [model] and [budget]; other differences that matter are noted. A run ends at until, or "
    "where\n"
    "budget.bits or budget.gradients is spent, and its curve with it. A point of the grid that cannot be run is refused with\n"
    "its reason in the table, and the others run; the exit code is then 2. --shard I/N on N machines that share the folder\n"
    "--out, then --merge DIR: the table of a single process. A shard that was killed is run again and goes on.";

constexpr const char* resume_help =
    "Goes on from the newest checkpoint that is intact (see checkpoint_every), or from the beginning if there is none, "
    "and\n"
    "ends with the digests of a run that nothing interrupted. The same build and the same data are needed.";

constexpr const char* data_help = "folder of the data sets; default: $RUBATO_DATA, then ./data";

// As a shell would take it.
std::string quoted(const std::string& word) {
  const auto is_plain = [](unsigned char letter) {
    return std::isalnum(letter) || std::string_view("_-./=,:+@%").find(static_cast<char>(letter)) != std::string_view::npos;
  };
  if (!word.empty() && std::ranges::all_of(word, is_plain)) return word;
  std::string text = "'";
  for (const char letter : word) text += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
  return text + "'";
}

Provenance origin_of(int argc, char** argv) {
  Provenance origin;
  for (int i = 0; i < argc; ++i) origin.command += (i > 0 ? " " : "") + quoted(argv[i]);
  char machine[256] = "";
  if (gethostname(machine, sizeof machine - 1) == 0) origin.machine = machine;
  origin.started_at = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
  return origin;
}

// A whole number in tens, which the parser of options would take in eights after a 0 and cut off where it is too large.
std::int64_t parse_seed(const std::string& text, const char* option = "--seed") {
  constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();
  std::int64_t seed = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seed);
  if (error == std::errc() && end == text.data() + text.size() && seed >= 0) return seed;
  throw CLI::ValidationError(option, fmt::format("{} is no seed; allowed are whole numbers from 0 to {}", text, largest));
}

constexpr std::string_view plugin_flag = "--plugin", python_flag = "--python";

// "--plugin FILE" and "--plugin=FILE".
bool is_flag(std::string_view argument, std::string_view flag) {
  return argument == flag || (argument.starts_with(flag) && argument[flag.size()] == '=');
}

bool names(std::string_view flag, int argc, char** argv) {
  return std::any_of(argv + 1, argv + argc, [&](const char* argument) { return is_flag(argument, flag); });
}

// What plug-ins bring is known before anything is read: help, lists and keys have it, too.
std::vector<char*> without_plugins(int argc, char** argv) {
  std::vector<char*> left;
  for (int i = 0; i < argc; ++i) {
    if (i == 0 || !is_flag(argv[i], plugin_flag)) {
      left.push_back(argv[i]);
      continue;
    }
    if (argv[i] == plugin_flag && i + 1 == argc) throw std::invalid_argument("--plugin: names a shared library");
    load_plugin(argv[i] == plugin_flag ? argv[++i] : argv[i] + plugin_flag.size() + 1);
  }
  return left;
}

// The command in an interpreter of Python's, which reads the modules first. Returns where it cannot be started.
int run_in_python(int argc, char** argv) {
  const char* const named = std::getenv("RUBATO_PYTHON");
  const std::string python = named && *named ? named : "python3";
  std::string words[] = {python, "-m", "rubato"};
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.insert(arguments.end(), argv + 1, argv + argc);
  arguments.push_back(nullptr);
  execvp(python.c_str(), arguments.data());
  throw std::invalid_argument("--python: cannot start " + python + ": " + std::strerror(errno) + "; $RUBATO_PYTHON names another");
}

// The commands and what they are given; one of them is carried out.
class CommandLine {
 public:
  /// The arguments are those that were typed.
  CommandLine(app::Golden golden, int argc, char** argv) {
    run_.origin = node_.run.origin = compare_.origin = origin_of(argc, argv);
    rubato_.require_subcommand(1);
    rubato_.set_version_flag("--version", version() + " (" + arithmetic() + ")");
    rubato_.footer(exit_codes);
    add_run();
    add_node();
    add_compare();
    add_resume();
    add_replay();
    CLI::App& report = add("report", "make report.html and trace.json of a run once more", [this] { return app::report(report_); });
    report.add_option("DIR", report_.folders, "folders of runs")->required();
    report.add_option("--svg", report_.svg, "write CARD.svg besides, for papers: accuracy, loss, consensus or score")
        ->type_name("CARD");
    report.add_option("--stretch", report_.stretch, "what the score of --svg shows, in seconds of the experiment: 1.6..1.8")
        ->type_name("FROM..TO");
    CLI::App& serve = add("serve", "show finished runs, and runs that are at work, to browsers and to Prometheus",
                          [this] { return app::serve(paths_, serve_); });
    serve.add_option("DIR", paths_, "folders of runs, or folders that hold some")->required();
    serve.add_option("--listen", serve_.listen, "where: a port of this machine, or an address and a port; default: 8080")
        ->type_name("[ADDRESS:]PORT");
    serve.add_option("--serve-token", serve_.token_file,
                     "file with the token that viewers need; default: none on this machine, else one that is printed");
    CLI::App& top = add("top", "a run that is at work, as a page of text; q ends it, arrows and tab change the plot",
                        [this] { return app::top(word_, run_.colour); });
    top.add_option("PLACE", word_, "what --serve has printed, or the folder of a run; default: http://127.0.0.1:8080/");
    add_colour(top, run_.colour);
    CLI::App& show = add("show", "the report of a run in text", [this] { return app::show(show_); });
    show.add_option("DIR", show_.folder, "the folder of a run, finished or at work")->required();
    show.add_option("--score", show_.score, "what clients did from one second of the experiment to another: 1.6..1.8")
        ->type_name("FROM..TO");
    show.add_option("--clients", show_.clients, "of these clients: 2-6,9; default: the first ones")
        ->type_name("CLIENTS")
        ->needs("--score");
    add_colour(show, show_.colour);
    CLI::App& exported =
        add("export", "write runs for other programs: TensorBoard", [this] { return app::export_runs(paths_, run_.out); });
    exported.add_option("DIR", paths_, "folders of runs, or folders that hold some")->required();
    exported.add_option("--tensorboard", run_.out, "folder for the event files; of several runs, a folder each")
        ->required()
        ->type_name("OUT");
    CLI::App& check = add("check", "whether the files of a run or a comparison agree; a sentence for each fault",
                          [this] { return app::check(paths_, run_.data); });
    check.add_option("DIR", paths_, "folders of runs or comparisons")->required();
    check.add_option("--data", run_.data, data_help);
    if (golden) add_golden(golden);
    CLI::App& keygen =
        add("keygen", "make the keys of a host: NAME.secret and NAME.public", [this] { return app::keygen(word_, run_.out); });
    keygen.add_option("NAME", word_, "the host's name in the roster")->required();
    add_out(keygen, run_.out, "folder for the files, made if it is not there; default: this one");
    CLI::App& topology =
        add("topology", "the graph of an experiment: degrees, connection, matrices, and what the algorithm's paper asks for",
            [this] { return app::topology(run_.file, run_.set, draws_); });
    topology.add_option("FILE", run_.file, "the experiment file (TOML)")->required();
    topology.add_option("--set", run_.set, "key=value")->allow_extra_args(false);
    topology.add_option("--draws", draws_, "where links fade: the mean spectral gap over so many draws of those that are up");
    add_bound();
    CLI::App& list = add("list", fmt::format("what there is: {}", fmt::join(app::list_names(), ", ")).c_str(),
                         [this] { return app::list(word_, lists_keys_, lists_json_); });
    list.add_option("WHAT", word_, "only this list");
    list.add_flag("--json", lists_json_, "as JSON: name and meaning");
    list.add_flag("--keys", lists_keys_, "every key of the experiment file with type, default and meaning");
    add("doctor", "check this machine and this build", app::doctor);
    add("manual", "this help as a page of man: rubato manual | man -l -", [this] {
      std::cout << app::manual_page(rubato_, version());
      return int{app::ok};
    });
    add("completion", "completion for bash: source <(rubato completion)", [this] {
      std::cout << app::bash_completion(rubato_);
      return int{app::ok};
    });
    for (const char* command : {"run", "node", "compare", "resume", "replay", "topology", "list"}) add_extensions(command);
    add_help();
  }

  /// The exit code.
  int parse(int argc, const char* const* argv) {
    if (argc > 1 && argv[1][0] != '-') refuse_unknown(argv[1]);
    try {
      rubato_.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
      return rubato_.exit(error) == 0 ? app::ok : app::bad_input;
    }
    return code_;
  }

 private:
  CLI::App& add(const char* name, const char* meaning, std::function<int()> act, const char* footer = exit_codes) {
    CLI::App& command = *rubato_.add_subcommand(name, meaning);
    command.footer(footer);
    command.callback([this, act = std::move(act)] { code_ = act(); });
    return command;
  }

  static void add_colour(CLI::App& command, app::Colour& colour) {
    static const std::map<std::string, app::Colour> words{
        {"auto", app::Colour::automatic}, {"always", app::Colour::always}, {"never", app::Colour::never}};
    command.add_option("--color", colour, "colours on a terminal: auto, always or never; default: auto, which heeds NO_COLOR")
        ->type_name("WHEN")
        ->transform(CLI::Transformer(words, CLI::ignore_case).description(""))
        ->check(CLI::IsMember(words));
  }

  // Both are taken out of the command line before it is parsed; here they are for --help.
  void add_extensions(const char* name) {
    CLI::App& command = *rubato_.get_subcommand(name);
    command.add_option("--plugin", extensions_,
                       "shared library with algorithms, learners, laws of timers or transports of your own");
    command.add_option("--python", extensions_, "Python module that registers algorithms of your own");
  }

  static void add_threads(CLI::App& command, unsigned& threads) {
    command.add_option("--threads", threads, "worker threads; default: all of the machine")->check(CLI::Range(1, 1024));
  }

  static CLI::Option* add_out(CLI::App& command, std::filesystem::path& folder, const char* meaning) {
    return command.add_option("--out", folder, meaning)->check([](const std::string& name) {
      return std::string(name.empty() ? "names no folder" : "");
    });
  }

  static void add_seed(CLI::App& command, app::RunArguments& run, const char* meaning) {
    command
        .add_option_function<std::string>(
            "--seed", [&run](const std::string& text) { run.seed = parse_seed(text); }, meaning)
        ->type_name("INT");
  }

  static void add_serve(CLI::App& command, app::ServeArguments& serve) {
    command
        .add_option("--serve", serve.listen,
                    "show the run to browsers and to Prometheus at this port, of this machine alone or of an address")
        ->type_name("[ADDRESS:]PORT");
    command.add_option("--serve-token", serve.token_file,
                       "file with the token that viewers need; default: none on this machine, else one that is printed");
  }

  void add_run() {
    CLI::App& run = add("run", "run an experiment in this process", [this] { return app::run(run_); });
    run.add_option("FILE", run_.file, "the experiment file (TOML)")->required();
    add_threads(run, run_.threads);
    add_seed(run, run_, "another seed than the file's");
    run.add_option("--set", run_.set, "key=value: another value than the file's; may be given again")->allow_extra_args(false);
    add_out(run, run_.out, "folder for results, record and report");
    run.add_option("--data", run_.data, data_help);
    run.add_flag("--json", run_.json, "print summary.json, alone, on standard output");
    run.add_flag("--quiet", run_.quiet, "no progress");
    add_colour(run, run_.colour);
    add_serve(run, run_.serve);
    run.add_flag("--check", run_.checks,
                 "watch the invariants (masses, caps, windows, weights, unification); exit 1 if one breaks, if nothing happened, "
                 "or if no message arrived");
    run.add_flag("--dry-run", run_.dry_run, "walk the timing only: same timeline_digest, forecast of size");
  }

  void add_node() {
    CLI::App& node = add(
        "node", "one host of a run over several, in virtual or in real time", [this] { return app::node(node_); }, node_help);
    node.add_option("FILE", node_.run.file, "the experiment file (TOML), the same on every host")->required();
    node.add_option("--host", node_.host, "this host's name in the roster; default: what Slurm, Open MPI or Kubernetes say");
    node.add_option("--key", node_.key, "file with the secret key; default: NAME.secret in the folder of --keys, or beside FILE");
    node.add_option("--keys", node_.keys, "folder with NAME.public of all hosts, where the roster does not name their public keys");
    node.add_option("--port", node_.port, "where the hosts of a launcher's roster listen; default: 7001")
        ->check(CLI::Range(1, 65535));
    add_threads(node, node_.run.threads);
    add_seed(node, node_.run, "another seed than the file's; the same on every host");
    node.add_option("--set", node_.run.set, "key=value: another value than the file's; the same on every host")
        ->allow_extra_args(false);
    add_out(node, node_.run.out, "folder for this host's results, record and checkpoints");
    node.add_flag("--anew", node_.starts_anew, "begin again, whatever an earlier life has left in --out");
    node.add_option("--data", node_.run.data, data_help);
    node.add_flag("--json", node_.run.json, "print summary.json, alone, on standard output");
    node.add_option("--log-level", node_.log_level, "what is told on standard error: error, warn, info or debug; default: info")
        ->check(CLI::IsMember({"error", "warn", "info", "debug"}));
    node.add_flag("--log-json", node_.logs_json, "tell it as a JSON object a line, and no progress");
    node.add_flag("--quiet", node_.run.quiet, "no progress, and no less than warnings unless --log-level says so");
    add_colour(node, node_.run.colour);
    add_serve(node, node_.run.serve);
  }

  void add_compare() {
    CLI::App& compare = add(
        "compare", "several experiments, settings and seeds side by side", [this] { return app::compare(compare_); }, compare_help);
    compare.add_option("FILE", compare_.files, "the experiment files (TOML); none with --merge");
    compare.add_option("--seeds", compare_.seeds, "runs of each setting; default: 5")->check(CLI::Range(1, 1000000));
    compare
        .add_option("--grid", compare_.grid,
                    "key=a,b,c: all of these values; may be given again, then all with all. "
                    "A file that does not know the key runs without it")
        ->allow_extra_args(false);
    compare
        .add_option("--sample", compare_.sample,
                    "key=log(1e-4,1), uniform(0,1), integer(1,20) or one_of(a,b): values that are drawn; may be given again")
        ->allow_extra_args(false);
    compare.add_option("--points", compare_.points, "of --sample; default: 20")->check(CLI::Range(1, 1000000))->needs("--sample");
    compare
        .add_option_function<std::string>(
            "--sample-seed",
            [this](const std::string& text) {
              compare_.sample_seed = static_cast<std::uint64_t>(parse_seed(text, "--sample-seed"));
            },
            "other draws; default: 1")
        ->type_name("UINT")
        ->needs("--sample");
    compare
        .add_option("--halving", compare_.halving,
                    "FACTOR: compare only the best point of every file: of all points, on short runs, every FACTOR-th "
                    "is kept, then of these on runs FACTOR times longer, and so on; on seeds that are not reported")
        ->check(CLI::Range(2, 1000));
    compare.add_option("--tuning-seeds", compare_.tuning_seeds, "runs of a point of --halving; default: 2")
        ->check(CLI::Range(1, 1000000))
        ->needs("--halving");
    compare.add_option("--set", compare_.set, "key=value in every file; may be given again")->allow_extra_args(false);
    add_threads(compare, compare_.threads);
    compare.add_option("--data", compare_.data, data_help);
    add_out(compare, compare_.out, "folder for table.csv, table.json, curves.csv and report.html");
    compare.add_option("--target", compare_.targets, "accuracies 0.5,0.7: what it takes to reach them first");
    compare.add_option("--axis", compare_.axis, "seconds, bits, gradients, delay or joules: what leads; default: seconds");
    compare
        .add_option("--shard", compare_.shard,
                    "I/N: run only the I-th of N shares, any number of times, on any machine that sees --out; "
                    "finished runs are kept there and never run again")
        ->needs("--out")
        ->excludes("--halving");
    compare.add_option("--merge", compare_.merge, "DIR: make table and report of the shards that were run with --out DIR");
    compare.add_flag("--json", compare_.json, "print table.json, alone, on standard output")->excludes("--shard");
    compare.add_flag("--quiet", compare_.quiet, "no progress");
    add_colour(compare, compare_.colour);
    add_serve(compare, compare_.serve);
  }

  void add_resume() {
    CLI::App& resume = add(
        "resume", "go on with a run in virtual time that was killed or stopped", [this] { return app::resume(run_); }, resume_help);
    resume.add_option("DIR", run_.out, "what the run was given as --out")->required();
    add_threads(resume, run_.threads);
    resume.add_option("--data", run_.data, data_help);
    resume.add_flag("--check", run_.checks, "as the run had it: watch the invariants");
    resume.add_flag("--json", run_.json, "print summary.json, alone, on standard output");
    resume.add_flag("--quiet", run_.quiet, "no progress");
    add_colour(resume, run_.colour);
  }

  void add_replay() {
    CLI::App& replay = add("replay", "perform a record again; exit 0 only if the digests agree",
                           [this] { return app::replay(paths_, run_.threads, run_.data, without_); });
    replay.footer(replay.get_footer() +
                  "\nThe folder of another person names the data that are read, and perhaps a TorchScript module that is run: "
                  "replay, resume and report only folders that you would execute.");
    replay.add_option("DIR", paths_, "the folder of a run, or the folders of all its hosts (NAME.partial of one that was killed)")
        ->required();
    add_threads(replay, run_.threads);
    replay.add_option("--data", run_.data, "folder of the data sets");
    replay.add_option("--without", without_, "leave out this host, whose record is missing or false, and what depends on it")
        ->type_name("HOST")
        ->allow_extra_args(false);
  }

  void add_golden(app::Golden act) {
    CLI::App& golden = add("golden", "check the engine against golden cases", [this, act] { return act(paths_, run_.out); });
    golden.add_option("PATH", paths_, "files or folders of cases")->required();
    golden.add_option("--answers", run_.out, "folder for our answers, in the schema of the cases");
  }

  void add_bound() {
    CLI::App& bound = add("bound", "lower and upper bounds on the seconds until a gradient is small, in the world of an experiment",
                          [this] { return app::bound(bound_); });
    bound.add_option("FILE", bound_.file, "the experiment file (TOML)")->required();
    bound.add_option("--set", bound_.set, "key=value")->allow_extra_args(false);
    bound.add_option("--eps", bound_.accuracy, "the squared norm of the gradient that is small enough; default: 0.01");
    bound.add_option("--smoothness", bound_.smoothness, "L of the loss; default: 1");
    bound.add_option("--gap", bound_.gap, "Delta: how far the loss of the first model is above the least; default: 1");
    bound.add_option("--variance", bound_.noise, "sigma^2 of one stochastic gradient; default: 0");
    bound.add_flag("--json", bound_.json, "print an object of JSON");
  }

  // Of one command, or of all. Their help is asked for before anything is parsed: afterwards it would be that of `help`.
  void add_help() {
    CLI::App& help = add("help", "this help, or that of a command", nullptr);
    help.add_option("COMMAND", word_, "only this command's");
    help.callback([this, whole = rubato_.help()] {
      if (!word_.empty()) refuse_unknown(word_);
      std::cout << (word_.empty() ? whole : rubato_.get_subcommand(word_)->help(rubato_.get_name()));
    });
  }

  // A word where a command is wanted.
  void refuse_unknown(const std::string& word) const {
    std::vector<std::string> names;
    for (const CLI::App* command : rubato_.get_subcommands([](const CLI::App*) { return true; }))
      names.push_back(command->get_name());
    if (std::ranges::find(names, word) != names.end()) return;
    const std::string meant = config::nearest(word, {names.begin(), names.end()});
    throw std::invalid_argument(
        fmt::format("there is no command \"{}\"; ", word) +
        (meant.empty() ? fmt::format("there are: {}", fmt::join(names, ", ")) : fmt::format("did you mean {}?", meant)));
  }

  CLI::App rubato_{"Decentralised learning without rounds and without a server.", "rubato"};
  int code_ = app::ok;
  app::RunArguments run_;
  app::NodeArguments node_;
  app::CompareArguments compare_;
  app::BoundArguments bound_;
  app::ServeArguments serve_;
  app::ShowArguments show_;
  app::ReportArguments report_;
  std::vector<std::filesystem::path> paths_;
  std::vector<std::string> without_, extensions_;
  std::string word_;
  std::uint64_t draws_ = 0;
  bool lists_keys_ = false, lists_json_ = false;
};

}  // namespace

namespace app {

int command(int argc, char** argv, Golden golden) {
  constexpr std::size_t longest_line = 10'000;  // of what is said; results are printed whole
  const PrintableStream results(std::cout), said(std::cerr, longest_line);
  try {
    if (names(python_flag, argc, argv)) return run_in_python(argc, argv);
    const std::vector<char*> left = without_plugins(argc, argv);
    const int code = CommandLine(golden, argc, argv).parse(static_cast<int>(left.size()), left.data());
    if (std::cout.flush() && std::fflush(stdout) == 0 && !std::ferror(stdout)) return code;
    std::cerr << "rubato: cannot write to standard output\n";
    return app::cannot_write;
  } catch (const BadExperiment& error) {
    std::cerr << error.what() << "\n";
    return app::bad_input;
  } catch (const std::invalid_argument& error) {
    std::cerr << "rubato: " << error.what() << "\n";
    return app::bad_input;
  } catch (const RunFailed& error) {
    std::cerr << "rubato: " << error.what() << "\n";
    return std::string(error.what()).starts_with("cannot") ? app::cannot_write : app::failed;
  } catch (const std::filesystem::filesystem_error& error) {
    std::cerr << "rubato: " << error.path1().string() << ": " << error.code().message() << "\n";
    return app::bad_input;
  } catch (const std::system_error& error) {  // a file of a run in real time
    std::cerr << "rubato: " << error.what() << "\n";
    return std::string_view(error.what()).starts_with("cannot") ? app::cannot_write : app::failed;
  } catch (const std::exception& error) {
    std::cerr << "rubato: " << sentence_of(error) << "\n";
    return app::failed;
  }
}

}  // namespace app

}  // namespace rubato
