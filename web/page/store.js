// The one store of the page: what is known of a run, and how it is looked at. A report fills it from the JSON in the page, a live
// page from the messages of a server; the cards read it and are told when it has changed.
import {isNumber, bits, bytes, count, joules, seconds} from "./words.js";

export const axes = {
  seconds: {name: "time", column: "seconds", word: seconds},
  bits: {name: "bits, as the papers count", column: "paper_bits", word: bits},
  bytes: {name: "bytes on the wire", column: "bytes_wire", word: bytes},
  gradients: {name: "gradients", column: "gradients", word: count},
  joules: {name: "energy", column: "joules", word: joules},
};

const listeners = {};
export const on = (what, act) => (listeners[what] ||= []).push(act);
export const forget = what => { delete listeners[what]; };
export const tell = what => { for (const act of listeners[what] || []) act(); };

export const store = {
  data: null, columns: {}, rows: 0,
  view: {axis: "seconds", range: null, y: "auto", scale: "auto", smooth: 0},
};

const number = value => typeof value === "number" ? value : value === "inf" ? Infinity : value === "-inf" ? -Infinity : NaN;

/// Rows of metrics.csv that follow those that are there; those that are known already are passed over. False where some are
/// missing in between.
export function addRows(names, rows, from) {
  if (from > store.rows) return false;
  const fresh = rows.slice(store.rows - from);
  names.forEach((name, i) => { (store.columns[name] ||= []).push(...fresh.map(row => number(row[i]))); });
  store.rows += fresh.length;
  return true;
}

export function fill(data) {
  store.data = data;
  store.columns = {};
  store.rows = 0;
  addRows(data.samples.columns, data.samples.rows, 0);
}

export const column = name => store.columns[name] || new Array(store.rows).fill(NaN);
export const isKnown = name => column(name).some(isNumber);
export const last = name => column(name).at(-1);
/// Where nothing is classified, accuracies are missing.
export const hasAccuracy = () => ["accuracy_mean", "accuracy_mean_model"].some(name => column(name).some(v => isNumber(v) && v !== 0));

/// What was spent until a time, between samples along a straight line; time itself.
export function placeOf(time) {
  if (store.view.axis === "seconds") return time;
  const clock = column("seconds"), spent = column(axes[store.view.axis].column);
  let low = 0, high = clock.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    clock[middle] < time ? low = middle + 1 : high = middle;
  }
  if (low === clock.length) return spent.at(-1);
  const t0 = low === 0 ? 0 : clock[low - 1], s0 = low === 0 ? 0 : spent[low - 1];
  return clock[low] === t0 ? spent[low] : s0 + (spent[low] - s0) * (time - t0) / (clock[low] - t0);
}
export const placesOf = times => times ? times.map(placeOf) : column(axes[store.view.axis].column);
/// Where the axis ends, so that all plots have the same one.
export const wholeAxis = () => Math.max(column(axes[store.view.axis].column).at(-1) || 0, store.view.axis === "seconds" ? store.data.summary.virtual_seconds || 0 : 0);
export const axisWord = value => axes[store.view.axis].word(value);

// The view is kept behind the # of the address, so that a link leads to what is seen.
const kept = ["axis", "y", "scale", "smooth"];
export function setView(change) {
  Object.assign(store.view, change);
  if ("axis" in change) store.view.range = null;
  const {range} = store.view;
  const parts = kept.filter(key => String(store.view[key]) !== {axis: "seconds", y: "auto", scale: "auto", smooth: "0"}[key])
    .map(key => `${key}=${store.view[key]}`);
  if (range) parts.push(`x=${range.map(v => Number(v.toPrecision(6))).join("..")}`);
  try { history.replaceState(null, "", parts.length ? `#${parts.join("&")}` : location.pathname + location.search); } catch { /* a page without an address */ }
  tell("range" in change && Object.keys(change).length === 1 ? "range" : "view");
}
export function readView() {
  for (const part of location.hash.slice(1).split("&")) {
    const [key, value] = part.split("=");
    if (kept.includes(key) && value) store.view[key] = key === "smooth" ? Number(value) : value;
    if (key === "x" && value) {
      const range = value.split("..").map(Number);
      if (range.length === 2 && range.every(isNumber) && range[0] < range[1]) store.view.range = range;
    }
  }
  if (!axes[store.view.axis]) store.view.axis = "seconds";
}
