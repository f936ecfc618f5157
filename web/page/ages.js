// How old is what they hear? The age of messages when they are merged: on the way, and in the mailbox; in seconds and in versions.
import {card, element, note} from "./dom.js";
import {linePlot} from "./lines.js";
import {marks} from "./marks.js";
import {colour, mixed} from "./paint.js";
import {axisX, axisY, explains, scale, sheet} from "./sheet.js";
import {on, store} from "./store.js";
import {linearTicks, logTicks} from "./ticks.js";
import {count, many, seconds, share} from "./words.js";

// A cell is the darker, the more messages of its age were merged in its part of the run.
function heat(place, ages) {
  const left = 60, right = 16, bottom = 190;
  const filled = ages.cells.map(cell => cell[1]);
  const low = Math.min(...filled), high = Math.max(...filled) + 1, most = Math.max(...ages.cells.map(cell => cell[2]));
  const edge = bin => ages.smallest * 2 ** (bin / ages.per_octave);
  let x, y;
  const slice = ages.end / ages.slices, cells = new Map(ages.cells.map(cell => [cell[0] * 4096 + cell[1], cell[2]]));
  const range = () => store.view.axis === "seconds" && store.view.range || [0, ages.end];
  const made = sheet(place, {label: "Ages of merged messages in the course of the run", height: bottom + 24, draw(ctx, width) {
    x = scale(...range(), left, width - right);
    y = scale(low, high, bottom, 8);
    ctx.save();
    ctx.beginPath();
    ctx.rect(left, 0, width - right - left, bottom);
    ctx.clip();
    for (const [part, bin, number] of ages.cells) {
      ctx.fillStyle = mixed("green", .12 + .88 * Math.sqrt(number / most));
      ctx.fillRect(x(part * slice), y(bin + 1), Math.max(1, x((part + 1) * slice) - x(part * slice)) + .4, y(bin) - y(bin + 1) + .4);
    }
    if (ages.window > 0 && ages.window >= edge(low)) {
      const at = y(Math.log2(ages.window / ages.smallest) * ages.per_octave);
      ctx.strokeStyle = colour("ink");
      ctx.setLineDash([4, 3]);
      ctx.beginPath();
      ctx.moveTo(left, at);
      ctx.lineTo(width - right, at);
      ctx.stroke();
      ctx.setLineDash([]);
      ctx.fillStyle = colour("ink");
      ctx.textAlign = "left";
      ctx.fillText("window", left + 4, at - 7);
    }
    ctx.restore();
    axisX(ctx, x, linearTicks(...range(), Math.max(2, Math.floor(width / 100))), bottom, v => seconds(v));
    axisY(ctx, v => y(Math.log2(v / ages.smallest) * ages.per_octave), logTicks(edge(low), edge(high), 5), left, left, v => seconds(v, 2));
  }});
  explains(made, (px, py) => {
    const part = Math.floor(x.back(px) / slice), bin = Math.floor(y.back(py));
    const number = cells.get(part * 4096 + bin);
    return number ? `${seconds(part * slice)} to ${seconds((part + 1) * slice)}: ${many(number, "message")} of ${seconds(edge(bin), 2)} to ${seconds(edge(bin + 1), 2)}` : "";
  });
  on("range", made.redraw);
  on("view", made.redraw);
}

const parts = ages => () => {
  const slice = ages.end / ages.slices, kept = ages.merged.map((n, i) => [n, i]).filter(([n]) => n > 0).map(([, i]) => i);
  const mean = sums => kept.map(i => sums[i] / ages.merged[i]);
  const lines = [{name: "age", values: mean(ages.age), paint: "green", label: "age"}];
  if (ages.transit) lines.push({name: "on the way", values: mean(ages.transit), paint: "blue", dash: [6, 4], label: "on the way"},
                               {name: "in the mailbox", values: kept.map(i => (ages.age[i] - ages.transit[i]) / ages.merged[i]), paint: "orange", dash: [2, 3], label: "in the mailbox"});
  return {times: kept.map(i => (i + .5) * slice), lines, word: seconds, zero: true, marks: marks()};
};

export function ageCards(parent) {
  const {ages, summary} = store.data;
  const place = card(parent, {id: "ages", title: "How old is what they hear?", how:
    "From the departure of a message to its merge; the darker a square, the more messages of this age. In a window a message waits for others."});
  const s = summary.staleness_seconds || {};
  element(place, "p", {class: "legend"}, s.mean === undefined ? "" : `mean ${seconds(s.mean)}, 95 % are below ${seconds(s.p95)}`);
  if (!ages || !ages.cells.length) return void note(place, ages ? "No message was merged with a delay." : "Ages in the course of the run are not known: there is no record.");
  heat(place, ages);
  if (ages.versions?.length) {
    const total = ages.versions.reduce((sum, n) => sum + n, 0), fresh = ages.versions[0] || 0;
    const mean = ages.versions.reduce((sum, n, k) => sum + n * k, 0) / total;
    note(place, `In versions: ${share(fresh / total)} of ${count(total)} merged messages were the newest of their sender when they were merged; on average a sender had sent ${Number(mean.toFixed(3))} more by then, at most ${count(ages.versions.length - 1)}.`);
  }
  linePlot(card(parent, {id: "age-parts", title: "Where do they grow old?", how: "Mean age of what is merged, and its parts: on the way and in the mailbox of the receiver."}),
    {title: "Parts of the age", give: parts(ages), file: "ages"});
}
