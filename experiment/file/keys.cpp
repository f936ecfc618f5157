#include "experiment/file/keys.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "algos/catalogue.hpp"
#include "experiment/file/parse.hpp"
#include "experiment/words.hpp"
#include "learning/models/model_catalogue.hpp"

namespace rubato::config {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double longest = 9e9;  // seconds that still fit into 64 bits of nanoseconds

constexpr Range positive{0, infinity, true};
constexpr Range not_negative{0};
constexpr Range seconds{0, longest};
constexpr Range some_seconds{1e-9, longest};
constexpr Range delays{0, longest, true};
constexpr Range chance{0, 1};
constexpr Range chance_not_sure{0, 1, false, true};
constexpr Range chance_not_none{0, 1, true};
constexpr Range count_from_0{0, 1e12};
constexpr Range count_from_1{1, 1e12};
constexpr Range some_clients{1, 1e7};

constexpr std::string_view optional = "\"none\"";
constexpr std::string_view by_model = "name=";  // those that name the key in their catalogue
constexpr std::string_view not_quadratic = "name!=quadratic";
constexpr std::string_view on_rows = "name!=quadratic|pame_regression|pame_logistic";  // samples that are dealt
constexpr std::string_view own_files = "name=files";
constexpr std::string_view own_timer = "law=poisson|fixed|shifted_exp|gamma|lognormal";

// One row a key. What a key is called and means is said here and nowhere else.
// clang-format off
const std::array fixed = std::to_array<Key>({
    {"", "name", Type::text, "\"experiment\"", "what reports call the run"},
    {"", "seed", Type::integer, "1", "start of every random draw", "", not_negative},
    {"", "clock", Type::choice, "\"virtual\"", "whose time the run is in", "", {}, words<ClockKind>},
    {"", "time_scale", Type::number, "1.0", "seconds of the experiment per real second", "clock=wall", positive},
    {"", "saturate", Type::boolean, "false", "compute as fast as the machine can", "clock=wall"},
    {"", "precision", Type::choice, "\"float32\"", "of models and gradients", "", {}, words<Precision>},
    {"", "until", Type::number, "", "end of the run in seconds of the experiment's own time; better not the instant of "
     "a unification, when every model is the hub's", "", some_seconds},
    {"", "isa", Type::text, "\"auto\"", "instruction set that the arithmetic must use; auto takes what the build uses"},
    {"", "record", Type::size, "\"full\"", "the steps that are written down: full, off (also leaves out the per-link "
     "file), or at most so many bytes", "", count_from_1},
    {"", "checkpoint_every", Type::number, "0.0", "seconds of the experiment between checkpoints in the folder of --out; "
     "0: none", "", seconds},
    {"", "roster", Type::hosts, "[]", "the hosts of a run over several, for `rubato node`; [] for one process"},
    {"", "clients", Type::table, "{}", "who takes part, and when they compute and send"},
    {"", "topology", Type::table, "{}", "who can send to whom"},
    {"", "channel", Type::table, "{}", "how long messages take, and which are lost"},
    {"", "churn", Type::table, "{}", "who joins, leaves, crashes and is cut off, and when"},
    {"", "mailbox", Type::table, "{}", "what a receiver accepts, and when it merges"},
    {"", "unification", Type::table, "{}", "the instants at which all adopt the model of one"},
    {"", "protocol", Type::table, "{}", "when clients act"},
    {"", "algorithm", Type::table, "{}", "what they do with models"},
    {"", "data", Type::table, "{}", "what they learn from, and how it is dealt"},
    {"", "model", Type::table, "{}", "what they learn"},
    {"", "metrics", Type::table, "{}", "what is measured, and how often"},
    {"", "energy", Type::table, "{}", "what clients spend on computing and sending"},
    {"", "budget", Type::table, "{}", "what a run of `rubato compare` may spend"},
    {"", "limits", Type::table, "{}", "how far the timing may run ahead of the arithmetic"},
    {"", "hosts", Type::table, "{}", "how several hosts get on with each other"},
    {"", "impaired", Type::table, "{}", "what is done to messages between hosts"},

    {"clients", "count", Type::integer, "", "number of clients", "", some_clients},
    {"clients", "compute", Type::table, "{}", "the timer of local computations"},
    {"clients", "transmit", Type::table, "{}", "the timer of transmissions"},
    {"clients", "classes", Type::devices, "[]", "kinds of devices, each with a share of the clients; [] for one kind"},
    {"device", "name", Type::text, "", "what results call it"},
    {"device", "share", Type::number, "", "of the clients; which ones is drawn from the seed. What is left has no class", "",
     chance_not_none},
    {"device", "rate", Type::law, optional, "ticks a second of the compute timer, drawn for each client; none: as for all", "",
     positive},
    {"device", "transmit_rate", Type::law, optional, "the same of the transmit timer, where it has one of its own", "", positive},
    {"device", "up", Type::law, optional, "bits per second that it can send, as in a channel of kind bandwidth; none: as for all", "",
     positive},
    {"device", "down", Type::law, optional, "the same of receiving", "", positive},
    {"device", "transmit_watts", Type::number, optional, "as in [energy]; none: as for all", "", not_negative},
    {"device", "compute_joules", Type::number, optional, "likewise", "", not_negative},
    {"clients.compute", "law", Type::choice, "\"poisson\"", "law of the timer", "", {},
     "poisson|fixed|shifted_exp|gamma|lognormal|trace|table|off"},
    {"clients.transmit", "law", Type::choice, "\"coupled\"", "law of the timer; coupled transmits at the instant of a "
     "computation, right after it", "", {}, words<TimerKind>},
    {"clients.transmit", "per_link", Type::boolean, "false", "every outgoing link has a timer of its own", own_timer},
    {"timer", "rate", Type::per_client, "1.0", "ticks per second; shifted_exp, gamma: rate of the random part",
     "law=poisson|shifted_exp|gamma", positive},
    {"timer", "period", Type::per_client, "", "seconds between ticks", "law=fixed", some_seconds},
    {"timer", "phase", Type::per_client, "0.0", "seconds before the first tick", "law=fixed", seconds},
    {"timer", "min", Type::per_client, "", "shortest interval in seconds", "law=shifted_exp", seconds},
    {"timer", "shape", Type::per_client, "", "shape of the interval's law", "law=gamma", positive},
    {"timer", "mean", Type::per_client, "", "mean interval in seconds", "law=lognormal", some_seconds},
    {"timer", "sigma", Type::per_client, "", "standard deviation of the interval's logarithm", "law=lognormal",
     not_negative},
    {"timer", "file", Type::file, "", "text file, one line per client: its ticks in ascending seconds", "law=trace"},
    {"timer", "ticks", Type::ticks, "", "one list per client: its ticks in ascending seconds", "law=table", seconds},
    {"timer", "every", Type::integer, "1", "transmit after every so many computations", "law=coupled", {1, 1e9}},
    {"timer", "repeat", Type::integer, "1", "transmissions each time", "law=coupled", {1, 1e6}},

    {"topology", "kind", Type::choice, "\"ring\"", "the graph", "", {}, words<TopologyKind>},
    {"topology", "rows", Type::integer, "", "rows of clients; rows * columns is clients.count", "kind=torus|grid",
     some_clients},
    {"topology", "columns", Type::integer, "", "columns of clients", "kind=torus|grid", some_clients},
    {"topology", "center", Type::client, "0", "the client in the middle", "kind=star"},
    {"topology", "step", Type::integer, "0", "t of the links i -> i + 2^(t mod ceil(log2 clients))",
     "kind=one_peer_exponential", count_from_0},
    {"topology", "probability", Type::number, "", "chance of each edge", "kind=erdos_renyi", chance_not_none},
    {"topology", "radius", Type::number, "", "longest edge between points", "kind=random_geometric",
     positive},
    {"topology", "k", Type::integer, "3", "nearest points that each client sends to", "kind=knn", some_clients},
    {"topology", "symmetrise", Type::choice, "\"union\"", "none keeps the directions, union adds the missing ones, "
     "mutual keeps pairs only", "kind=knn", {}, words<Symmetrise>},
    {"topology", "points", Type::choice, "\"unit_square\"", "where clients are: drawn in the unit square, or as the channel "
     "says, in metres; drawn until everybody is connected", "kind=random_geometric|knn", {}, words<PointsKind>},
    {"topology", "file", Type::file, "", "text file, one edge \"source target\" a line", "kind=file"},
    {"topology", "edges", Type::edges, "", "list of [source, target]", "kind=edges"},
    {"topology", "directed", Type::boolean, "false", "false: every edge is used in both directions", "kind=file|edges"},
    {"topology", "cycle", Type::edge_lists, "[]", "which of the edges are there, a list for each graph in turn; empty: all of "
     "them always", "kind=edges"},
    {"topology", "cycle_rounds", Type::integers, "[]", "for how many changes each graph of the cycle lasts; empty: 1", "kind=edges",
     {1, 1e9}},
    {"topology", "change", Type::choice, "\"none\"", "how the graph changes: edges and clients are there by chance, redraw "
     "draws a random kind anew (with points = \"channel\": from where moving clients are then), steps goes through one_peer_exponential, file reads the number of a graph behind each edge", "",
     {}, words<ChangeKind>},
    {"topology", "activation", Type::number, "0.5", "chance that an edge or a client is there", "change=edges|clients",
     chance_not_none},
    {"topology", "change_every", Type::number, "1.0", "seconds that a graph lasts; with protocol.kind = \"rounds\": rounds", "",
     positive},
    {"topology", "graphs", Type::integer, "100", "so many graphs are drawn; then the first one comes again",
     "change=edges|clients|redraw", {1, 1e6}},
    {"topology", "mixing", Type::choice, "\"auto\"", "weights of what a client absorbs: a rule that `rubato topology FILE` shows, "
     "or mixing_matrix; auto: what the algorithm is made for", "", {}, words<MixingKind>},
    {"topology", "shares", Type::choice, "\"auto\"", "weights of what a client gives away, where an algorithm does that",
     "", {}, words<MixingKind>},
    {"topology", "mixing_matrix", Type::matrix, "", "weights [receiver][sender]", "mixing=explicit"},
    {"topology", "shares_matrix", Type::matrix, "", "weights [receiver][sender]", "shares=explicit"},

    {"channel", "kind", Type::choice, "\"ideal\"", "ideal loses nothing and has one constant delay; random draws; "
     "table lists every link; wireless has path loss, fading and interference; rayleigh_threshold has links that are up or down; aircomp adds "
     "models up in the air; bandwidth is shared; trace reads a file", "", {}, words<ChannelKind>},
    {"channel", "delay", Type::law, "1e-06", "seconds from sending to arrival; drawn for every message; bandwidth: on top of the transfer; trace: "
     "of links that the file does not name", "kind=ideal|random|rayleigh_threshold|bandwidth|trace", delays},
    {"channel", "loss", Type::number, "0.0", "chance that a message is lost", "kind=random", chance_not_sure},
    {"channel", "duplicate", Type::number, "0.0", "chance that a message that is not lost arrives twice", "kind=random",
     chance},
    {"channel", "links", Type::links, "[]", "links that differ; for table every link of the graph",
     "kind=random|table"},
    {"channel", "area", Type::choice, "\"disk\"", "where clients are, uniformly: a disk, or the square that just holds it",
     "kind=wireless", {}, words<AreaKind>},
    {"channel", "radius", Type::number, "500.0", "of the disk, in metres", "kind=wireless", positive},
    {"channel", "positions", Type::file, optional, "text file with the place of each client, \"x y\" in metres a line; none: "
     "drawn", "kind=wireless"},
    {"channel", "speed_low", Type::number, "0.0", "clients go straight to points drawn in the area, one after the other, at a "
     "speed drawn between speed_low and speed_high, in metres per second", "kind=wireless", not_negative},
    {"channel", "speed_high", Type::number, "0.0", "as speed_low; 0: nobody moves", "kind=wireless", not_negative},
    {"channel", "pause", Type::number, "0.0", "seconds of rest at each point", "kind=wireless", seconds},
    {"channel", "power_dbm", Type::per_client, "30.0", "of a transmitter; 30 dBm are 1 W", "kind=wireless", {-200, 200}},
    {"channel", "path_loss", Type::number, "4.0", "exponent of the distance, which counts as at least 1 m", "kind=wireless",
     {0, 10}},
    {"channel", "bandwidth", Type::number, "1e+07", "hertz", "kind=wireless", positive},
    {"channel", "bandwidth_use", Type::choice, "\"each\"", "every client has the bandwidth, or an equal part of it",
     "kind=wireless", {}, words<BandwidthUse>},
    {"channel", "noise_dbm", Type::number, "-174.0", "of one hertz", "kind=wireless", {-300, 200}},
    {"channel", "interference", Type::choice, "\"active\"", "whoever transmits within interference_share * radius of a "
     "receiver disturbs it; or everybody there; or nobody", "kind=wireless", {}, words<InterferenceKind>},
    {"channel", "interference_share", Type::number, "0.1", "of the radius", "kind=wireless", {0, 10, true}},
    {"channel", "message_bytes", Type::number, optional, "of a message that carries models; none: as large as it is",
     "kind=wireless|bandwidth", positive},
    {"channel", "threshold", Type::number, "0.5", "a link is up while its gain, which fades with mean power 1, is at least "
     "this", "kind=rayleigh_threshold|aircomp", not_negative},
    {"channel", "threshold_of", Type::choice, "\"amplitude\"", "of which gain", "kind=rayleigh_threshold|aircomp", {},
     words<ThresholdOf>},
    {"channel", "up_when", Type::choice, "\"gain\"", "a link is up when its gain is large enough, or when its time, drawn "
     "anew for every block, is within mailbox.deadline", "kind=rayleigh_threshold", {}, words<UpWhen>},
    {"channel", "completion_mean", Type::number, "1.0", "seconds; with up_when = \"time\" a message takes an exponential time",
     "kind=rayleigh_threshold", some_seconds},
    {"channel", "coherence", Type::number, "1.0", "seconds that the fading of a link lasts, outside rounds; in rounds: a round",
     "kind=rayleigh_threshold", some_seconds},
    {"channel", "power_cap", Type::number, "1.0", "greatest mean power of a symbol", "kind=aircomp", positive},
    {"channel", "noise", Type::number, "0.1", "standard deviation of the noise in a received symbol", "kind=aircomp",
     not_negative},
    {"channel", "slot", Type::number, "0.01", "seconds of a slot; every round has so many pairs of slots as its stars need",
     "kind=aircomp", some_seconds},
    {"channel", "up", Type::per_client, "1e+07", "bits per second that a client can send", "kind=bandwidth", positive},
    {"channel", "down", Type::per_client, "1e+07", "bits per second that a client can receive", "kind=bandwidth", positive},
    {"channel", "file", Type::file, "", "text file, \"source,target,time,delay,loss\" a line; a row is in force from its time "
     "on, the first one before it, too", "kind=trace"},
    {"link", "source", Type::client, "", "the sender"},
    {"link", "target", Type::client, "", "the receiver"},
    {"link", "delay", Type::law, optional, "as in the channel; none: the channel's (for table it must be set)", "",
     delays},
    {"link", "loss", Type::number, optional, "as in the channel; none: the channel's (0 for table)", "", chance},

    {"churn", "notice", Type::number, "0.0", "seconds from a crash until the others notice it; leaving is noticed at once",
     "", seconds},
    {"churn", "checkpoint_every", Type::number, "0.0", "seconds between the states that clients can come back with after "
     "a crash; 0: never", "", seconds},
    {"churn", "file", Type::file, optional, "a TOML file with more `events` and `random`, so that one script serves many "
     "experiments"},
    {"churn", "events", Type::events, "[]", "the script"},
    {"churn", "random", Type::absences, "[]", "clients that are there and away in turn"},

    {"event", "at", Type::number, "", "seconds of the experiment", "", some_seconds},
    {"event", "what", Type::choice, "", "join: be there, from the first such line on, with a model of its own; leave: go and "
     "say so; crash: go without a word and lose all memory; restart: come back; pause: stop computing and sending; go_on: "
     "after a pause; partition: lose messages between groups; heal: no longer", "", {}, words<ChurnKind>},
    {"event", "clients", Type::clients, "", "whom it happens to", "what!=partition|heal"},
    {"event", "groups", Type::groups, "", "lists of clients; who is in none of them is in one more", "what=partition"},
    {"event", "from", Type::choice, "\"neighbour\"", "what the client begins with: its first state and a neighbour's model, "
     "its first state alone, or its last checkpoint", "what=join|restart", {}, words<OriginKind>},

    {"absence", "clients", Type::integers, "[]", "who; []: all whom nothing else in [churn] names", "", count_from_0},
    {"absence", "away", Type::choice, "\"pause\"", "how they go", "", {}, words<AwayKind>},
    {"absence", "from", Type::choice, "\"neighbour\"", "what they come back with", "away=leave|crash", {},
     words<OriginKind>},
    {"absence", "kind", Type::choice, "\"drawn\"", "drawn: seconds there and away follow laws; trace: they are read", "", {},
     words<AbsenceKind>},
    {"absence", "up", Type::law, "", "seconds there, drawn each time", "kind=drawn", not_negative},
    {"absence", "down", Type::law, "", "seconds away, drawn each time", "kind=drawn", not_negative},
    {"absence", "file", Type::file, "", "a line for each client of the run: the seconds at which it goes, comes, goes, ...",
     "kind=trace"},
    {"absence", "until", Type::number, optional, "from then on everybody is there; none: nobody is called back at the end",
     "", some_seconds},

    {"mailbox", "window", Type::number, "0.0", "seconds between the first accepted message and the merge", "", seconds},
    {"mailbox", "deadline", Type::number, optional, "oldest accepted message in seconds", "", seconds},
    {"mailbox", "cap", Type::integer, optional, "messages that a receiver accepts per cap_period", "",
     {0, 4294967295.0}},
    {"mailbox", "cap_period", Type::number, optional, "seconds; none: the unification period", "", some_seconds},

    {"unification", "period", Type::number, optional, "seconds between unifications; none: never", "", some_seconds},
    {"unification", "hub", Type::choice, "\"round_robin\"", "whose model is adopted", "", {}, words<HubKind>},
    {"unification", "client", Type::client, "", "the hub", "hub=fixed"},
    {"unification", "hubs", Type::clients, "", "the hubs in turn, from the start again at the end", "hub=table"},
    {"unification", "via", Type::choice, "\"ideal\"", "ideal is simultaneous and reliable; transport sends the model "
     "over the links", "", {}, words<UnifyVia>},
    {"unification", "clears_mailbox", Type::boolean, "false", "open windows are emptied"},

    {"protocol", "kind", Type::choice, "\"auto\"", "push: everyone in their own time; rounds: barriers; server: a centre "
     "gathers and scatters; token: tokens walk; pull: clients ask; auto: what suits the algorithm", "", {},
     words<ProtocolKind>},
    {"protocol", "missing", Type::choice, "\"wait\"", "a lost message: wait until it is there, drop it, or drop the one "
     "the other way too", "kind=rounds", {}, words<MissingRule>},
    {"protocol", "send_probability", Type::number, "1.0", "chance that a client sends in a round", "kind=rounds",
     chance_not_none},
    {"protocol", "compute_phase", Type::number, optional, "seconds after which a round's computations end; none: when "
     "all have finished", "kind=rounds", some_seconds},
    {"protocol", "late_work", Type::choice, "\"carry_on\"", "what becomes of a computation that the phase ended",
     "kind=rounds", {}, words<LateWork>},
    {"protocol", "compute_chance", Type::per_client, optional, "chance of a gradient at a tick or in a round, where the "
     "algorithm is sporadic; others pay for it in cumulated_delay", "kind=auto|push|rounds", chance_not_none},
    {"protocol", "link_chance", Type::law, optional, "chance that a link is up, drawn once for each link; likewise",
     "kind=auto|push|rounds", chance_not_none},
    {"protocol", "center", Type::client, "0", "the client that gathers and scatters", "kind=auto|server"},
    {"protocol", "selected", Type::number, "1.0", "share of the clients that take part in a round", "kind=auto|server",
     chance_not_none},

    {"algorithm", "name", Type::choice, "", "the algorithm", "", {}, ""},
    {"algorithm", "q", Type::choice, "\"receiver_static\"", "weights: 1/in-degree of the receiver, 1/out-degree of the "
     "sender, 1/size of the batch, or q_matrix", "name=draco", {}, words<WeightKind>},
    {"algorithm", "q_matrix", Type::matrix, "", "weights [receiver][sender]", "q=explicit"},
    {"algorithm", "snapshot", Type::choice, "\"at_finish\"", "the model a computation starts from: held when its tick "
     "fires, or at the tick before", "name=draco", {}, words<SnapshotAt>},
    {"algorithm", "retain_on_loss", Type::boolean, "false", "an increment that was not acknowledged goes back to the "
     "outbox", "name=draco"},

    {"data", "name", Type::text, "", "a data set that `rubato list datasets` shows; files: your own; quadratic: "
     "f_i = 1/2 ||x - c_i||^2 with random c_i; pame_regression, pame_logistic: random samples around a sparse solution"},
    {"data", "dimension", Type::integer, "", "numbers in x", "name=quadratic|pame_regression|pame_logistic", {1, 1e9}},
    {"data", "samples_per_client", Type::integer, "", "samples that each client draws for itself",
     "name=pame_regression|pame_logistic", {1, 1e9}},
    {"data", "support", Type::number, "0.01", "share of the solution that is not 0 but in [0.5, 2] or [-2, -0.5]",
     "name=pame_regression", {0, 1, true}},
    {"data", "support", Type::number, "0.5", "the same", "name=pame_logistic", {0, 1, true}},
    {"data", "noise", Type::number, "0.5", "standard deviation of what is added to the targets", "name=pame_regression",
     not_negative},
    {"data", "format", Type::choice, "\"auto\"", "of the files, each plain, .gz or .xz; auto: by the ending of their names",
     own_files, {}, words<FileFormat>},
    {"data", "train", Type::file, "", "the training samples", own_files},
    {"data", "train_labels", Type::file, optional, "their labels, where the format keeps them apart (npy, idx)", own_files},
    {"data", "test", Type::file, optional, "the test samples; none: those of an npz archive, else test_share of the "
     "training samples", own_files},
    {"data", "test_labels", Type::file, optional, "their labels", own_files},
    {"data", "label", Type::text, "\"last\"", "the label's column in a csv file: its name, its number from 1, or last",
     own_files},
    {"data", "header", Type::choice, "\"auto\"", "the first line of a csv file: names of the columns, or none, a "
     "sample; auto: names, if a field besides the label is neither a number nor missing", own_files, {},
     words<HeaderKind>},
    {"data", "label_order", Type::texts, optional, "words that are labels, class 0 first; none: in alphabetical order",
     own_files},
    {"data", "learn", Type::choice, "\"classes\"", "what labels are: classes, or the numbers to be learned", own_files, {},
     words<LearnKind>},
    {"data", "features", Type::integer, "0", "of a libsvm file, which need not use the last ones; 0: the largest index",
     own_files, {0, 1e8}},
    {"data", "shape", Type::integers, "[]", "channels, height and width of a sample; []: as the file says", own_files,
     {1, 1e6}},
    {"data", "classes", Type::integer, "0", "labels are 0 to classes - 1; 0: those that the training samples have; cwru: 4 "
     "or 10", "name=files|cwru", {0, 65536}},
    {"data", "one_hot", Type::boolean, "true", "a column for every suit and rank of a card, instead of its two numbers",
     "name=poker-hand"},
    {"data", "normalise", Type::choice, "\"default\"", "features by the training samples: unit (0 to 1), standard (mean 0, "
     "deviation 1; images by channel), none, or what the set is usually given", on_rows, {}, words<NormaliseKind>},
    {"data", "test_share", Type::number, "0.2", "share of the samples kept for the test where there is no test part",
     "name=files|cwru|breast-cancer", {0, 1, true, true}},
    {"data", "shuffle", Type::boolean, "true", "draw them from the seed, instead of taking the last ones",
     "name=files|cwru|breast-cancer"},
    {"data", "samples_per_client", Type::integer, "0", "most rows of one client; 0: all that are dealt to it", on_rows,
     count_from_0},
    {"data", "train_rows", Type::integer, "0", "rows that are dealt; 0: all", on_rows, count_from_0},
    {"data", "partition", Type::table, "{}", "how rows are dealt to clients", on_rows},
    {"data.partition", "kind", Type::choice, "\"iid\"", "the rule", "", {}, words<PartitionKind>},
    {"data.partition", "classes", Type::integer, "", "classes of one client", "kind=by_class", {1, 1e6}},
    {"data.partition", "random", Type::boolean, "false", "draw the classes instead of taking them in turn",
     "kind=by_class"},
    {"data.partition", "alpha", Type::number, "", "concentration; small is uneven",
     "kind=dirichlet_by_class|dirichlet_by_client", positive},
    {"data.partition", "min_samples", Type::integer, "10", "fewest rows of a client; redrawn until it holds",
     "kind=dirichlet_by_class", count_from_0},

    {"model", "name", Type::choice, "", "the model", "", {}, ""},
    {"model", "hidden", Type::integers, "", "widths of the hidden layers", by_model, {1, 1e6}},
    {"model", "layers", Type::texts, "", "the layers one after the other, such as \"conv 16 5 pad 2\", \"relu\", "
     "\"maxpool 2\", \"dense 64\"", by_model},
    {"model", "module", Type::file, "", "a PyTorch module, written by torch.jit.script(net).save(path)", by_model},
    {"model", "activation", Type::choice, "\"relu\"", "what hidden layers end with", by_model, {}, words<ActivationKind>},
    {"model", "normalisation", Type::choice, "\"group\"", "over groups of channels of one sample, or over the samples of a "
     "batch", by_model, {}, words<NormalisationKind>},
    {"model", "hinge", Type::choice, "\"plain\"", "the hinge loss or the sum of its squares", by_model, {},
     words<HingeKind>},
    {"model", "dropout", Type::number, "0.0", "chance of a hidden number to be left out of a gradient", by_model,
     chance_not_sure},
    {"model", "label_smoothing", Type::number, "0.0", "share of the truth that all classes have in common", by_model,
     chance_not_sure},
    {"model", "batch", Type::integer, "0", "rows of one mini-batch; 0: all", not_quadratic, count_from_0},
    {"model", "l2", Type::number, "0.0", "weight of 1/2 ||x||^2 in the loss", not_quadratic, not_negative},
    {"model", "weight_decay", Type::number, "0.0", "times x: added to every gradient, not to the loss", not_quadratic,
     not_negative},
    {"model", "clip", Type::number, "0.0", "longest gradient; longer ones are shortened before weight_decay; 0: any",
     not_quadratic, not_negative},
    {"model", "init", Type::choice, "\"default\"", "zero, he (weights are normal with variance 2 / inputs), xavier "
     "(2 / (inputs + outputs)), or what suits the model", not_quadratic, {}, words<InitKind>},
    {"model", "init_from", Type::file, optional, "instead: a .npy file with the model's numbers in one row"},

    {"metrics", "every_events", Type::integer, "500", "ticks and deliveries between samples; 0: off", "", count_from_0},
    {"metrics", "every_seconds", Type::number, "0.0", "seconds of the experiment between samples; 0: off", "", seconds},
    {"metrics", "test_samples", Type::integer, "0", "test rows that are used; 0: all", "", count_from_0},
    {"metrics", "clients", Type::integer, "0", "clients that are evaluated; 0: all", "", {0, 1e7}},
    {"metrics", "stationarity", Type::boolean, "false", "of the loss with its penalty, for depositum; costs at every sample "
     "as many full gradients as there are pairs of clients"},
    {"metrics", "smoothness", Type::number, "1.0", "L of the losses, which weighs the distance of models in stationarity",
     "", positive},

    {"budget", "bits", Type::number, optional, "bits sent, as the papers count them, after which `rubato compare` ends a "
     "run and its curve; none: until decides", "", positive},
    {"budget", "gradients", Type::number, optional, "the same in computed gradients", "", positive},

    {"energy", "transmit_watts", Type::per_client, "0.0", "power of a radio while it is on the air", "", not_negative},
    {"energy", "compute_joules", Type::per_client, "0.0", "what a computation costs", "", not_negative},
    {"energy", "bits_per_second", Type::number, "1000000.0", "how fast a radio sends, where the channel does not say how long a "
     "message is on the air", "", positive},

    {"limits", "outstanding_steps", Type::integer, "0", "steps issued and not yet performed; 0: automatic", "",
     count_from_0},
    {"limits", "payload_bytes", Type::integer, "0", "bytes of payloads under way; 0: automatic", "", count_from_0},

    {"host", "name", Type::text, "", "what `rubato node --host` and messages call it"},
    {"host", "address", Type::text, "", "where the others reach it: tcp://10.0.0.1:7001 or ipc:///path"},
    {"host", "bind", Type::text, optional, "where it listens, such as tcp://*:7001; none: its address"},
    {"host", "public_key", Type::text, optional, "40 characters of `rubato keygen`, for all hosts or for none; none: "
     "`--keys` has them, or plain text"},
    {"host", "clients", Type::integers, optional, "the numbers of its clients; none: all hosts get an equal share in a row",
     "", count_from_0},

    {"hosts", "insecure", Type::boolean, "false", "allow plain text on addresses that are not this machine's own"},
    {"hosts", "wait", Type::number, "60.0", "how long to wait for hosts that are missing at the start", "", seconds},
    {"hosts", "lost_after", Type::number, "10.0", "silence after which a host counts as gone", "", some_seconds},
    {"hosts", "drain", Type::number, "10.0", "how long to wait at the end for messages under way and for results", "",
     seconds},
    {"hosts", "queue_bytes", Type::integer, "67108864", "what may wait to be sent to one host", "", {65536, 1e12}},
    {"hosts", "largest_bytes", Type::integer, "268435456", "the largest message that is accepted; more than a model with all that "
     "an algorithm sends along", "", {65536, 1e12}},
    {"hosts", "chunk_bytes", Type::integer, "4194304", "larger tensors are sent in pieces of this size", "", {4096, 1e9}},

    {"impaired", "loss", Type::number, "0.0", "chance that a message is lost", "", chance_not_sure},
    {"impaired", "duplicate", Type::number, "0.0", "chance that it is sent twice", "", chance},
    {"impaired", "reorder", Type::number, "0.0", "chance that it is held back until others have passed", "", chance},
    {"impaired", "corrupt", Type::number, "0.0", "chance that it arrives damaged, and is dropped", "", chance},
    {"impaired", "delay", Type::law, "0.0", "seconds that it is held back, drawn for every message", "", seconds},

    {"law", "law", Type::choice, "", "the law", "", {}, words<LawKind>},
    {"law", "value", Type::number, "", "the number itself", "law=constant"},
    {"law", "mean", Type::number, "", "mean of the drawn number", "law=exponential|lognormal", positive},
    {"law", "sigma", Type::number, "", "standard deviation of its logarithm", "law=lognormal", not_negative},
    {"law", "low", Type::number, "", "smallest number", "law=uniform"},
    {"law", "high", Type::number, "", "largest number", "law=uniform"},
    {"law", "a", Type::number, "", "first exponent; numbers lie between 0 and 1", "law=beta", positive},
    {"law", "b", Type::number, "", "second exponent", "law=beta", positive},
    {"law", "shape", Type::number, "", "shape", "law=gamma", positive},
    {"law", "rate", Type::number, "", "rate; the mean of gamma is shape / rate, of shifted_exp min + 1 / rate",
     "law=gamma|shifted_exp", positive},
    {"law", "min", Type::number, "", "smallest number", "law=shifted_exp"},
    {"law", "values", Type::numbers, "", "one number per client; of a delay: taken in turn", "law=list"},
});
// clang-format on

Type type_of(OptionType type) {
  switch (type) {
    case OptionType::number:
      return Type::numbers_or_one;
    case OptionType::whole:
      return Type::integer;
    case OptionType::flag:
      return Type::boolean;
    case OptionType::word:
      return Type::choice;
  }
  return Type::text;
}

bool is_same(const OptionSpec& a, const OptionSpec& b) {
  return a.name == b.name && a.type == b.type && a.fallback == b.fallback && a.meaning == b.meaning && a.low == b.low &&
         a.high == b.high && a.low_is_out == b.low_is_out && a.high_is_out == b.high_is_out && a.choices == b.choices;
}

// One row for each option, naming all algorithms that have it just so.
struct OptionRow {
  const OptionSpec* spec;
  std::string when;
};

struct CatalogueRows {
  std::string names;
  std::vector<OptionRow> options;
};

const CatalogueRows& catalogue_rows() {
  static const CatalogueRows rows = [] {
    CatalogueRows made;
    for (const CatalogueEntry* entry : catalogue()) {
      made.names += (made.names.empty() ? "" : "|") + std::string(entry->name);
      for (const OptionSpec& spec : entry->options) {
        const auto same =
            std::find_if(made.options.begin(), made.options.end(), [&](const OptionRow& row) { return is_same(*row.spec, spec); });
        if (same == made.options.end())
          made.options.push_back({&spec, "name=" + std::string(entry->name)});
        else
          same->when += '|' + std::string(entry->name);
      }
    }
    return made;
  }();
  return rows;
}

Key key_of(const OptionRow& row) {
  const OptionSpec& spec = *row.spec;
  Key key{"algorithm",
          spec.name,
          type_of(spec.type),
          spec.fallback,
          spec.meaning,
          row.when,
          {spec.low, spec.high, spec.low_is_out, spec.high_is_out},
          spec.choices};
  key.is_option = true;
  return key;
}

bool takes(const KnownModel& model, std::string_view key) {
  const std::string keys = ", " + std::string(model.keys) + ',';
  return keys.find(", " + std::string(key) + ',') != keys.npos;
}

// "name=a|b" of the models that take the key; of all models for no key.
std::string models_that_take(std::string_view key) {
  std::string names;
  for (const KnownModel& model : known_models())
    if (key.empty() || takes(model, key)) names += (names.empty() ? "" : "|") + std::string(model.name);
  return names;
}

struct ModelRows {
  std::string names = models_that_take("") + "|quadratic|least_squares";
  std::map<std::string_view, std::string> conditions;  // of the keys that not every model has
};

const ModelRows& model_rows() {
  static const ModelRows rows = [] {
    ModelRows made;
    for (const Key& key : fixed)
      if (key.table == "model" && key.when == by_model) made.conditions[key.name] = "name=" + models_that_take(key.name);
    return made;
  }();
  return rows;
}

std::vector<Key> with_catalogue() {
  std::vector<Key> keys;
  for (const Key& key : fixed) {
    if (key.when == by_model && model_rows().conditions.at(key.name) == by_model) continue;  // nobody has it
    keys.push_back(key);
    if (key.when == by_model) keys.back().when = model_rows().conditions.at(key.name);
    if (key.table == "model" && key.name == "name") keys.back().choices = model_rows().names;
    if (key.table != "algorithm" || key.name != "name") continue;
    keys.back().choices = catalogue_rows().names;
    for (const OptionRow& row : catalogue_rows().options) keys.push_back(key_of(row));
  }
  return keys;
}

const std::vector<Key>& table_of_keys() {
  static const std::vector<Key> keys = with_catalogue();
  return keys;
}

std::string joined(std::string_view path, std::string_view name) {
  return path.empty() ? std::string(name) : std::string(path) + '.' + std::string(name);
}

bool serves(const Key& key, std::string_view path) {
  if (key.table == path) return true;
  return key.table == "timer" && (path == "clients.compute" || path == "clients.transmit");
}

// The word chosen in the table, or the default; nothing where neither is a word.
std::optional<std::string> word_in(const Table& table, const Key& selector) {
  const Value* given = table.find(selector.name);
  if (!given && selector.fallback.empty()) return std::nullopt;
  const Value value = given ? *given : default_of(selector);
  const auto* word = value.as<std::string>();
  if (!word || (selector.type == Type::choice && !is_word_of(selector.choices, *word))) return std::nullopt;
  return *word;
}

std::string plain(double value) {
  if (value == std::floor(value) && std::abs(value) < 1e15) return std::to_string(static_cast<std::int64_t>(value));
  return to_toml(value);
}

}  // namespace

bool Range::contains(double value) const {
  const bool is_above = low_is_out ? value > low : value >= low;
  const bool is_below = high_is_out ? value < high : value <= high;
  return is_above && is_below;
}

std::string Range::sentence() const {
  const std::string from = (low_is_out ? "greater than " : "at least ") + plain(low);
  const std::string to = (high_is_out ? "less than " : "at most ") + plain(high);
  if (low == -infinity && high == infinity) return "must be a finite number";
  if (low == -infinity) return "must be " + to;
  return "must be " + from + (high == infinity ? "" : " and " + to);
}

std::span<const Key> all_keys() { return table_of_keys(); }

std::vector<const Key*> keys_of(std::string_view path) {
  std::vector<const Key*> keys;
  for (const Key& key : all_keys())
    if (serves(key, path)) keys.push_back(&key);
  return keys;
}

const Key* find_key(std::string_view path, std::string_view name) {
  const std::span<const Key> keys = all_keys();
  const auto found = std::find_if(keys.begin(), keys.end(), [&](const Key& key) { return key.name == name && serves(key, path); });
  return found == keys.end() ? nullptr : &*found;
}

std::optional<std::string> table_at(std::string_view path) {
  if (path.empty()) return std::string();
  const std::size_t dot = path.rfind('.');
  const auto parent = dot == path.npos ? std::string() : table_at(path.substr(0, dot));
  const Key* key = parent ? find_key(*parent, path.substr(dot + 1)) : nullptr;
  if (!key) return std::nullopt;
  if (key->type == Type::table) return joined(*parent, key->name);
  if (key->type == Type::law || key->type == Type::per_client) return "law";
  return std::nullopt;
}

bool is_selector(std::string_view path, std::string_view name) {
  const std::span<const Key> keys = all_keys();
  return std::any_of(keys.begin(), keys.end(),
                     [&](const Key& key) { return serves(key, path) && !key.when.empty() && condition_of(key).selector == name; });
}

std::vector<std::string_view> words_of(std::string_view choices) {
  std::vector<std::string_view> words;
  while (!choices.empty()) {
    words.push_back(choices.substr(0, choices.find('|')));
    choices.remove_prefix(std::min(choices.size(), words.back().size() + 1));
  }
  return words;
}

bool is_word_of(std::string_view choices, std::string_view word) {
  const auto all_words = words_of(choices);
  return std::find(all_words.begin(), all_words.end(), word) != all_words.end();
}

Condition condition_of(const Key& key) {
  const std::size_t equals = key.when.find('=');
  if (equals == key.when.npos) return {};
  const bool is_negated = key.when[equals - 1] == '!';
  return {key.when.substr(0, is_negated ? equals - 1 : equals), key.when.substr(equals + 1), is_negated};
}

Belongs belongs(std::string_view path, const Key& key, const Table& table) {
  if (key.when.empty()) return Belongs::yes;
  const Condition condition = condition_of(key);
  const Key& selector = *find_key(path, condition.selector);
  if (const Belongs known = belongs(path, selector, table); known != Belongs::yes) return known;
  const auto word = word_in(table, selector);
  if (!word) return Belongs::unclear;
  return is_word_of(condition.choices, *word) != condition.is_negated ? Belongs::yes : Belongs::no;
}

const Key* find_key(std::string_view path, std::string_view name, const Table& table) {
  for (const Key& key : all_keys())
    if (key.name == name && serves(key, path) && belongs(path, key, table) == Belongs::yes) return &key;
  return find_key(path, name);
}

Value default_of(const Key& key) { return std::get<Value>(parse_value(key.fallback, Value::by_default)); }

}  // namespace rubato::config
