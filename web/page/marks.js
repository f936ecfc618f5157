// Instants that concern all clients, for the plots.
import {store} from "./store.js";

const words = {leave: "−", crash: "×", pause: "‖", "go on": "▸", partition: "⊣⊢", heal: "⊢⊣", come: "+", "host lost": "×", "host left": "−", "host back": "+"};

/// Others are in the log alone.
export const isMarked = what => what === "unification" || what in words;

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
  const all = (store.data.events || []).map(([, what]) => what), isOfHost = what => what.startsWith("host ");
  const hasUnifications = all.includes("unification");
  const red = [["clients", all.some(what => what !== "unification" && !isOfHost(what))], ["hosts", all.some(isOfHost)]].filter(([, has]) => has).map(([who]) => who);
  const coming = red.length ? `${red.join(" and ")} that come and go` : "";
  if (!hasUnifications) return coming && ` Marks below are ${coming}.`;
  return coming ? ` Marks below: unifications (U) and, short and red, ${coming}.` : " Marks below are unifications.";
}
