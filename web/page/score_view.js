// Draws a stretch of the score: a staff a client, what it does on it, messages between the staves. What there is to see follows the
// zoom: many marks are drawn as density, fewer one by one, few with words.
import {channels, colour, faint} from "./paint.js";
import {fateOf, lowerBound} from "./score_data.js";
import {textFont} from "./texts.js";
import {linearTicks} from "./ticks.js";
import {instant, isNumber, seconds} from "./words.js";

export const left = 74, right = 14, top = 18, bottomRoom = 22;
const mostMarks = 3000, mostWords = 90;
const paints = ["blue", "violet", "orange", "yellow", "red", "pink", "teal", "soft", "soft", "soft"];
export const paintOf = fate => paints[fate];

export const heightOf = rows => top + bottomRoom + rows.length * rowHeight(rows);
const rowHeight = rows => rows.length > 40 ? 14 : rows.length > 12 ? 22 : 34;

/// Which marks of a part lie in the stretch and on the rows.
function inView(part, view) {
  const {from, to, rowOf} = view, found = {computations: [], messages: []};
  const c = part.computations, m = part.messages;
  for (let i = lowerBound(c.at, from), end = lowerBound(c.at, to); i < end; ++i) if (rowOf[c.client[i]] >= 0) found.computations.push(i);
  for (let i = lowerBound(m.sent, from - part.longest), end = lowerBound(m.sent, to); i < end; ++i) {
    const until = isNumber(m.ended[i]) ? m.ended[i] : m.arrived[i];
    if (until < from || (m.sent[i] < from && !(until >= from)) || (rowOf[m.sender[i]] < 0 && rowOf[m.receiver[i]] < 0)) continue;
    found.messages.push(i);
  }
  return found;
}

const isStave = row => row.clients.length === 1;

/// Computations (above) and merges (below) by row and pixel; of marks, or of the density of the whole run.
function drawDensity(ctx, view, parts, score) {
  const {x, rows, rowOf, width} = view, columns = Math.max(1, Math.floor(width - left - right)), high = rowHeight(rows);
  const above = new Float64Array(rows.length * columns), below = new Float64Array(rows.length * columns);
  const add = (into, row, at, number) => {
    const column = Math.floor(x(at) - left);
    if (row >= 0 && column >= 0 && column < columns) into[row * columns + column] += number;
  };
  const covered = parts.filter(part => part.from <= view.from && part.to >= view.to);
  for (const part of covered) {
    const c = part.computations, m = part.messages;
    for (let i = lowerBound(c.at, view.from), end = lowerBound(c.at, view.to); i < end; ++i) add(above, rowOf[c.client[i]], c.at[i], 1);
    for (let i = lowerBound(m.sent, view.from - part.longest), end = lowerBound(m.sent, view.to); i < end; ++i)
      if (m.fate[i] === fateOf.merged) add(below, rowOf[m.receiver[i]], m.ended[i], 1);
  }
  if (!covered.length && score.density) spreadDensity(score.density, view, above, below, columns);
  // A pixel a value, upper and lower half of a row after each other, scaled to the rows at once.
  const image = ctx.createImageData(columns, 2 * rows.length);
  [[above, "blue"], [below, "green"]].forEach(([values, name], half) => {
    const most = Math.max(1e-9, usualMost(values)), [r, g, b] = channels(name);
    for (let row = 0; row < rows.length; ++row)
      for (let column = 0; column < columns; ++column) {
        const value = values[row * columns + column];
        if (!value) continue;
        const at = 4 * ((2 * row + half) * columns + column);
        image.data[at] = r;
        image.data[at + 1] = g;
        image.data[at + 2] = b;
        image.data[at + 3] = 255 * Math.min(1, .2 + .8 * value / most);
      }
  });
  scratch.width = columns;
  scratch.height = 2 * rows.length;
  scratch.getContext("2d").putImageData(image, 0, 0);
  ctx.imageSmoothingEnabled = false;
  ctx.drawImage(scratch, 0, 0, columns, 2 * rows.length, left, top, columns, rows.length * high);
}

const scratch = document.createElement("canvas");

// Three times the usual value: one crowded pixel must not pale the others.
function usualMost(values) {
  let sum = 0, number = 0;
  for (let i = 0; i < values.length; ++i) if (values[i] > 0) { sum += values[i]; ++number; }
  return number ? 3 * sum / number : 1;
}

// The density is of slices and groups of clients; a pixel gets its share.
function spreadDensity(density, view, above, below, columns) {
  const {rows, x} = view, slice = density.end / density.slices;
  rows.forEach((row, r) => {
    const groups = new Map();
    for (const client of row.clients) {
      const group = Math.floor(client / density.per_group);
      groups.set(group, (groups.get(group) || 0) + 1);
    }
    for (let column = 0; column < columns; ++column) {
      const at = Math.min(density.slices - 1, Math.max(0, Math.floor(x.back(left + column + .5) / slice)));
      for (const [group, clients] of groups) {
        above[r * columns + column] += density.computations[group * density.slices + at] * clients / density.per_group;
        below[r * columns + column] += density.merges[group * density.slices + at] * clients / density.per_group;
      }
    }
  });
}

function staves(ctx, view, marks) {
  const {rows, width, from, to} = view, high = rowHeight(rows);
  ctx.textAlign = "right";
  ctx.font = textFont(high < 18 ? 9 : 11);
  rows.forEach((row, i) => {
    const y = view.y(i);
    ctx.strokeStyle = colour("line");
    ctx.lineWidth = 1;
    ctx.beginPath();
    ctx.moveTo(left, y);
    ctx.lineTo(width - right, y);
    ctx.stroke();
    ctx.fillStyle = row.clients.includes(view.selected) ? colour("orange") : colour("soft");
    ctx.fillText(isStave(row) ? `client ${row.clients[0]}` : `${row.clients[0]}–${row.clients.at(-1)} ▸`, left - 6, y);
  });
  for (const [client, begin, end, what] of marks.away) {
    const row = view.rowOf[client];
    if (row === undefined || row < 0 || end < from || begin > to || !isStave(rows[row])) continue;
    const x1 = Math.max(left, view.x(begin)), x2 = Math.min(width - right, view.x(end));
    ctx.fillStyle = colour("card");
    ctx.fillRect(x1, view.y(row) - 2, x2 - x1, 4);
    ctx.strokeStyle = faint("red", .6);
    ctx.setLineDash([2, 5]);
    ctx.beginPath();
    ctx.moveTo(x1, view.y(row));
    ctx.lineTo(x2, view.y(row));
    ctx.stroke();
    ctx.setLineDash([]);
    if (x2 - x1 > 60) {
      ctx.fillStyle = colour("red");
      ctx.textAlign = "center";
      ctx.fillText(what, (x1 + x2) / 2, view.y(row) - 7);
      ctx.textAlign = "right";
    }
  }
  ctx.font = textFont();
}

function events(ctx, view, marks) {
  const {from, to, width, height} = view, end = height - bottomRoom;
  for (const [begin, until] of marks.partitions) {
    if (until < from || begin > to) continue;
    const x1 = Math.max(left, view.x(begin)), x2 = Math.min(width - right, view.x(until));
    ctx.fillStyle = faint("pink", .1);
    ctx.fillRect(x1, top - 4, x2 - x1, end - top + 4);
    ctx.fillStyle = colour("pink");
    ctx.textAlign = "left";
    if (x2 - x1 > 50) ctx.fillText("partition", x1 + 4, 9);
  }
  let words = 0;
  for (const [at, what, client] of marks.events) {
    if (at < from || at > to) continue;
    const isUnification = what === "unification", x = view.x(at);
    ctx.strokeStyle = ctx.fillStyle = colour(isUnification ? "violet" : "red");
    if (isUnification) {
      ctx.lineWidth = 1.6;
      ctx.beginPath();
      ctx.moveTo(x - 1.5, top - 4);
      ctx.lineTo(x - 1.5, end);
      ctx.moveTo(x + 1.5, top - 4);
      ctx.lineTo(x + 1.5, end);
      ctx.stroke();
      const row = view.rowOf[client];
      if (row >= 0) {
        ctx.beginPath();
        ctx.arc(x, view.y(row), 5, 0, 2 * Math.PI);
        ctx.fill();
      }
      ctx.textAlign = "left";
      if (++words < 12) ctx.fillText(`unification, hub ${client}`, Math.min(x + 5, width - 110), 9);
    } else if (view.rowOf[client] >= 0 && isStave(view.rows[view.rowOf[client]])) {
      ctx.lineWidth = 2;
      ctx.beginPath();
      ctx.moveTo(x, view.y(view.rowOf[client]) - 8);
      ctx.lineTo(x, view.y(view.rowOf[client]) + 8);
      ctx.stroke();
    }
  }
  ctx.lineWidth = 1;
}

function cross(ctx, x, y, size = 4) {
  ctx.beginPath();
  ctx.moveTo(x - size, y - size);
  ctx.lineTo(x + size, y + size);
  ctx.moveTo(x - size, y + size);
  ctx.lineTo(x + size, y - size);
  ctx.stroke();
}

function arrow(ctx, x1, y1, x2, y2) {
  ctx.beginPath();
  ctx.moveTo(x1, y1);
  ctx.lineTo(x2, y2);
  ctx.stroke();
  const length = Math.hypot(x2 - x1, y2 - y1);
  if (length < 12) return;
  const dx = (x2 - x1) / length, dy = (y2 - y1) / length;
  ctx.beginPath();
  ctx.moveTo(x2 - 2 * dx, y2 - 2 * dy);
  ctx.lineTo(x2 - 8 * dx + 3 * dy, y2 - 8 * dy - 3 * dx);
  ctx.lineTo(x2 - 8 * dx - 3 * dy, y2 - 8 * dy + 3 * dx);
  ctx.fill();
}

/// Where the line of a message lies: from its departure to its arrival, half of the way where it is lost, short stubs where the
/// other client has no staff near.
export function lineOf(view, m, i) {
  const a = view.rowOf[m.sender[i]], b = view.rowOf[m.receiver[i]];
  const isLost = m.fate[i] >= fateOf.lost && m.fate[i] <= fateOf.absent || m.fate[i] === fateOf["under way"];
  const arrival = isNumber(m.arrived[i]) ? m.arrived[i] : isNumber(m.ended[i]) ? m.ended[i] : m.sent[i] + view.usualWay;
  const isFar = a < 0 || b < 0 || Math.abs(a - b) > Math.max(6, view.rows.length / 2) && view.rows.length > 8;
  const x1 = view.x(m.sent[i]), x2 = view.x(arrival);
  if (!isFar) {
    const [y1, y2] = [view.y(a), view.y(b)];
    return [isLost ? [x1, y1, (x1 + x2) / 2, (y1 + y2) / 2] : [x1, y1, x2, y2]];
  }
  const down = a >= 0 && b >= 0 ? b < a : m.receiver[i] > m.sender[i];
  const stub = rowHeight(view.rows) * .45, lines = [];
  if (a >= 0) lines.push([x1, view.y(a), x1 + Math.min(12, (x2 - x1) / 2), view.y(a) + (down ? stub : -stub)]);
  if (b >= 0 && !isLost) lines.push([x2 - Math.min(12, (x2 - x1) / 2), view.y(b) + (down ? -stub : stub), x2, view.y(b)]);
  return lines;
}

function message(ctx, view, part, i, isChosen) {
  const m = part.messages, fate = m.fate[i], isMerged = fate === fateOf.merged;
  const name = isChosen ? "orange" : isMerged ? "soft" : paints[fate];
  ctx.strokeStyle = ctx.fillStyle = isChosen || !isMerged ? colour(name) : faint("soft", .8);
  ctx.lineWidth = isChosen ? 2.5 : 1;
  if (fate === fateOf.late || fate === fateOf.capped) ctx.setLineDash([5, 4]);
  const lines = lineOf(view, m, i);
  for (const [x1, y1, x2, y2] of lines) arrow(ctx, x1, y1, x2, y2);
  ctx.setLineDash([]);
  if (!lines.length) return;
  const [, , x, y] = lines.at(-1);
  ctx.lineWidth = 2;
  if (fate >= fateOf.lost && fate <= fateOf.absent) cross(ctx, x, y);
  if (fate === fateOf.late) { ctx.beginPath(); ctx.arc(x, y, 4, 0, 2 * Math.PI); ctx.stroke(); }
  if (fate === fateOf.capped) { ctx.beginPath(); ctx.moveTo(x - 5, y - 4); ctx.lineTo(x + 5, y - 4); ctx.lineTo(x, y + 5); ctx.closePath(); ctx.stroke(); }
  if (fate === fateOf.superseded) { ctx.textAlign = "center"; ctx.fillText("≋", x, y - 1); }
  ctx.lineWidth = 1;
}

function windows(ctx, view, part, found) {
  const m = part.messages, all = part.windows, seen = new Set(found.messages.map(i => m.window[i]).filter(w => w >= 0));
  const high = Math.min(9, rowHeight(view.rows) / 3);
  for (const index of seen) {
    const {client, from, to, members} = all[index], row = view.rowOf[client];
    if (row < 0) continue;
    const x1 = view.x(from), x2 = view.x(to), y = view.y(row);
    if (isNumber(from) && to > from) {
      ctx.fillStyle = faint("green", .3);
      ctx.fillRect(x1, y - high, Math.max(1, x2 - x1), 2 * high);
    }
    ctx.strokeStyle = colour("green");
    ctx.lineWidth = 2;
    ctx.beginPath();
    ctx.moveTo(x2, y - high);
    ctx.lineTo(x2, y + high);
    ctx.stroke();
    ctx.lineWidth = 1;
    members.forEach(i => {
      if (!isNumber(m.arrived[i])) return;
      ctx.fillStyle = colour("green");
      ctx.beginPath();
      ctx.arc(view.x(m.arrived[i]), y, 2.2, 0, 2 * Math.PI);
      ctx.fill();
      if (members.length < 2) return;
      ctx.strokeStyle = colour("red");
      ctx.beginPath();
      ctx.arc(view.x(m.arrived[i]), y, 4.5, 0, 2 * Math.PI);
      ctx.stroke();
    });
  }
}

function computations(ctx, view, part, found) {
  const c = part.computations, reach = Math.min(8, rowHeight(view.rows) / 3);
  const before = new Map();
  for (const i of found.computations) {
    const x = view.x(c.at[i]), y = view.y(view.rowOf[c.client[i]]);
    if (view.hasWork) {
      let from = before.get(c.client[i]);
      if (from === undefined) { let k = i - 1; while (k >= 0 && c.client[k] !== c.client[i]) --k; from = k < 0 ? part.from : c.at[k]; }
      ctx.fillStyle = faint("blue", .25);
      const x1 = Math.max(left, view.x(from)) + 1;
      ctx.fillRect(x1, y - reach * .6, Math.max(0, x - x1), reach * 1.2);
      before.set(c.client[i], c.at[i]);
    }
    ctx.fillStyle = colour("blue");
    ctx.fillRect(x - 1.5, y - reach, 3, 2 * reach);
  }
}

function waiting(ctx, view, part) {
  const w = part.waits, high = Math.min(6, rowHeight(view.rows) / 4);
  for (let i = 0; i < w.size; ++i) {
    const row = view.rowOf[w.client[i]];
    if (row < 0 || w.to[i] < view.from || w.from[i] > view.to) continue;
    ctx.fillStyle = faint("ink", .14);
    const x1 = Math.max(left, view.x(w.from[i]));
    ctx.fillRect(x1, view.y(row) - high, view.x(w.to[i]) - x1, 2 * high);
  }
}

/// The critical path: along the staves where a client works, across them where a message is on the way.
function criticalPath(ctx, view, path) {
  ctx.strokeStyle = faint("orange", .8);
  ctx.lineWidth = 3;
  ctx.beginPath();
  for (const [from, kind, client, other, to] of path) {
    const a = view.rowOf[kind === 1 ? other : client], b = view.rowOf[client];
    if (to < view.from || from > view.to || a < 0 || b < 0) continue;
    ctx.moveTo(view.x(from), view.y(a));
    ctx.lineTo(view.x(to), view.y(b));
  }
  ctx.stroke();
  ctx.lineWidth = 1;
}

function words(ctx, view, part, found) {
  const m = part.messages, all = part.windows, seen = new Set();
  ctx.fillStyle = colour("soft");
  ctx.font = textFont(9);
  ctx.textAlign = "center";
  for (const i of found.messages) {
    const index = m.window[i];
    if (index < 0 || seen.has(index)) continue;
    seen.add(index);
    const {client, to, members} = all[index], row = view.rowOf[client];
    if (row < 0) continue;
    const text = members.slice(0, 3).map(k => `${m.sender[k]}: ${seconds(to - m.sent[k], 2)}${m.lag[k] ? ` −${m.lag[k]}` : ""}`).join(", ") + (members.length > 3 ? " …" : "");
    ctx.fillText(text, view.x(to), view.y(row) + Math.min(13, rowHeight(view.rows) / 2 - 3));
  }
  ctx.font = textFont();
}

/// Draws it, and says what could be hit: {level, found}.
export function drawScore(ctx, view, parts, score, marks, chosen) {
  const {width, height} = view, high = rowHeight(view.rows);
  view.x.back = pixel => view.from + (pixel - left) / (width - left - right) * (view.to - view.from);
  view.y = row => top + (row + .5) * high;
  ctx.save();
  const inStretch = parts.filter(part => part.from <= view.to && part.to >= view.from);
  const found = inStretch.map(part => [part, inView(part, view)]);
  const number = found.reduce((sum, [, f]) => sum + f.computations.length + f.messages.length, 0);
  const isCovered = inStretch.some(part => part.from <= view.from + 1e-9 && part.to >= view.to - 1e-9);
  const isDense = number > mostMarks || view.rows.some(row => !isStave(row)) || !isCovered;
  staves(ctx, view, marks);
  ctx.beginPath();
  ctx.rect(left, 0, width - left - right, height - bottomRoom + 2);
  ctx.clip();
  if (isDense) drawDensity(ctx, view, parts, score);
  events(ctx, view, marks);
  if (view.path) criticalPath(ctx, view, view.path);
  if (!isDense) {
    for (const [part, f] of found) {
      waiting(ctx, view, part);
      computations(ctx, view, part, f);
      for (const i of f.messages) message(ctx, view, part, i, false);
      windows(ctx, view, part, f);
      const p = part.publications;
      ctx.fillStyle = colour("ink");
      for (let i = lowerBound(p.at, view.from), end = lowerBound(p.at, view.to); i < end; ++i) {
        if (view.rowOf[p.client[i]] < 0) continue;
        ctx.beginPath();
        ctx.arc(view.x(p.at[i]), view.y(view.rowOf[p.client[i]]), 2.4, 0, 2 * Math.PI);
        ctx.fill();
      }
      if (number <= mostWords) words(ctx, view, part, f);
      if (chosen?.part === part) message(ctx, view, part, chosen.index, true);
    }
  }
  ctx.restore();
  ctx.fillStyle = colour("soft");
  ctx.textAlign = "center";
  for (const tick of linearTicks(view.from, view.to, Math.max(2, Math.floor((width - left) / 100))))
    ctx.fillText(instant(tick, view.to - view.from), Math.min(width - 30, view.x(tick)), height - 9);
  return {level: isDense ? "density" : number <= mostWords ? "words" : "marks", found, number};
}
