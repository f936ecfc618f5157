// The score of the run: clients as staves, with exact times. A strip of the whole run above, a stretch of it below.
import {card, choice, element, keyed, note} from "./dom.js";
import {colour, faint, onRedraw} from "./paint.js";
import {piecesOf} from "./path.js";
import {fates, readScore} from "./score_data.js";
import {story} from "./score_story.js";
import {drawScore, heightOf, left, lineOf, paintOf, right} from "./score_view.js";
import {selected, setSelected} from "./selection.js";
import {sheet, explains} from "./sheet.js";
import {on, store} from "./store.js";
import {count, instant, isNumber, many, seconds} from "./words.js";

const mostStaves = 60;

// When which client was away, and which partitions there were, from the events.
function churnOf(events, end) {
  const away = [], partitions = [], since = new Map();
  let cut = null;
  for (const [at, what, client] of events) {
    if (["leave", "crash", "pause", "absent"].includes(what)) since.set(client, [at, what]);
    if (["come", "go on"].includes(what) && since.has(client)) {
      away.push([client, since.get(client)[0], at, {leave: "away", absent: "not yet there", crash: "crashed", pause: "paused"}[since.get(client)[1]]]);
      since.delete(client);
    }
    if (what === "partition") { if (cut !== null) partitions.push([cut, at]); cut = at; }
    if (what === "heal" && cut !== null) { partitions.push([cut, at]); cut = null; }
  }
  for (const [client, [at, what]] of since) away.push([client, at, end, {leave: "gone", absent: "not yet there", crash: "crashed", pause: "paused"}[what]]);
  if (cut !== null) partitions.push([cut, end]);
  return {events, away, partitions};
}

function neighboursOf(client) {
  const {links} = store.data, all = new Set([client]);
  if (links && !links.groups) links.sender.forEach((s, i) => {
    if (s === client) all.add(links.receiver[i]);
    if (links.receiver[i] === client) all.add(s);
  });
  return [...all].sort((a, b) => a - b).slice(0, mostStaves);
}

function slowest(number) {
  const all = store.data.clients.columns;
  if (!all) return [];
  return all.computations.map((v, i) => [v, i]).sort((a, b) => a[0] - b[0]).slice(0, number).map(([, i]) => i).sort((a, b) => a - b);
}

const alone = clients => clients.map(client => ({clients: [client]}));
function rowsOf(show, clients) {
  if (show === "slowest") return alone(slowest(10));
  if (show.startsWith("client ")) return alone(neighboursOf(Number(show.slice(7))));
  if (show.startsWith("group ")) {
    const [first, end] = show.slice(6).split("-").map(Number);
    return alone([...Array(end - first + 1).keys()].map(i => first + i));
  }
  if (clients <= mostStaves) return alone([...Array(clients).keys()]);
  const each = Math.ceil(clients / mostStaves), rows = [];
  for (let first = 0; first < clients; first += each) rows.push({clients: [...Array(Math.min(each, clients - first)).keys()].map(i => first + i)});
  return rows;
}

// The stretch that is shown first: some three hundred marks of those that are shown.
function firstStretch(score, rows) {
  const {summary} = store.data, part = score.parts[0], from = part.from;
  if (!rows.every(row => row.clients.length === 1)) return [from, Math.min(part.to, score.end)];
  const rate = (summary.computations + (summary.messages?.sent || 0)) / score.end || 1, computing = summary.computations / score.end || 1;
  return [from, Math.min(part.to, score.end, from + Math.max(300 / rate, 30 / computing))];
}

export function scoreCard(parent) {
  const {score, summary} = store.data;
  const place = card(parent, {id: "score", title: "The score: who did what, and when?", kind: "wide", how:
    "A staff a client. Drag moves the stretch, the wheel and two fingers zoom, a click on a message tells its story; in the strip above a drag chooses a stretch."});
  if (!score || !score.parts.length) return void note(place, score === null || !store.data.timeline ? "The run left no record of its steps." : "The steps of this run cannot be walked again.");
  const told = element(place, "p", {class: "story", "aria-live": "polite"});
  const state = {show: "all", range: [0, score.end], chosen: null, hasWork: false, hasPath: true};
  const path = store.data.waits?.path ? piecesOf(store.data.waits.path) : null;
  const marks = churnOf(store.data.events || [], score.end);
  let parts = [], rows = rowsOf("all", summary.clients), drawn = null, view = null;
  const controls = element(place, "div", {class: "controls"});
  const rowOf = () => {
    const of = new Int32Array(summary.clients).fill(-1);
    rows.forEach((row, i) => { for (const client of row.clients) of[client] = i; });
    return of;
  };
  let rowIndex = rowOf();
  const strip = sheet(place, {label: "The whole run", height: 40, draw: drawStrip});
  const made = sheet(place, {label: "The score", height: () => heightOf(rows), draw(ctx, width, height) {
    const [from, to] = state.range;
    const x = at => left + (at - from) / (to - from) * (width - left - right);
    view = {from, to, x, rows, rowOf: rowIndex, width, height, selected: selected(), hasWork: state.hasWork, path: state.hasPath && path, usualWay: score.usual_way || 0};
    drawn = drawScore(ctx, view, parts, score, marks, state.chosen);
  }});
  made.canvas.className = "score";
  const legend = element(place, "p", {class: "legend"});
  const under = note(place, "");
  const keys = () => {
    legend.replaceChildren();
    keyed(legend, "computation", colour("blue"), "bar");
    keyed(legend, "publication", colour("ink"), "round");
    keyed(legend, "window, from the first arrival to the merge", colour("green"));
    keyed(legend, "red ring: merged together", colour("red"), "ring");
    const fatesSeen = new Set(parts.flatMap(part => [...new Set(part.messages.fate)]));
    for (const fate of fatesSeen) if (fates[fate] !== "merged") keyed(legend, {superseded: "≋ superseded", late: "◌ late", capped: "▽ above the cap", lost: "✕ lost by the link", partition: "✕ lost to a partition", absent: "✕ its receiver was away", other: "refused", waiting: "in a mailbox at the end", "under way": "under way at the end"}[fates[fate]], colour(paintOf(fate)));
    if ((store.data.events || []).some(event => event[1] === "unification")) keyed(legend, "║ unification", colour("violet"));
    if (parts.some(part => part.waits.size)) keyed(legend, "waits", faint("ink", .2));
    if (path) keyed(legend, "critical path", colour("orange"));
  };
  onRedraw(keys);

  function drawStrip(ctx, width) {
    const {course} = store.data, x = at => left + at / score.end * (width - left - right);
    ctx.fillStyle = colour("soft");
    ctx.textAlign = "right";
    ctx.fillText("whole run", left - 6, 18);
    if (course) {
      const slice = score.end / course.slices, most = Math.max(1, ...course.sent), lost = course.lost.map((v, i) => v + course.partition[i] + course.absent[i] + course.late[i] + course.capped[i]);
      for (let i = 0; i < course.slices; ++i) {
        const wide = Math.max(1, x((i + 1) * slice) - x(i * slice) - .3);
        ctx.fillStyle = faint("blue", .55);
        ctx.fillRect(x(i * slice), 32 - 24 * course.sent[i] / most, wide, 24 * course.sent[i] / most);
        ctx.fillStyle = colour("red");
        ctx.fillRect(x(i * slice), 32 - 24 * lost[i] / most, wide, 24 * lost[i] / most);
      }
    }
    for (const [at, what] of store.data.events || []) {
      ctx.fillStyle = colour(what === "unification" ? "violet" : "red");
      ctx.fillRect(x(at) - .5, 2, 1, 30);
    }
    if (score.parts.length > 1) {
      ctx.fillStyle = colour("green");
      for (const part of score.parts) ctx.fillRect(x(part.from), 34, Math.max(2, x(part.to) - x(part.from)), 3);
    }
    const [from, to] = state.range;
    ctx.fillStyle = faint("orange", .18);
    ctx.fillRect(x(from), 0, Math.max(2, x(to) - x(from)), 36);
    ctx.strokeStyle = colour("orange");
    ctx.strokeRect(x(from), .5, Math.max(2, x(to) - x(from)), 35);
  }

  const redraw = () => {
    made.redraw();
    strip.redraw();
    const [from, to] = state.range;
    const level = {density: "Density by client and pixel, computations above and merges below: zoom in to see marks.", marks: "", words: "Under a merge: sender and age, − how many newer ones its sender had sent."}[drawn?.level] || "";
    const cut = score.parts.length > 1 ? ` Marks are here of ${many(score.parts.length, "stretch", "stretches")} (green in the strip), of the whole run its density.` : "";
    under.textContent = `${instant(from, to - from)} to ${instant(to, to - from)} of ${seconds(score.end)}. ${level}${cut}${score.has_arrivals ? "" : " The record of this run has no arrivals: a line ends at the merge."}`;
  };
  const smallest = Math.max(score.unit * 20, 1e-6);
  let asked = 0;
  const setRange = (from, to) => {
    const span = Math.min(score.end, Math.max(smallest, to - from)), begin = Math.min(score.end - span, Math.max(0, from));
    state.range = [begin, begin + span];
    cancelAnimationFrame(asked);
    asked = requestAnimationFrame(redraw);
  };
  const zoomAt = (pixel, factor) => {
    const at = view.x.back(pixel), [from, to] = state.range;
    setRange(at - (at - from) * factor, at + (to - at) * factor);
  };
  const setShow = show => {
    state.show = show;
    rows = rowsOf(show, summary.clients);
    rowIndex = rowOf();
    redraw();
  };
  choice(controls, "show", [["all", `all ${count(summary.clients)}`], ["slowest", "slowest 10"]], "all", setShow);
  const label = element(controls, "label", {}, "client and its neighbours ");
  const asks = element(label, "input", {type: "number", min: 0, max: summary.clients - 1, "aria-label": "client and its neighbours"});
  asks.addEventListener("change", () => {
    const client = Math.round(Number(asks.value));
    if (asks.value !== "" && client >= 0 && client < summary.clients) { setShow(`client ${client}`); setSelected(client); }
  });
  const ticked = (text, key) => {
    const tick = element(controls, "label"), box = element(tick, "input", {type: "checkbox"});
    box.checked = state[key];
    tick.append(` ${text}`);
    box.addEventListener("change", () => { state[key] = box.checked; redraw(); });
  };
  ticked("computations from the tick before", "hasWork");
  if (path) ticked("critical path", "hasPath");
  for (const [text, act] of [["−", () => zoomAt((left + made.width) / 2, 2)], ["+", () => zoomAt((left + made.width) / 2, .5)], ["whole run", () => setRange(0, score.end)]]) {
    const button = element(controls, "button", {type: "button", "aria-label": {"−": "zoom out", "+": "zoom in"}[text]}, text);
    button.addEventListener("click", act);
  }

  // The message next to a place, if it is near.
  const hit = (px, py) => {
    if (!drawn || drawn.level === "density") return null;
    let best = null, nearest = 7 ** 2;
    for (const [part, found] of drawn.found)
      for (const index of found.messages)
        for (const [x1, y1, x2, y2] of lineOf(view, part.messages, index)) {
          const length = (x2 - x1) ** 2 + (y2 - y1) ** 2 || 1;
          const t = Math.max(0, Math.min(1, ((px - x1) * (x2 - x1) + (py - y1) * (y2 - y1)) / length));
          const d = (x1 + t * (x2 - x1) - px) ** 2 + (y1 + t * (y2 - y1) - py) ** 2;
          if (d < nearest) [best, nearest] = [{part, index}, d];
        }
    return best;
  };
  const tell = chosen => {
    state.chosen = chosen;
    told.textContent = chosen ? story(chosen.part, chosen.index, state.range[1] - state.range[0]) : "";
    redraw();
  };
  const fingers = new Map();
  let moved = 0, start = null;
  const place_ = event => { const b = made.canvas.getBoundingClientRect(); return [event.clientX - b.left, event.clientY - b.top]; };
  made.canvas.addEventListener("pointerdown", event => {
    fingers.set(event.pointerId, place_(event));
    moved = 0;
    start = {range: [...state.range], at: [...fingers.values()].map(([x]) => view.x.back(x)), x: place_(event)[0]};
    made.canvas.setPointerCapture(event.pointerId);
  });
  made.canvas.addEventListener("pointermove", event => {
    if (!fingers.has(event.pointerId)) return;
    fingers.set(event.pointerId, place_(event));
    const span = start.range[1] - start.range[0], wide = view.width - left - right;
    if (fingers.size === 1) {
      const shift = (start.x - place_(event)[0]) / wide * span;
      moved = Math.max(moved, Math.abs(start.x - place_(event)[0]));
      if (moved > 3) setRange(start.range[0] + shift, start.range[1] + shift);
    } else if (start.at.length > 1) {
      const [[a], [b]] = [...fingers.values()];
      moved = 9;
      if (Math.abs(a - b) < 10) return;
      const scale = (start.at[1] - start.at[0]) / (b - a);
      if (scale > 0) setRange(start.at[0] - (a - left) * scale, start.at[0] - (a - left) * scale + scale * wide);
    }
  });
  for (const name of ["pointerup", "pointercancel"])
    made.canvas.addEventListener(name, event => {
      const wasOne = fingers.size === 1;
      fingers.delete(event.pointerId);
      if (!wasOne || moved > 3 || name === "pointercancel") return;
      const [x, y] = place_(event), row = rows[Math.floor((y - 18) / ((made.height - 40) / rows.length))];
      if (x < left && row) return row.clients.length > 1 ? setShow(`group ${row.clients[0]}-${row.clients.at(-1)}`) : setSelected(row.clients[0]);
      tell(hit(x, y));
    });
  made.canvas.addEventListener("wheel", event => {
    if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      const span = state.range[1] - state.range[0], shift = (event.deltaX || event.deltaY) / made.width * span;
      setRange(state.range[0] + shift, state.range[1] + shift);
    } else if (event.ctrlKey || document.activeElement === made.canvas) zoomAt(place_(event)[0], Math.exp(event.deltaY / 400));
    else return;
    event.preventDefault();
  }, {passive: false});
  made.canvas.addEventListener("keydown", event => {
    const [from, to] = state.range, span = to - from;
    if (event.key === "ArrowLeft") setRange(from - span / 4, to - span / 4);
    else if (event.key === "ArrowRight") setRange(from + span / 4, to + span / 4);
    else if (event.key === "+") zoomAt((left + made.width) / 2, .5);
    else if (event.key === "-") zoomAt((left + made.width) / 2, 2);
    else if (event.key === "j" || event.key === "k") nextMessage(event.key === "j" ? 1 : -1);
    else if (event.key === "/") asks.focus();
    else if (event.key === "Escape") tell(null);
    else return;
    event.preventDefault();
  });
  // The next message of the stretch, in the order of departures.
  function nextMessage(step) {
    const all = drawn.level === "density" ? [] : drawn.found.flatMap(([part, f]) => f.messages.map(index => ({part, index})));
    if (!all.length) return;
    const at = all.findIndex(one => one.part === state.chosen?.part && one.index === state.chosen?.index);
    tell(all[at < 0 ? 0 : (at + step + all.length) % all.length]);
  }
  const stripPlace = event => { const b = strip.canvas.getBoundingClientRect(); return Math.min(score.end, Math.max(0, (event.clientX - b.left - left) / (b.width - left - right) * score.end)); };
  let brush = null;
  strip.canvas.addEventListener("pointerdown", event => { brush = stripPlace(event); strip.canvas.setPointerCapture(event.pointerId); });
  strip.canvas.addEventListener("pointermove", event => { if (brush !== null && Math.abs(stripPlace(event) - brush) > score.end / 300) setRange(Math.min(brush, stripPlace(event)), Math.max(brush, stripPlace(event))); });
  strip.canvas.addEventListener("pointerup", event => {
    const at = stripPlace(event), span = state.range[1] - state.range[0];
    if (brush !== null && Math.abs(at - brush) <= score.end / 300) setRange(at - span / 2, at + span / 2);
    brush = null;
  });
  explains(strip, (px) => {
    const at = (px - left) / (strip.width - left - right) * score.end, near = (store.data.events || []).find(e => Math.abs(e[0] - at) < score.end / 200);
    return near ? `${seconds(near[0])}: ${near[1]}${isNumber(near[2]) ? ` ${near[1] === "unification" ? "with hub " : "of client "}${near[2]}` : ""}${near[4] ? ` ${near[4]}` : ""}` : "";
  });
  on("selection", () => redraw());
  readScore(score).then(read => {
    parts = read;
    state.range = firstStretch(score, rows);
    keys();
    redraw();
    performance.mark("rubato ready");
    place.dataset.ready = "yes";
  });
  place.showScore = (from, to) => setRange(from, to);
}
