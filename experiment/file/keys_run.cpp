// The keys before the first table, of [metrics], [budget], [energy] and [limits], and of hosts.
#include "experiment/file/fields.hpp"

namespace rubato::config {

void describe(Rows<Experiment>& rows) {
  rows.table = "";
  rows.key("name", &Experiment::name, "what reports call the run");
  rows.key("seed", &Experiment::seed, not_negative, "start of every random draw");
  rows.key("clock", &Experiment::clock, "whose time the run is in");
  rows.only_with("clock=wall");
  rows.key("time_scale", &Experiment::time_scale, positive, "seconds of the experiment per real second");
  rows.key("saturate", &Experiment::saturate, "compute as fast as the machine can");
  rows.for_all();
  rows.key("precision", &Experiment::precision, "of models and gradients");
  rows.required("until", &Experiment::until, some_seconds,
                "end of the run in seconds of the experiment's own time; better not the instant of a unification, when every model "
                "is the hub's");
  rows.key("isa", &Experiment::isa, "instruction set that the arithmetic must use; auto takes what the build uses");
  rows.key("record", &Experiment::record, count_from_1,
           "the steps that are written down: full, off (also leaves out the per-link file), or at most so many bytes");
  rows.key("checkpoint_every", &Experiment::checkpoint_every, seconds,
           "seconds of the experiment between checkpoints in the folder of --out; 0: none");
  rows.key("roster", &Experiment::roster, "the hosts of a run over several, for `rubato node`; [] for one process");
  rows.key("clients", &Experiment::clients, "how many clients there are, and when they compute and send");
  rows.key("topology", &Experiment::topology, "which clients can send to which");
  rows.key("channel", &Experiment::channel, "how long messages take, and which are lost");
  rows.key("churn", &Experiment::churn, "which clients join, leave, crash and are cut off, and when");
  rows.key("mailbox", &Experiment::mailbox, "what a receiver accepts, and when it merges");
  rows.key("unification", &Experiment::unification, "the instants at which all adopt the model of one");
  rows.key("protocol", &Experiment::protocol, "when clients act");
  rows.key("algorithm", &Experiment::algorithm, "what they do with models");
  rows.key("data", &Experiment::data, "what they learn from, and how it is dealt");
  rows.key("model", &Experiment::model, "what they learn");
  rows.key("metrics", &Experiment::metrics, "what is measured, and how often");
  rows.key("theory", &Experiment::theory, "what theorems assume of the losses");
  rows.key("energy", &Experiment::energy, "what clients spend on computing and sending");
  rows.key("budget", &Experiment::budget, "what a run of `rubato compare` may spend");
  rows.key("limits", &Experiment::limits, "how far the timing may run ahead of the arithmetic");
  rows.key("hosts", &Experiment::hosts, "how several hosts get on with each other");
  rows.key("impaired", &Experiment::impaired, "what is done to messages between hosts");
}

void describe(Rows<Metrics>& rows) {
  rows.table = "metrics";
  rows.key("every_events", &Metrics::every_events, count_from_0,
           "ticks and deliveries between samples; 0: off; none, like every_seconds: every until / 100, less often where samples "
           "would cost more than a tenth of the run");
  rows.key("every_seconds", &Metrics::every_seconds, seconds,
           "seconds of the experiment between samples; 0: off; none: see every_events");
  rows.key("before_unifications", &Metrics::before_unifications,
           "one more sample just before each unification, so that curves show how far models come apart until then, however "
           "rare the other samples are; virtual time, not in rounds");
  rows.key("test_samples", &Metrics::test_samples, count_from_0,
           "test rows that are used, the first; 0: all; none: at most 2000, drawn");
  rows.key("clients", &Metrics::clients, {0, 1e7},
           "clients that are evaluated, drawn, the same in every sample; 0: all; none: at most 256");
  rows.key(
      "training", &Metrics::training,
      "score models on training rows too; a sample costs as many more rows, of each client for its own model and for the mean");
  rows.key(
      "gradient_norm", &Metrics::gradient_norm,
      "of the mean of all losses at the mean model, and that loss with its penalties; costs a full gradient of every client at "
      "every sample");
  rows.key("mean_weights", &Metrics::mean_weights,
           "the norm also at a weighted mean, for as many gradients again: phi are the left eigenvector of the expected weights of "
           "merges, rows the training rows");
  rows.key("tracked", &Metrics::tracked,
           "sums of the squared distances of the trackers y (and nu) of clients to their mean, where an algorithm has them");
  rows.key(
      "stationarity", &Metrics::stationarity,
      "of the loss with its penalty, for depositum; costs at every sample as many full gradients as there are pairs of clients");
  rows.key("tracker", &Metrics::tracker,
           "what stationarity compares with gradients: nu as it is, or nu / beta, which alone can agree where beta is not 1");
  rows.key(
      "smoothness", &Metrics::smoothness, positive,
      "L of the losses: weighs the distance of models in stationarity (none: 1), and `rubato topology` holds steps against it");
  rows.key("joint_objective", &Metrics::joint_objective,
           "J of kdpdfl: training losses, distances of outputs and collaboration of all clients; at every sample each client's "
           "model meets the training rows of all others");
  rows.key("stop_on_nan", &Metrics::stop_on_nan,
           "end the run, with exit code 1, at the first sample in which a model has a number that is not finite");
  rows.key("stop", &Metrics::stop, "a rule that ends the run at a sample");
}

void describe(Rows<Stop>& rows) {
  rows.table = "metrics.stop";
  rows.key("metric", &Stop::metric,
           "a measured number, by its column in metrics.csv: loss_mean_model, objective, ...; none: no rule");
  rows.key("window", &Stop::window, {1, 1e6}, "samples that the rule looks at, the newest ones");
  rows.key("by", &Stop::by, "what must be below: the deviation of these values (of a population), or their mean");
  rows.key("below", &Stop::below, "the run ends at the first sample where it is less");
}

void describe(Rows<Theory>& rows) {
  rows.table = "theory";
  rows.key("convexity", &Theory::convexity, positive, "mu: losses are mu-strongly convex");
  rows.key("diversity", &Theory::diversity, not_negative,
           "delta_1: squared gradients of clients are at most delta_0^2 + delta_1^2 times that of the mean loss");
  rows.key("variance", &Theory::variance, not_negative,
           "sigma_1: the variance of a row's gradient is at most sigma_0^2 + sigma_1^2 times that square");
  rows.key("spread", &Theory::spread, not_negative,
           "epsilon: largest difference between the gradients of two batches in one number");
  rows.key("radius", &Theory::radius, positive, "delta: the numbers of all models stay between -2 delta and 2 delta");
}

void describe(Rows<Budget>& rows) {
  rows.table = "budget";
  rows.key("bits", &Budget::bits, positive,
           "bits sent, as the papers count them, after which `rubato compare` ends a run and its curve; none: until decides");
  rows.key("gradients", &Budget::gradients, positive, "the same in computed gradients");
}

void describe(Rows<Energy>& rows) {
  rows.table = "energy";
  rows.key("transmit_watts", &Energy::transmit_watts, not_negative, "power of a radio while it is on the air").as(Type::per_client);
  rows.key("compute_joules", &Energy::compute_joules, not_negative, "what a computation costs").as(Type::per_client);
  rows.key("bits_per_second", &Energy::bits_per_second, positive,
           "how fast a radio sends, where the channel does not say how long a message is on the air");
}

void describe(Rows<Limits>& rows) {
  rows.table = "limits";
  rows.key("outstanding_steps", &Limits::outstanding_steps, count_from_0, "steps issued and not yet performed; 0: automatic");
  rows.key("payload_bytes", &Limits::payload_bytes, count_from_0, "bytes of payloads under way; 0: automatic");
}

void describe(Rows<Host>& rows) {
  rows.table = "host";
  rows.required("name", &Host::name, "what `rubato node --host` and messages call it");
  rows.required("address", &Host::address, "where the others reach it: tcp://10.0.0.1:7001 or ipc:///path");
  rows.key("bind", &Host::bind, "where it listens, such as tcp://*:7001; none: its address");
  rows.key("public_key", &Host::public_key,
           "40 characters of `rubato keygen`, for all hosts or for none; none: `--keys` has them, or plain text");
  rows.key("clients", &Host::clients, count_from_0, "the numbers of its clients; none: all hosts get an equal share in a row");
}

void describe(Rows<Hosts>& rows) {
  rows.table = "hosts";
  rows.key("insecure", &Hosts::insecure, "allow plain text on addresses that are not this machine's own");
  rows.key("wait", &Hosts::wait, seconds, "how long to wait for hosts that are missing at the start");
  rows.key("lost_after", &Hosts::lost_after, some_seconds, "silence after which a host counts as gone");
  rows.key("drain", &Hosts::drain, seconds, "how long to wait at the end for messages under way and for results");
  rows.key("queue_bytes", &Hosts::queue_bytes, {65536, 1e12}, "what may wait to be sent to one host");
  rows.key("largest_bytes", &Hosts::largest_bytes, {65536, 1e12},
           "the largest message that is accepted; more than a model with all that an algorithm sends along");
  rows.key("chunk_bytes", &Hosts::chunk_bytes, {4096, 1e9}, "larger tensors are sent in pieces of this size");
}

void describe(Rows<Impaired>& rows) {
  rows.table = "impaired";
  rows.key("loss", &Impaired::loss, chance_not_sure, "chance that a message is lost");
  rows.key("duplicate", &Impaired::duplicate, chance, "chance that it is sent twice");
  rows.key("reorder", &Impaired::reorder, chance, "chance that it is held back until others have passed");
  rows.key("corrupt", &Impaired::corrupt, chance, "chance that it arrives damaged, and is dropped");
  rows.key("delay", &Impaired::delay, seconds, "seconds that it is held back, drawn for every message");
}

}  // namespace rubato::config
