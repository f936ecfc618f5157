// A plot of lines over the axis that all plots share: drag zooms all of them, double click goes back, the cursor is on all at once,
// lines are named at their ends. How it is drawn is uPlot's.
import "./pixels.js";
import uPlot from "uplot";
import {element, numbers} from "./dom.js";
import {colour, faint, onRedraw, paper} from "./paint.js";
import {axisWord, on, placesOf, setView, store, wholeAxis} from "./store.js";
import {fitted, labelSize, roomFor, roomOfTick, textFont} from "./texts.js";
import {linearTicks, logTicks} from "./ticks.js";
import {isNumber, short} from "./words.js";

const cursors = uPlot.sync("axis");
const plots = new Set();

// A mean over so many samples to either side.
const smoothed = (values, reach) => !reach ? values : values.map((v, i) => {
  if (!isNumber(v)) return v;
  const part = values.slice(Math.max(0, i - reach), i + reach + 1).filter(isNumber);
  return part.reduce((sum, one) => sum + one, 0) / part.length;
});

// What a line cannot have is a gap; so is the place where what follows is of other clients.
function prepared(values, isLog, parted) {
  const clean = values.map(v => isNumber(v) && (!isLog || v > 0) ? v : null);
  if (parted > 0) clean.splice(parted, 0, null);
  return clean;
}

const beforeLabel = 6;

// Behind the ends of the lines, in so much room.
function drawLabels(u, lines, room) {
  const pixels = uPlot.pxRatio, {left, top, width, height} = u.bbox, labels = [];
  for (const line of lines) {
    if (line.label === "") continue;
    const values = u.data[line.index], xs = u.data[0];
    let at = xs.length - 1;
    while (at >= 0 && (values[at] === null || xs[at] > u.scales.x.max)) --at;
    if (at < 0 || xs[at] < u.scales.x.min) continue;
    labels.push({y: Math.min(top + height, Math.max(top, u.valToPos(values[at], "y", true))), text: line.label ?? line.name, paint: line.paint});
  }
  labels.sort((a, b) => a.y - b.y);
  const step = 13 * pixels;
  labels.forEach((one, i) => { if (i > 0) one.y = Math.max(one.y, labels[i - 1].y + step); });
  for (let i = labels.length - 1, bottom = top + height + 4 * pixels; i >= 0; --i, bottom -= step) labels[i].y = Math.min(labels[i].y, bottom);
  const {ctx} = u;
  ctx.save();
  ctx.font = textFont(labelSize(u.width) * pixels);
  ctx.textBaseline = "middle";
  ctx.textAlign = "left";
  for (const one of labels) {
    ctx.fillStyle = colour(one.paint);
    ctx.fillText(fitted(ctx, one.text, room * pixels), left + width + beforeLabel * pixels, one.y);
  }
  ctx.restore();
}

// Instants that concern all clients, from below: unifications, who comes and goes.
function drawMarks(u, marks) {
  if (!marks.length) return;
  const pixels = uPlot.pxRatio, {left, top, width, height} = u.bbox, {ctx} = u;
  const places = placesOf(marks.map(mark => mark.at));
  const tall = mark => mark.isLong ? height : (mark.isHigh ? 20 : 7) * pixels;
  const inView = marks.map((mark, i) => ({...mark, x: u.valToPos(places[i], "x", true)})).filter(m => m.x >= left && m.x <= left + width);
  ctx.save();
  ctx.font = textFont(9 * pixels);
  ctx.textAlign = "center";
  for (const mark of inView) {
    ctx.strokeStyle = ctx.fillStyle = colour(mark.paint);
    ctx.globalAlpha = .55;
    ctx.beginPath();
    ctx.moveTo(mark.x, top + height);
    ctx.lineTo(mark.x, top + height - tall(mark));
    ctx.lineWidth = pixels;
    if (mark.isLong) ctx.setLineDash([2 * pixels, 3 * pixels]);
    ctx.stroke();
    ctx.setLineDash([]);
    if (mark.text && inView.filter(other => !other.isHigh === !mark.isHigh).length < width / pixels / 16)
      ctx.fillText(mark.text, mark.x, top + height - (mark.isHigh ? 23 : 9) * pixels);
  }
  ctx.restore();
}

function touch(u) {
  const fingers = new Map();
  let start = null;
  const place = event => event.clientX - u.over.getBoundingClientRect().left;
  u.over.addEventListener("pointerdown", event => {
    if (event.pointerType !== "touch") return;
    fingers.set(event.pointerId, place(event));
    if (fingers.size === 2) start = {at: [...fingers.values()].map(x => u.posToVal(x, "x"))};
  });
  u.over.addEventListener("pointermove", event => {
    if (!fingers.has(event.pointerId)) return;
    fingers.set(event.pointerId, place(event));
    if (fingers.size === 1) return u.setCursor({left: place(event), top: u.over.clientHeight / 2});
    if (!start) return;
    const [a, b] = fingers.values(), [va, vb] = start.at;
    if (Math.abs(a - b) < 10) return;
    const scale = (vb - va) / (b - a), low = va - a * scale;
    if (scale > 0) setView({range: clamped([low, low + scale * u.over.clientWidth], u)});
  });
  for (const name of ["pointerup", "pointercancel"])
    u.over.addEventListener(name, event => { fingers.delete(event.pointerId); start = null; });
}

function clamped([low, high], u) {
  const xs = u.data[0], most = xs.at(-1);
  const from = Math.max(0, low), to = Math.min(most, high);
  return to > from ? [from, to] : null;
}

function keys(u) {
  u.over.tabIndex = 0;
  u.over.addEventListener("keydown", event => {
    const step = {ArrowLeft: -1, ArrowRight: 1}[event.key];
    const {min, max} = u.scales.x, middle = (min + max) / 2;
    if (step) {
      const index = Math.min(u.data[0].length - 1, Math.max(0, (u.cursor.idx ?? u.data[0].length) + step));
      u.setCursor({left: u.valToPos(u.data[0][index], "x"), top: 1});
    } else if (event.key === "+") setView({range: [middle - (max - min) / 4, middle + (max - min) / 4]});
    else if (event.key === "-") setView({range: clamped([middle - (max - min), middle + (max - min)], u)});
    else if (event.key === "Escape") setView({range: null});
    else return;
    event.preventDefault();
  });
}

// What all plots show of the axis: the stretch that was chosen, else all of it, from 0.
function extent({data: [xs]}) {
  const {range} = store.view, most = Math.max(xs.at(-1), wholeAxis());
  return range ? {min: range[0], max: range[1]} : {min: Math.min(0, xs[0]), max: most > 0 ? most : 1};
}

function showReadout(readout, u, lines, word) {
  const all = u.data[0];
  const index = u.cursor.idx ?? all.length - 1;
  if (index < 0) return;
  readout.replaceChildren();
  element(readout, "span", {class: "key"}, `at ${axisWord(all[index])}`);
  for (const line of lines) {
    if (line.isSilent) continue;
    const value = u.data[line.index][index];
    if (value === null) continue;
    const entry = element(readout, "span", {class: "key"});
    element(entry, "i").style.background = colour(line.paint);
    entry.append(`${line.name} ${line.told ? line.told(index) : word(value)}${line.says ? ` ${line.says(index)}` : ""}`);
  }
}

/// `give` says what is drawn now:
///   lines   name, values, paint; low and high of a band; width, dash, label at the end ("" for none), isSilent, says(index) beside the value, told(index) in its place
///   times   of the values, where they are not those of the samples
///   word    a value as text; axisWord for the axis
///   log, full (the range of "0-100"), zero (the range has 0), marks
/// Returns what redraws it.
export function linePlot(place, {title, height = 230, give, file}) {
  const readout = element(place, "div", {class: "readout", "aria-live": "polite"});
  const frame = element(place, "div", {class: "plot", role: "img", "aria-label": title});
  let u = null, width = 0;
  const build = () => {
    const spec = give();
    frame.classList.toggle("empty", !spec);
    u?.destroy();
    if (u) cursors.unsub(u);
    u = null;
    if (!spec || !spec.lines.some(line => line.values.some(isNumber))) {
      frame.textContent = spec?.none || "None of its values is a finite number.";
      return;
    }
    frame.textContent = "";
    width = paper.isOn ? paper.width : frame.clientWidth || 520;
    const isLog = store.view.scale === "log" || (store.view.scale === "auto" && spec.log === true);
    const lines = [], series = [{}], data = [prepared(placesOf(spec.times), false, -1)], bands = [];
    const parted = spec.times ? -1 : store.data.samples.parted_at ?? -1;
    if (parted > 0) data[0].splice(parted, 0, data[0][parted]);
    const add = (values, options) => { series.push(options); return data.push(prepared(values, isLog, parted)) - 1; };
    for (const line of spec.lines) {
      if (line.low) {
        const none = {stroke: "transparent", width: 0, points: {show: false}};
        const high = add(line.high, none), low = add(line.low, none);
        bands.push({series: [high, low], fill: () => faint(line.paint, line.isFainter ? .12 : .2)});
      }
      const values = smoothed(line.values, spec.times ? 0 : store.view.smooth);
      const alone = values.filter(isNumber).length < 2;
      const index = add(values, {
        stroke: () => line.alpha ? faint(line.paint, line.alpha) : colour(line.paint), width: line.width ?? 2, dash: line.dash,
        points: {show: alone || line.points === true, size: 6, fill: () => colour(line.paint)}});
      lines.push({...line, index});
    }
    const word = spec.word || short, tickWord = spec.tickWord || word;
    const room = roomFor(lines.map(line => line.label ?? line.name), width, width * .34 - beforeLabel);
    const range = (_, low, high) => {
      if (spec.full && store.view.y === "full") return spec.full;
      if (low === null || low === undefined) return isLog ? [.1, 1] : [0, 1];
      if (isLog) return low === high ? [low / 2, high * 2] : [low / 1.1, high * 1.1];
      const from = spec.zero ? Math.min(0, low) : low, pad = (high - from || Math.abs(high) || 1) * .05;
      const bottom = from === 0 || (from > 0 && from - pad < 0) ? 0 : from - pad;
      return spec.full ? [Math.max(spec.full[0], bottom), Math.min(spec.full[1], high + pad)] : [bottom, high + pad];
    };
    const axis = {stroke: () => colour("soft"), font: textFont(), grid: {stroke: () => colour("line"), width: 1},
                  ticks: {stroke: () => colour("line"), width: 1, size: 4}};
    u = new uPlot({
      width, height, padding: [8, Math.max(roomOfTick, beforeLabel + room + 1), 0, 0], legend: {show: false},
      scales: {
        x: {time: false, range: self => { const {min, max} = extent({data: self.data[0].length ? self.data : data}); return [min, max]; }},
        y: {distr: isLog ? 3 : 1, log: 10, range},
      },
      axes: [
        {...axis, size: 30, grid: {show: false}, values: (_, at) => at.map(v => axisWord(v)),
         splits: (self, _, low, high) => linearTicks(low, high, Math.max(2, Math.floor(self.bbox.width / uPlot.pxRatio / 90)))},
        {...axis, size: 54, filter: (_, at) => at, values: (_, at) => at.map(v => tickWord(v)),
         splits: (self, _, low, high) => (isLog ? logTicks : linearTicks)(low, high, Math.max(3, Math.floor(height / 45)))},
      ],
      series, bands,
      cursor: {sync: {key: "axis", setSeries: false, scales: ["x", null]}, y: false, drag: {x: true, y: false, setScale: false},
               points: {size: 7}, bind: {dblclick: () => () => setView({range: null})}},
      hooks: {
        setSelect: [self => {
          if (self.select.width < 4) return;
          const from = self.posToVal(self.select.left, "x"), to = self.posToVal(self.select.left + self.select.width, "x");
          self.setSelect({left: 0, top: 0, width: 0, height: 0}, false);
          setView({range: [from, to]});
        }],
        setScale: [(self, key) => { if (key === "x") frame.dataset.range = `${self.scales.x.min}..${self.scales.x.max}`; }],
        setCursor: [self => showReadout(readout, self, lines, word)],
        drawClear: [self => drawMarks(self, spec.marks || [])],
        draw: [self => drawLabels(self, lines, room)],
      },
    }, data, frame);
    cursors.sub(u);
    touch(u);
    keys(u);
    showReadout(readout, u, lines, word);
  };
  const watch = new ResizeObserver(() => { if (!paper.isOn && frame.clientWidth && frame.clientWidth !== width) build(); });
  const plot = {build, end: () => { watch.disconnect(); u?.destroy(); if (u) cursors.unsub(u); }, zoom: () => u?.setScale("x", extent(u))};
  plots.add(plot);
  build();
  watch.observe(frame);
  onRedraw(build);
  if (file) numbers(place, file, () => {
    const spec = give(), xs = placesOf(spec.times);
    return {heads: [store.view.axis, ...spec.lines.map(line => line.name)],
            rows: xs.map((x, i) => [x, ...spec.lines.map(line => isNumber(line.values[i]) ? line.values[i] : null)])};
  });
  return plot;
}

/// The cards are made anew.
export const forgetPlots = () => { for (const plot of plots) plot.end(); plots.clear(); };

on("range", () => { for (const plot of plots) plot.zoom(); });
on("view", () => { for (const plot of plots) plot.build(); });
on("data", () => { for (const plot of plots) plot.build(); });

