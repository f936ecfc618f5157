// What a page begins with: whose run it is, what came of it in three sentences, what is to be known before reading on, and how
// the curves are looked at.
import {byId, choice, element} from "./dom.js";
import {axes, column, hasAccuracy, isKnown, last, readView, setView, store} from "./store.js";
import {bytes, count, isNumber, joules, many, seconds, share, short, tenths} from "./words.js";

const title = () => {
  const {summary, words, graph} = store.data, about = words.about || {};
  return [`${summary.algorithm} · ${words.population}, ${graph.kind}`, about.data, about.model && `${about.model} (${count(summary.dimension)} numbers)`,
          `${words.clock} ${seconds(summary.virtual_seconds)}`, `seed ${summary.seed}`, (summary.started_at || "").slice(0, 16).replace("T", " ")];
};

// Who is worst and best, where it is known.
function extremes() {
  const all = store.data.clients.columns;
  if (!all) return [];
  const known = all.accuracy.map((v, client) => [v, client]).filter(([v]) => isNumber(v));
  if (known.length < 2) return [];
  const by = known.toSorted((a, b) => a[0] - b[0]);
  return [by[0], by.at(-1)];
}

function ofLearning() {
  const {summary, samples} = store.data;
  if (!samples.total) return summary.forecast ? "Nothing was learnt: the timing alone was walked." : "Nothing was measured.";
  if (!hasAccuracy()) {
    const gradient = summary.gradient?.norm;
    return `Clients end at a loss of ${short(summary.loss.mean)}, their mean model at ${short(summary.loss.mean_model)}` +
           (isNumber(gradient) ? `, where the gradient is ${short(gradient)} long.` : ".");
  }
  const [worst, best] = extremes(), {accuracy} = summary;
  const range = worst ? ` (worst ${tenths(worst[0])} client ${worst[1]}, best ${tenths(best[0])} client ${best[1]})`
    : isNumber(accuracy.min) ? ` (worst ${tenths(accuracy.min)}${isKnown("accuracy_min_client") ? ` client ${last("accuracy_min_client")}` : ""})` : "";
  return `Clients end at an accuracy of ${tenths(accuracy.mean)}${range}; their mean model at ${tenths(accuracy.mean_model)}.`;
}

function ofMessages() {
  const {summary} = store.data, m = summary.messages || {}, age = summary.staleness_seconds || {};
  if (!m.sent) return "No message was sent.";
  const lost = (m.lost || 0) + (m.lost_to_partition || 0) + (m.lost_to_absence || 0) + (m.lost_between_hosts || 0);
  const merged = (m.delivered || 0) - (m.superseded || 0) + (m.surplus || 0);
  const parts = [`${tenths(merged / m.sent)} of ${many(m.sent, "message")} were merged${isNumber(age.mean) ? `, ${seconds(age.mean, 2)} old on average` : ""}`,
                 lost ? `${tenths(lost / m.sent)} lost` : "none lost", m.late ? `${tenths(m.late / m.sent)} late` : "none late"];
  if (m.superseded / m.sent >= .0005) parts.push(`${tenths(m.superseded / m.sent)} superseded by newer ones`);
  return `${parts.join("; ")}.`;
}

function ofAgreement() {
  const {summary, samples} = store.data;
  if (!samples.total || !isNumber(summary.consensus)) return "";
  return summary.unifications ? `At each of ${many(summary.unifications, "unification")} every client takes the model of one of them, and their distance falls to 0.`
    : `The distance of their models to the mean ends at ${short(summary.consensus)}.`;
}

export function sentences() { return [ofLearning(), ofMessages(), ofAgreement()].filter(Boolean).join(" "); }

// What spoils the reading of the page, in words.
function warnings() {
  const {summary, samples, words, timeline} = store.data, all = Array.isArray(summary.notes) ? [...summary.notes] : [];
  if (isNumber(summary.diverged_at)) all.push(`The run diverged at ${seconds(summary.diverged_at)}: from there on its numbers mean nothing.`);
  if (summary.stopped_early) all.push(`The run was stopped at ${seconds(summary.virtual_seconds)}${words.about?.until ? ` of ${seconds(words.about.until)}` : ""}.`);
  if (summary.model_digest === "") all.push("This was a dry run: the timing was walked, no model was trained. What it would spend is a forecast.");
  else if (!samples.total && !store.data.live) all.push("Nothing was measured in this run.");
  const measured = samples.total ? last("clients_measured") : NaN;
  if (isNumber(measured) && measured < summary.clients - (summary.absent_clients || []).length)
    all.push(`${count(measured)} of ${many(summary.clients, "client")} are measured (${words.measured}); the consensus is a sum over these.`);
  const period = words.about?.unification_period, clock = column("seconds");
  if (period && clock.length > 2 && !words.about?.before_unifications) {
    const between = (clock.at(-1) - clock[0]) / (clock.length - 1);
    if (between > period / 2)
      all.push(`Samples are ${seconds(between, 2)} apart and unifications ${seconds(period, 2)}: what the curves do between two unifications is seen by chance. metrics.before_unifications = true adds a sample before each.`);
  }
  if (timeline?.is_incomplete) all.push("The record ends early: it was cut at its limit or its end is damaged.");
  if (words.part) all.push(words.part);
  if (samples.total > samples.rows.length) all.push(`The plots show ${count(samples.rows.length)} of ${count(samples.total)} samples.`);
  const list = byId("warnings");
  list.replaceChildren();
  for (const text of new Set(all)) element(list, "li", {}, text);
}

function headline() {
  const place = byId("numbers"), {summary, samples} = store.data;
  place.replaceChildren();
  const a = hasAccuracy() && summary.accuracy || {}, loss = samples.total ? summary.loss || {} : {}, m = summary.messages || {};
  const spent = summary.forecast ? {wire: summary.forecast.wire_bytes} : summary.bytes || {};
  const all = [
    [share(a.mean), isNumber(a.std) ? `accuracy, mean of clients (± ${(100 * a.std).toFixed(2)})` : "accuracy, mean of clients"],
    [share(a.mean_model), "accuracy of the mean model"], [isNumber(a.f1_macro) ? a.f1_macro.toFixed(4) : short(a.f1_macro), "F1, macro, mean of clients"],
    [short(loss.mean), "loss, mean of clients"], [short(samples.total ? summary.consensus : undefined), "distance of models to their mean, squared, summed"],
    [count(m.sent), "messages sent"], [bytes(spent.wire), summary.forecast ? "on the wire, forecast" : "on the wire"],
    [seconds((summary.staleness_seconds || {}).mean), "age of what is merged, mean"], [count(summary.unifications), "unifications"],
    [count(summary.gradients ?? (summary.forecast || {}).gradients), "gradients"]];
  if (isNumber(summary.energy?.joules)) all.push([joules(summary.energy.joules), "energy"]);
  for (const [value, name] of all) {
    if (value === "–") continue;
    const box = element(place, "div", {class: "number"});
    element(box, "b", {}, value);
    element(box, "span", {}, name);
  }
}

export function head() {
  byId("subtitle").textContent = title().filter(Boolean).join(" · ");
  byId("story").textContent = sentences();
  warnings();
  headline();
}

export function controls() {
  readView();
  const place = byId("controls");
  const has = name => name === "seconds" || column(axes[name].column).some(v => v > 0);
  choice(place, "against", Object.keys(axes).filter(has).map(key => [key, key === "seconds" ? store.data.words.clock : axes[key].name]),
         store.view.axis, axis => setView({axis}));
  choice(place, "range", [["auto", "auto"], ["full", "0–100 %"]], store.view.y, y => setView({y}));
  choice(place, "scale", [["auto", "auto"], ["lin", "linear"], ["log", "logarithmic"]], store.view.scale, scale => setView({scale}));
  const label = element(place, "label", {class: "smooth"}, "smooth ");
  const input = element(label, "input", {type: "range", min: 0, max: 10, value: store.view.smooth});
  input.addEventListener("input", () => setView({smooth: Number(input.value)}));
  const back = element(place, "button", {type: "button"}, "whole run");
  back.addEventListener("click", () => setView({range: null}));
}
