"use strict";
// What the pages share: numbers as words, SVG elements, scales, axes and lines. Texts are only ever set as text, never as
// HTML. The page's own script follows in the same element.
const data = JSON.parse(document.getElementById("data").textContent);
const byId = id => document.getElementById(id);
const svgSpace = "http://www.w3.org/2000/svg";
const color = name => `var(--${name})`;

// What is no finite number keeps its word ("nan", "inf"); summary.json has null for it. What is not there is a dash.

const isNumber = value => typeof value === "number" && Number.isFinite(value);
const worded = (value, text) => isNumber(value) ? text(value) : value === undefined ? "–" : value === null ? "not finite" : String(value);
const short = value => worded(value, v => {
  const size = Math.abs(v);
  if (size !== 0 && (size < 1e-3 || size >= 1e6)) return v.toExponential(2).replace("e+", "e");
  return String(Number(v.toPrecision(4)));
});
const count = value => worded(value, v => v.toLocaleString("en-US", {maximumFractionDigits: 1}));
const share = value => worded(value, v => (100 * v).toFixed(2) + " %");
const scaled = (value, step, units) => worded(value, v => {
  let unit = 0;
  for (; Math.abs(v) >= step && unit + 1 < units.length; ++unit) v /= step;
  return `${Number(v.toPrecision(3))} ${units[unit]}`;
});
const bytes = value => scaled(value, 1000, ["B", "kB", "MB", "GB", "TB", "PB"]);
const seconds = value => worded(value, v => v === 0 || Math.abs(v) >= 1 ? `${Number(v.toPrecision(4))} s`
  : scaled(v * 1e9, 1000, ["ns", "µs", "ms"]));

function element(parent, name, attributes = {}, text) {
  const made = parent.namespaceURI === svgSpace || name === "svg" ? document.createElementNS(svgSpace, name)
    : document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  parent.append(made);
  return made;
}

const titled = (parent, name, attributes, title) => {
  const made = element(parent, name, attributes);
  element(made, "title", {}, title);
  return made;
};

function card(parent, title, kind = "") {
  const made = element(parent, "div", {class: `card ${kind}`});
  element(made, "h3", {}, title);
  return made;
}

function keyed(parent, text, paint) {
  const entry = element(parent, "span", {class: "key"});
  element(entry, "i", {style: `background:${paint}`});
  entry.append(text);
  parent.append(" ");
}

function legend(parent, entries) {
  const line = element(parent, "p", {class: "legend"});
  for (const [name, paint] of entries) keyed(line, name, paint);
}

// Draws now and whenever the width of the place has changed.
function drawn(place, label, height, draw) {
  const svg = element(place, "svg", {role: "img", "aria-label": label, height});
  let width = 0;
  const redraw = () => {
    width = svg.clientWidth || 560;
    svg.replaceChildren();
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    draw(svg, width, height);
  };
  new ResizeObserver(() => { if (svg.clientWidth !== width) redraw(); }).observe(svg);
  redraw();
  return {svg, redraw};
}

function linearTicks(low, high, wanted) {
  const rough = (high - low) / wanted;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find(factor => factor * power >= rough);
  const ticks = [];
  for (let i = Math.ceil(low / step); i * step <= high * (1 + 1e-12); ++i) ticks.push(Number((i * step).toPrecision(12)));
  return ticks;
}

function logTicks(low, high, wanted) {
  const first = Math.ceil(Math.log10(low) - 1e-9), last = Math.floor(Math.log10(high) + 1e-9);
  const every = Math.max(1, Math.ceil((last - first) / wanted));
  const ticks = [];
  for (let power = first; power <= last; power += every) ticks.push(Number(`1e${power}`));
  return ticks.length >= 2 ? ticks : linearTicks(low, high, 4).filter(tick => tick > 0);
}

// From [low, high] to [from, to]; an empty range is widened, so that one sample has a place.
function scale(values, from, to, {log = false, zero = false, fixed} = {}) {
  const usable = values.filter(v => isNumber(v) && (!log || v > 0));
  let low = fixed ? fixed[0] : zero ? 0 : usable.reduce((a, b) => Math.min(a, b), Infinity);
  let high = fixed ? fixed[1] : usable.reduce((a, b) => Math.max(a, b), -Infinity);
  if (!(low <= high)) [low, high] = log ? [1, 10] : [0, 1];
  if (low === high) [low, high] = log ? [low / 2, high * 2] : zero ? [0, high || 1] : [low - (Math.abs(low) || 1) / 2, high + (Math.abs(high) || 1) / 2];
  if (log) [low, high] = [low / 1.15, high * 1.15];
  const f = log ? Math.log10 : v => v;
  const at = v => from + (f(v) - f(low)) / (f(high) - f(low)) * (to - from);
  at.ticks = wanted => log ? logTicks(low, high, wanted) : linearTicks(low, high, wanted);
  at.holds = v => isNumber(v) && (!log || v > 0);
  return at;
}

const margin = {left: 56, right: 24, top: 10, bottom: 24};

function axes(svg, width, height, x, y, xText, yText) {
  for (const tick of y.ticks(4)) {
    element(svg, "line", {x1: margin.left, x2: width - margin.right, y1: y(tick), y2: y(tick), stroke: color("line")});
    element(svg, "text", {x: margin.left - 6, y: y(tick) + 4, "text-anchor": "end"}, yText(tick));
  }
  for (const tick of x.ticks(Math.max(2, Math.floor(width / 110)))) {
    element(svg, "line", {x1: x(tick), x2: x(tick), y1: height - margin.bottom, y2: height - margin.bottom + 4, stroke: color("soft")});
    element(svg, "text", {x: x(tick), y: height - 7, "text-anchor": "middle"}, xText(tick));
  }
}

// A line is parted where what follows is of other clients.
function path(xs, values, x, y, parted) {
  let text = "", pen = "M";
  xs.forEach((at, i) => {
    if (i === parted) pen = "M";
    if (!x.holds(at) || !y.holds(values[i])) { pen = "M"; return; }
    text += `${pen}${x(at).toFixed(1)} ${y(values[i]).toFixed(1)}`;
    pen = "L";
  });
  return text;
}

function band(svg, xs, {low, high, paint, parted}, x, y) {
  let run = [];
  const close = () => {
    if (run.length > 1) {
      const there = run.map(i => `${x(xs[i]).toFixed(1)} ${y(high[i]).toFixed(1)}`);
      const back = run.toReversed().map(i => `${x(xs[i]).toFixed(1)} ${y(low[i]).toFixed(1)}`);
      element(svg, "path", {d: `M${there.join("L")}L${back.join("L")}Z`, fill: paint, opacity: .18});
    }
    run = [];
  };
  xs.forEach((at, i) => {
    if (i === parted) close();
    x.holds(at) && y.holds(low[i]) && y.holds(high[i]) ? run.push(i) : close();
  });
  close();
}

function series(svg, xs, one, x, y) {
  if (one.low) band(svg, xs, one, x, y);
  element(svg, "path", {d: path(xs, one.values, x, y, one.parted), fill: "none", stroke: one.paint, "stroke-width": 2, "stroke-linejoin": "round",
                        ...(one.dashed ? {"stroke-dasharray": "5 4"} : {})});
  const ends = i => i === one.parted || !y.holds(one.values[i]);
  const isAlone = i => (i === one.parted || !y.holds(one.values[i - 1])) && ends(i + 1);
  one.values.forEach((value, i) => {
    if (y.holds(value) && x.holds(xs[i]) && isAlone(i)) element(svg, "circle", {cx: x(xs[i]), cy: y(value), r: 3.5, fill: one.paint});
  });
}
