// Instants that concern all clients, for the plots.
import {store} from "./store.js";

const words = {join: "+", leave: "−", crash: "×", restart: "+", pause: "‖", "go on": "▸", partition: "⊣⊢", heal: "⊢⊣", come: "+"};

/// How many clients are there, as places of a line with steps; null where all are there throughout.
export function presence() {
  const {events, summary} = store.data, away = new Set(), steps = [];
  for (const [at, what, client] of events || []) {
    const before = away.size;
    if (["absent", "leave", "crash", "pause"].includes(what)) away.add(client);
    else if (["come", "go on"].includes(what)) away.delete(client);
    else continue;
    if (at > 0) steps.push([at, summary.clients - before]);
    steps.push([at, summary.clients - away.size]);
  }
  if (!steps.length) return null;
  if (steps[0][0] > 0) steps.unshift([0, steps[0][1]]);
  return [...steps, [summary.virtual_seconds ?? steps.at(-1)[0], steps.at(-1)[1]]];
}

export function marks() {
  const all = [];
  for (const [at, what] of store.data.events || [])
    all.push(what === "unification" ? {at, paint: "violet", text: "U", isHigh: true}
      : {at, paint: "red", text: words[what] || "", isLong: what === "partition" || what === "heal"});
  return all;
}

/// What the marks of a run's plots are, in a sentence; none: there are no marks.
export function marksAre() {
  const kinds = new Set((store.data.events || []).map(([, what]) => what === "unification"));
  if (!kinds.size) return "";
  return kinds.size > 1 ? " Marks below: unifications (U) and, short and red, clients that come and go."
    : kinds.has(true) ? " Marks below are unifications." : " Marks below are clients that come and go.";
}
