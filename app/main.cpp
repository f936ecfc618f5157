// rubato: decentralised learning in free time, from the command line.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <iostream>

#include "actors/run.hpp"
#include "algos/arithmetic.hpp"
#include "app/commands.hpp"
#include "experiment/experiment.hpp"
#include "experiment/file/check.hpp"
#include "results/summary.hpp"
#include "runtime/limits.hpp"

namespace {

using namespace rubato;

constexpr const char* exit_codes =
    "Exit codes: 0 done; 1 a case, a replay or a client failed; 2 the command line, the experiment or the data cannot "
    "be\n"
    "used; 3 the results cannot be written; 130 ended early by Ctrl-C or SIGTERM, with the results so far.";

void add_threads(CLI::App* command, unsigned& threads) {
  command->add_option("--threads", threads, "worker threads; default: all of the machine")->check(CLI::Range(1, 1024));
}

void add_run(CLI::App& rubato, app::RunArguments& arguments, int& code) {
  CLI::App* run = rubato.add_subcommand("run", "run an experiment in this process");
  run->add_option("FILE", arguments.file, "the experiment file (TOML)")->required();
  add_threads(run, arguments.threads);
  run->add_option("--seed", arguments.seed, "another seed than the file's");
  run->add_option("--set", arguments.set, "key=value: another value than the file's; may be given again")->allow_extra_args(false);
  run->add_option("--out", arguments.out, "folder for results, record and report");
  run->add_option("--data", arguments.data, "folder of the data sets; default: $RUBATO_DATA, then ./data");
  run->add_flag("--json", arguments.json, "print summary.json, alone, on standard output");
  run->add_flag("--quiet", arguments.quiet, "no progress");
  run->add_flag("--check", arguments.checks,
                "watch the invariants (masses, caps, windows, weights, unification); exit 1 if one breaks");
  run->add_flag("--dry-run", arguments.dry_run, "walk the timing only: same timeline_digest, forecast of size");
  run->callback([&] { code = app::run(arguments); });
}

constexpr const char* node_help =
    "Starts this host of the experiment's roster and waits for the others, in any order. In real time the others go "
    "on\n"
    "when a host is lost; started again with the same --out it goes on from its last checkpoint.";

void add_node(CLI::App& rubato, app::NodeArguments& arguments, int& code) {
  CLI::App* node = rubato.add_subcommand("node", "one host of a run over several, in virtual or in real time");
  node->footer(node_help);
  node->add_option("FILE", arguments.run.file, "the experiment file (TOML), the same on every host")->required();
  node->add_option("--host", arguments.host, "this host's name in the roster; default: what Slurm, Open MPI or Kubernetes say");
  node->add_option("--key", arguments.key,
                   "file with the secret key; default: NAME.secret in the folder of --keys, or beside FILE");
  node->add_option("--keys", arguments.keys,
                   "folder with NAME.public of all hosts, where the roster does not name their public keys");
  node->add_option("--port", arguments.port, "where the hosts of a launcher's roster listen; default: 7001")
      ->check(CLI::Range(1, 65535));
  add_threads(node, arguments.run.threads);
  node->add_option("--seed", arguments.run.seed, "another seed than the file's; the same on every host");
  node->add_option("--set", arguments.run.set, "key=value: another value than the file's; the same on every host")
      ->allow_extra_args(false);
  node->add_option("--out", arguments.run.out, "folder for this host's results, record and checkpoints");
  node->add_flag("--anew", arguments.starts_anew, "begin again, whatever an earlier life has left in --out");
  node->add_option("--data", arguments.run.data, "folder of the data sets; default: $RUBATO_DATA, then ./data");
  node->add_flag("--json", arguments.run.json, "print summary.json, alone, on standard output");
  node->add_flag("--quiet", arguments.run.quiet, "no progress");
  node->callback([&] { code = app::node(arguments); });
}

constexpr const char* compare_help =
    "Runs every file with every point of the grid and every seed (seed, seed + 1, ... of the first file), each on one\n"
    "thread and as many at a time as --threads says, under the same clocks, links, data and start. Files must agree "
    "in\n"
    "clients.count, [data], [model] and [budget]; other differences that matter are noted. A run ends at until, or "
    "where\n"
    "budget.bits or budget.gradients is spent, and its curve with it.";

void add_compare(CLI::App& rubato, app::CompareArguments& arguments, int& code) {
  CLI::App* compare = rubato.add_subcommand("compare", "several experiments, settings and seeds side by side");
  compare->footer(compare_help);
  compare->add_option("FILE", arguments.files, "the experiment files (TOML)")->required();
  compare->add_option("--seeds", arguments.seeds, "runs of each setting; default: 5")->check(CLI::Range(1, 1000000));
  compare
      ->add_option("--grid", arguments.grid,
                   "key=a,b,c: all of these values; may be given again, then all with all. "
                   "A file that does not know the key runs without it")
      ->allow_extra_args(false);
  compare->add_option("--set", arguments.set, "key=value in every file; may be given again")->allow_extra_args(false);
  add_threads(compare, arguments.threads);
  compare->add_option("--data", arguments.data, "folder of the data sets; default: $RUBATO_DATA, then ./data");
  compare->add_option("--out", arguments.out, "folder for table.csv, table.json, curves.csv and report.html");
  compare->add_option("--target", arguments.targets, "accuracies 0.5,0.7: what it takes to reach them first");
  compare->add_option("--axis", arguments.axis, "seconds, bits, gradients, delay or joules: what leads; default: seconds");
  compare->add_flag("--json", arguments.json, "print table.json, alone, on standard output");
  compare->add_flag("--quiet", arguments.quiet, "no progress");
  compare->callback([&] { code = app::compare(arguments); });
}

constexpr const char* resume_help =
    "Goes on from the newest checkpoint that is intact (see checkpoint_every), or from the beginning if there is none, "
    "and\n"
    "ends with the digests of a run that nothing interrupted. The same build and the same data are needed.";

void add_resume(CLI::App& rubato, app::ResumeArguments& arguments, int& code) {
  CLI::App* resume = rubato.add_subcommand("resume", "go on with a run in virtual time that was killed or stopped");
  resume->footer(resume_help);
  resume->add_option("DIR", arguments.folder, "what the run was given as --out")->required();
  add_threads(resume, arguments.threads);
  resume->add_option("--data", arguments.data, "folder of the data sets; default: $RUBATO_DATA, then ./data");
  resume->add_flag("--check", arguments.checks, "as the run had it: watch the invariants");
  resume->add_flag("--json", arguments.json, "print summary.json, alone, on standard output");
  resume->add_flag("--quiet", arguments.quiet, "no progress");
  resume->callback([&] { code = app::resume(arguments); });
}

void add_replay(CLI::App& rubato, app::ReplayArguments& arguments, int& code) {
  CLI::App* replay = rubato.add_subcommand("replay", "perform a record again; exit 0 only if the digests agree");
  replay
      ->add_option("DIR", arguments.folders,
                   "the folder of a run, or the folders of all its hosts (NAME.partial of one "
                   "that was killed)")
      ->required();
  add_threads(replay, arguments.threads);
  replay->add_option("--data", arguments.data, "folder of the data sets");
  replay->callback([&] { code = app::replay(arguments); });
}

void add_golden(CLI::App& rubato, app::GoldenArguments& arguments, int& code) {
  CLI::App* golden = rubato.add_subcommand("golden", "check the engine against golden cases");
  golden->add_option("PATH", arguments.paths, "files or folders of cases")->required();
  golden->add_option("--answers", arguments.answers, "folder for our answers, in the schema of the cases");
  golden->callback([&] { code = app::golden(arguments); });
}

void add_report(CLI::App& rubato, std::vector<std::filesystem::path>& folders, int& code) {
  CLI::App* report = rubato.add_subcommand("report", "make report.html and trace.json of a run once more");
  report->add_option("DIR", folders, "folders of runs")->required();
  report->callback([&] { code = app::report(folders); });
}

void add_keygen(CLI::App& rubato, app::KeygenArguments& arguments, int& code) {
  CLI::App* keygen = rubato.add_subcommand("keygen", "make the keys of a host: NAME.secret and NAME.public");
  keygen->add_option("NAME", arguments.name, "the host's name in the roster")->required();
  keygen->add_option("--out", arguments.out, "folder for the files, made if it is not there; default: this one");
  keygen->callback([&] { code = app::keygen(arguments); });
}

struct Others {
  std::filesystem::path file;
  std::vector<std::string> set;
  std::string what;
  bool keys = false;
};

void add_others(CLI::App& rubato, Others& others, int& code) {
  CLI::App* topology = rubato.add_subcommand("topology", "the graph of an experiment: degrees, connection, matrices");
  topology->add_option("FILE", others.file, "the experiment file (TOML)")->required();
  topology->add_option("--set", others.set, "key=value")->allow_extra_args(false);
  topology->callback([&] { code = app::topology(others.file, others.set); });
  CLI::App* list = rubato.add_subcommand("list", "what there is: algorithms, datasets, models, protocols, topologies");
  list->add_option("WHAT", others.what, "only this list");
  list->add_flag("--keys", others.keys, "every key of the experiment file with type, default and meaning");
  list->callback([&] { code = app::list(others.what, others.keys); });
  CLI::App* doctor = rubato.add_subcommand("doctor", "check this machine and this build");
  doctor->callback([&] { code = app::doctor(); });
}

// A word where a command is wanted.
void refuse_unknown(const CLI::App& rubato, const std::string& word) {
  std::vector<std::string> names;
  for (const CLI::App* command : rubato.get_subcommands([](const CLI::App*) { return true; })) names.push_back(command->get_name());
  if (std::ranges::find(names, word) != names.end()) return;
  const std::string meant = config::nearest(word, {names.begin(), names.end()});
  std::string known;
  for (const std::string& name : names) known += (known.empty() ? "" : ", ") + name;
  throw std::invalid_argument("there is no command \"" + word + "\"; " +
                              (meant.empty() ? "there are: " + known : "did you mean " + meant + "?"));
}

// Of one command, or of all. Their help is asked for before anything is parsed: afterwards it would be that of `help`.
void add_help(CLI::App& rubato, std::string& of, int& code) {
  CLI::App* help = rubato.add_subcommand("help", "this help, or that of a command");
  help->add_option("COMMAND", of, "only this command's");
  const std::string whole = rubato.help();
  help->callback([&, whole] {
    if (!of.empty()) refuse_unknown(rubato, of);
    std::cout << (of.empty() ? whole : rubato.get_subcommand(of)->help(rubato.get_name()));
    code = app::ok;
  });
}

int parse(int argc, char** argv) {
  CLI::App rubato("Decentralised learning without rounds and without a server.", "rubato");
  rubato.require_subcommand(1);
  rubato.set_version_flag("--version", version() + " (" + arithmetic() + ")");
  rubato.footer(exit_codes);
  int code = app::ok;
  app::RunArguments run;
  app::NodeArguments node;
  app::CompareArguments compare;
  app::ResumeArguments resume;
  app::ReplayArguments replay;
  app::GoldenArguments golden;
  app::KeygenArguments keygen;
  std::vector<std::filesystem::path> reported;
  Others others;
  std::string helped;
  add_run(rubato, run, code);
  add_node(rubato, node, code);
  add_compare(rubato, compare, code);
  add_resume(rubato, resume, code);
  add_replay(rubato, replay, code);
  add_report(rubato, reported, code);
  add_golden(rubato, golden, code);
  add_keygen(rubato, keygen, code);
  add_others(rubato, others, code);
  add_help(rubato, helped, code);
  if (argc > 1 && argv[1][0] != '-') refuse_unknown(rubato, argv[1]);
  try {
    rubato.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return rubato.exit(error) == 0 ? app::ok : app::bad_input;
  }
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const int code = parse(argc, argv);
    if (std::cout.flush() && std::fflush(stdout) == 0 && !std::ferror(stdout)) return code;
    std::cerr << "rubato: cannot write to standard output\n";
    return app::cannot_write;
  } catch (const rubato::BadExperiment& error) {
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
  } catch (const std::exception& error) {
    std::cerr << "rubato: " << rubato::sentence_of(error) << "\n";
    return app::failed;
  }
}
