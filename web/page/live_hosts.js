// How do the hosts do? In real time each samples its own clients and tells the others: a line a host, and a table of what it said
// last. Rows are those of /api/v1/views and /api/v1/hosts (docs/live.md).
import {card, element, table} from "./dom.js";
import {linePlot} from "./lines.js";
import {atLeisure} from "./live_score.js";
import {count, isNumber, seconds, share, short, tenths} from "./words.js";

const hues = ["blue", "orange", "green", "violet", "red", "teal", "yellow", "pink"];
const mostNamed = 12;  // lines that have room for their names; of more the lowest three are named
const quiet = 3;       // real seconds without news that are worth a word

// What [time, value] pairs say at these times: between two of them along a straight line, and nothing beside a gap.
function between(points, times) {
  let i = 0;
  return times.map(t => {
    while (i < points.length && points[i][0] < t) ++i;
    const before = points[i - 1], after = points[i];
    if (after && after[0] === t) return after[1];
    if (!before || !after || !isNumber(before[1]) || !isNumber(after[1])) return NaN;
    return before[1] + (after[1] - before[1]) * (t - before[0]) / (after[0] - before[0]);
  });
}

const number = value => typeof value === "number" ? value : NaN;

// `courses`: of each host [seconds, accuracy, loss].
function linesOf(courses, names) {
  const isScored = courses.some(course => course.some(point => isNumber(point[1]))), word = isScored ? tenths : short;
  const times = [...new Set(courses.flatMap(course => course.map(point => point[0])))].sort((a, b) => a - b);
  const lines = names.map((name, host) => {
    const points = courses[host].map(([at, accuracy, loss]) => [at, isScored ? accuracy : loss]);
    const [at, last] = points.findLast(point => isNumber(point[1])) || [];
    const hasLeft = points.length && !isNumber(points.at(-1)[1]);  // its line ends far from its label
    return {name: `host ${name}`, values: between(points, times), paint: hues[host % hues.length], last, label: `${name} ${word(last)}${hasLeft ? ` at ${seconds(at)}` : ""}`};
  }).filter(line => isNumber(line.last));
  if (lines.length > mostNamed)
    for (const line of [...lines].sort((a, b) => isScored ? a.last - b.last : b.last - a.last).slice(3)) line.label = "";
  return {times, lines, none: "No host has told of a sample yet.", ...isScored && {word: share, tickWord: v => `${Number((100 * v).toFixed(1))} %`, full: [0, 1]}};
}

const ago = h => isNumber(h.view_age) && h.view_age > quiet ? `, ${seconds(h.view_age, 3)} ago` : "";
const cells = h => [
  h.name + (h.self ? " (this one)" : ""), h.state, isNumber(h.clients) ? count(h.clients) : "–",
  isNumber(h.accuracy) ? tenths(h.accuracy) + (h.measured < h.clients ? ` (${count(h.measured)} measured)` : "") : isNumber(h.loss) ? `loss ${short(h.loss)}` : "–",
  isNumber(h.worst) ? `${tenths(h.worst)} (${h.worst_client})` : "–",
  ...["computations", "sent", "delivered"].map(name => isNumber(h[name]) ? count(h[name]) : "–"),
  isNumber(h.view_seconds) ? seconds(h.view_seconds) + ago(h) : "–",
  h.self ? "" : isNumber(h.silent_seconds) ? seconds(h.silent_seconds, 3) : "–", isNumber(h.seconds) ? seconds(h.seconds) : "–",
  isNumber(h.clock_offset) ? `${seconds(h.clock_offset, 3)} ± ${seconds(h.clock_error, 2)}` : "–"];

/// The card of a live page; `views` and `hosts` take what the server says.
export function liveHosts(parent, {hosts: names, clock}) {
  const isWall = clock === "wall";
  const place = card(parent, {id: "hosts", title: isWall ? "How do the hosts do?" : "Hosts", kind: "wide", how:
    `${isWall ? "A line a host: of its own clients, from the samples that it tells of about once a second; a gap where it was not there. Below, what each said last of its clients, how" : "How"} long each has been silent, and how well its clock is known.`});
  const courses = names.map(() => []);
  const plot = isWall && linePlot(place, {title: "Accuracy of the clients of each host", height: 200, give: () => linesOf(courses, names), file: "hosts"});
  const below = element(place, "div");
  let next = 0;
  return {
    next: () => next,
    redraw: atLeisure(() => plot && plot.build()),
    views(frame) {
      for (const [host, at, , accuracy, , , loss] of frame.rows.slice(Math.max(0, next - frame.first)))
        courses[host]?.push([at, number(accuracy), number(loss)]);
      next = frame.next;
    },
    hosts(frame) {
      below.replaceChildren();
      table(below, ["host", "state", "clients", "accuracy", "worst (client)", "computations", "sent", "delivered", "at", "silent for", "heard at", "clock offset"], frame.rows.map(cells));
    },
  };
}
