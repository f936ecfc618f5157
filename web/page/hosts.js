// Which host had which clients, and what came of them? The rows of clients.csv, added up by host: together they are the totals.
import {card, note, table} from "./dom.js";
import {store} from "./store.js";
import {bytes, count, isNumber, many, tenths} from "./words.js";

const sums = [["computations", "computations"], ["sent", "sent"], ["kept", "kept"], ["lost", "lost by a link"], ["lost_to_partition", "lost to a partition"],
              ["lost_to_absence", "for clients that were away"], ["late", "too late"], ["capped", "above the cap"], ["superseded", "superseded"],
              ["skipped_ticks", "skipped ticks"], ["bytes_wire", "on the wire"]];

const runs = members => {
  const parts = [];
  for (const client of members) {
    const last = parts.at(-1);
    if (last && last[1] === client - 1) last[1] = client;
    else parts.push([client, client]);
  }
  return parts.map(([first, end]) => first === end ? first : `${first}–${end}`).join(", ");
};

export function hostCard(parent) {
  const {hosts, summary} = store.data, all = store.data.clients.columns;
  if (!hosts || !all) return;
  const known = sums.filter(([key]) => all[key]?.some(v => isNumber(v) && v !== 0));
  const away = new Set(summary.absent_clients || []), allClients = hosts.of_client.map((_, client) => client);
  const line = (name, members, isOwn) => {
    const here = members.filter(client => !away.has(client)), scores = here.map(client => all.accuracy?.[client]).filter(isNumber);
    const sum = key => here.reduce((total, client) => total + (all[key][client] || 0), 0);
    return [name, isOwn ? runs(members) : count(members.length), ...known.map(([key]) => here.length ? (key === "bytes_wire" ? bytes : count)(sum(key)) : "–"),
            scores.length ? tenths(scores.reduce((a, b) => a + b, 0) / scores.length) : "–", scores.length ? tenths(Math.min(...scores)) : "–"];
  };
  const place = card(parent, {id: "by-host", title: "Which host had what?", kind: "wide", how: "What its clients did and what became of the messages for them; a message that was lost or sent is counted with its sender."});
  const rows = hosts.names.map((name, host) => line(name + (name === summary.host ? " (this one)" : ""), allClients.filter(client => hosts.of_client[client] === host), true));
  table(place, ["host", "clients", ...known.map(([, name]) => name), "accuracy", "worst"], [...rows, line(away.size ? "those that are known" : "all", allClients, false)], {class: "balance"});
  const silent = hosts.names.filter((_, host) => allClients.every(client => hosts.of_client[client] !== host || away.has(client)));
  if (silent.length) note(place, `Nothing is known here of ${silent.length === 1 ? "host" : "hosts"} ${silent.join(", ")}${summary.gathered_by ? `: the results of all are with host ${summary.gathered_by}` : ""}.`);
  else if (away.size) note(place, `Nothing is known of ${many(away.size, "client")}.`);
}
