// What runs of several settings say together: means over seeds, intervals, paired differences, and when a target was reached.
import {isNumber} from "./words.js";

// The 97.5 % quantile of Student's t by degrees of freedom; above 30 that of the normal, corrected.
const quantiles = [NaN, 12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110,
                   2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042];
export const studentT = freedom => freedom < quantiles.length ? quantiles[freedom] : 1.95996 + 2.3722 / freedom + 2.82 / freedom ** 2;

export function meanOf(values) {
  const known = values.filter(isNumber), n = known.length;
  if (!n) return {n, mean: NaN, std: NaN, half: NaN};
  const mean = known.reduce((a, b) => a + b, 0) / n;
  const std = n > 1 ? Math.sqrt(known.reduce((a, b) => a + (b - mean) ** 2, 0) / (n - 1)) : NaN;
  return {n, mean, std, half: n > 1 ? studentT(n - 1) * std / Math.sqrt(n) : NaN};
}

/// Of one run along a straight line between its samples; nothing outside of them.
export function valueAt(curve, axis, place, measure) {
  const xs = curve[axis], ys = curve[measure];
  if (!xs || !ys || place < xs[0] - 1e-12 || place > xs.at(-1) * (1 + 1e-12)) return NaN;
  let low = 0, high = xs.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    xs[middle] <= place ? low = middle : high = middle - 1;
  }
  if (low === xs.length - 1 || xs[low] === place) return ys[low] ?? NaN;
  if (!isNumber(ys[low]) || !isNumber(ys[low + 1])) return NaN;
  return ys[low] + (ys[low + 1] - ys[low]) * (place - xs[low]) / (xs[low + 1] - xs[low]);
}

/// What the run had spent when its clients' mean accuracy was first at least this; NaN: it never was.
export function costOf(run, axis, accuracy) {
  const at = (run.curve.accuracy || []).findIndex(v => isNumber(v) && v >= accuracy);
  return at < 0 ? NaN : run.curve[axis]?.[at] ?? NaN;
}

/// Differences of a measure at the end between two settings under the same seeds: they share clocks, links, data and start.
export function paired(one, base, value) {
  const of = new Map(base.runs.map(run => [run.seed, value(run)]));
  const differences = one.runs.filter(run => isNumber(of.get(run.seed)) && isNumber(value(run))).map(run => ({seed: run.seed, by: value(run) - of.get(run.seed)}));
  const sum = meanOf(differences.map(d => d.by));
  return {...sum, differences, wins: differences.filter(d => d.by > 0).length, ties: differences.filter(d => d.by === 0).length, losses: differences.filter(d => d.by < 0).length};
}

/// Which points no other is better than in both: less spent, more reached.
export function undominated(points) {
  return points.map(p => !points.some(q => q !== p && q.x <= p.x && q.y >= p.y && (q.x < p.x || q.y > p.y)));
}

/// Of all messages of a run the share that its receivers merged.
export function merged(run) {
  const m = run.came_to?.messages;
  return m?.sent ? (m.delivered - (m.superseded || 0) + (m.surplus || 0)) / (m.sent + (m.copies || 0)) : NaN;
}

/// What a measure does from a sample to the next, apart for those with a unification between them. `apart`: seconds between samples.
export function acrossUnifications(setting, measure) {
  const made = {across: [], elsewhere: [], apart: NaN}, {period} = setting.unification;
  for (const {curve} of setting.runs) {
    const at = curve.seconds, values = curve[measure];
    if (!at || !values) continue;
    for (let i = 1; i < at.length; ++i) {
      if (!isNumber(values[i - 1]) || !isNumber(values[i])) continue;
      const is = Math.floor(at[i] / period) > Math.floor(at[i - 1] / period);
      made[is ? "across" : "elsewhere"].push({from: values[i - 1], to: values[i]});
    }
    if (at.length > 1) made.apart = (at.at(-1) - at[0]) / (at.length - 1);
  }
  return made;
}
