// Draws the report of a run from the JSON beside it.
const summary = data.summary;
// A host's own page: rows of its clients, until a last one that may be of all.

const columns = data.samples.columns;
const column = name => data.samples.rows.map(row => row[columns.indexOf(name)]);
const spendings = {bytes: column("bytes_wire"), joules: column("joules")}, clock = column("seconds");
const axis = {name: "seconds"};
const plots = [];
const xText = value => axis.name === "seconds" ? seconds(value) : axis.name === "bytes" ? bytes(value) : `${short(value)} J`;

// What was spent until a time, between samples along a straight line.
function spentAt(time) {
  const wire = spendings[axis.name];
  const next = clock.findIndex(t => t >= time);
  if (next < 0) return wire.at(-1);
  const t0 = next === 0 ? 0 : clock[next - 1], b0 = next === 0 ? 0 : wire[next - 1];
  return clock[next] === t0 ? wire[next] : b0 + (wire[next] - b0) * (time - t0) / (clock[next] - t0);
}

function fillReadout(readout, xs, index, all, text) {
  readout.replaceChildren();
  element(readout, "span", {class: "key"}, `at ${xText(xs[index])}`);
  readout.append(" ");
  for (const one of all) {
    const spread = one.spread ? ` ± ${text(one.spread[index])}` : "";
    keyed(readout, `${one.name} ${text(one.values[index])}${spread}`, one.paint);
  }
}

// The sample next to the pointer, or chosen with the arrow keys, is read out above the plot.
function hoverable(svg, xs, state, show) {
  const nearest = clientX => {
    const at = clientX - svg.getBoundingClientRect().left;
    let best = 0;
    xs().forEach((v, i, all) => { if (Math.abs(state.x(v) - at) < Math.abs(state.x(all[best]) - at)) best = i; });
    return best;
  };
  svg.setAttribute("tabindex", "0");
  svg.addEventListener("pointermove", event => show(nearest(event.clientX)));
  svg.addEventListener("pointerleave", () => show(xs().length - 1, true));
  svg.addEventListener("keydown", event => {
    const step = {ArrowLeft: -1, ArrowRight: 1}[event.key];
    if (!step) return;
    event.preventDefault();
    show(Math.min(xs().length - 1, Math.max(0, state.index + step)));
  });
}

function plot(parent, {title, series: all, text, note, times = clock, ...how}) {
  const place = card(parent, title);
  if (!all.some(one => one.values.some(isNumber))) {
    element(place, "p", {class: "note"}, "None of its values is a finite number: the run diverged.");
    return;
  }
  const readout = element(place, "div", {class: "readout", "aria-live": "polite"});
  const state = {index: times.length - 1};
  const xs = () => axis.name === "seconds" ? times : times === clock ? spendings[axis.name] : times.map(spentAt);
  const draw = (svg, width, height) => {
    const at = xs();
    state.x = scale(at, margin.left, width - margin.right, {zero: true});
    const values = all.flatMap(one => [...one.values, ...(one.low || []), ...(one.high || [])]);
    const y = scale(values, height - margin.bottom, margin.top, how);
    axes(svg, width, height, state.x, y, xText, how.axisText || text);
    for (const one of all) series(svg, at, {...one, parted: times === clock ? data.samples.parted_at : null}, state.x, y);
    state.cursor = element(svg, "line", {y1: margin.top, y2: height - margin.bottom, stroke: color("soft"), visibility: "hidden"});
    show(state.index, true);
  };
  const show = (index, isAtRest) => {
    const at = xs();
    state.index = index;
    fillReadout(readout, at, index, all, text);
    const x = state.x(at[index]);
    state.cursor.setAttribute("x1", x);
    state.cursor.setAttribute("x2", x);
    state.cursor.setAttribute("visibility", isAtRest ? "hidden" : "visible");
  };
  const made = drawn(place, `${title}, last: ${all.map(one => `${one.name} ${text(one.values.at(-1))}`).join(", ")}`, 230, draw);
  hoverable(made.svg, xs, state, show);
  plots.push(made.redraw);
  if (note) element(place, "p", {class: "note"}, note);
}

const sums = (a, b, sign) => a.map((v, i) => isNumber(v) && isNumber(b[i]) ? v + sign * b[i] : NaN);

// Where nothing is classified, accuracies are missing or exactly 0 throughout.
const hasAccuracy = ["accuracy_mean", "accuracy_mean_model", "f1_macro"].some(name => column(name).some(v => isNumber(v) && v !== 0));

function accuracyPlots(parent) {
  if (!hasAccuracy) return;
  const mean = column("accuracy_mean"), spread = column("accuracy_std");
  const clamp = values => values.map(v => Math.min(1, Math.max(0, v)));
  plot(parent, {
    title: "Accuracy on test data", text: share, axisText: v => `${Math.round(100 * v)} %`, fixed: [0, 1], series: [
      {name: "clients", values: mean, spread, low: clamp(sums(mean, spread, -1)), high: clamp(sums(mean, spread, 1)), paint: color("blue")},
      {name: "mean model", values: column("accuracy_mean_model"), paint: color("orange"), dashed: true}]});
  plot(parent, {title: "F1 on test data", text: short, fixed: [0, 1], series: [
    {name: "macro, mean of clients", values: column("f1_macro"), paint: color("blue")}]});
}

function samplePlots(parent) {
  accuracyPlots(parent);
  plot(parent, {title: "Loss", text: short, series: [
    {name: "clients", values: column("loss_mean"), paint: color("blue")},
    {name: "mean model", values: column("loss_mean_model"), paint: color("orange"), dashed: true}]});
  plot(parent, {title: "Consensus: squared distance to the mean model, summed", text: short, log: true,
                note: column("consensus").some(v => v === 0) ? "The axis is logarithmic: instants of full agreement (0) are gaps." : "",
                series: [{name: "distance", values: column("consensus"), paint: color("violet")}]});
  const withModels = (summary.messages || {}).models > 0 ? " with models" : "";
  plot(parent, {title: "Messages", text: count, axisText: short, zero: true, series: [
    {name: `sent${withModels}`, values: column("messages_sent"), paint: color("blue")},
    {name: "delivered", values: column("messages_delivered"), paint: color("green"), dashed: true},
    {name: "lost", values: column("messages_lost"), paint: color("red")}]});
}

function coursePlots() {
  const parent = byId("plots");
  if (clock.length) samplePlots(parent);
  else byId("axis").hidden = true;
  byId("joules").hidden = !spendings.joules.some(value => value > 0);
  const course = data.timeline ? data.timeline.course : [];
  if (course.length) plot(parent, {title: "Staleness: from sending to absorbing", text: seconds, zero: true,
    times: course.map(part => part[0]), note: readNote(), series: [
      {name: "mean", values: course.map(part => part[1]), paint: color("green")},
      {name: "largest", values: course.map(part => part[2]), paint: color("orange"), dashed: true}]});
  if (!parent.children.length) element(parent, "p", {class: "note"}, "Nothing was measured, and there is no record.");
}

function readNote() {
  const t = data.timeline;
  return t.was_read_whole && !t.is_incomplete ? "" : `From the first ${count(t.steps)} steps of the record.`;
}

function totals(parent) {
  const place = card(parent, "What became of them");
  const m = summary.messages || {};
  const table = element(place, "table");
  // On a host's page messages for its clients come from everywhere: shares are of those.
  const arrived = ["delivered", "late", "capped", "duplicates", "surplus", "stale", "misshapen", "lost_to_absence"].reduce((sum, key) => sum + (m[key] || 0), 0);
  const isOfHost = m.under_way === null;
  const total = (isOfHost ? arrived : (m.sent || 0) + (m.copies || 0) + (m.from_lost_hosts || 0)) || 0;
  const rows = [[isOfHost ? "sent by its clients, to all" : "sent over links", m.sent, isOfHost], ["delivered once more", m.copies, isOfHost],
                ["of lost hosts, beyond that", m.from_lost_hosts, isOfHost], ["kept by their receivers", m.delivered],
                ["… but superseded before a merge", (m.superseded || 0) - (m.surplus || 0)], ["attempts beyond the first", m.repeated, true], ["lost by a link", m.lost, isOfHost], ["lost to a partition", m.lost_to_partition, isOfHost],
                ["lost between hosts", m.lost_between_hosts],
                ["for clients that were away", m.lost_to_absence], ["too late", m.late], ["above the reception cap", m.capped], ["seen before", m.duplicates],
                ["not needed any more", m.surplus], ["of an earlier life or epoch", m.stale], ["of another shape", m.misshapen],
                [summary.clock === "virtual" ? "still under way at the end" : "without an outcome at the end", m.under_way],
                ["models of unifications and hand-overs", m.models, true], ["… of these lost", m.models_lost, true]];
  for (const [name, value, isApart] of rows) {
    if (!value && name !== rows[0][0]) continue;
    const row = element(table, "tr");
    element(row, "th", {scope: "row"}, name);
    element(row, "td", {}, count(value));
    element(row, "td", {}, isApart || !total || !isNumber(value) ? "" : share(value / total));
  }
}

const outcomes = [["absorbed", "kept", "blue"], ["superseded", "superseded", "violet"], ["late", "late", "orange"],
                  ["capped", "above the cap", "yellow"], ["lost", "lost on the way", "red"]];

function nameOfBar(bar) {
  return bar.first === bar.last ? `client ${bar.first}` : `clients ${bar.first} to ${bar.last}, mean`;
}

function stackedBars(parent) {
  const {bars, per_bar, knows_lost} = data.clients;
  const place = card(parent, per_bar > 1 ? `By receiver (a bar is the mean of ${per_bar} clients)` : "By receiver", "wide");
  if (!bars.length) return void element(place, "p", {class: "note"}, "There are no clients.");
  const shown = outcomes.filter(([key]) => bars.some(bar => bar[key] > 0));
  legend(place, shown.map(([, name, paint]) => [name, color(paint)]));
  drawn(place, "Messages by receiver and outcome", 230, (svg, width, height) => {
    const x = scale([0, bars.length * per_bar], margin.left, width - margin.right, {zero: true});
    const y = scale(bars.map(bar => outcomes.reduce((sum, [key]) => sum + bar[key], 0)), height - margin.bottom, margin.top, {zero: true});
    axes(svg, width, height, x, y, short, short);
    bars.forEach((bar, i) => drawBar(svg, bar, x(i * per_bar), x((i + 1) * per_bar), y));
  });
  if (!knows_lost) element(place, "p", {class: "note"}, "Lost messages are not in here: without links.csv their receivers are not known.");
}

function drawBar(svg, bar, left, right, y) {
  const gap = Math.min(2, (right - left) * .2);
  const text = outcomes.filter(([key]) => bar[key] > 0).map(([key, name]) => `${name} ${count(bar[key])}`).join(", ");
  const group = titled(svg, "g", {}, `${nameOfBar(bar)}: ${text || "no messages"}`);
  let below = 0;
  for (const [key, , paint] of outcomes) {
    const top = y(below + bar[key]);
    if (bar[key] > 0) element(group, "rect", {x: left + gap / 2, width: Math.max(.5, right - left - gap), y: top, height: y(below) - top, fill: color(paint)});
    below += bar[key];
  }
}

function ageHistogram(parent) {
  const place = card(parent, "Staleness of absorbed messages");
  const s = summary.staleness_seconds || {};
  element(place, "p", {class: "legend"}, `mean ${seconds(s.mean)}, 95 % are below ${seconds(s.p95)}`);
  const bins = data.timeline ? data.timeline.ages.filter(bin => bin[1] > bin[0] && bin[0] > 0) : [];
  if (!bins.length) return void element(place, "p", {class: "note"}, data.timeline ? "No message was absorbed with a delay." : "Its distribution is not known: the run left no record.");
  drawn(place, "Histogram of staleness", 200, (svg, width, height) => {
    const x = scale(bins.flatMap(bin => bin.slice(0, 2)), margin.left, width - margin.right, {log: true});
    const y = scale(bins.map(bin => bin[2]), height - margin.bottom, margin.top, {zero: true});
    axes(svg, width, height, x, y, seconds, short);
    for (const [low, high, number] of bins)
      titled(svg, "rect", {x: x(low) + .5, width: Math.max(1, x(high) - x(low) - 1), y: y(number), height: y(0) - y(number), fill: color("green")},
             `${seconds(low)} to ${seconds(high)}: ${count(number)} messages`);
  });
  if (readNote()) element(place, "p", {class: "note"}, readNote());
}

const rowHeight = 22;

function timelineKey(t) {
  const key = [["compute", color("blue")], ["message, from publication to merge", color("soft")]];
  if (t.knows_windows) key.push(["window, from first arrival to merge", color("green")]);
  if (t.drops.length) key.push(["refused or superseded", color("orange")]);
  if (t.losses.length) key.push(["lost", color("red")]);
  if (t.unifications.length) key.push(["unification", color("violet")]);
  if (t.hand_overs.length) key.push(["a model handed to a client that begins", color("violet")]);
  return key;
}

function drawTimeline(svg, width, height, t) {
  const x = scale([t.end], 74, width - 24, {zero: true});
  const y = client => 14 + rowHeight * client;
  const bottom = height - margin.bottom;
  const clip = element(element(svg, "defs"), "clipPath", {id: "frame"});
  element(clip, "rect", {x: 70, y: 0, width: width - 92, height: bottom + 1});
  for (let client = 0; client < t.clients; ++client) {
    element(svg, "line", {x1: 74, x2: width - 24, y1: y(client), y2: y(client), stroke: color("line")});
    element(svg, "text", {x: 66, y: y(client) + 4, "text-anchor": "end"}, `client ${client}`);
  }
  for (const tick of x.ticks(Math.max(2, Math.floor(width / 110))))
    element(svg, "text", {x: x(tick), y: height - 7, "text-anchor": "middle"}, seconds(tick));
  const ink = element(svg, "g", {"clip-path": "url(#frame)"});
  drawSpans(ink, t, x, y, bottom);
  drawMarks(ink, t, x, y);
}

function drawSpans(ink, t, x, y, bottom) {
  for (const [at, hub] of t.unifications)
    titled(ink, "line", {x1: x(at), x2: x(at), y1: 0, y2: bottom, stroke: color("violet"), "stroke-width": 2}, `unification at ${seconds(at)}: the model of client ${hub}`);
  for (const [at, giver, joiner] of t.hand_overs)
    titled(ink, "line", {x1: x(at), x2: x(at), y1: y(giver), y2: y(joiner), stroke: color("violet"), "stroke-dasharray": "3 3"}, `client ${giver} hands its model to ${joiner} at ${seconds(at)}`);
  for (const [from, to, client] of t.windows)
    titled(ink, "rect", {x: x(from), width: Math.max(1.5, x(to) - x(from)), y: y(client) - 6, height: 12, fill: color("green"), opacity: .45},
           `client ${client}: window from ${seconds(from)} to ${seconds(to)}`);
  for (const [from, to, sender, receiver] of t.messages)
    titled(ink, "path", {d: `M${x(from)} ${y(sender)}L${x(to)} ${y(receiver)}`, stroke: color("soft"), "stroke-width": 1, opacity: .75},
           `${sender} to ${receiver}: sent at ${seconds(from)}, absorbed at ${seconds(to)}`);
}

function drawMarks(ink, t, x, y) {
  const lines = (marks, paint, reach, words) => {
    for (const [at, client, other] of marks)
      titled(ink, "line", {x1: x(at), x2: x(at), y1: y(client) - reach, y2: y(client) + reach, stroke: color(paint), "stroke-width": 2}, words(client, other, at));
  };
  lines(t.computations, "blue", 6, (client, other, at) => `client ${client} computes at ${seconds(at)}`);
  for (const [at, client] of t.publications)
    titled(ink, "circle", {cx: x(at), cy: y(client), r: 2.2, fill: color("ink")}, `client ${client} publishes at ${seconds(at)}`);
  const crosses = (marks, paint, words) => {
    for (const [at, client, other] of marks)
      titled(ink, "path", {d: `M${x(at) - 4} ${y(client) - 4}l8 8m0 -8l-8 8`, stroke: color(paint), "stroke-width": 2}, words(client, other, at));
  };
  crosses(t.drops, "orange", (client, other, at) => `client ${client} does not absorb a message of ${other}, at ${seconds(at)}`);
  crosses(t.losses, "red", (client, other, at) => `a message from ${client} to ${other} is lost, sent at ${seconds(at)}`);
}

function timeline() {
  const place = card(byId("timeline"), "What clients did, and when");
  const t = data.timeline;
  if (!t || !t.steps) return void element(place, "p", {class: "note"}, "The run left no record of its steps.");
  legend(place, timelineKey(t));
  drawn(place, `Steps of ${t.clients} clients in the first ${seconds(t.end)}`, 14 + rowHeight * t.clients + margin.bottom, (svg, width, height) => drawTimeline(svg, width, height, t));
  const rest = summary.clients > t.clients ? ` The first ${t.clients} of ${count(summary.clients)} clients are shown.` : "";
  element(place, "p", {class: "note"}, `All steps are in trace.json, up to a limit that it names: open it in Perfetto or chrome://tracing.${rest}`);
}

function drawGraph(svg, width, height, g) {
  const radius = Math.min(width, height) / 2 - 26;
  const place = client => {
    const angle = 2 * Math.PI * client / g.clients - Math.PI / 2;
    return [width / 2 + radius * Math.cos(angle), height / 2 + radius * Math.sin(angle), angle];
  };
  const known = new Set(g.edges.map(([s, t]) => `${s} ${t}`));
  for (const edge of g.edges) drawLink(svg, edge, place, known.has(`${edge[1]} ${edge[0]}`));
  for (let client = 0; client < g.clients; ++client) drawNode(svg, client, place(client), radius, g);
}

function drawLink(svg, [source, target, sent, lost, kept], place, isMutual) {
  if (isMutual && source > target) return;
  const [x1, y1] = place(source), [x2, y2] = place(target);
  const counters = sent === undefined ? "" : `: ${count(sent)} sent, ${count(lost)} lost, ${count(kept)} kept`;
  const group = titled(svg, "g", {stroke: color("soft"), opacity: .7}, `${source} to ${target}${counters}${isMutual ? "; and back" : ""}`);
  element(group, "line", {x1, y1, x2, y2, "stroke-width": 1.2});
  if (isMutual) return;
  const length = Math.hypot(x2 - x1, y2 - y1) || 1, dx = (x2 - x1) / length, dy = (y2 - y1) / length;
  const tip = [x2 - 8 * dx, y2 - 8 * dy];
  const barb = side => `${tip[0] - 7 * dx + side * 3.5 * dy} ${tip[1] - 7 * dy - side * 3.5 * dx}`;
  element(group, "path", {d: `M${barb(1)}L${tip[0]} ${tip[1]}L${barb(-1)}`, fill: "none", "stroke-width": 1.5});
}

function drawNode(svg, client, [cx, cy, angle], radius, g) {
  const out = g.edges.filter(edge => edge[0] === client).length, into = g.edges.filter(edge => edge[1] === client).length;
  titled(svg, "circle", {cx, cy, r: 7, fill: color("blue"), stroke: color("card"), "stroke-width": 2}, `client ${client}: sends to ${out}, hears ${into}`);
  element(svg, "text", {x: cx + 17 * Math.cos(angle), y: cy + 17 * Math.sin(angle) + 4, "text-anchor": "middle"}, client);
}

function degreeHistogram(parent, degrees, title) {
  const place = card(parent, title);
  drawn(place, title, 230, (svg, width, height) => {
    const x = scale(degrees.map(([degree]) => degree + 1), margin.left, width - margin.right, {zero: true});
    const y = scale(degrees.map(([, number]) => number), height - margin.bottom, margin.top, {zero: true});
    axes(svg, width, height, x, y, v => Number.isInteger(v) ? count(v) : "", short);
    for (const [degree, number] of degrees)
      titled(svg, "rect", {x: x(degree), width: Math.max(1, x(degree + 1) - x(degree) - 1), y: y(number), height: y(0) - y(number), fill: color("blue")},
             `${count(number)} clients with degree ${degree}`);
  });
}

function degrees(parent, g) {
  const isSame = JSON.stringify(g.out_degrees) === JSON.stringify(g.in_degrees);
  degreeHistogram(parent, g.out_degrees, isSame ? "Clients by number of receivers, and of senders" : "Clients by number of receivers");
  if (!isSame) degreeHistogram(parent, g.in_degrees, "Clients by number of senders");
}

function graph() {
  const g = data.graph, parent = byId("graph");
  byId("graph-kind").textContent = `${g.kind}: ${count(g.clients)} clients, ${count(g.links)} directed links` + (g.edges ? "" : "; too many to draw");
  if (!g.links) return;
  if (!g.edges) return degrees(parent, g);
  const side = Math.min(460, 200 + 8 * g.clients);
  drawn(card(parent, "Clients on a circle", "wide"), "The graph, clients on a circle", side, (svg, width, height) => drawGraph(svg, width, height, g));
}

// A square is the darker, the more rows of its class a client has; the classes lie from the top down.
function drawPartition(svg, width, height, {cells, per_column, clients}, classes) {
  const left = 74, columns = Math.ceil(clients / per_column), most = Math.max(...cells.map(cell => cell[2]));
  const wide = (width - left - 24) / columns, high = (height - 8 - margin.bottom) / classes;
  const names = Math.ceil(14 / high);
  for (let label = 0; label < classes; label += names)
    element(svg, "text", {x: left - 8, y: 8 + (label + .5) * high + 4, "text-anchor": "end"}, `class ${label}`);
  const step = Math.ceil(columns * 44 / (width - left));
  for (let column = 0; column < columns; column += step)
    element(svg, "text", {x: left + (column + .5) * wide, y: height - 7, "text-anchor": "middle"}, count(column * per_column));
  for (const [label, column, rows] of cells) {
    const first = column * per_column, last = Math.min(clients, first + per_column) - 1;
    titled(svg, "rect", {x: left + column * wide, y: 8 + label * high, width: Math.max(.5, wide - Math.min(1, wide / 5)), height: Math.max(.5, high - Math.min(1, high / 5)),
                         fill: color("blue"), opacity: .08 + .92 * rows / most},
           `${first === last ? `client ${first}` : `clients ${first} to ${last}`}, class ${label}: ${count(rows)} rows`);
  }
}

function partition() {
  const p = data.partition;
  if (!p || !p.cells.length) return;
  byId("partition-section").hidden = false;
  const classes = 1 + Math.max(...p.cells.map(cell => cell[0]));
  const place = card(byId("partition"), p.per_column > 1 ? `Training rows by class and client (a column is ${p.per_column} clients)` : "Training rows by class and client", "wide");
  const high = Math.max(4, Math.min(22, 480 / classes));
  drawn(place, `Training rows of ${p.clients} clients by class`, 8 + classes * high + margin.bottom, (svg, width, height) => drawPartition(svg, width, height, p, classes));
  const all = p.cells.map(cell => cell[2]);
  element(place, "p", {class: "note"}, `${count(all.reduce((sum, rows) => sum + rows, 0))} rows; the darkest square has ${count(Math.max(...all))}. The numbers are in partition.csv.`);
}

function headline() {
  const isMeasured = data.samples.total > 0;
  const a = hasAccuracy && summary.accuracy || {}, loss = isMeasured && summary.loss || {}, m = summary.messages || {};
  const numbers = [
    [share(a.mean), isNumber(a.std) ? `accuracy, mean of clients (± ${(100 * a.std).toFixed(2)})` : "accuracy, mean of clients"],
    [share(a.mean_model), "accuracy of the mean model"], [isNumber(a.f1_macro) ? a.f1_macro.toFixed(4) : short(a.f1_macro), "F1, macro, mean of clients"],
    [short(loss.mean), "loss, mean of clients"], [short(isMeasured ? summary.consensus : undefined), "consensus distance"],
    [count(summary.clients), "clients"], [count(summary.events), "events"], [count(m.sent), "messages sent"],
    summary.forecast ? [bytes(summary.forecast.wire_bytes), "on the wire, forecast"] : [bytes((summary.bytes || {}).wire), "on the wire"],
    [seconds((summary.staleness_seconds || {}).mean), "staleness, mean"],
    [count(summary.unifications), "unifications"], [seconds(summary.virtual_seconds), `of ${data.words.clock}`]];
  for (const [value, name] of numbers) {
    const box = element(byId("numbers"), "div", {class: "number"});
    element(box, "b", {}, value);
    element(box, "span", {}, name);
  }
}

function facts() {
  const list = byId("facts");
  const fact = (name, value, isCode) => {
    if (value === undefined || value === "") return;
    element(list, "dt", {}, name);
    element(list, "dd", isCode ? {class: "code"} : {}, value);
  };
  fact("seed", summary.seed);
  fact("model digest", summary.model_digest, true);
  fact("timeline digest", summary.timeline_digest, true);
  fact("arithmetic", summary.arithmetic, true);
  fact("numbers", `${summary.precision}, ${count(summary.dimension)} a model`);
  fact("run", `${seconds(summary.wall_seconds)} on ${count(summary.threads)} threads, ${short(summary.events_per_second)} events a second, ${bytes(summary.peak_rss_bytes)} of memory`);
  const spent = summary.forecast ? {wire: summary.forecast.wire_bytes, paper_bits: summary.forecast.paper_bits} : summary.bytes || {};
  fact("communication", `${summary.forecast ? "forecast: " : ""}${bytes(spent.wire)} on the wire; ${short(spent.paper_bits)} bits as the papers count, 64 a number`);
  fact("measured", data.words.measured);
  fact("command", summary.command, true);
  fact("started", [summary.started_at, summary.machine && `on ${summary.machine}`].filter(Boolean).join(" "));
  fact("Rubato", [summary.rubato, summary.commit].filter(Boolean).join(", commit "));
}

function warnings() {
  const warn = text => element(byId("warnings"), "li", {}, text);
  for (const note of Array.isArray(summary.notes) ? summary.notes : []) warn(note);
  if (summary.stopped_early) warn("The run was stopped early.");
  if (summary.model_digest === "") warn("This was a dry run: the timing was walked, no model was trained.");
  else if (!data.samples.total) warn("Nothing was measured in this run.");
  else if (!hasAccuracy) warn("There is no accuracy: the task is not a classification, or no test sample was ever recognised.");
  if (data.timeline && data.timeline.is_incomplete) warn(`The record ends early, after ${count(data.timeline.steps)} steps: it was cut at its limit or its end is damaged.`);
  if (data.words.part) warn(data.words.part);
  if (data.samples.total > data.samples.rows.length) warn(`The plots show ${count(data.samples.rows.length)} of ${count(data.samples.total)} samples.`);
}

byId("clock-name").textContent = data.words.clock;
byId("subtitle").textContent = `${summary.algorithm} · ${data.words.population} · ${data.graph.kind} · ${summary.clock} time · seed ${summary.seed}`;
warnings();
headline();
coursePlots();
partition();
totals(byId("messages"));
ageHistogram(byId("messages"));
stackedBars(byId("messages"));
timeline();
graph();
facts();
byId("axis").addEventListener("change", event => {
  axis.name = event.target.value;
  for (const redraw of plots) redraw();
});
