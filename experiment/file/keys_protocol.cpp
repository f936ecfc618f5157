// The keys of [mailbox], [unification] and [protocol].
#include "experiment/file/fields.hpp"

namespace rubato::config {

Fields<Mailbox> rows_of(const Mailbox*) {
  return table<Mailbox>("mailbox",
                        {
                            key("window", &Mailbox::window, seconds, "seconds between the first accepted message and the merge"),
                            key("deadline", &Mailbox::deadline, seconds, "oldest accepted message in seconds"),
                            key("cap", &Mailbox::cap, {0, 4294967295.0}, "messages that a receiver accepts per cap_period"),
                            key("cap_period", &Mailbox::cap_period, some_seconds, "seconds; none: the unification period"),
                            key("norm_limit", &Mailbox::norm_limit, not_negative,
                                "messages longer than so many times the receiver's own model are left out of the merge; 0: none"),
                        });
}

Fields<Unification> rows_of(const Unification*) {
  return table<Unification>(
      "unification",
      {
          key("period", &Unification::period, some_seconds, "seconds between unifications; none: never"),
          key("hub", &Unification::hub, "whose model is adopted"),
          required("client", &Unification::client, "the hub").as(Type::client).with("hub=fixed"),
          required("hubs", &Unification::hubs, "the hubs in turn, from the start again at the end")
              .as(Type::clients)
              .with("hub=table"),
          key("via", &Unification::via, "ideal is simultaneous and reliable; transport sends the model over the links"),
          key("clears_mailbox", &Unification::clears_mailbox, "open windows are emptied"),
      });
}

Fields<Protocol> rows_of(const Protocol*) {
  return table<Protocol>(
      "protocol",
      {
          key("kind", &Protocol::kind,
              "push: everyone in their own time; rounds: barriers; server: a centre gathers and scatters; token: tokens walk; "
              "pull: clients ask; auto: what suits the algorithm"),
          key("missing", &Protocol::missing, "a lost message: wait until it is there, drop it, or drop the one the other way too")
              .with("kind=rounds"),
          key("send_probability", &Protocol::send_probability, chance_not_none, "chance that a client sends in a round")
              .with("kind=rounds"),
          key("compute_phase", &Protocol::compute_phase, some_seconds,
              "seconds after which a round's computations end; none: when all have finished")
              .with("kind=rounds"),
          key("late_work", &Protocol::late_work, "what becomes of a computation that the phase ended").with("kind=rounds"),
          key("compute_chance", &Protocol::compute_chance, chance_not_none,
              "chance of a gradient at a tick or in a round, where the algorithm is sporadic; others pay for it in cumulated_delay")
              .as(Type::per_client)
              .with("kind=auto|push|rounds"),
          key("link_chance", &Protocol::link_chance, chance_not_none,
              "chance that a link is up, drawn once for each link; likewise")
              .with("kind=auto|push|rounds"),
          key("center", &Protocol::center, "the client that gathers and scatters").as(Type::client).with("kind=auto|server"),
          key("selected", &Protocol::selected, chance_not_none, "share of the clients that take part in a round")
              .with("kind=auto|server"),
      });
}

}  // namespace rubato::config
