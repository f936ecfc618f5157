// The keys of [mailbox], [unification] and [protocol].
#include "experiment/file/fields.hpp"

namespace rubato::config {

void describe(Rows<Mailbox>& rows) {
  rows.table = "mailbox";
  rows.key("window", &Mailbox::window, seconds, "seconds between the first accepted message and the merge");
  rows.key("deadline", &Mailbox::deadline, seconds, "oldest accepted message in seconds");
  rows.key("cap", &Mailbox::cap, {0, 4294967295.0}, "messages that a receiver accepts per cap_period");
  rows.key("cap_period", &Mailbox::cap_period, some_seconds, "seconds; none: the unification period");
  rows.key("cap_rule", &Mailbox::cap_rule,
           "first_come keeps the first messages of a period; random removes those beyond the cap by chance, any of the period's as "
           "likely as any other (virtual time)");
  rows.key("norm_limit", &Mailbox::norm_limit, not_negative,
           "messages longer than so many times the receiver's own model are left out of the merge, of a model that is zero than of "
           "one of "
           "ones; 0: none");
}

void describe(Rows<Unification>& rows) {
  rows.table = "unification";
  rows.key("period", &Unification::period, some_seconds, "seconds between unifications; none: never");
  rows.key("hub", &Unification::hub, "whose model is adopted");
  rows.required("client", &Unification::client, "the hub").as(Type::client).with("hub=fixed");
  rows.required("hubs", &Unification::hubs, "the hubs in turn, from the start again at the end")
      .as(Type::clients)
      .with("hub=table");
  rows.key("via", &Unification::via, "ideal is simultaneous and reliable; transport sends the model over the links");
  rows.key("clears_mailbox", &Unification::clears_mailbox, "open windows are emptied");
}

void describe(Rows<Protocol>& rows) {
  rows.table = "protocol";
  rows.key("kind", &Protocol::kind,
           "push: each client in its own time; rounds: barriers; server: a centre gathers and scatters; token: tokens walk; pull: "
           "clients ask; tree: sums go up to a pivot; pair: two clients meet; auto: what suits the algorithm");
  rows.only_with("kind=rounds");
  rows.key("missing", &Protocol::missing, "a lost message: wait until it is there, drop it, or drop the one the other way too");
  rows.key("send_probability", &Protocol::send_probability, chance_not_none, "chance that a client sends in a round");
  rows.key("compute_phase", &Protocol::compute_phase, some_seconds,
           "seconds after which a round's computations end; none: when all have finished");
  rows.key("late_work", &Protocol::late_work, "what becomes of a computation that the phase ended");
  rows.key("exchange_every", &Protocol::exchange_every, {1, 1e6},
           "the algorithm exchanges in the last of so many rounds and mixes nothing in the others; of each client, where clients "
           "draw whom "
           "they hear (drawn ones are rounded); none: as the algorithm says")
      .as(Type::per_client);
  rows.key("participation", &Protocol::participation, chance_not_none,
           "share of an exchange that takes place, drawn anew each time: of the neighbours that a client hears or tells, rounded "
           "up; or "
           "the chance that two meet or that a client tells its neighbours, as suits the algorithm; none: as the algorithm says")
      .as(Type::per_client);
  rows.only_with("kind=auto|rounds|server|token|pull|tree|pair");
  rows.key(
      "attempt_timeout", &Protocol::attempt_timeout, some_seconds,
      "where a lost message is sent again: seconds after which an attempt is given up, and from whose beginning ages count; none: "
      "mailbox.deadline, or 10 where transmissions disturb each other");
  rows.key("back_off", &Protocol::back_off, seconds,
           "likewise: the next attempt begins after a pause drawn between 0 and so many seconds, twice as many from attempt to "
           "attempt, 64 times at most; "
           "none: the time-out where transmissions disturb each other, else 0");
  rows.only_with("kind=auto|push|rounds");
  rows.key("compute_chance", &Protocol::compute_chance, chance_not_none,
           "chance of a gradient at a tick or in a round, where the algorithm is sporadic; others pay for it in cumulated_delay")
      .as(Type::per_client);
  rows.key("link_chance", &Protocol::link_chance, chance_not_none, "chance that a link is up, drawn once for each link; likewise");
  rows.key("least_chance", &Protocol::least_chance, chance_not_none,
           "a smaller one of these chances becomes this one: the inverse of a chance is a delay");
  rows.only_with("kind=auto|server|tree");
  rows.key("center", &Protocol::center, "the client that gathers and scatters; of a tree, its pivot").as(Type::client);
  rows.only_with("kind=auto|server");
  rows.key("selected", &Protocol::selected, chance_not_none, "share of the clients that take part in a round");
  rows.only_with("kind=auto|pair");
  rows.key("busy", &Protocol::busy,
           "a request that finds its receiver asking, or at work where exchanges block: an older one waits, or it is refused");
  rows.key(
      "commit", &Protocol::commit,
      "known: a partner knows whether its reply will arrive, and does nothing if not (virtual time); counted: replies tell all "
      "that was ever decided, so that a lost one is made up for; auto: as suits the clock");
  rows.key("retries", &Protocol::retries, {0, 255},
           "further attempts of an exchange that was refused, or ended by mailbox.deadline");
  rows.key("retry_after", &Protocol::retry_after, seconds, "seconds before a further attempt");
  rows.key("roles", &Protocol::roles, "who has exchange ticks: all clients, or those of one side of a bipartite graph");
}

}  // namespace rubato::config
