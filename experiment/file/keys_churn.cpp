// The keys of [churn], of an event and of an absence.
#include "experiment/file/fields.hpp"

namespace rubato::config {

void describe(Rows<Churn>& rows) {
  rows.table = "churn";
  rows.key("notice", &Churn::notice, seconds, "seconds from a crash until the others notice it; leaving is noticed at once");
  rows.key("checkpoint_every", &Churn::checkpoint_every, seconds,
           "seconds between the states that clients can come back with after a crash; 0: never");
  rows.key("file", &Churn::file, "a TOML file with more `events` and `random`, so that one script serves many experiments");
  rows.key("events", &Churn::events, "the script");
  rows.key("random", &Churn::random, "clients that are there and away in turn");
}

void describe(Rows<ChurnEvent>& rows) {
  rows.table = "event";
  rows.required("at", &ChurnEvent::at, some_seconds, "seconds of the experiment");
  rows.required("what", &ChurnEvent::what,
                "join: be there, from the first such line on, with a model of its own; leave: go and say so; crash: go without a "
                "word and lose all memory; restart: come back; pause: stop computing and sending; go_on: after a pause; partition: "
                "lose messages between groups; heal: no longer");
  rows.required("clients", &ChurnEvent::clients, "the clients that it happens to").as(Type::clients).with("what!=partition|heal");
  rows.required("groups", &ChurnEvent::groups, "lists of clients; those in none of them form one more").with("what=partition");
  rows.key("from", &ChurnEvent::from,
           "what the client begins with: its first state and a neighbour's model, its first state alone, or its last checkpoint")
      .with("what=join|restart");
}

void describe(Rows<Absence>& rows) {
  rows.table = "absence";
  rows.key("clients", &Absence::clients, count_from_0, "which clients; []: all that nothing else in [churn] names");
  rows.key("away", &Absence::away, "how they go").one_of("leave|crash|pause");
  rows.key("from", &Absence::from, "what they come back with").with("away=leave|crash");
  rows.key("kind", &Absence::kind, "drawn: seconds there and away follow laws; trace: they are read");
  rows.only_with("kind=drawn");
  rows.required("up", &Absence::up, not_negative, "seconds there, drawn each time");
  rows.required("down", &Absence::down, not_negative, "seconds away, drawn each time");
  rows.required("file", &Absence::file, "a line for each client of the run: the seconds at which it goes, comes, goes, ...")
      .with("kind=trace");
  rows.for_all();
  rows.key("until", &Absence::until, some_seconds, "from then on all clients are there; none: no client is called back at the end");
}

}  // namespace rubato::config
