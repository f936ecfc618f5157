// Which links? Sender against receiver as a matrix, and the graph itself: where the clients are, if their channel knows places.
import {card, choice, element, note, numbers} from "./dom.js";
import {colour, faint, mixed} from "./paint.js";
import {selected, setSelected} from "./selection.js";
import {explains, scale, sheet} from "./sheet.js";
import {on, store} from "./store.js";
import {count, isNumber, many, seconds, share} from "./words.js";

const mostDrawn = 60;  // clients of a graph that can be read

const ratio = (part, whole) => part.map((v, i) => whole[i] > 0 ? v / whole[i] : NaN);
function measures(links) {
  const lost = links.lost && links.lost.map((v, i) => v + (links.lost_to_partition?.[i] || 0) + (links.lost_to_absence?.[i] || 0));
  return [["sent", "sent", links.sent, count], ["lost", "share lost", lost && links.sent && ratio(lost, links.sent), share],
          ["late", "share late", links.late && ratio(links.late, links.sent), share], ["transit", "time on the way", links.transit, seconds],
          ["age", "age when merged", links.age, seconds]].filter(([, , values]) => values?.some(v => isNumber(v) && v > 0));
}

function orders(clients) {
  const scores = store.data.clients.columns?.accuracy, natural = [...Array(clients).keys()];
  const all = {number: natural};
  if (scores?.some(isNumber)) all.accuracy = natural.toSorted((a, b) => (scores[a] || 0) - (scores[b] || 0));
  return all;
}

function matrix(parent) {
  const {links, graph} = store.data, clients = links.groups || graph.clients;
  const place = card(parent, {id: "links", title: "Which links?", how: `Row: who sends; column: who receives${links.groups ? `; a square is ${links.per_group} by ${links.per_group} clients` : ""}. The darker, the more.${store.data.summary.host_clients ? ` Counted for clients ${store.data.summary.host_clients}, those of this host, alone.` : ""}`});
  const options = measures(links);
  if (!options.length) return void note(place, "No message was counted by its link.");
  const ordered = links.groups ? {number: [...Array(clients).keys()]} : orders(clients);
  let [measure, order] = [options[0], "number"];
  const controls = element(place, "div", {class: "controls"});
  const key = element(place, "p", {class: "legend"});
  const left = 40, top = 20;
  let cell = 1, position = [];
  const made = sheet(place, {label: "Links, sender by receiver", height: width => Math.min(460, width - 10), draw(ctx, width, height) {
    cell = (Math.min(width - 6, height) - left) / clients;
    position = [];
    ordered[order].forEach((client, i) => { position[client] = i; });
    const values = measure[2], most = Math.max(...values.filter(isNumber)), gap = cell > 6 ? 1 : 0;
    ctx.strokeStyle = colour("line");
    ctx.strokeRect(left, top, cell * clients, cell * clients);
    links.sender.forEach((sender, i) => {
      if (!isNumber(values[i])) return;
      ctx.fillStyle = values[i] > 0 ? mixed("blue", .15 + .85 * values[i] / most) : colour("line");
      ctx.fillRect(left + position[links.receiver[i]] * cell, top + position[sender] * cell, Math.max(.7, cell - gap), Math.max(.7, cell - gap));
    });
    ctx.fillStyle = colour("soft");
    const every = Math.ceil(clients / Math.max(2, Math.floor(cell * clients / 30)));
    for (let i = 0; i < clients; i += every) {
      ctx.textAlign = "right";
      ctx.fillText(ordered[order][i] * (links.per_group || 1), left - 5, top + (i + .5) * cell);
      ctx.textAlign = "center";
      ctx.fillText(ordered[order][i] * (links.per_group || 1), left + (i + .5) * cell, top - 9);
    }
    if (selected() >= 0 && !links.groups) {
      ctx.strokeStyle = colour("orange");
      ctx.lineWidth = 1.5;
      ctx.strokeRect(left, top + position[selected()] * cell, cell * clients, cell);
      ctx.strokeRect(left + position[selected()] * cell, top, cell, cell * clients);
      ctx.lineWidth = 1;
    }
    key.textContent = `${measure[1]}: 0 to ${measure[3](most)}`;
  }});
  choice(controls, "show", options.map(([name, text]) => [name, text]), measure[0], name => { measure = options.find(o => o[0] === name); made.redraw(); });
  if (Object.keys(ordered).length > 1) choice(controls, "order", Object.keys(ordered).map(name => [name, name]), order, name => { order = name; made.redraw(); });
  const lost = options.find(([name]) => name === "lost");
  if (lost && !links.groups) {
    const [low, high] = [Math.min, Math.max].map(end => lost[2].indexOf(end(...lost[2].filter(isNumber))));
    const words = i => `${links.sender[i]} → ${links.receiver[i]}, ${share(lost[2][i])} of ${count(links.sent[i])}`;
    note(place, `Most is lost from ${words(high)}; least from ${words(low)}.`);
  }
  const index = new Map(links.sender.map((sender, i) => [sender * clients + links.receiver[i], i]));
  const under = (px, py) => {
    const row = ordered[order][Math.floor((py - top) / cell)], line = ordered[order][Math.floor((px - left) / cell)];
    return row === undefined || line === undefined ? [-1] : [row, line, index.get(row * clients + line)];
  };
  explains(made, (px, py) => {
    const [sender, receiver, i] = under(px, py);
    if (i === undefined || sender < 0) return "";
    return `${sender} → ${receiver}: ${options.map(([, name, values, word]) => isNumber(values[i]) ? `${name} ${word(values[i])}` : "").filter(Boolean).join(", ")}`;
  });
  made.canvas.addEventListener("click", event => {
    const box = made.canvas.getBoundingClientRect(), [sender] = under(event.clientX - box.left, event.clientY - box.top);
    if (sender >= 0 && !links.groups) setSelected(sender);
  });
  on("selection", made.redraw);
  numbers(place, "links", () => ({heads: ["sender", "receiver", ...options.map(o => o[1])], rows: links.sender.map((s, i) => [s, links.receiver[i], ...options.map(o => isNumber(o[2][i]) ? o[2][i] : null)])}));
}

// On a circle in the order of numbers, or where their channel has put them.
function placesOfClients(graph, width, height) {
  const {positions} = graph;
  if (!positions) {
    const radius = Math.min(width, height) / 2 - 26;
    return client => [width / 2 + radius * Math.sin(2 * Math.PI * client / graph.clients), height / 2 - radius * Math.cos(2 * Math.PI * client / graph.clients)];
  }
  const xs = positions.map(p => p[0]), ys = positions.map(p => p[1]);
  const size = Math.max(Math.max(...xs) - Math.min(...xs), Math.max(...ys) - Math.min(...ys)) || 1, side = Math.min(width, height) - 50;
  const x = scale(Math.min(...xs), Math.min(...xs) + size, (width - side) / 2, (width + side) / 2);
  const y = scale(Math.min(...ys), Math.min(...ys) + size, (height + side) / 2, (height - side) / 2);
  return client => [x(positions[client][0]), y(positions[client][1])];
}

function map(parent) {
  const {links, graph} = store.data;
  const place = card(parent, {id: "graph", title: "Which clients can send to which?", how: `${graph.kind}: ${many(graph.clients, "client")}, ${many(graph.links, "directed link")}${graph.changes ? ", of all times together" : ""}. ${graph.positions ? "Clients stand where their channel has them." : "Clients stand on a circle."}`});
  if (graph.clients > mostDrawn || !links || links.groups) return void degrees(place, graph);
  const known = new Set(links.sender.map((s, i) => s * graph.clients + links.receiver[i]));
  const outOf = new Array(graph.clients).fill(0), into = new Array(graph.clients).fill(0);
  links.sender.forEach((s, i) => { ++outOf[s]; ++into[links.receiver[i]]; });
  const isDense = links.sender.length > 6 * graph.clients, most = Math.max(1, ...(links.sent || [1]));
  let at;
  const made = sheet(place, {label: "The graph", height: width => Math.min(440, width), draw(ctx, width, height) {
    at = placesOfClients(graph, width, height);
    links.sender.forEach((sender, i) => {
      const receiver = links.receiver[i], isMutual = known.has(receiver * graph.clients + sender);
      const isChosen = selected() === sender || selected() === receiver;
      if (isMutual && sender > receiver && !isChosen) return;
      const [x1, y1] = at(sender), [x2, y2] = at(receiver);
      ctx.strokeStyle = isChosen ? colour("orange") : faint("soft", isDense ? .05 + .3 * (links.sent?.[i] ?? 1) / most : .7);
      ctx.lineWidth = isChosen ? 1.6 : 1.1;
      ctx.beginPath();
      ctx.moveTo(x1, y1);
      ctx.lineTo(x2, y2);
      const length = Math.hypot(x2 - x1, y2 - y1) || 1, dx = (x2 - x1) / length, dy = (y2 - y1) / length;
      if (!isMutual && !isDense)
        for (const side of [-1, 1]) {
          ctx.moveTo(x2 - 8 * dx, y2 - 8 * dy);
          ctx.lineTo(x2 - 15 * dx + side * 3.5 * dy, y2 - 15 * dy - side * 3.5 * dx);
        }
      ctx.stroke();
    });
    for (let client = 0; client < graph.clients; ++client) {
      const [cx, cy] = at(client);
      ctx.beginPath();
      ctx.arc(cx, cy, 8, 0, 2 * Math.PI);
      ctx.fillStyle = colour(client === selected() ? "orange" : "blue");
      ctx.fill();
      ctx.fillStyle = colour("card");
      ctx.textAlign = "center";
      ctx.fillText(client, cx, cy + .5);
    }
  }});
  const nearest = (px, py) => [...Array(graph.clients).keys()].find(client => Math.hypot(at(client)[0] - px, at(client)[1] - py) < 11) ?? -1;
  explains(made, (px, py) => { const c = nearest(px, py); return c < 0 ? "" : `client ${c}: sends to ${outOf[c]}, hears ${into[c]}`; });
  made.canvas.addEventListener("click", event => {
    const box = made.canvas.getBoundingClientRect();
    setSelected(nearest(event.clientX - box.left, event.clientY - box.top));
  });
  on("selection", made.redraw);
}

function degrees(place, graph) {
  const words = pairs => pairs.length === 1 ? `every client has ${pairs[0][0]}` : `from ${pairs[0][0]} to ${pairs.at(-1)[0]}, the usual is ${pairs.toSorted((a, b) => b[1] - a[1])[0][0]}`;
  note(place, `There are too many clients to draw them. Receivers: ${words(graph.out_degrees)}. Senders: ${words(graph.in_degrees)}.`);
}

export function linkCards(parent) {
  if (store.data.links) matrix(parent);
  if (store.data.graph.links) map(parent);
}
