// A run as it goes on: the same store, filled by the frames of a server (docs/live.md), and the report when the run has ended.
import {compare} from "./compare.js";
import {byId, card, element, note, table} from "./dom.js";
import {controls} from "./head.js";
import {forgetPlots} from "./lines.js";
import {liveHosts} from "./live_hosts.js";
import {atLeisure, liveScore} from "./live_score.js";
import {isMarked} from "./marks.js";
import {balance} from "./outcomes.js";
import {colour, forgetRedraws, mixed} from "./paint.js";
import {report} from "./report.js";
import {explains, sheet} from "./sheet.js";
import {addRows, column, fill, forget, last, store, tell} from "./store.js";
import {apartCards} from "./apart.js";
import {wellCards} from "./well.js";
import {bytes, count, isNumber, many, seconds, share, short, tenths} from "./words.js";

const server = {runId: null, first: 0, events: null, hello: null, tick: null, isOver: false, wait: 500, socket: null, isPaused: false, newest: null};
const chosen = () => new URLSearchParams(location.search).get("run");
const places = {};

// What is known of a run that has just begun, in the shape of a report's data.
function beginning(hello) {
  return {
    live: true, events: [], links: null, score: null, clients: {columns: null}, graph: {kind: "", clients: hello.clients, links: 0},
    summary: {algorithm: hello.algorithm, experiment: hello.name, clients: hello.clients, seed: hello.seed, clock: hello.clock, messages: {}},
    samples: {columns: (hello.columns || []).map(one => one.name), rows: [], total: 0, parted_at: null},
    words: {clock: hello.clock === "wall" ? "time of the experiment" : "virtual time", population: many(hello.clients || 0, "client"), measured: "", part: "", about: {until: hello.until}},
  };
}

function open(hello) {
  server.hello = hello;
  server.runId = hello.run_id;
  server.first = 0;
  server.events = null;
  fill(beginning(hello));
  document.querySelector("h1").textContent = hello.name || "Rubato";
  byId("subtitle").textContent = [hello.algorithm, many(hello.clients || 0, "client"), `seed ${hello.seed}`, hello.host && `host ${hello.host}`, (hello.started_at || "").slice(0, 16).replace("T", " "), hello.machine].filter(Boolean).join(" · ");
  for (const id of ["cards", "controls", "numbers", "warnings"]) byId(id).replaceChildren();
  forgetPlots();
  forgetRedraws();
  forget("selection");
  const main = byId("cards");
  byId("numbers").className = "";
  places.bar = element(byId("numbers"), "div", {class: "progress", role: "progressbar", "aria-valuemin": 0, "aria-valuemax": 100});
  element(places.bar, "i");
  places.state = element(byId("numbers"), "p", {class: "state", "aria-live": "polite"});
  const buttons = element(byId("numbers"), "p");
  const pause = element(buttons, "button", {type: "button"}, "pause view");
  pause.addEventListener("click", () => {
    server.isPaused = !server.isPaused;
    pause.textContent = server.isPaused ? "follow ▸" : "pause view";
    if (!server.isPaused) { tell("data"); places.score?.draw(); }
  });
  if (hello.kind === "compare") return;
  wellCards(main);
  places.hosts = (hello.hosts || []).length > 1 ? liveHosts(main, hello) : null;
  apartCards(main);
  const outcome = card(main, {id: "live-outcomes", title: "What became of the messages?", how: "So far; what is on its way has no outcome yet."});
  places.outcomes = element(outcome, "div");
  const squares = card(main, {id: "live-clients", title: "Who is left behind?", how: "A square a client that was measured last; the darker, the higher its accuracy (the lower its loss)."});
  places.squares = clientSquares(squares);
  places.score = liveScore(main, hello);
  places.log = element(card(main, {id: "log", title: "Log", how: "Newest first."}), "ul", {class: "log"});
}

function clientSquares(place) {
  const made = sheet(place, {label: "Clients by score", height: 150, draw(ctx, width, height) {
    const {newest} = server;
    if (!newest?.clients?.length) return;
    const isScored = newest.accuracies?.some(isNumber), values = isScored ? newest.accuracies : newest.losses;
    const n = newest.clients.length, columns = Math.ceil(Math.sqrt(n * width / height)), side = Math.min(width / columns, height / Math.ceil(n / columns));
    const known = values.filter(isNumber), low = Math.min(...known), high = Math.max(...known);
    made.columns = columns;
    made.side = side;
    newest.clients.forEach((client, i) => {
      const amount = (values[i] - low) / (high - low || 1);
      ctx.fillStyle = isNumber(values[i]) ? mixed("blue", .08 + .92 * (isScored ? amount : 1 - amount)) : colour("red");
      ctx.fillRect(i % columns * side, Math.floor(i / columns) * side, side - (side > 4 ? 1 : 0), side - (side > 4 ? 1 : 0));
    });
  }});
  explains(made, (x, y) => {
    const {newest} = server, i = Math.floor(x / made.side) + Math.floor(y / made.side) * made.columns;
    return newest && newest.clients[i] !== undefined ? `client ${newest.clients[i]}: ${isNumber(newest.accuracies?.[i]) ? share(newest.accuracies[i]) : `loss ${short(newest.losses?.[i])}`}` : "";
  });
  return made;
}

// Drawing takes a fifth of the time at most, however fast samples come.
const drawSamples = atLeisure(() => { tell("data"); places.squares?.redraw(); });

const setState = text => { if (places.state && places.state.textContent !== text) places.state.textContent = text; };

function showTick() {
  const {tick} = server;
  if (!tick || !places.bar) return;
  const done = tick.share ?? (tick.until ? tick.seconds / tick.until : 0);
  places.bar.setAttribute("aria-valuenow", Math.round(100 * done));
  places.bar.firstChild.style.width = `${100 * Math.min(1, done)}%`;
  const parts = [tick.state.toUpperCase()];
  parts.push(tick.share === undefined ? `${seconds(tick.seconds)} of ${seconds(tick.until)}` : `${tick.finished} of ${many(tick.runs, "run")}`);
  if (isNumber(tick.events_per_second)) parts.push(`${count(Math.round(tick.events_per_second))} events/s`);
  if (isNumber(tick.speed) && tick.speed > 0) parts.push(`× ${short(tick.speed)}`);
  if (isNumber(tick.left_seconds)) parts.push(`${seconds(tick.left_seconds, 3)} left`);
  if (!isOneHost() && isNumber(tick.clients_present) && tick.clients_present < store.data.summary.clients) parts.push(`${count(tick.clients_present)} clients there`);
  if (isNumber(tick.viewers)) parts.push(many(tick.viewers, "viewer"));
  if (tick.dropped) parts.push(`${count(tick.dropped)} frames dropped`);
  setState(parts.join(" · "));
  document.title = `${Math.round(100 * done)} % ${server.hello.name}`;
  if (!tick.messages || !places.outcomes) return;
  const m = tick.messages, b = balance(m);
  places.outcomes.replaceChildren();
  table(places.outcomes, ["messages", "number", "share"], [["sent", count(m.sent), ""], ...b.rows.filter(row => row[2]).map(([, name, value]) => [name, count(value), m.sent ? tenths(value / m.sent) : ""])], {class: "balance"});
  if (isNumber(tick.staleness?.mean)) note(places.outcomes, `What is merged is ${seconds(tick.staleness.mean, 3)} old on average.`);
}

// In real time a host samples its own clients.
const isOneHost = () => Boolean(server.hello?.host) && server.hello.clock === "wall";

function tellStory() {
  if (!store.rows) return;
  const clients = isOneHost() ? `clients of host ${server.hello.host}` : "clients", accuracy = last("accuracy_mean"), worst = last("accuracy_min"), client = last("accuracy_min_client");
  byId("story").textContent = isNumber(accuracy)
    ? `At ${seconds(last("seconds"))} ${clients} have an accuracy of ${tenths(accuracy)} (worst ${tenths(worst)}${isNumber(client) ? `, client ${client}` : ""}), their mean model ${tenths(last("accuracy_mean_model"))}; ${bytes(last("bytes_wire"))} were sent.`
    : `At ${seconds(last("seconds"))} ${clients} have a loss of ${short(last("loss_mean"))}, their mean model ${short(last("loss_mean_model"))}; ${bytes(last("bytes_wire"))} were sent.`;
}

const take = {
  hello(frame) {
    if (server.runId !== frame.run_id) open(frame);
    else server.hello = frame;
  },
  tick(frame) { server.tick = frame; showTick(); },
  samples(frame) {
    if (!frame.rows.length) return;
    if (!store.rows) server.first = frame.first;  // what is older is not kept any more
    if (!addRows(store.data.samples.columns, frame.rows, frame.first - server.first)) return reconnect();
    store.data.samples.total = store.rows;
    if (frame.clients) server.newest = frame;
    tellStory();
    if (server.isPaused || frame.more) return;
    if (!byId("controls").children.length) controls();
    drawSamples();
  },
  events(frame) {
    for (const event of frame.rows) {
      if (server.events !== null && event.n <= server.events) continue;
      server.events = event.n;
      const what = {go_on: "go on", lost: "host lost", left: "host left", back: "host back"}[event.what] || event.what;
      if (isMarked(what)) store.data.events.push([event.seconds, what, event.clients?.[0] ?? null]);
      if (!places.log) continue;
      const line = document.createElement("li");
      line.textContent = `${seconds(event.seconds)} ${event.host ? `host ${event.host} ` : ""}${event.what}${event.clients?.length ? ` ${event.clients.length > 8 ? many(event.clients.length, "client") : event.clients.join(", ")}` : ""} ${event.text || ""}`;
      places.log.prepend(line);
      while (places.log.children.length > 200) places.log.lastChild.remove();
    }
  },
  hosts(frame) {
    if (!places.hosts) return;
    places.hosts.hosts(frame);
    const silent = frame.rows.filter(h => !h.self && h.silent_seconds > 3);
    byId("warnings").replaceChildren();
    for (const h of silent) element(byId("warnings"), "li", {}, `Host ${h.name} has been silent for ${seconds(h.silent_seconds, 3)}${isNumber(h.seconds) ? `, since ${seconds(h.seconds)} of the run` : ""}.`);
  },
  views(frame) {
    places.hosts?.views(frame);
    if (!server.isPaused) places.hosts?.redraw();
  },
  marks(frame) { if (!server.isPaused) places.score?.add(frame); },
  end(frame) { finish(frame); },
};

// The live page becomes the report.
async function finish(frame) {
  server.isOver = true;
  setState(frame.state.toUpperCase());
  try {
    const answer = await fetch(`/api/v1/report?run=${chosen() ?? server.hello.id ?? 0}`);
    if (answer.ok) {
      const data = await answer.json();
      for (const id of ["cards", "controls", "numbers", "warnings"]) byId(id).replaceChildren();
      forgetPlots();
      forgetRedraws();
      forget("selection");
      if (server.hello.toml) byId("experiment").textContent = server.hello.toml;
      if (data.settings) compare(data);
      else report(data);
      document.title = `${server.hello.name} · Rubato`;
      document.documentElement.dataset.ended = "yes";
    } else if (frame.summary) Object.assign(store.data.summary, frame.summary);
  } catch { setState("ended; the server has gone"); }
  server.socket?.close();
}

function reconnect() { server.socket?.close(); }

function listen() {
  const cursors = server.runId === null ? "" : `${store.rows ? `&samples=${server.first + store.rows - 1}` : ""}${server.events === null ? "" : `&events=${server.events}`}${places.hosts?.next() ? `&views=${places.hosts.next() - 1}` : ""}`;
  const socket = new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/live?run=${chosen() ?? 0}${cursors}`);
  server.socket = socket;
  socket.onopen = () => { server.wait = 500; socket.send(JSON.stringify({type: "subscribe", marks: true})); };
  socket.onmessage = message => {
    const frame = JSON.parse(message.data);
    take[frame.type]?.(frame);
  };
  socket.onclose = () => {
    if (server.isOver) return;
    setState(`the connection is lost; trying again in ${server.wait / 1000} s`);
    setTimeout(listen, server.wait);
    server.wait = Math.min(server.wait * 2, 10000);
  };
}

// Several runs in folders: what they are, and those that are ticked laid over each other.
function index(runs) {
  document.querySelector("h1").textContent = "Runs";
  byId("subtitle").textContent = many(runs.length, "run");
  const place = card(byId("cards"), {title: "Runs", kind: "wide", how: "Open one, or tick several to lay them over each other."});
  const button = element(place, "button", {type: "button"}, "lay over each other");
  const made = table(place, ["run", "algorithm", "state", "seconds", "accuracy", "course", "seed", "folder"], runs.map(r =>
    [r.name, r.algorithm, r.state, `${seconds(r.seconds)} of ${seconds(r.until)}`, isNumber(r.accuracy) ? tenths(r.accuracy) : "–", spark(r.spark || []), r.seed, r.folder || ""]));
  const boxes = runs.map((r, i) => {
    const cell = made.tBodies[0].rows[i].cells[0];
    cell.replaceChildren();
    const box = element(cell, "input", {type: "checkbox", "aria-label": `choose ${r.name}`});
    cell.append(" ");
    element(cell, "a", {href: `?run=${r.id}`}, r.name);
    return box;
  });
  button.addEventListener("click", () => overlay(runs.filter((_, i) => boxes[i].checked)));
}

const spark = values => values.length ? values.map(v => isNumber(v) ? "▁▂▃▄▅▆▇█"[Math.min(7, Math.max(0, Math.floor(8 * v)))] : " ").join("") : "";

// Runs as the settings of a comparison of one seed each.
async function overlay(runs) {
  const settings = [];
  let columns = [];
  for (const run of runs) {
    const hello = await (await fetch(`/api/v1/run?run=${run.id}`)).json(), rows = [];
    columns = hello.columns;
    for (let after = "", more = true; more;) {
      const frame = await (await fetch(`/api/v1/samples?run=${run.id}${after}`)).json();
      rows.push(...frame.rows);
      more = frame.more;
      after = `&after=${frame.next - 1}`;
    }
    const curve = {}, end = {};
    columns.forEach((one, i) => {
      if (!one.curve) return;
      curve[one.curve] = rows.map(row => typeof row[i] === "number" ? row[i] : null);
      end[one.curve] = curve[one.curve].at(-1);
      if (curve[one.curve].every(v => !v)) delete curve[one.curve];
    });
    settings.push({setting: `${run.name} (${run.folder || run.id})`, algorithm: run.algorithm, grid: {}, refusal: null, failures: [], targets: [], runs: rows.length ? [{seed: run.seed, experiment: run.folder, ended_by: run.state, diverged_at: null, end, curve}] : []});
  }
  if (!settings.length) return;
  const of = role => Object.fromEntries(columns.filter(c => c.role === role).map(c => [c.curve, [c.title, c.unit]]));
  byId("cards").replaceChildren();
  compare({settings, axes: of("axis"), measures: of("measure"), axis: "seconds", seeds: 1, first_seed: runs[0].seed, clients: 0, measured_clients: "all", budget: {}, stopped_early: false, rubato: "", commit: "", command: ""});
}

function askForToken() {
  const place = card(byId("cards"), {title: "A token is needed", how: "The command that serves this page has printed it."});
  const form = element(place, "form"), input = element(form, "input", {type: "password", "aria-label": "token", autocomplete: "off"});
  element(form, "button", {}, "open");
  form.addEventListener("submit", async event => {
    event.preventDefault();
    if (await login(input.value)) { byId("cards").replaceChildren(); begin(); }
  });
}

const login = async token => (await fetch("/login", {headers: {Authorization: `Bearer ${token}`}})).ok;

async function begin() {
  const answer = await fetch("/api/v1/runs").catch(() => null);
  if (!answer) return void setTimeout(begin, 1000);
  if (answer.status === 401) return askForToken();
  const {runs} = await answer.json();
  if (runs.length > 1 && chosen() === null) return index(runs);
  listen();
}

export async function live() {
  const token = location.hash.length > 1 && !location.hash.includes("=") ? location.hash.slice(1) : "";
  if (token) {
    history.replaceState(null, "", location.pathname + location.search);
    await login(token).catch(() => {});
  }
  begin();
}

/// For tests: what the page holds.
export const held = () => ({rows: store.rows, seconds: column("seconds"), runId: server.runId});
window.rubato = {held, drop: () => server.socket?.close()};
