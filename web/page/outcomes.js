// What became of the messages? Every one has one outcome: what was sent is the sum of them. In the course of the run, and in all.
import {card, element, keyed, note, table} from "./dom.js";
import {linePlot} from "./lines.js";
import {marks} from "./marks.js";
import {colour, onRedraw} from "./paint.js";
import {store} from "./store.js";
import {count, isNumber, many, share, tenths} from "./words.js";

/// Outcomes in the order in which they are stacked: their key in the data, name and colour.
export const outcomes = [
  ["merged", "merged", "blue"], ["superseded", "superseded by a newer one", "violet"], ["late", "too late", "orange"],
  ["capped", "above the reception cap", "yellow"], ["lost", "lost by a link", "red"], ["partition", "lost to a partition", "pink"],
  ["absent", "for clients that were away", "teal"], ["other", "refused for another reason", "soft"], ["waiting", "in a mailbox or under way at the end", "line"]];

/// Reasons of summary.json: every message that was sent, or was delivered once more, ends in one of them.
const reasons = [
  ["delivered", "kept by their receivers"], ["lost", "lost by a link"], ["lost_to_partition", "lost to a partition"],
  ["lost_between_hosts", "lost between hosts"], ["lost_to_absence", "for clients that were away"], ["late", "too late"],
  ["capped", "above the reception cap"], ["duplicates", "seen before"], ["surplus", "not needed any more when they came"],
  ["stale", "of an earlier life or epoch"], ["misshapen", "of another shape"], ["under_way", "under way at the end"]];

/// The balance of messages: what was sent and what became of it. On a host's own page they do not add up: messages for its clients
/// come from everywhere.
export function balance(messages) {
  const of = key => messages[key] || 0;
  const sent = of("sent") + of("copies") + of("from_lost_hosts"), ended = reasons.reduce((sum, [key]) => sum + of(key), 0);
  return {sent, ended, isOfHost: messages.under_way === null, rows: reasons.map(([key, name]) => [key, name, of(key)])};
}

function totals(place) {
  const {summary} = store.data, m = summary.messages || {}, b = balance(m);
  if (!m.sent && !m.models) return void note(place, "No message was sent.");
  const arrived = b.rows.filter(([key]) => !["lost", "lost_to_partition", "under_way"].includes(key)).reduce((sum, row) => sum + row[2], 0);
  const total = b.isOfHost ? arrived : b.sent;
  const of = (value, isApart) => isApart || !total || !isNumber(value) ? "" : share(value / total);
  const rows = [[b.isOfHost ? "sent by its clients, to all" : "sent over links", count(m.sent), b.isOfHost ? "" : of(m.sent)]];
  if (m.copies) rows.push(["… delivered once more", count(m.copies), ""]);
  if (m.from_lost_hosts) rows.push(["… beyond that, of lost hosts", count(m.from_lost_hosts), ""]);
  for (const [key, name, value] of b.rows) {
    if (!value) continue;
    rows.push([key === "under_way" && summary.clock !== "virtual" ? "without an outcome at the end" : name, count(value),
               of(value, b.isOfHost && ["lost", "lost_to_partition"].includes(key))]);
    const superseded = (m.superseded || 0) - (m.surplus || 0);
    if (key === "delivered" && superseded > 0) rows.push(["… of these superseded before a merge", count(superseded), of(superseded)]);
  }
  const made = table(place, ["messages", "number", "share"], rows, {class: "balance"});
  if (!b.isOfHost) note(place, b.sent === b.ended ? `Σ ✓ The outcomes add up to all ${count(b.sent)}.`
    : `The outcomes add up to ${count(b.ended)} of ${count(b.sent)}.`);
  const beside = [];
  if (m.models) beside.push(`${many(m.models, "model")} were sent by unifications and hand-overs${m.models_lost ? `, ${count(m.models_lost)} of them lost` : ""}; they are counted apart`);
  if (m.repeated) beside.push(`${count(m.repeated)} attempts were made beyond the first`);
  if (beside.length) note(place, `${beside.join("; ")}.`);
  return made;
}

// Shares of what departed in each part of the run, stacked from below.
function stacked() {
  const {course} = store.data, slice = course.end / course.slices;
  const kept = course.sent.map((n, i) => [n, i]).filter(([n]) => n > 0).map(([, i]) => i);
  const shown = outcomes.filter(([key]) => course[key].some(n => n > 0));
  let below = kept.map(() => 0);
  const lines = shown.map(([key, name, paint]) => {
    const low = below;
    below = kept.map((i, k) => low[k] + course[key][i] / course.sent[i]);
    const own = kept.map(i => course[key][i] / course.sent[i]);
    return {name: named(key, name), values: below, low, high: below, paint, width: 1, label: "", isSilent: false,
            told: k => tenths(own[k])};
  });
  return {times: kept.map(i => (i + .5) * slice), lines, word: tenths, full: [0, 1], zero: true, marks: marks(), none: "No message was sent."};
}

// What a host has recorded in real time is of its own clients: what it sent to those of others came to its end there.
const isOfHost = () => Boolean(store.data.summary.host_clients);
const named = (key, name) => key === "waiting" && isOfHost() ? "for clients of other hosts, or without an outcome" : name;

// Which colour is which outcome, and how many came to it.
function key(place, course) {
  const line = element(place, "p", {class: "legend"});
  const draw = () => {
    line.replaceChildren();
    for (const [name, title, paint] of outcomes) {
      const sum = course[name].reduce((a, b) => a + b, 0);
      if (sum > 0) keyed(line, `${named(name, title)} ${count(sum)}`, colour(paint));
    }
  };
  onRedraw(draw);
  draw();
}

export function outcomeCards(parent) {
  const {course} = store.data;
  const place = card(parent, {id: "outcomes", title: "What became of the messages?", how: course
    ? "Of all messages that departed at a time, the share that came to each end. Lines are stacked: the band below a line is its own." + (isOfHost() ? ` Of what clients ${store.data.summary.host_clients} have sent; the table is of all that is known.` : "")
    : "Every message comes to one end."});
  if (course) {
    key(place, course);
    linePlot(place, {title: "Outcomes of messages by the time of their departure", give: stacked, file: "outcomes"});
  }
  totals(place);
}
