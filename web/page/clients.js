// Clients and classes: what each learns from, and all their numbers in a table that can be sorted.
import {card, element, note, numbers} from "./dom.js";
import {mixed, colour} from "./paint.js";
import {selected, setSelected} from "./selection.js";
import {explains, sheet} from "./sheet.js";
import {on, store} from "./store.js";
import {count, isNumber, seconds, share, short} from "./words.js";

// A square is the darker, the more rows of its class a client has; the classes lie from the top down.
function partition(parent) {
  const p = store.data.partition;
  if (!p || !p.cells.length) return;
  const classes = 1 + Math.max(...p.cells.map(cell => cell[0])), columns = Math.ceil(p.clients / p.per_column);
  const place = card(parent, {id: "partition", title: "What does each client learn from?", how: `Training rows by class and client${p.per_column > 1 ? `; a column is ${p.per_column} clients` : ""}. The darker, the more.`});
  const left = 66, most = Math.max(...p.cells.map(cell => cell[2])), high = Math.max(4, Math.min(22, 480 / classes));
  const names = store.data.summary.class_names, nameOf = label => names?.[label] ?? label;
  const at = new Map(p.cells.map(([label, line, rows]) => [label * columns + line, rows]));
  let wide = 1;
  const made = sheet(place, {label: "Training rows by class and client", height: 8 + classes * high + 24, draw(ctx, width) {
    wide = (width - left - 10) / columns;
    for (const [label, line, rows] of p.cells) {
      ctx.fillStyle = mixed("blue", .1 + .9 * rows / most);
      ctx.fillRect(left + line * wide, 8 + label * high, Math.max(.6, wide - Math.min(1, wide / 5)), Math.max(.6, high - Math.min(1, high / 5)));
    }
    ctx.fillStyle = colour("soft");
    ctx.textAlign = "right";
    for (let label = 0; label < classes; label += Math.ceil(14 / high)) ctx.fillText(`class ${nameOf(label)}`, left - 6, 8 + (label + .5) * high);
    ctx.textAlign = "center";
    const step = Math.ceil(columns * 34 / (width - left));
    for (let line = 0; line < columns; line += step) ctx.fillText(count(line * p.per_column), left + (line + .5) * wide, 8 + classes * high + 12);
    if (selected() >= 0) {
      ctx.strokeStyle = colour("orange");
      ctx.lineWidth = 1.5;
      ctx.strokeRect(left + Math.floor(selected() / p.per_column) * wide, 8, wide, classes * high);
      ctx.lineWidth = 1;
    }
  }});
  explains(made, (px, py) => {
    const line = Math.floor((px - left) / wide), label = Math.floor((py - 8) / high);
    if (line < 0 || line >= columns || label < 0 || label >= classes) return "";
    const first = line * p.per_column, end = Math.min(p.clients, first + p.per_column) - 1;
    return `${first === end ? `client ${first}` : `clients ${first} to ${end}`}, class ${nameOf(label)}: ${count(at.get(label * columns + line) || 0)} rows`;
  });
  on("selection", made.redraw);
  numbers(place, "partition", () => ({heads: [p.per_column > 1 ? "first client" : "client", "class", "rows"], rows: p.cells.map(([label, line, rows]) => [line * p.per_column, label, rows])}));
}

const words = {accuracy: share, loss: short, age: seconds, waited: seconds, requested_rate: short, achieved_rate: short, compute_chance: short};
const heads = {training_samples: "rows", bytes_wire: "bytes", lost_to_partition: "lost to partition", lost_to_absence: "lost, it was away", requested_rate: "rate asked",
               achieved_rate: "rate achieved", skipped_ticks: "skipped ticks", paper_bits: "bits"};

function list(parent) {
  const all = store.data.clients.columns;
  if (!all) return;
  const clients = all.accuracy.length, names = Object.keys(all).filter(name => name === "class" || all[name].some(v => isNumber(v) && v !== 0));
  const place = card(parent, {id: "clients", title: "Every client", how: "A click on a column sorts, a click on a row selects a client in all pictures.", kind: "wide"});
  const frame = element(place, "div", {class: "scrolled tall"}), made = element(frame, "table"), headRow = element(element(made, "thead"), "tr"), body = element(made, "tbody");
  made.style.setProperty("--columns", names.length + 1);  // on paper letters are as small as they make it
  let by = names.includes("accuracy") ? "accuracy" : "client", sign = 1;
  const draw = () => {
    const value = i => by === "client" ? i : all[by][i];
    const order = [...Array(clients).keys()].sort((a, b) => {
      const [x, y] = [value(a), value(b)];
      if (typeof x === "string") return sign * x.localeCompare(y) || a - b;
      return sign * ((isNumber(x) ? x : Infinity) - (isNumber(y) ? y : Infinity)) || a - b;
    });
    headRow.replaceChildren();
    for (const name of ["client", ...names]) {
      const head = element(headRow, "th", {scope: "col", "aria-sort": name === by ? (sign > 0 ? "ascending" : "descending") : undefined});
      const button = element(head, "button", {type: "button"}, `${heads[name] || name.replaceAll("_", " ")}${name === by ? (sign > 0 ? " ▴" : " ▾") : ""}`);
      button.addEventListener("click", () => { sign = name === by ? -sign : 1; by = name; draw(); });
    }
    body.replaceChildren();
    for (const i of order.slice(0, 300)) {
      const row = element(body, "tr", {class: selected() === i ? "chosen" : ""});
      element(row, "th", {scope: "row"}, i);
      for (const name of names) element(row, "td", {}, name === "class" ? all.class[i] : isNumber(all[name][i]) ? (words[name] || count)(all[name][i]) : "–");
      row.addEventListener("click", () => setSelected(i));
    }
  };
  draw();
  on("selection", draw);
  if (clients > 300) note(place, `300 of ${count(clients)} clients are listed, by the order that is chosen; clients.csv has all.`);
  numbers(place, "clients", () => ({heads: ["client", ...names], rows: [...Array(clients).keys()].map(i => [i, ...names.map(name => all[name][i])])}));
}

export function clientCards(parent) {
  partition(parent);
  list(parent);
}
