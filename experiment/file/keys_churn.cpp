// The keys of [churn], of an event and of an absence.
#include "experiment/file/fields.hpp"

namespace rubato::config {

Fields<Churn> rows_of(const Churn*) {
  return table<Churn>(
      "churn",
      {
          key("notice", &Churn::notice, seconds, "seconds from a crash until the others notice it; leaving is noticed at once"),
          key("checkpoint_every", &Churn::checkpoint_every, seconds,
              "seconds between the states that clients can come back with after a crash; 0: never"),
          key("file", &Churn::file, "a TOML file with more `events` and `random`, so that one script serves many experiments"),
          key("events", &Churn::events, "the script"),
          key("random", &Churn::random, "clients that are there and away in turn"),
      });
}

Fields<ChurnEvent> rows_of(const ChurnEvent*) {
  return table<ChurnEvent>(
      "event",
      {
          required("at", &ChurnEvent::at, some_seconds, "seconds of the experiment"),
          required("what", &ChurnEvent::what,
                   "join: be there, from the first such line on, with a model of its own; leave: go and say so; crash: go without "
                   "a word and lose all memory; restart: come back; pause: stop computing and sending; go_on: after a pause; "
                   "partition: lose messages between groups; heal: no longer"),
          required("clients", &ChurnEvent::clients, "whom it happens to").as(Type::clients).with("what!=partition|heal"),
          required("groups", &ChurnEvent::groups, "lists of clients; who is in none of them is in one more").with("what=partition"),
          key("from", &ChurnEvent::from,
              "what the client begins with: its first state and a neighbour's model, its first state alone, or its last checkpoint")
              .with("what=join|restart"),
      });
}

Fields<Absence> rows_of(const Absence*) {
  return table<Absence>(
      "absence",
      {
          key("clients", &Absence::clients, count_from_0, "who; []: all whom nothing else in [churn] names"),
          key("away", &Absence::away, "how they go").one_of("leave|crash|pause"),
          key("from", &Absence::from, "what they come back with").with("away=leave|crash"),
          key("kind", &Absence::kind, "drawn: seconds there and away follow laws; trace: they are read"),
          required("up", &Absence::up, not_negative, "seconds there, drawn each time").with("kind=drawn"),
          required("down", &Absence::down, not_negative, "seconds away, drawn each time").with("kind=drawn"),
          required("file", &Absence::file, "a line for each client of the run: the seconds at which it goes, comes, goes, ...")
              .with("kind=trace"),
          key("until", &Absence::until, some_seconds, "from then on everybody is there; none: nobody is called back at the end"),
      });
}

}  // namespace rubato::config
