// Draws the report of a comparison from the JSON beside it.
const settings = data.settings;
const texts = {s: seconds, bit: value => scaled(value, 1000, ["bit", "kbit", "Mbit", "Gbit", "Tbit", "Pbit"]), share};
const described = list => Object.fromEntries(Object.entries(list).map(([name, [title, unit]]) => [name, [title, texts[unit] || short]]));
const axesOf = described(data.axes), measures = described(data.measures);
const paints = ["blue", "orange", "green", "violet", "red", "yellow"];
const paintOf = index => color(paints[index % paints.length]);
const isDashed = index => Math.floor(index / paints.length) % 2 === 1;
const valuesOf = (axis, measure) => settings.flatMap(setting => setting.bands[axis][measure].mean);
const isMeasured = measure => Object.keys(axesOf).some(axis => valuesOf(axis, measure).some(isNumber));
const known = Object.keys(measures).filter(isMeasured);
const state = {measure: known[0], hidden: new Set()};
const redraws = [];

const sums = (a, b, sign) => a.map((v, i) => isNumber(v) && isNumber(b[i]) ? v + sign * b[i] : null);

function lineOf(setting, index, axis) {
  const band = setting.bands[axis], {mean, std} = band[state.measure];
  const isShare = state.measure.startsWith("accuracy");
  const clamp = values => values.map(v => isNumber(v) && isShare ? Math.min(1, Math.max(0, v)) : v);
  return {name: setting.setting, xs: band.at, values: mean, spread: std, paint: paintOf(index), dashed: isDashed(index),
          low: clamp(sums(mean, std, -1)), high: clamp(sums(mean, std, 1))};
}

const shownLines = axis => settings.map((setting, i) => lineOf(setting, i, axis)).filter((line, i) => !state.hidden.has(i));

// The line's value next to a place; nothing where it does not lead.
function nearest(line, place) {
  if (!line.xs.length || place < line.xs[0] || place > line.xs.at(-1)) return;
  let best = 0;
  line.xs.forEach((x, i) => { if (Math.abs(x - place) < Math.abs(line.xs[best] - place)) best = i; });
  return best;
}

function readOut(place, lines, at, xText, text) {
  place.replaceChildren();
  element(place, "span", {class: "key"}, at === undefined ? "at the end" : `at ${xText(at)}`);
  place.append(" ");
  for (const line of lines) {
    const index = at === undefined ? line.xs.length - 1 : nearest(line, at);
    if (index === undefined || index < 0) continue;
    const spread = line.spread[index] ? ` ± ${text(line.spread[index])}` : "";
    keyed(place, `${line.name} ${text(line.values[index])}${spread}`, line.paint);
  }
}

function cursorOn(svg, x, show) {
  svg.addEventListener("pointermove", event => {
    const inner = event.clientX - svg.getBoundingClientRect().left;
    show(x.place(inner), Math.min(Math.max(inner, margin.left), x.end));
  });
  svg.addEventListener("pointerleave", () => show());
}

function axisPlot(parent, axis) {
  const [name, xText] = axesOf[axis];
  const ends = settings.map(setting => setting.bands[axis].at.at(-1)).filter(isNumber);
  const high = Math.max(0, ...ends);
  if (!(high > 0)) {
    element(card(parent, `Against ${name}`), "p", {class: "note"}, axis === "delay"
      ? "It is 0 throughout: neither links nor computations have chances." : "It is 0 throughout.");
    return;
  }
  const place = card(parent, `Against ${name}`);
  const readout = element(place, "div", {class: "readout", "aria-live": "polite"});
  const pointer = {place: inner => inner, end: 0};
  let cursor, show;
  const made = drawn(place, `${measures[known[0]] ? measures[known[0]][0] : "nothing"} against ${name}`, 300, (svg, width, height) => {
    const text = measures[state.measure][1], lines = shownLines(axis);
    const x = scale([high], margin.left, width - margin.right, {zero: true});
    const values = lines.flatMap(line => [...line.values, ...line.low, ...line.high]);
    const isShare = state.measure.startsWith("accuracy"), log = state.measure === "consensus";
    const y = scale(values, height - margin.bottom, margin.top, isShare ? {fixed: [0, 1]} : {log});
    axes(svg, width, height, x, y, xText, isShare ? v => `${Math.round(100 * v)} %` : text);
    for (const line of lines) series(svg, line.xs, line, x, y);
    cursor = element(svg, "line", {y1: margin.top, y2: height - margin.bottom, stroke: color("soft"), visibility: "hidden"});
    pointer.end = width - margin.right;
    pointer.place = inner => high * Math.min(1, Math.max(0, (inner - margin.left) / (pointer.end - margin.left)));
    show = (at, inner) => {
      readOut(readout, lines, at, xText, text);
      cursor.setAttribute("visibility", at === undefined ? "hidden" : "visible");
      if (at === undefined) return;
      cursor.setAttribute("x1", inner);
      cursor.setAttribute("x2", inner);
    };
    show();
  });
  cursorOn(made.svg, {place: inner => pointer.place(inner), get end() { return pointer.end; }}, (at, inner) => show(at, inner));
  redraws.push(made.redraw);
}

const redrawAll = () => { for (const redraw of redraws) redraw(); };

function choices() {
  for (const measure of known) {
    const label = element(byId("measure"), "label");
    const input = element(label, "input", {type: "radio", name: "measure", value: measure});
    input.checked = measure === state.measure;
    label.append(` ${measures[measure][0]}`);
  }
  byId("measure").addEventListener("change", event => { state.measure = event.target.value; redrawAll(); });
  settings.forEach((setting, i) => {
    const label = element(byId("settings"), "label");
    const input = element(label, "input", {type: "checkbox"});
    input.checked = true;
    input.addEventListener("change", () => { input.checked ? state.hidden.delete(i) : state.hidden.add(i); redrawAll(); });
    label.append(" ");
    keyed(label, `${setting.setting}${isDashed(i) ? " (dashed)" : ""}`, paintOf(i));
  });
}

// ± only where there is more than one run.
const withSpread = ({mean, std}, text, runs) => mean === null ? "–" : runs > 1 ? `${text(mean)} ± ${text(std)}` : text(mean);

function table(parent, heads, rows) {
  const made = element(parent, "table");
  const head = element(element(made, "thead"), "tr"), body = element(made, "tbody");
  for (const name of heads) element(head, "th", {scope: "col"}, name);
  for (const [first, ...others] of rows) {
    const row = element(body, "tr");
    element(row, "th", {scope: "row"}, first);
    for (const text of others) element(row, "td", {}, text);
  }
}

const costs = (object, runs) => Object.entries(axesOf).map(([axis, [, text]]) => withSpread(object[axis], text, runs));

function tables() {
  table(byId("ends"), ["setting", "algorithm", "runs", ...known.map(measure => measures[measure][0]), ...Object.values(axesOf).map(([name]) => name)],
    settings.map(s => [s.setting, s.algorithm, s.refusal === null ? s.runs.length : "refused", ...known.map(m => withSpread(s[m], measures[m][1], s.runs.length)), ...costs(s, s.runs.length)]));
  settings[0].targets.forEach(({accuracy}, i) => {
    element(byId("targets"), "h2", {}, `To an accuracy of ${share(accuracy)}`);
    const place = element(byId("targets"), "div", {class: "card scrolled"});
    table(place, ["setting", "reached by", ...Object.values(axesOf).map(([name]) => name)], settings.map(s =>
      [s.setting, `${s.targets[i].reached} of ${s.runs.length}`, ...costs(s.targets[i], s.targets[i].reached)]));
  });
}

function warnings() {
  const warn = text => element(byId("warnings"), "li", {}, text);
  if (data.stopped_early) warn("The comparison was stopped early: runs that had not come to their end are missing.");
  for (const setting of settings) for (const failure of setting.failures) warn(`${setting.setting}, ${failure}`);
  for (const setting of settings) if (setting.refusal !== null) warn(`${setting.setting} was refused: ${setting.refusal}`);
  for (const setting of settings) for (const run of setting.runs) if (run.diverged_at !== null) warn(`${setting.setting}, seed ${run.seed}, diverged at ${seconds(run.diverged_at)}`);
  if (data.seeds > 1) warn("± and bands are the standard deviation over the runs of a setting (n − 1); the table says how many there are.");
  if (data.measured_clients !== "all") warn(`Scores are of ${data.measured_clients} clients, which are drawn.`);
  if (data.budget.bits !== null) warn(`Budget: ${axesOf.bits[1](data.budget.bits)} sent. Curves end there.`);
  if (data.budget.gradients !== null) warn(`Budget: ${count(data.budget.gradients)} gradients. Curves end there.`);
}

byId("subtitle").textContent = `${count(settings.length)} settings · ${count(data.clients)} clients · ${count(data.seeds)} seeds from ${data.first_seed} · the same clocks, links, data and start for each seed · Rubato ${data.rubato}${data.commit && `, commit ${data.commit}`}`;
warnings();
if (known.length) {
  choices();
  for (const axis of [data.axis, ...Object.keys(axesOf).filter(name => name !== data.axis)]) axisPlot(byId("plots"), axis);
} else element(byId("plots"), "p", {class: "note"}, "Nothing was measured.");
tables();
