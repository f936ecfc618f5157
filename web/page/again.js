// How to run it again: the command, digests, machine, and the experiment file, complete.
import {byId, card, download, element} from "./dom.js";
import {onPrinting} from "./paint.js";
import {store} from "./store.js";
import {bits, bytes, count, seconds, short} from "./words.js";

export function againCard(parent) {
  const {summary, words} = store.data, text = byId("experiment")?.textContent || "";
  const place = card(parent, {id: "again", title: "How to run it again", kind: "wide", how: "The same file gives the same timeline on any machine, and the same models where the arithmetic is the same."});
  const list = element(place, "dl");
  const fact = (name, value, isCode) => {
    if (value === undefined || value === null || value === "") return;
    element(list, "dt", {}, name);
    element(list, "dd", isCode ? {class: "code"} : {}, value);
  };
  fact("command", summary.command, true);
  fact("started", [summary.started_at, summary.machine && `on ${summary.machine}`].filter(Boolean).join(" "));
  fact("Rubato", [summary.rubato, summary.commit].filter(Boolean).join(", commit "));
  fact("seed", summary.seed);
  fact("model digest", summary.model_digest, true);
  fact("timeline digest", summary.timeline_digest, true);
  fact("arithmetic", summary.arithmetic, true);
  fact("numbers", `${summary.precision}, ${count(summary.dimension)} a model`);
  fact("run", `${seconds(summary.wall_seconds)} on ${count(summary.threads)} threads, ${count(summary.events)} events, ${short(summary.events_per_second)} a second, ${bytes(summary.peak_rss_bytes)} of memory`);
  const spent = summary.forecast ? {wire: summary.forecast.wire_bytes, paper_bits: summary.forecast.paper_bits} : summary.bytes || {};
  fact("communication", `${summary.forecast ? "forecast: " : ""}${bytes(spent.wire)} on the wire; ${bits(spent.paper_bits)} as the papers count, 64 a number`);
  fact("measured", words.measured);
  for (const sentence of summary.hosts || []) fact("host", sentence);
  fact("beside this page", "summary.json, metrics.csv, samples.npz (each client in each sample, for NumPy), clients.csv, links.csv, events.csv, timeline.rbt, trace.json (for Perfetto) and more; docs/run-folder.md says what they are");
  if (!text) return;
  const details = element(place, "details");
  element(details, "summary", {}, "The experiment file, complete");
  const button = element(details, "button", {type: "button"}, "save it");
  button.addEventListener("click", () => download("experiment.toml", text, "application/toml"));
  element(details, "pre", {}, text);
  let wasOpen = false;
  onPrinting(isOn => {
    if (isOn) wasOpen = details.open;
    details.open = isOn || wasOpen;
  });
}
