// Colours of the theme in force, read anew when it changes, and redrawing: for another theme, another width, for paper.
const names = ["page", "card", "ink", "soft", "line", "blue", "orange", "green", "violet", "red", "yellow", "pink", "teal"];
let colours = {};

function read() {
  const style = getComputedStyle(document.documentElement);
  colours = Object.fromEntries(names.map(name => [name, style.getPropertyValue(`--${name}`).trim()]));
}
read();

export const colour = name => colours[name] || name;

/// Red, green and blue of a colour, 0 to 255.
export const channels = name => [1, 3, 5].map(i => parseInt(colour(name).slice(i, i + 2), 16));

/// The colour with this much of it.
export const faint = (name, alpha) => `rgba(${channels(name).join(",")},${alpha})`;

/// Between the card's colour at 0 and the full one at 1.
export function mixed(name, amount) {
  const from = channels("card"), to = channels(name);
  return `rgb(${from.map((v, i) => Math.round(v + (to[i] - v) * amount)).join(",")})`;
}

const redraws = new Set();
export const onRedraw = redraw => { redraws.add(redraw); return () => redraws.delete(redraw); };
export const forgetRedraws = () => redraws.clear();
export const redrawAll = () => { for (const redraw of redraws) redraw(); };

matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { read(); redrawAll(); });

// On paper: white, in the width of the sheet, three pixels where a screen has one.
export const paper = {isOn: false, width: 680, ratio: 3};
const printing = new Set();
export const onPrinting = act => printing.add(act);
function setPaper(isOn) {
  if (paper.isOn === isOn) return;
  paper.isOn = isOn;
  document.documentElement.classList.toggle("paper", isOn);
  read();
  for (const act of printing) act(isOn);
  redrawAll();
}
addEventListener("beforeprint", () => setPaper(true));
addEventListener("afterprint", () => setPaper(false));

export const ratio = () => paper.isOn ? paper.ratio : devicePixelRatio || 1;
