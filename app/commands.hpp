// The commands of `rubato`: what each needs from the command line, and what it does. Each returns an exit code.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "app/terminal.hpp"
#include "results/run_result.hpp"

namespace rubato::app {

/// Exit codes, as `rubato --help` documents them.
enum ExitCode : int {
  ok = 0,
  failed = 1,        ///< a golden case, a replay or a client failed
  bad_input = 2,     ///< the command line, the experiment or the data cannot be used
  cannot_write = 3,  ///< the disk does not take the results
  stopped = 130,     ///< ended early by a signal, with the results so far
};

/// Where a run is shown to browsers.
struct ServeArguments {
  std::string listen;                // [ADDRESS:]PORT; empty: it is not
  std::filesystem::path token_file;  // empty: none on this machine, else one that is made up and printed
};

struct RunArguments {
  std::filesystem::path file;
  unsigned threads = 0;  // 0: as many as there are
  std::optional<std::int64_t> seed;
  std::vector<std::string> set;
  std::filesystem::path out;
  std::filesystem::path data;
  bool json = false;
  bool quiet = false;
  Colour colour = Colour::automatic;
  bool dry_run = false;
  bool checks = false;
  ServeArguments serve{};
  Provenance origin{};
};

int run(const RunArguments& arguments);

/// One host of a run over several.
struct NodeArguments {
  RunArguments run;
  std::string host;            // empty: as the launcher's environment says
  std::filesystem::path key;   // empty: NAME.secret among the keys, or beside the experiment file
  std::filesystem::path keys;  // folder with NAME.public of hosts whose keys the roster does not name
  std::uint16_t port = 7001;   // of hosts that a launcher names
  bool starts_anew = false;    // an earlier life is not gone on with
  std::string log_level;       // empty: info, or warn with --quiet
  bool logs_json = false;
};

int node(const NodeArguments& arguments);

struct CompareArguments {
  std::vector<std::filesystem::path> files;
  std::size_t seeds = 5;
  std::vector<std::string> grid;    // key=a,b,c
  std::vector<std::string> sample;  // key=log(a,b)
  std::size_t points = 20;          // of the samples
  std::uint64_t sample_seed = 1;
  std::size_t halving = 0;  // factor of successive halving; 0: every point is compared
  std::size_t tuning_seeds = 2;
  std::vector<std::string> set;
  unsigned threads = 0;  // 0: as many as there are
  std::filesystem::path data;
  std::filesystem::path out;
  std::string targets;  // "0.5,0.7"
  std::string axis = "seconds";
  std::string shard;            // "I/N": only its share of the runs, kept in `out`
  std::filesystem::path merge;  // folder of shards, of which table and report are made
  bool json = false;
  bool quiet = false;
  Colour colour = Colour::automatic;
  ServeArguments serve{};
  Provenance origin{};
};

/// Every setting with every seed; the table on standard output.
int compare(const CompareArguments& arguments);

/// Goes on with a run that was interrupted or stopped; `out` is its folder. Seed and keys are as it had them.
int resume(RunArguments arguments);

/// Of one folder, or of those of all hosts but those in `without`. No threads: as many as there are.
int replay(const std::vector<std::filesystem::path>& folders, unsigned threads, const std::filesystem::path& data,
           const std::vector<std::string>& without);

/// Whether the files of runs and comparisons agree with each other: a sentence for each fault.
int check(const std::vector<std::filesystem::path>& folders, const std::filesystem::path& data);

/// Shows the runs in these folders, or in the folders in them, until a signal ends it.
int serve(const std::vector<std::filesystem::path>& folders, ServeArguments arguments);

/// A page of text about a run that is at work, drawn again as it goes on; `place`: a URL or a folder, or empty: this machine's
/// server.
int top(const std::string& place, Colour colour);

struct ShowArguments {
  std::filesystem::path folder;
  std::string score;    // "1.6..1.8": seconds of the experiment; empty: not shown
  std::string clients;  // "2-6,9"; empty: the first ones
  Colour colour = Colour::automatic;
};

/// The report of a run in text.
int show(const ShowArguments& arguments);

/// Writes the runs in these folders, or in the folders in them, for other programs: event files of TensorBoard.
int export_runs(const std::vector<std::filesystem::path>& folders, const std::filesystem::path& tensorboard);

struct ReportArguments {
  std::vector<std::filesystem::path> folders;
  std::vector<std::string> svg;  // pictures that are written besides
  std::string stretch;           // "1.6..1.8": seconds of the experiment that the score among them shows; empty: the first ones
};

/// Makes report.html and trace.json of runs once more, from the files in their folders, and CARD.svg for every picture.
int report(const ReportArguments& arguments);

/// The whole command line; the exit code. Without `golden` there is no command of that name.
using Golden = int (*)(const std::vector<std::filesystem::path>& paths, const std::filesystem::path& answers);
int command(int argc, char** argv, Golden golden);

/// Answers go to a folder, if one is named.
int golden(const std::vector<std::filesystem::path>& paths, const std::filesystem::path& answers);

/// Makes the keys by which the hosts of a run know this one. No folder: here.
int keygen(const std::string& name, const std::filesystem::path& out);

/// `draws`: of links that fade, for their mean spectral gap; 0: none.
int topology(const std::filesystem::path& file, const std::vector<std::string>& set, std::uint64_t draws);

/// Bounds on the seconds until E |grad F|^2 <= accuracy, see StationarityGoal.
struct BoundArguments {
  std::filesystem::path file;
  std::vector<std::string> set;
  double accuracy = 0.01, smoothness = 1, gap = 1, noise = 0;
  bool json = false;
};

int bound(const BoundArguments& arguments);

/// what: one of list_names() or empty; `keys`: the experiment file's.
int list(const std::string& what, bool keys, bool json);
/// The names of all lists, in alphabetical order.
std::vector<std::string> list_names();

int doctor();

/// Of the machine, at least 1.
unsigned all_threads();

}  // namespace rubato::app
