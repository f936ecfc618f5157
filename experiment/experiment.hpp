// An experiment, read and checked: the experiment file as plain values, and the strict way from text to values and
// back.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "algos/options.hpp"
#include "algos/protocol_kind.hpp"
#include "learning/options.hpp"
#include "runtime/choices.hpp"
#include "runtime/words.hpp"

namespace rubato {

class Stream;

/// A law of timers of a program's own, for clients.compute.law and clients.transmit.law to name.
struct OwnTimerLaw {
  std::string_view name;  ///< of letters, digits and _; unlike the laws that there are
  /// Seconds from one tick to the next, greater than 0. A function of the numbers in the file (`numbers`, may be empty) and of what
  /// it draws from the stream, and of nothing else: then the ticks are the same on any number of threads and hosts. What is no
  /// number, or lies beyond what 64 bits of nanoseconds hold, never comes.
  double (*interval)(std::span<const double> numbers, Stream& stream) = nullptr;
  /// Mean ticks a second: for forecasts, and for the pace of a run in real time.
  double (*mean_rate)(std::span<const double> numbers) = nullptr;
  /// Throws std::invalid_argument, which says what is allowed, for numbers that it refuses. Null: takes all.
  void (*check)(std::span<const double> numbers) = nullptr;
};

/// Adds a program's own laws of timers, for experiment files and values to name; they live as long as the program. To be called
/// before anything else, on one thread. Throws std::invalid_argument if a name is taken or cannot be one, or a function is missing.
void extend_timer_laws(std::span<const OwnTimerLaw* const> own);

/// Those of extend_timer_laws(), in their order.
std::span<const OwnTimerLaw* const> own_timer_laws();

}  // namespace rubato

/// The file as plain values, named as in the file: config::TimerLaw is what the file says, rubato::TimerLaw what runs.
namespace rubato::config {

/// @name Choices of the file
/// Those that only a file makes, in the order of its documentation; those of the engine, the data and the models stand in
/// choices.hpp of their rooms. Each enumerator is a word of the file, which docs/experiment-file.md explains, and
/// `word_list` gives the words in order.
/// @{

/// A choice of the file.
enum class ClockKind { virtual_time, wall_time };
constexpr std::string_view word_list(ClockKind) { return "virtual|wall"; }
/// Behind `off` stand the laws of extend_timer_laws().
enum class TimerKind { poisson, fixed, shifted_exp, gamma, lognormal, trace, table, coupled, off };
std::string_view word_list(TimerKind);
enum class TopologyKind {
  ring,
  directed_ring,
  complete,
  star,
  path,
  bipartite,
  exponential,
  one_peer_exponential,
  torus,
  grid,
  erdos_renyi,
  random_geometric,
  knn,
  random_regular,
  small_world,
  scale_free,
  file,
  edges
};
constexpr std::string_view word_list(TopologyKind) {
  return "ring|directed_ring|complete|star|path|bipartite|exponential|one_peer_exponential|torus|grid|erdos_renyi|random_geometric|"
         "knn|random_regular|small_world|scale_free|file|edges";
}
enum class ChannelKind { ideal, random, table, wireless, rayleigh_threshold, aircomp, bandwidth, trace, bursty };
constexpr std::string_view word_list(ChannelKind) {
  return "ideal|random|table|wireless|rayleigh_threshold|aircomp|bandwidth|trace|bursty";
}
enum class AreaKind { disk, square };
constexpr std::string_view word_list(AreaKind) { return "disk|square"; }
enum class BandwidthUse { each, shared };
constexpr std::string_view word_list(BandwidthUse) { return "each|shared"; }
enum class ThresholdOf { amplitude, power };
constexpr std::string_view word_list(ThresholdOf) { return "amplitude|power"; }
enum class UpWhen { gain, time };
constexpr std::string_view word_list(UpWhen) { return "gain|time"; }
enum class PointsKind { unit_square, channel };
constexpr std::string_view word_list(PointsKind) { return "unit_square|channel"; }
enum class UnifyVia { ideal, transport };
constexpr std::string_view word_list(UnifyVia) { return "ideal|transport"; }
enum class MissingRule { wait, drop, symmetric_drop };
constexpr std::string_view word_list(MissingRule) { return "wait|drop|symmetric_drop"; }
enum class CapRule { first_come, random };
constexpr std::string_view word_list(CapRule) { return "first_come|random"; }
/// Whether all clients ask in exchanges of pairs, or one side of a bipartite graph.
enum class Roles { all, bipartite };
constexpr std::string_view word_list(Roles) { return "all|bipartite"; }
enum class LateWork { carry_on, discard };
constexpr std::string_view word_list(LateWork) { return "carry_on|discard"; }
enum class AbsenceKind { drawn, trace };
constexpr std::string_view word_list(AbsenceKind) { return "drawn|trace"; }
enum class MixingKind { auto_, metropolis, laplacian, max_degree, uniform_row, uniform_column, draco_row, averaging, explicit_ };
constexpr std::string_view word_list(MixingKind) {
  return "auto|metropolis|laplacian|max_degree|uniform_row|uniform_col|draco_row|averaging|explicit";
}
enum class WeightKind { receiver_static, sender_static, batch, explicit_ };
constexpr std::string_view word_list(WeightKind) { return "receiver_static|sender_static|batch|explicit"; }
enum class SnapshotAt { at_finish, at_start };
constexpr std::string_view word_list(SnapshotAt) { return "at_finish|at_start"; }
/// Whether all clients begin with one model, each with one that is drawn for it, or each in the centre of its loss.
enum class StartsKind { one, each, centre };
constexpr std::string_view word_list(StartsKind) { return "one|each|centre"; }
/// The weights of the clients in a mean of their models: none, the left eigenvector of the expected mixing weights, or rows.
enum class MeanWeights { none, phi, rows };
constexpr std::string_view word_list(MeanWeights) { return "none|phi|rows"; }
/// nu as depositum has it, or divided by beta.
enum class TrackerScale { as_is, over_beta };
constexpr std::string_view word_list(TrackerScale) { return "as_is|over_beta"; }
/// What a stop rule makes of the last values of its metric.
enum class StopBy { deviation, mean };
constexpr std::string_view word_list(StopBy) { return "deviation|mean"; }
enum class BatchRule { drawn, epochs };
constexpr std::string_view word_list(BatchRule) { return "drawn|epochs"; }
enum class PartitionKind { iid, by_class, dirichlet_by_class, dirichlet_by_client, decefl_table3 };
constexpr std::string_view word_list(PartitionKind) { return "iid|by_class|dirichlet_by_class|dirichlet_by_client|decefl_table3"; }

/// @}

/// A number, or the law it is drawn from. In the file a number stands for `constant`, a list for `list`.
/// Where the number belongs to a client, `list` has one value per client and any other law is drawn once per client;
/// where it is a delay, it is drawn for every message and `list` takes its values in turn.
/// Only the parameters of the law in force are set; the others keep the values below.
struct Law {
  LawKind law = LawKind::constant;  ///< the law in force
  double value = 0;                 ///< constant
  double mean = 0;                  ///< exponential, lognormal: of the drawn value itself
  double sigma = 0;                 ///< lognormal: standard deviation of the logarithm
  double low = 0;                   ///< uniform
  double high = 0;                  ///< uniform
  double a = 0;                     ///< beta
  double b = 0;                     ///< beta
  double shape = 0;                 ///< gamma
  double rate = 0;                  ///< gamma, shifted_exp
  double min = 0;                   ///< shifted_exp
  std::vector<double> values;       ///< list

  /// Always this number.
  static Law constant(double value);
  bool operator==(const Law&) const = default;
};

/// The law of one timer. Seconds and ticks per second, each a number, one number per client, or drawn per client.
struct TimerLaw {
  TimerKind law = TimerKind::poisson;          ///< the law in force
  Law rate = Law::constant(1);                 ///< poisson, shifted_exp, gamma
  Law period;                                  ///< fixed: between ticks
  Law phase;                                   ///< fixed: of the first tick
  Law min;                                     ///< shifted_exp
  Law shape;                                   ///< gamma
  Law mean;                                    ///< lognormal: interval
  Law sigma;                                   ///< lognormal: standard deviation of the interval's logarithm
  std::filesystem::path file;                  ///< trace: one line per client, ascending seconds; absolute
  std::vector<std::vector<double>> ticks;      ///< table: ascending seconds, one list per client
  std::int64_t every = 1;                      ///< coupled: after every so many compute ticks ...
  std::int64_t repeat = 1;                     ///< ... so many transmissions
  bool per_link = false;                       ///< transmit only: every outgoing link has a timer of its own
  std::optional<std::vector<double>> numbers;  ///< a program's own law: what it is made from

  /// Exponential intervals; the rate is > 0.
  static TimerLaw poisson(double rate_per_second);
  /// A transmission after each computation.
  static TimerLaw coupled();
  /// The program's own law of this name. Throws std::invalid_argument if there is none.
  static TimerLaw own(std::string_view name, std::vector<double> numbers = {});
  bool operator==(const TimerLaw&) const = default;
};

/// A kind of device: a share of the clients, and what they have of their own; what is absent is as for all.
struct DeviceClass {
  std::string name;                                 ///< unique among the classes
  double share = 0;                                 ///< of the clients, in (0, 1]; all together at most 1
  std::optional<Law> rate;                          ///< ticks a second of the compute timer, drawn for each client
  std::optional<Law> transmit_rate;                 ///< of the transmit timer
  std::optional<Law> up;                            ///< bits per second, as in a channel of kind bandwidth
  std::optional<Law> down;                          ///< likewise
  std::optional<double> transmit_watts;             ///< as in [energy]
  std::optional<double> compute_joules;             ///< likewise
  std::optional<std::string> model;                 ///< as in [model], with hidden and layers of its own
  std::optional<std::vector<std::int64_t>> hidden;  ///< likewise
  std::optional<std::vector<std::string>> layers;   ///< likewise
  bool operator==(const DeviceClass&) const = default;
};

/// [clients]: how many there are, and when they compute and send.
struct Clients {
  std::int64_t count = 0;                   ///< at least 1
  TimerLaw compute = TimerLaw::poisson(1);  ///< when they compute
  TimerLaw transmit = TimerLaw::coupled();  ///< when they send
  std::vector<DeviceClass> classes;         ///< empty: all are alike
  bool operator==(const Clients&) const = default;
};

/// [topology]: which client can send to which, and with what weight.
struct Topology {
  TopologyKind kind = TopologyKind::ring;                    ///< its shape
  std::int64_t rows = 0;                                     ///< torus, grid: rows * columns == clients.count
  std::int64_t columns = 0;                                  ///< torus, grid
  std::int64_t center = 0;                                   ///< star
  std::int64_t step = 0;                                     ///< one_peer_exponential: t in i -> i + 2^(t mod ceil(log2 m))
  double probability = 0;                                    ///< erdos_renyi
  double radius = 0;                                         ///< random_geometric, unit square
  std::int64_t k = 3;                                        ///< knn
  Symmetrise symmetrise = Symmetrise::either;                ///< knn
  std::int64_t degree = 0;                                   ///< random_regular, small_world: neighbours of each client
  double rewire = 0;                                         ///< small_world: chance of each edge to lead elsewhere
  std::int64_t attach = 2;                                   ///< scale_free: edges that each client brings along
  PointsKind points = PointsKind::unit_square;               ///< random_geometric, knn: where clients are
  std::filesystem::path file;                                ///< file: one edge "source target" a line; absolute
  std::vector<std::pair<std::int64_t, std::int64_t>> edges;  ///< edges: [source, target]
  bool directed = false;                                     ///< file, edges: false adds the other direction
  std::vector<std::vector<std::pair<std::int64_t, std::int64_t>>> cycle;  ///< edges: which are there, in turn
  std::vector<std::int64_t> cycle_rounds;                                 ///< edges: for how many changes each lasts; empty: 1
  ChangeKind change = ChangeKind::none;                                   ///< how the graph changes
  double activation = 0.5;                                                ///< change edges, clients: the chance of each
  double change_every = 1;                                                ///< seconds, in rounds: rounds
  std::int64_t graphs = 100;                       ///< change edges, clients, redraw: so many, again and again
  MixingKind mixing = MixingKind::auto_;           ///< weights of what is absorbed; auto: what suits the algorithm
  std::optional<double> tau;                       ///< mixing = laplacian: W = I - L / tau; absent: largest degree + 1
  MixingKind shares = MixingKind::auto_;           ///< weights of what is given away
  std::vector<std::vector<double>> mixing_matrix;  ///< mixing = explicit: [receiver][sender]
  std::vector<std::vector<double>> shares_matrix;  ///< shares = explicit
  bool operator==(const Topology&) const = default;
};

/// What differs on one directed link; what is absent is as for the whole channel.
struct Link {
  std::int64_t source = 0;     ///< the client that sends
  std::int64_t target = 0;     ///< the client that receives
  std::optional<Law> delay;    ///< seconds
  std::optional<double> loss;  ///< probability in [0, 1)
  bool operator==(const Link&) const = default;
};

/// [channel]: when messages arrive, and which are lost.
struct Channel {
  ChannelKind kind = ChannelKind::ideal;              ///< the model in force
  Law delay = Law::constant(1e-6);                    ///< ideal: constant; random: any law; table: every link names its own
  double loss = 0;                                    ///< random: probability in [0, 1)
  double duplicate = 0;                               ///< random: chance that a message arrives twice
  std::vector<Link> links;                            ///< random, table; no link twice
  AreaKind area = AreaKind::disk;                     ///< wireless, like the next ones
  double radius = 500;                                ///< metres; half the side of a square
  std::optional<std::filesystem::path> positions;     ///< "x y" a line; absolute; absent: drawn in the area
  double speed_low = 0;                               ///< metres a second; 0: all stand still
  double speed_high = 0;                              ///< likewise
  double pause = 0;                                   ///< seconds
  Law power_dbm = Law::constant(30);                  ///< per client
  double path_loss = 4;                               ///< exponent
  double bandwidth = 1e7;                             ///< hertz
  BandwidthUse bandwidth_use = BandwidthUse::shared;  ///< whether receivers share it
  double noise_dbm = -174;                            ///< of one hertz
  Interferers interference = Interferers::active;     ///< which transmitters disturb a message
  double interference_share = 0.1;                    ///< of the radius
  std::optional<double> message_bytes;                ///< wireless, bandwidth; absent: as large as the payload
  double threshold = 0.5;                             ///< rayleigh_threshold, aircomp: of the gain of a link that is up
  ThresholdOf threshold_of = ThresholdOf::amplitude;  ///< likewise
  UpWhen up_when = UpWhen::gain;                      ///< rayleigh_threshold, like the next two
  double completion_mean = 1;                         ///< seconds
  double coherence = 1;                               ///< seconds, outside rounds
  double power_cap = 1;                               ///< aircomp, like the next two: per symbol
  double noise = 0.1;                                 ///< standard deviation
  double slot = 0.01;                                 ///< seconds
  SlotStars slot_stars = SlotStars::many;             ///< that are served in the same pair of slots
  Law up = Law::constant(1e7);                        ///< bandwidth: bits per second, per client
  Law down = Law::constant(1e7);                      ///< likewise
  std::filesystem::path file;                         ///< trace: source, target, time, delay, loss; absolute
  double good_mean = 10;                              ///< bursty, like the next three: seconds
  double bad_mean = 1;                                ///< likewise
  double good_loss = 0;                               ///< probability in [0, 1)
  double bad_loss = 1;                                ///< probability in [0, 1]
  bool operator==(const Channel&) const = default;
};

/// What happens to clients, or to the links between them, at one instant.
struct ChurnEvent {
  double at = 0;                                  ///< seconds, > 0
  ChurnKind what = ChurnKind::leave;              ///< the kind of event
  std::vector<std::int64_t> clients;              ///< not of partition and heal
  std::vector<std::vector<std::int64_t>> groups;  ///< partition
  Origin from = Origin::neighbour;                ///< join, restart
  bool operator==(const ChurnEvent&) const = default;
};

/// Clients that are there and away in turn.
struct Absence {
  std::vector<std::int64_t> clients;      ///< empty: all that nothing else in [churn] names
  ChurnKind away = ChurnKind::pause;      ///< how they go
  Origin from = Origin::neighbour;        ///< leave, crash
  AbsenceKind kind = AbsenceKind::drawn;  ///< where the intervals are from
  Law up;                                 ///< drawn: seconds that a client is there
  Law down;                               ///< drawn: seconds that it is away
  std::filesystem::path file;             ///< trace: one line per client, ascending seconds; absolute
  std::optional<double> until;            ///< seconds; absent: the end of the run
  bool operator==(const Absence&) const = default;
};

/// [churn]: which clients come and go, and when.
struct Churn {
  double notice = 0;                          ///< seconds
  double checkpoint_every = 0;                ///< seconds; 0: never
  std::optional<std::filesystem::path> file;  ///< absent once the experiment is read: its lines are among these
  std::vector<ChurnEvent> events;             ///< the script
  std::vector<Absence> random;                ///< clients that are there and away in turn
  /// All clients are there from beginning to end.
  bool is_empty() const { return events.empty() && random.empty(); }
  bool operator==(const Churn&) const = default;
};

/// [mailbox]: which messages a client keeps, and for how long it collects them.
struct Mailbox {
  double window = 0;                       ///< seconds
  std::optional<double> deadline;          ///< seconds; absent: none
  std::optional<std::int64_t> cap;         ///< accepted messages per receiver and cap_period; absent: none
  std::optional<double> cap_period;        ///< seconds; present whenever cap is (the unification period unless the file says)
  CapRule cap_rule = CapRule::first_come;  ///< which messages of a period are those beyond the cap
  double norm_limit = 0;                   ///< longest message that is merged, in norms of the receiver's model; 0: any
  bool operator==(const Mailbox&) const = default;
};

/// [unification]: how often all clients take the model of one.
struct Unification {
  std::optional<double> period;            ///< seconds; absent: never
  HubPolicy hub = HubPolicy::round_robin;  ///< whose model is taken
  std::int64_t client = 0;                 ///< fixed
  std::vector<std::int64_t> hubs;          ///< table: of the 1st, 2nd, ... unification, from the start again at the end
  UnifyVia via = UnifyVia::ideal;          ///< at once, or in messages over the links
  bool clears_mailbox = false;             ///< open windows are emptied
  bool operator==(const Unification&) const = default;
};

/// [protocol]: what decides when clients meet.
struct Protocol {
  std::optional<ProtocolKind> kind;         ///< auto: what suits the algorithm
  MissingRule missing = MissingRule::wait;  ///< rounds
  std::optional<double> attempt_timeout;    ///< seconds; where what is lost is sent again; absent: mailbox.deadline
  std::optional<double> back_off;       ///< seconds; likewise; absent: the time-out where transmissions disturb each other, else 0
  double send_probability = 1;          ///< rounds: a client sends in a round with this probability
  std::optional<double> compute_phase;  ///< rounds: seconds; absent: the round waits for all
  LateWork late_work = LateWork::carry_on;  ///< rounds with compute_phase: what becomes of a straggler's work
  std::optional<Law> compute_chance;        ///< push, rounds: of a gradient at a tick, per client
  std::optional<Law> link_chance;           ///< push, rounds: that a link is up, per directed link
  std::optional<Law> exchange_every;        ///< rounds: from one exchange to the next, per client; absent: as the algorithm says
  std::optional<Law> participation;         ///< rounds: share of an exchange that takes place, per client; absent: likewise
  double least_chance = 0.01;               ///< what a smaller chance becomes
  std::int64_t center = 0;                  ///< server
  double selected = 1;                      ///< server: share of the clients that take part in a round
  Busy busy = Busy::wait;                   ///< pair: what becomes of a request that finds its receiver asking, or at work
  std::optional<Commit> commit;             ///< pair: how both halves are made one; absent: as suits the clock
  std::int64_t retries = 0;                 ///< pair: further attempts of an exchange that was refused or ended by the deadline
  double retry_after = 0;                   ///< pair: seconds before each of them
  Roles roles = Roles::all;                 ///< pair: who asks
  bool operator==(const Protocol&) const = default;
};

/// [algorithm]: which one, and its options.
struct Algorithm {
  std::string name;                             ///< of the catalogue
  AlgorithmOptions options;                     ///< what the catalogue's entry of that name knows, all of it set
  WeightKind q = WeightKind::receiver_static;   ///< weights of messages in a window
  std::vector<std::vector<double>> q_matrix;    ///< explicit: [receiver][sender]
  SnapshotAt snapshot = SnapshotAt::at_finish;  ///< the model that a computation starts from
  bool retain_on_loss = false;                  ///< an increment that no receiver has acknowledged goes back to its sender
  bool operator==(const Algorithm&) const = default;
};

/// data.partition: how rows are dealt to clients.
struct Partition {
  PartitionKind kind = PartitionKind::iid;  ///< the rule in force
  std::int64_t classes = 1;                 ///< by_class
  bool random = false;                      ///< by_class
  double alpha = 0.5;                       ///< dirichlet_by_class, dirichlet_by_client
  std::int64_t min_samples = 10;            ///< dirichlet_by_class
  std::int64_t fewest = 15;                 ///< dirichlet_by_client: training rows of a client
  std::int64_t most = 100;                  ///< likewise
  std::int64_t test_rows = 100;             ///< dirichlet_by_client: of a client; 0: as many as training rows
  Overlap overlap = Overlap::none;          ///< dirichlet_by_client
  bool operator==(const Partition&) const = default;
};

/// [data]: what is learnt, and which client has which of it.
struct Data : DataFiles, DataOptions {
  std::string name;                     ///< `rubato list datasets` shows them; "files" for one's own
  std::int64_t dimension = 0;           ///< quadratic, tridiagonal, pame_regression, pame_logistic
  double support = 0.01;                ///< pame_*: share of the solution that is not 0
  double noise = 0.5;                   ///< pame_regression, tridiagonal
  double spread = 0;                    ///< tridiagonal: deviation of the numbers of u_i
  std::int64_t samples_per_client = 0;  ///< 0: all that the partition deals
  std::int64_t test_per_client = 0;     ///< pame_*: samples that each draws for its test; 0: it is tested on its own
  std::int64_t train_rows = 0;          ///< 0: all
  Partition partition;                  ///< which client has which rows
  bool operator==(const Data&) const = default;

  /// The loss is of no samples: quadratic, tridiagonal.
  bool has_no_rows() const { return name == "quadratic" || name == "tridiagonal"; }
  /// Each client's from the seed, without files.
  bool is_made_up() const { return has_no_rows() || name == "pame_regression" || name == "pame_logistic"; }
};

/// [model]: what is trained, and how its loss is regularised.
struct Model : ModelOptions {
  std::int64_t batch = 0;                          ///< 0: all rows
  std::optional<Law> client_batch;                 ///< of each client, instead of batch
  BatchRule batches = BatchRule::drawn;            ///< how rows come into mini-batches
  double weight_decay = 0;                         ///< the gradient has weight_decay x more, the loss has not
  double clip = 0;                                 ///< 0: none
  std::optional<std::filesystem::path> init_from;  ///< absolute; instead of init
  StartsKind starts = StartsKind::one;             ///< whether the first models of clients differ
  bool operator==(const Model&) const = default;
};

/// metrics.stop: the run ends at the first sample where the rule holds.
struct Stop {
  std::optional<std::string> metric;  ///< a column of metrics.csv; absent: no rule
  std::int64_t window = 3;            ///< samples that it looks at, the newest ones
  StopBy by = StopBy::deviation;      ///< what it makes of them
  std::optional<double> below;        ///< the rule holds where that is less
  bool operator==(const Stop&) const = default;
};

/// [metrics]: when models are measured, and on what. What is absent is chosen by what it costs (experiment/build/sampling.hpp).
struct Metrics {
  std::optional<std::int64_t> every_events;      ///< 0: off; with every_seconds absent, too: until / 100, or less often
  std::optional<double> every_seconds;           ///< 0: off
  bool before_unifications = false;              ///< besides, at the instant of each, while models are still apart
  std::optional<std::int64_t> test_samples;      ///< the first; 0: all; absent: at most 2,000, drawn
  std::optional<std::int64_t> clients;           ///< how many clients are evaluated, drawn; 0: all; absent: at most 256
  bool training = false;                         ///< also on the training rows
  bool gradient_norm = false;                    ///< of the mean loss, at the mean model
  MeanWeights mean_weights = MeanWeights::none;  ///< with gradient_norm: also at this weighted mean
  bool tracked = false;                          ///< distances of the vectors that an algorithm tracks
  bool stationarity = false;                     ///< depositum only, of all clients
  TrackerScale tracker = TrackerScale::as_is;    ///< with stationarity: what gradients are compared with
  std::optional<double> smoothness;              ///< L of the losses; in stationarity 1 unless it is said
  bool joint_objective = false;                  ///< kdpdfl only, of all clients
  bool stop_on_nan = false;                      ///< the run ends at the first sample with a model that is not finite
  Stop stop;                                     ///< a rule that ends the run
  bool operator==(const Metrics&) const = default;
};

/// [theory]: what the papers' theorems assume of the losses; only `rubato topology` looks at it.
struct Theory {
  std::optional<double> convexity;  ///< mu: the losses are mu-strongly convex
  std::optional<double> diversity;  ///< delta_1: |grad f_i|^2 <= delta_0^2 + delta_1^2 |grad F|^2
  std::optional<double> variance;   ///< sigma_1: of a gradient, sigma_0^2 + sigma_1^2 |grad F|^2 for one row
  std::optional<double> spread;     ///< epsilon: largest difference of two batches' gradients in one number
  std::optional<double> radius;     ///< delta: models stay within 2 delta in every number
  bool operator==(const Theory&) const = default;
};

/// [energy]: what clients spend. All 0: it is not counted.
struct Energy {
  Law transmit_watts = Law::constant(0);  ///< while a client sends
  Law compute_joules = Law::constant(0);  ///< a computation
  double bits_per_second = 1e6;           ///< what a radio sends, where the channel does not know how long it takes
  bool operator==(const Energy&) const = default;
};

/// [limits]: how far the timing of a run may be ahead of its arithmetic.
struct Limits {
  std::int64_t outstanding_steps = 0;  ///< 0: automatic
  std::int64_t payload_bytes = 0;      ///< 0: automatic
  bool operator==(const Limits&) const = default;
};

/// [budget]: what a run of a comparison may spend before its curve ends; absent: no limit.
struct Budget {
  std::optional<double> bits;       ///< as the papers count, of the measured clients together
  std::optional<double> gradients;  ///< likewise
  bool operator==(const Budget&) const = default;
};

/// One host of a run over several.
struct Host {
  std::string name;                                  ///< unique in the roster
  std::string address;                               ///< where the others reach it
  std::optional<std::string> bind;                   ///< where it listens; absent: its address
  std::optional<std::string> public_key;             ///< absent: plain text
  std::optional<std::vector<std::int64_t>> clients;  ///< absent in all: equal shares in a row
  bool operator==(const Host&) const = default;
};

/// [hosts]: how several hosts work together. Times are real seconds.
struct Hosts {
  bool insecure = false;                   ///< plain text is allowed beyond this machine
  double wait = 60;                        ///< for the others, at the start
  double lost_after = 10;                  ///< of silence
  double drain = 10;                       ///< at the end, for messages under way and for results
  std::int64_t queue_bytes = 67108864;     ///< that wait for one host
  std::int64_t chunk_bytes = 4194304;      ///< larger tensors are sent in pieces of this size
  std::int64_t largest_bytes = 268435456;  ///< the largest message that is accepted
  bool operator==(const Hosts&) const = default;
};

/// [impaired]: what is done to messages between hosts, for tests of a run over bad links.
struct Impaired {
  double loss = 0;               ///< chance that a message is lost, in [0, 1)
  double duplicate = 0;          ///< chance that it is sent twice
  double reorder = 0;            ///< chance that it is held back until others have passed
  double corrupt = 0;            ///< chance that it arrives damaged, and is dropped
  Law delay = Law::constant(0);  ///< seconds that it is held back, drawn for every message
  bool operator==(const Impaired&) const = default;
};

/// record = "full" | "off" | a size in bytes.
struct Record {
  /// How much is written.
  enum class Kind { full, off, limited };
  Kind kind = Kind::full;  ///< the kind in force
  std::int64_t bytes = 0;  ///< limited
  bool operator==(const Record&) const = default;
};

/// All of one experiment file. What does not belong to a choice in force keeps the values of the declarations here.
struct Experiment {
  std::string name = "experiment";            ///< what reports call the run
  std::int64_t seed = 1;                      ///< 0 .. 2^63 - 1
  ClockKind clock = ClockKind::virtual_time;  ///< simulated time, or the machine's
  double time_scale = 1;                      ///< wall
  bool saturate = false;                      ///< wall
  Scalar precision = Scalar::float32;         ///< of models
  double until = 0;                           ///< seconds of the experiment's own time, > 0
  std::string isa = "auto";                   ///< instruction set that the arithmetic must use; auto: what the build uses
  Record record;                              ///< of all steps, for replays
  double checkpoint_every = 0;                ///< seconds of the experiment; 0: none
  std::vector<Host> roster;                   ///< empty: one process
  Hosts hosts;                                ///< [hosts]
  Impaired impaired;                          ///< [impaired]
  Clients clients;                            ///< [clients]
  Topology topology;                          ///< [topology]
  Channel channel;                            ///< [channel]
  Churn churn;                                ///< [churn]
  Mailbox mailbox;                            ///< [mailbox]
  Unification unification;                    ///< [unification]
  Protocol protocol;                          ///< [protocol]
  Algorithm algorithm;                        ///< [algorithm]
  Data data;                                  ///< [data]
  Model model;                                ///< [model]
  Metrics metrics;                            ///< [metrics]
  Theory theory;                              ///< [theory]
  Energy energy;                              ///< [energy]
  Budget budget;                              ///< [budget]
  Limits limits;                              ///< [limits]
  bool operator==(const Experiment&) const = default;
};

/// One thing that is wrong with an experiment, said so that it can be put right.
struct Fault {
  std::string file;        ///< the file's name, or "--set"
  int line = 0;            ///< from 1; 0 where there is none
  std::string key;         ///< dotted; empty where the fault is not about a key
  std::string value;       ///< as TOML; empty where nothing was given
  std::string allowed;     ///< what is wrong or what is allowed, as the end of the sentence
  std::string suggestion;  ///< a key or value that may have been meant; empty where there is none
};

/// "experiment.toml:12: clients.compute.rate = -1: must be greater than 0"
std::string to_string(const Fault& fault);

/// The experiment cannot be run as it is written. what() has one line per fault, all of them at once.
class BadExperiment : public std::invalid_argument {
 public:
  /// At least one fault.
  explicit BadExperiment(std::vector<Fault> faults);
  /// All of them, in the order of the file.
  const std::vector<Fault>& faults() const { return faults_; }

 private:
  std::vector<Fault> faults_;
};

}  // namespace rubato::config

namespace rubato {

using config::BadExperiment;
using config::Experiment;

}  // namespace rubato
