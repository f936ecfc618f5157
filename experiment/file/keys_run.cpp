// The keys before the first table, of [metrics], [budget], [energy] and [limits], and of hosts.
#include "experiment/file/fields.hpp"

namespace rubato::config {

Fields<Experiment> rows_of(const Experiment*) {
  return table<Experiment>(
      "", {
              key("name", &Experiment::name, "what reports call the run"),
              key("seed", &Experiment::seed, not_negative, "start of every random draw"),
              key("clock", &Experiment::clock, "whose time the run is in"),
              key("time_scale", &Experiment::time_scale, positive, "seconds of the experiment per real second").with("clock=wall"),
              key("saturate", &Experiment::saturate, "compute as fast as the machine can").with("clock=wall"),
              key("precision", &Experiment::precision, "of models and gradients"),
              required("until", &Experiment::until, some_seconds,
                       "end of the run in seconds of the experiment's own time; better not the instant of a unification, when "
                       "every model is the hub's"),
              key("isa", &Experiment::isa, "instruction set that the arithmetic must use; auto takes what the build uses"),
              key("record", &Experiment::record, count_from_1,
                  "the steps that are written down: full, off (also leaves out the per-link file), or at most so many bytes"),
              key("checkpoint_every", &Experiment::checkpoint_every, seconds,
                  "seconds of the experiment between checkpoints in the folder of --out; 0: none"),
              key("roster", &Experiment::roster, "the hosts of a run over several, for `rubato node`; [] for one process"),
              key("clients", &Experiment::clients, "who takes part, and when they compute and send"),
              key("topology", &Experiment::topology, "who can send to whom"),
              key("channel", &Experiment::channel, "how long messages take, and which are lost"),
              key("churn", &Experiment::churn, "who joins, leaves, crashes and is cut off, and when"),
              key("mailbox", &Experiment::mailbox, "what a receiver accepts, and when it merges"),
              key("unification", &Experiment::unification, "the instants at which all adopt the model of one"),
              key("protocol", &Experiment::protocol, "when clients act"),
              key("algorithm", &Experiment::algorithm, "what they do with models"),
              key("data", &Experiment::data, "what they learn from, and how it is dealt"),
              key("model", &Experiment::model, "what they learn"),
              key("metrics", &Experiment::metrics, "what is measured, and how often"),
              key("energy", &Experiment::energy, "what clients spend on computing and sending"),
              key("budget", &Experiment::budget, "what a run of `rubato compare` may spend"),
              key("limits", &Experiment::limits, "how far the timing may run ahead of the arithmetic"),
              key("hosts", &Experiment::hosts, "how several hosts get on with each other"),
              key("impaired", &Experiment::impaired, "what is done to messages between hosts"),
          });
}

Fields<Metrics> rows_of(const Metrics*) {
  return table<Metrics>(
      "metrics",
      {
          key("every_events", &Metrics::every_events, count_from_0, "ticks and deliveries between samples; 0: off"),
          key("every_seconds", &Metrics::every_seconds, seconds, "seconds of the experiment between samples; 0: off"),
          key("test_samples", &Metrics::test_samples, count_from_0, "test rows that are used; 0: all"),
          key("clients", &Metrics::clients, {0, 1e7}, "clients that are evaluated; 0: all"),
          key("stationarity", &Metrics::stationarity,
              "of the loss with its penalty, for depositum; costs at every sample as many full gradients as there are pairs of "
              "clients"),
          key("smoothness", &Metrics::smoothness, positive, "L of the losses, which weighs the distance of models in stationarity"),
          key("stop_on_nan", &Metrics::stop_on_nan,
              "end the run, with exit code 1, at the first sample in which a model has a number that is not finite"),
      });
}

Fields<Budget> rows_of(const Budget*) {
  return table<Budget>(
      "budget",
      {
          key("bits", &Budget::bits, positive,
              "bits sent, as the papers count them, after which `rubato compare` ends a run and its curve; none: until decides"),
          key("gradients", &Budget::gradients, positive, "the same in computed gradients"),
      });
}

Fields<Energy> rows_of(const Energy*) {
  return table<Energy>(
      "energy", {
                    key("transmit_watts", &Energy::transmit_watts, not_negative, "power of a radio while it is on the air")
                        .as(Type::per_client),
                    key("compute_joules", &Energy::compute_joules, not_negative, "what a computation costs").as(Type::per_client),
                    key("bits_per_second", &Energy::bits_per_second, positive,
                        "how fast a radio sends, where the channel does not say how long a message is on the air"),
                });
}

Fields<Limits> rows_of(const Limits*) {
  return table<Limits>(
      "limits",
      {
          key("outstanding_steps", &Limits::outstanding_steps, count_from_0, "steps issued and not yet performed; 0: automatic"),
          key("payload_bytes", &Limits::payload_bytes, count_from_0, "bytes of payloads under way; 0: automatic"),
      });
}

Fields<Host> rows_of(const Host*) {
  return table<Host>(
      "host",
      {
          required("name", &Host::name, "what `rubato node --host` and messages call it"),
          required("address", &Host::address, "where the others reach it: tcp://10.0.0.1:7001 or ipc:///path"),
          key("bind", &Host::bind, "where it listens, such as tcp://*:7001; none: its address"),
          key("public_key", &Host::public_key,
              "40 characters of `rubato keygen`, for all hosts or for none; none: `--keys` has them, or plain text"),
          key("clients", &Host::clients, count_from_0, "the numbers of its clients; none: all hosts get an equal share in a row"),
      });
}

Fields<Hosts> rows_of(const Hosts*) {
  return table<Hosts>(
      "hosts", {
                   key("insecure", &Hosts::insecure, "allow plain text on addresses that are not this machine's own"),
                   key("wait", &Hosts::wait, seconds, "how long to wait for hosts that are missing at the start"),
                   key("lost_after", &Hosts::lost_after, some_seconds, "silence after which a host counts as gone"),
                   key("drain", &Hosts::drain, seconds, "how long to wait at the end for messages under way and for results"),
                   key("queue_bytes", &Hosts::queue_bytes, {65536, 1e12}, "what may wait to be sent to one host"),
                   key("largest_bytes", &Hosts::largest_bytes, {65536, 1e12},
                       "the largest message that is accepted; more than a model with all that an algorithm sends along"),
                   key("chunk_bytes", &Hosts::chunk_bytes, {4096, 1e9}, "larger tensors are sent in pieces of this size"),
               });
}

Fields<Impaired> rows_of(const Impaired*) {
  return table<Impaired>("impaired",
                         {
                             key("loss", &Impaired::loss, chance_not_sure, "chance that a message is lost"),
                             key("duplicate", &Impaired::duplicate, chance, "chance that it is sent twice"),
                             key("reorder", &Impaired::reorder, chance, "chance that it is held back until others have passed"),
                             key("corrupt", &Impaired::corrupt, chance, "chance that it arrives damaged, and is dropped"),
                             key("delay", &Impaired::delay, seconds, "seconds that it is held back, drawn for every message"),
                         });
}

}  // namespace rubato::config
