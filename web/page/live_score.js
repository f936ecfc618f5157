// The score of the last seconds of a run that goes on, from the marks that its server sends.
import {card, element} from "./dom.js";
import {fateOf} from "./score_data.js";
import {drawScore, heightOf, left, right} from "./score_view.js";
import {selected} from "./selection.js";
import {sheet} from "./sheet.js";
import {store} from "./store.js";
import {seconds} from "./words.js";

const mostStaves = 40, mostKept = 6000;

/// `draw`, later and seldom enough to leave four fifths of the time to other things.
export function atLeisure(draw) {
  let isDue = false, cost = 0;
  return () => {
    if (isDue) return;
    isDue = true;
    setTimeout(() => {
      isDue = false;
      const begun = performance.now();
      draw();
      cost = performance.now() - begun;
    }, Math.max(100, 4 * cost));
  };
}

export function liveScore(parent, hello) {
  const place = card(parent, {id: "score", title: "The score of the last seconds", kind: "wide", how: "Computations, messages and merges as they happen; the end of the run has all of it."});
  const status = element(place, "p", {class: "note"}, "Marks come while the run is in virtual time in one process.");
  const kinds = hello.mark_kinds || [], clients = Math.min(hello.clients || 0, mostStaves);
  const rows = [...Array(clients).keys()].map(client => ({clients: [client]}));
  const rowOf = Int32Array.from({length: hello.clients || 1}, (_, i) => i < clients ? i : -1);
  let marks = [], newest = 0;
  const made = sheet(place, {label: "The score of the last seconds", height: () => clients ? heightOf(rows) : 20, draw(ctx, width, height) {
    if (!marks.length) return;
    const span = Math.max(.05, newest - (marks.at(-Math.min(marks.length, 40 * clients))?.at ?? newest));
    const [from, to] = [newest - span, newest];
    const x = at => left + (at - from) / (to - from) * (width - left - right);
    drawScore(ctx, {from, to, x, rows, rowOf, width, height, selected: selected(), hasWork: false, usualWay: 0}, [partOf(marks, from, to)], {}, {events: store.data.events.slice(-200), away: [], partitions: []}, null);
  }});
  const redraw = atLeisure(made.redraw);
  return {
    draw: made.redraw,
    add(frame) {
      frame.kind.forEach((kind, i) => marks.push({kind: kinds[kind], at: frame.at[i], client: frame.client[i], other: frame.other[i], since: frame.since[i]}));
      if (!frame.kind.length) return;
      marks.sort((a, b) => a.at - b.at);
      marks = marks.slice(-mostKept);
      newest = marks.at(-1).at;
      status.textContent = `At ${seconds(newest)}${frame.dropped ? `; ${frame.dropped} marks were too many to send` : ""}.`;
      if (document.visibilityState === "visible") redraw();
    },
  };
}

// The marks as a part of a score. A message is known when it has come to its end.
function partOf(marks, from, to) {
  const computations = marks.filter(m => m.kind === "compute"), publications = marks.filter(m => m.kind === "publish");
  const arrivals = new Map(), ended = [];
  for (const m of marks) {
    const key = `${m.client} ${m.other} ${m.since}`;
    if (m.kind === "kept") arrivals.set(key, m.at);
    if (m.kind === "absorbed") { ended.push({m, fate: fateOf.merged, arrived: arrivals.get(key) ?? NaN}); arrivals.delete(key); }
    if (["late", "capped", "superseded"].includes(m.kind)) ended.push({m, fate: fateOf[m.kind], arrived: m.at});
    if (m.kind === "lost") ended.push({m: {...m, since: m.at}, fate: fateOf.lost, arrived: NaN});
  }
  ended.sort((a, b) => a.m.since - b.m.since);
  const of = pick => ended.map(pick), column = (list, key) => ({size: list.length, at: list.map(m => m.at), client: list.map(m => m[key])});
  const messages = {size: ended.length, sender: of(e => e.m.other), receiver: of(e => e.m.client), sent: of(e => e.m.since), arrived: of(e => e.arrived), ended: of(e => e.fate === fateOf.lost ? NaN : e.m.at), fate: of(e => e.fate), lag: of(() => 0), window: of(() => -1)};
  const windows = [], index = new Map();
  for (const m of marks) if (m.kind === "merge") { index.set(`${m.client} ${m.at}`, windows.length); windows.push({client: m.client, from: m.since < m.at ? m.since : NaN, to: m.at, members: []}); }
  ended.forEach((e, i) => {
    const window = e.fate === fateOf.merged ? index.get(`${e.m.client} ${e.m.at}`) : undefined;
    if (window === undefined) return;
    messages.window[i] = window;
    windows[window].members.push(i);
  });
  return {from: -Infinity, to: Infinity, computations: column(computations, "client"), publications: column(publications, "client"), messages, windows, longest: Math.max(0, ...of(e => e.m.at - e.m.since)), waits: {size: 0}, begins: from, ends: to};
}
