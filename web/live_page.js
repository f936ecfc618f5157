// A run as it goes on: fetches what there is, then listens. Texts are only ever set as text.
const store = {runId: null, columns: [], rows: [], samples: null, events: null, tick: null};
const run = new URLSearchParams(location.search).get("run") || "0";
const at = name => store.columns.findIndex(column => column.name === name);
const cursor = name => store[name] === null ? "" : `&${name}=${store[name]}`;
let wait = 500, plot = null, isOver = false;

function show() {
  const tick = store.tick;
  if (!tick) return;
  const left = isNumber(tick.left_seconds) ? `, ${seconds(tick.left_seconds)} left` : "";
  byId("state").textContent = tick.share === undefined ? `${tick.state}: ${seconds(tick.seconds)} of ${seconds(tick.until)}${left}`
    : `${tick.state}: ${tick.finished} of ${tick.runs} runs${left}`;
  const last = store.rows.at(-1);
  byId("numbers").textContent = [
    last && `accuracy ${share(last[at("accuracy_mean")])}, worst ${share(last[at("accuracy_min")])}`,
    tick.messages && `${count(tick.messages.sent)} messages sent, ${count(tick.messages.delivered)} delivered`,
    isNumber(tick.events_per_second) && `${count(tick.events_per_second)} events/s`].filter(Boolean).join(" · ");
}

function draw() {
  if (store.rows.length < 2) return;
  if (plot) return plot.redraw();
  plot = drawn(card(byId("plots"), "How well?", "wide"), "accuracy against time", 260, (svg, width, height) => {
    const xs = store.rows.map(row => row[at("seconds")]);
    const isShare = isNumber(store.rows.at(-1)[at("accuracy_mean")]);
    const lines = isShare ? ["accuracy_mean", "accuracy_mean_model", "accuracy_min"] : ["loss_mean", "loss_mean_model"];
    const values = lines.map(name => store.rows.map(row => row[at(name)]));
    const x = scale(xs, margin.left, width - margin.right), y = scale(values.flat(), height - margin.bottom, margin.top);
    axes(svg, width, height, x, y, seconds, isShare ? share : short);
    ["blue", "green", "orange"].forEach((paint, i) => values[i] && series(svg, xs, {values: values[i], paint: color(paint)}, x, y));
  });
}

const take = {
  hello(frame) {
    if (store.runId !== frame.run_id) Object.assign(store, {runId: frame.run_id, rows: [], samples: null, events: null});
    store.columns = frame.columns || [];
    document.querySelector("h1").textContent = frame.name;
    byId("subtitle").textContent = `${frame.algorithm || ""} · ${frame.clients || ""} clients · seed ${frame.seed}`;
  },
  tick(frame) { store.tick = frame; show(); },
  samples(frame) {
    if (store.samples !== null && frame.first !== store.samples + 1 && frame.rows.length) store.rows = [];
    store.rows.push(...frame.rows);
    store.samples = frame.next > 0 ? frame.next - 1 : null;
    draw();
    show();
  },
  events(frame) {
    for (const event of frame.rows)
      byId("events").prepend(Object.assign(document.createElement("li"),
        {textContent: `${seconds(event.seconds)} ${event.what} ${event.host} ${event.clients.join(", ")} ${event.text}`}));
    store.events = frame.next > 0 ? frame.next - 1 : null;
  },
  hosts(frame) {
    byId("hosts").replaceChildren();
    for (const host of frame.rows) {
      const line = element(byId("hosts"), "tr");
      for (const cell of [host.name, host.state, isNumber(host.silent_seconds) ? `silent for ${seconds(host.silent_seconds)}` : ""])
        element(line, "td", {}, cell);
    }
  },
  end(frame) { isOver = true; byId("state").textContent = `${frame.state}`; },
};

function listen() {
  const socket = new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/live?run=${run}${cursor("samples")}${cursor("events")}`);
  socket.onopen = () => { wait = 500; };
  socket.onmessage = message => {
    const frame = JSON.parse(message.data);
    take[frame.type]?.(frame);
  };
  socket.onclose = () => {
    if (isOver) return;
    byId("state").textContent = "the connection is lost; trying again";
    setTimeout(listen, wait);
    wait = Math.min(wait * 2, 10000);
  };
}

async function begin() {
  const token = location.hash.slice(1);
  if (token) {
    history.replaceState(null, "", location.pathname + location.search);
    await fetch("/login", {headers: {Authorization: `Bearer ${token}`}});
  }
  listen();
}
begin();
