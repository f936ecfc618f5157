// Curves of a comparison: means over seeds with their bands and the seeds as thin lines, named at their ends; above eight settings a
// small plot each, with the others behind it.
import "./pixels.js";
import uPlot from "uplot";
import {card, element} from "./dom.js";
import {meanOf, valueAt} from "./compare_stats.js";
import {colour, faint, onRedraw, paper} from "./paint.js";
import {fitted, labelSize, roomFor, roomOfTick, textFont} from "./texts.js";
import {linearTicks, logTicks} from "./ticks.js";
import {isNumber, tenths, wordOf} from "./words.js";

const places = 160, mostInOne = 8, beforeLabel = 9;

// All settings on the places of one axis. A band is a t interval from four seeds on, else the range.
function curves({settings, axis, measure}) {
  const most = Math.max(...settings.flatMap(s => s.runs.map(r => r.curve[axis]?.at(-1) ?? 0)));
  const xs = [...Array(places).keys()].map(i => most * i / (places - 1));
  const all = settings.map(setting => {
    const runs = setting.runs.filter(r => r.curve[axis]);
    const seeds = runs.map(r => xs.map(x => valueAt(r.curve, axis, x, measure)));
    const mean = [], low = [], high = [];
    xs.forEach((_, i) => {
      const values = seeds.map(s => s[i]), isWhole = values.length && values.every(isNumber), m = isWhole ? meanOf(values) : {mean: NaN};
      mean.push(m.mean);
      low.push(!isWhole || values.length < 2 ? NaN : values.length > 3 ? m.mean - m.half : Math.min(...values));
      high.push(!isWhole || values.length < 2 ? NaN : values.length > 3 ? m.mean + m.half : Math.max(...values));
    });
    return {setting, seeds, mean, low, high};
  });
  return {xs, all};
}

const clean = (values, isLog, isShare) => values.map(v => !isNumber(v) || (isLog && v <= 0) ? null : isShare ? Math.min(1, Math.max(0, v)) : v);

// From below, in the colour of the setting; where there are too many to tell apart, none.
const mostMarks = 120;
export const unified = ({settings, axis, data}) => axis === "seconds" ? settings.filter(s => s.unification && data.budget.until / s.unification.period < mostMarks) : [];
function drawUnifications(u, state) {
  const pixels = uPlot.pxRatio, {top, height} = u.bbox, {ctx} = u;
  ctx.save();
  ctx.lineWidth = pixels;
  for (const setting of unified(state)) {
    const {period} = setting.unification;
    ctx.strokeStyle = state.paints[state.settings.indexOf(setting)]();
    ctx.beginPath();
    for (let at = period * Math.max(1, Math.ceil(u.scales.x.min / period)); at <= u.scales.x.max; at += period) {
      const x = u.valToPos(at, "x", true);
      ctx.moveTo(x, top + height);
      ctx.lineTo(x, top + height - 8 * pixels);
    }
    ctx.stroke();
  }
  ctx.restore();
}

function drawn(frame, {xs, all}, chosen, state, words, {width, height, isSmall}) {
  const isShare = words.unitOf(state.measure) === "share", isLog = state.measure === "consensus";
  const data = [xs], series = [{}], bands = [], labels = [];
  let lifted = -1;
  const own = i => chosen.includes(i);
  const fade = i => lifted >= 0 && lifted !== i ? .18 : 1;
  const alpha = (paint, a) => paint.replace("rgb(", "rgba(").replace(")", `,${a})`);
  all.forEach((one, i) => {
    if (own(i)) return;
    if (!isSmall) return;
    data.push(clean(one.mean, isLog, isShare));
    series.push({stroke: () => faint("soft", .22), width: 1, points: {show: false}});
  });
  all.forEach((one, i) => {
    if (!own(i)) return;
    for (const seed of one.seeds.length > 1 ? one.seeds : []) {
      data.push(clean(seed, isLog, isShare));
      series.push({stroke: () => alpha(state.paints[i](), .3 * fade(i)), width: .8, points: {show: false}});
    }
    if (one.low.some(isNumber)) {
      const none = {stroke: "transparent", width: 0, points: {show: false}};
      data.push(clean(one.high, isLog, isShare), clean(one.low, isLog, isShare));
      series.push(none, {...none});
      bands.push({series: [data.length - 2, data.length - 1], fill: () => alpha(state.paints[i](), .16 * fade(i))});
    }
    data.push(clean(one.mean, isLog, isShare));
    series.push({stroke: () => alpha(state.paints[i](), fade(i)), width: 2.2, points: {show: false}});
    labels.push({index: data.length - 1, i, text: one.setting.setting});
  });
  const room = roomFor(labels.map(label => label.text), width, width * .36 - beforeLabel);
  const tickWord = isShare ? v => `${Number((100 * v).toFixed(1))} %` : wordOf("");
  const axis = {stroke: () => colour("soft"), font: textFont(), grid: {stroke: () => colour("line"), width: 1}, ticks: {stroke: () => colour("line"), width: 1, size: 4}};
  const lift = u => {
    let best = -1, distance = 30;
    const index = u.cursor.idx;
    if (index !== null && index !== undefined) for (const label of labels) {
      const value = u.data[label.index][index];
      if (value === null) continue;
      const d = Math.abs(u.valToPos(value, "y") - u.cursor.top);
      if (d < distance) [best, distance] = [label.i, d];
    }
    if (best === lifted) return;
    lifted = best;
    u.redraw(false);
  };
  return new uPlot({
    width, height, padding: [8, isSmall ? roomOfTick : beforeLabel + room + 1, 0, 0], legend: {show: false}, series, bands,
    scales: {x: {time: false}, y: {distr: isLog ? 3 : 1, log: 10, range: (_, low, high) => {
      if (low === null || low === undefined) return [0, 1];
      if (isLog) return [low / 1.2, high * 1.2];
      const pad = (high - low || 1) * .05;
      return isShare ? [Math.max(0, low - pad), Math.min(1, high + pad)] : [low - pad, high + pad];
    }}},
    axes: [{...axis, size: 30, grid: {show: false}, values: (_, at) => at.map(v => wordOf(words.unitOf(state.axis))(v)), splits: (u, _, low, high) => linearTicks(low, high, Math.max(2, Math.floor(u.bbox.width / uPlot.pxRatio / 90)))},
           {...axis, size: 54, filter: (_, at) => at, values: (_, at) => at.map(v => tickWord(v)), splits: (u, _, low, high) => (isLog ? logTicks : linearTicks)(low, high, Math.max(2, Math.floor(height / 50)))}],
    cursor: {y: false, drag: {x: true, y: false}, points: {show: false}},
    hooks: {
      setCursor: [lift],
      draw: [u => {
        if (isSmall) return;
        const pixels = uPlot.pxRatio, {left, width: w, top, height: h} = u.bbox, {ctx} = u;
        drawUnifications(u, state);
        const ends = labels.map(label => {
          const values = u.data[label.index];
          let at = values.length - 1;
          while (at >= 0 && (values[at] === null || u.data[0][at] > u.scales.x.max)) --at;
          return {...label, y: at < 0 ? NaN : u.valToPos(values[at], "y", true)};
        }).filter(e => isNumber(e.y)).sort((a, b) => a.y - b.y);
        ends.forEach((e, k) => { if (k) e.y = Math.max(e.y, ends[k - 1].y + 13 * pixels); });
        for (let k = ends.length - 1, bottom = top + h; k >= 0; --k, bottom -= 13 * pixels) ends[k].y = Math.min(ends[k].y, bottom);
        ctx.save();
        ctx.font = textFont(labelSize(width) * pixels);
        ctx.textAlign = "left";
        ctx.textBaseline = "middle";
        for (const e of ends) { ctx.globalAlpha = fade(e.i); ctx.fillStyle = state.paints[e.i](); ctx.fillRect(left + w + 3 * pixels, e.y - 4 * pixels, 3 * pixels, 8 * pixels); ctx.fillStyle = colour("ink"); ctx.fillText(fitted(ctx, e.text, room * pixels), left + w + beforeLabel * pixels, e.y); }
        ctx.restore();
      }],
    },
  }, data, frame);
}

/// Returns what redraws it for another measure or axis.
export function comparedPlot(parent, state, words) {
  const place = card(parent, {id: "curves", title: "How do they get on?", kind: "wide"});
  const how = element(place, "p", {class: "how"}), readout = element(place, "div", {class: "readout"}), frame = element(place, "div", {class: "multiples"});
  let plots = [], width = 0;
  const build = () => {
    for (const plot of plots) plot.destroy();
    frame.replaceChildren();
    width = paper.isOn ? paper.width : frame.clientWidth || 800;
    const made = curves(state), isSmall = state.settings.length > mostInOne;
    const seeds = Math.max(...state.settings.map(s => s.runs.length));
    how.textContent = `${words.titleOf(state.measure)} against ${words.axisTitle(state.axis)}. Lines are means over seeds${seeds > 1 ? `, thin lines the seeds, bands ${seeds > 3 ? "95 % intervals of the mean" : "their range"}` : ""}; a line ends where the first of its runs does.${isSmall ? " A plot each, the others in grey; the scale is the same." : " The pointer lifts a setting; drag zooms, double click goes back."}${!isSmall && unified(state).length ? ` Marks below: unifications of ${unified(state).map(s => s.setting).join(", ")}.` : ""}`;
    if (!isSmall) plots = [drawn(frame, made, state.settings.map((_, i) => i), state, words, {width, height: 340, isSmall})];
    else {
      const columns = Math.max(1, Math.floor(width / 260)), wide = Math.floor(width / columns) - 8;
      plots = state.settings.map((setting, i) => {
        const one = element(frame, "div", {class: "multiple"});
        const end = meanOf(setting.runs.map(r => r.end?.[state.measure] ?? NaN));
        element(one, "h3", {}, `${setting.setting} ${isNumber(end.mean) ? (words.unitOf(state.measure) === "share" ? tenths : wordOf(words.unitOf(state.measure)))(end.mean) : ""}`);
        return drawn(one, made, [i], state, words, {width: wide, height: 150, isSmall});
      });
    }
    readout.hidden = true;
  };
  build();
  new ResizeObserver(() => { if (!paper.isOn && frame.clientWidth && Math.abs(frame.clientWidth - width) > 1) build(); }).observe(frame);
  onRedraw(build);
  return build;
}
