// Numbers as words. What is no finite number keeps its word ("nan", "inf"); summary.json has null for it. What is not there is a
// dash.
export const isNumber = value => typeof value === "number" && Number.isFinite(value);
const worded = (value, text) =>
  isNumber(value) ? text(value) : value === undefined ? "–" : value === null ? "not finite" : String(value);

export const short = value => worded(value, v => {
  const size = Math.abs(v);
  if (size !== 0 && (size < 1e-3 || size >= 1e6)) return v.toExponential(2).replace("e+", "e");
  return String(Number(v.toPrecision(4)));
});
const inThousands = new Intl.NumberFormat("en-US", {maximumFractionDigits: 1});  // made once: making it takes longer than a table
export const count = value => worded(value, v => inThousands.format(v));
export const share = value => worded(value, v => (100 * v).toFixed(2) + " %");
export const tenths = value => worded(value, v => (100 * v).toFixed(1) + " %");
const scaled = (value, step, units, digits = 3) => worded(value, v => {
  let unit = 0;
  for (; Math.abs(v) >= step && unit + 1 < units.length; ++unit) v /= step;
  return `${Number(v.toPrecision(digits))} ${units[unit]}`;
});
export const bytes = value => scaled(value, 1000, ["B", "kB", "MB", "GB", "TB", "PB"]);
export const bits = value => scaled(value, 1000, ["bit", "kbit", "Mbit", "Gbit", "Tbit", "Pbit"]);
export const joules = value => scaled(value, 1000, ["J", "kJ", "MJ", "GJ"]);
export const seconds = (value, digits = 4) => worded(value, v => v === 0 || Math.abs(v) >= 1
  ? `${Number(v.toPrecision(digits))} s` : scaled(v * 1e9, 1000, ["ns", "µs", "ms"], Math.min(3, digits)));
/// An instant as exactly as the stretch that is looked at needs it.
export const instant = (at, span) => {
  const digits = Math.max(0, Math.min(6, 2 - Math.floor(Math.log10(span || 1))));
  return `${at.toFixed(digits)} s`;
};
export const many = (number, one, more = one + "s") => `${count(number)} ${number === 1 ? one : more}`;

const units = {bit: bits, s: seconds, share: tenths, J: joules};
export const wordOf = unit => units[unit] || short;

/// "56.1 ± 3.2 s": mean and deviation in one unit with the same decimals, as many as the deviation has a use for.
export function spread(mean, deviation, unit = "") {
  if (!isNumber(mean)) return wordOf(unit)(mean);
  if (!isNumber(deviation)) return wordOf(unit)(mean);
  const scales = {share: [[100, "%"]], bit: [[1, "bit"], [1e-3, "kbit"], [1e-6, "Mbit"], [1e-9, "Gbit"], [1e-12, "Tbit"]],
                  s: [[1, "s"]], J: [[1, "J"], [1e-3, "kJ"], [1e-6, "MJ"]]}[unit] || [[1, ""]];
  const chosen = scales.findLast(([factor]) => Math.abs(mean) * factor >= 1) || scales[0];
  const m = mean * chosen[0], d = deviation * chosen[0];
  const shown = d > 0 ? d : Math.abs(m) / 1000;
  const decimals = shown > 0 ? Math.max(0, Math.min(6, 1 - Math.floor(Math.log10(shown)))) : 0;
  if (Math.abs(m) >= 1e6 || decimals === 6 && Math.abs(m) < 1e-4) return `${short(mean)} ± ${short(deviation)}${chosen[1] && ` ${chosen[1]}`}`;
  return `${m.toFixed(decimals)} ± ${d.toFixed(decimals)}${chosen[1] && ` ${chosen[1]}`}`;
}
