// Elements of the page. Texts are only ever set as text, never as HTML.
const svgSpace = "http://www.w3.org/2000/svg";
export const byId = id => document.getElementById(id);

export function element(parent, name, attributes = {}, text) {
  const made = parent.namespaceURI === svgSpace || name === "svg" ? document.createElementNS(svgSpace, name)
    : document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) if (value !== undefined) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  parent.append(made);
  return made;
}

/// A card: its question, and how its picture is read.
export function card(parent, {title, how, kind = "", id}) {
  const made = element(parent, "section", {class: `card ${kind}`, id});
  element(made, "h2", {}, title);
  if (how) element(made, "p", {class: "how"}, how);
  return made;
}

export const note = (parent, text) => element(parent, "p", {class: "note"}, text);

/// Radio buttons in a line; `chosen` is told the value.
export function choice(parent, legend, options, value, chosen) {
  const set = element(parent, "fieldset");
  element(set, "legend", {}, legend);
  const name = `choice-${document.querySelectorAll("fieldset").length}`;
  for (const [key, text] of options) {
    const label = element(set, "label");
    const input = element(label, "input", {type: "radio", name, value: key});
    input.checked = key === value;
    label.append(` ${text}`);
  }
  set.addEventListener("change", event => chosen(event.target.value));
  return set;
}

/// A key to the colours of a picture.
export function keyed(parent, text, paint, shape = "") {
  const entry = element(parent, "span", {class: "key"});
  const swatch = element(entry, "i", {class: shape});
  swatch.style.background = paint;
  entry.append(text);
  parent.append(" ");
  return entry;
}

export function table(parent, heads, rows, attributes = {}) {
  const made = element(element(parent, "div", {class: "scrolled"}), "table", attributes);
  const head = element(element(made, "thead"), "tr"), body = element(made, "tbody");
  for (const name of heads) element(head, "th", {scope: "col"}, name);
  for (const [first, ...others] of rows) {
    const row = element(body, "tr");
    element(row, "th", {scope: "row"}, first);
    for (const text of others) element(row, "td", {}, text);
  }
  return made;
}

export function download(name, text, type = "text/csv") {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], {type}));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

const mostRows = 500;  // of a table that is read; the file has all
const opened = new Set();

/// The numbers behind a picture, for readers of screens and for other programs: a table and a file, made when they are wanted.
export function numbers(place, name, give) {
  const details = element(place, "details", {class: "numbers"});
  element(details, "summary", {}, "numbers");
  opened.add(details);
  details.addEventListener("toggle", () => {
    for (const old of [...details.children].slice(1)) old.remove();
    if (!details.open) return;
    const {heads, rows} = give();
    const button = element(details, "button", {type: "button"}, "as CSV");
    button.addEventListener("click", () =>
      download(`${name}.csv`, [heads, ...rows].map(row => row.map(v => v ?? "nan").join(",")).join("\n") + "\n"));
    table(details, heads, rows.slice(0, mostRows).map(row => row.map(v => v ?? "–")));
    if (rows.length > mostRows) note(details, `The first ${mostRows} of ${rows.length} rows; the file has all.`);
  });
  return details;
}

export function toggleNumbers() {
  for (const one of opened) if (!one.isConnected) opened.delete(one);
  const open = ![...opened].some(one => one.open);
  for (const one of opened) one.open = open;
}
