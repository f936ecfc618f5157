// The keys of a host, of [hosts] and of [impaired].
#include "experiment/file/fields.hpp"

namespace rubato::config {

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
