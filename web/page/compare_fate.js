// What the settings of a comparison went through: which ends lowest and what sets its worst client apart, where messages were lost,
// what a unification does. Told by what runs came to beside their curves.
import {card, element, keyed, note, numbers, table} from "./dom.js";
import {rows} from "./compare_rows.js";
import {acrossUnifications, meanOf, merged, paired} from "./compare_stats.js";
import {balance} from "./outcomes.js";
import {colour, onRedraw} from "./paint.js";
import {linearTicks} from "./ticks.js";
import {count, isNumber, many, seconds, share, short, spread, tenths} from "./words.js";

const paintOf = {merged: "blue", superseded: "violet", late: "orange", capped: "yellow", lost: "red", lost_to_partition: "pink",
                 lost_to_absence: "teal", under_way: "line"};
const means = (setting, value) => meanOf(setting.runs.map(value)).mean;
const points = value => `${Number((100 * value).toFixed(1))} points`;
const told = settings => settings.filter(s => s.runs.some(r => r.came_to));

// Of one run by outcome: shares of all that was sent.
function shares(run) {
  if (!run.came_to?.messages?.sent) return [];
  const m = run.came_to.messages, {sent, rows: all} = balance(m), late = (m.superseded || 0) - (m.surplus || 0);
  return all.flatMap(([key, name, value]) => key === "delivered"
    ? [["merged", "merged", (value - late) / sent], ["superseded", "superseded by a newer one", late / sent]] : [[key, name, value / sent]]);
}

function outcomesOf(setting) {
  const of = setting.runs.map(shares).filter(all => all.length);
  return of.length ? of[0].map(([key, name], i) => ({key, name, mean: meanOf(of.map(all => all[i][2])).mean})) : [];
}

// Who it was, where it was the same in every run.
function whose(all) {
  const named = [...new Set(all.map(one => one.client))];
  return named.length === 1 ? `client ${named[0]}` : `clients ${named.slice(0, 4).join(", ")}${named.length > 4 ? ", …" : ""}`;
}

function senders(setting) {
  const all = setting.runs.map(r => r.came_to?.lost_by_sender).filter(Boolean);
  if (!all.length || !all.some(one => one.most.share > 0)) return "–";
  const end = which => `${tenths(meanOf(all.map(one => one[which].share)).mean)} (${whose(all.map(one => one[which]))})`;
  return `${end("least")} to ${end("most")}`;
}

function away(setting) {
  const all = setting.runs.map(r => r.came_to?.most_away).filter(Boolean);
  return all.length ? `${whose(all)}: ${count(Math.round(meanOf(all.map(one => one.lost_to_absence)).mean))}` : "–";
}

/// Outcomes of messages as shares of what was sent, and whose were lost.
export function messagesCard(parent, state) {
  const settings = told(state.settings).filter(s => outcomesOf(s).length);
  if (!settings.length) return;
  const place = card(parent, {id: "messages", title: "What became of the messages?", kind: "wide", how: "Of all messages of a setting the share that came to each end, means over seeds."});
  const known = outcomesOf(settings[0]).filter(({key}) => settings.some(s => outcomesOf(s).find(o => o.key === key).mean > 0));
  const paint = key => colour(paintOf[key] || "soft");
  const line = element(place, "p", {class: "legend"});
  const legend = () => { line.replaceChildren(); for (const {key, name} of known) keyed(line, name, paint(key)); };
  onRedraw(legend);
  legend();
  rows(place, {label: "Outcomes of messages by setting", settings: settings.map((s, i) => [s, i]), ticks: linearTicks, word: v => `${Math.round(100 * v)} %`,
    extent: () => [0, 1], say: s => `${tenths(means(s, merged))} merged`,
    row(ctx, x, y, s) {
      let from = 0;
      for (const {key, mean} of outcomesOf(s)) {
        ctx.fillStyle = paint(key);
        ctx.fillRect(x(from), y - 7, x(from + mean) - x(from), 14);
        from += mean;
      }
    }});
  const shown = known.filter(({key}) => key !== "merged"), isAway = settings.some(s => away(s) !== "–");
  table(place, ["setting", "sent", "merged", ...shown.map(o => o.name), "lost on the way, by sender", ...(isAway ? ["away when most came"] : [])],
    settings.map(s => [s.setting, count(Math.round(means(s, r => r.came_to?.messages.sent))), share(means(s, merged)),
                       ...shown.map(({key}) => share(outcomesOf(s).find(o => o.key === key).mean)), senders(s), ...(isAway ? [away(s)] : [])]), {class: "ends"});
  note(place, "By sender: of what a client sent, the share that was lost on the way, for the client that lost least and the one that lost most. Which links they were is in the report of a run.");
  numbers(place, "messages", () => {
    const names = [...new Set(settings.flatMap(s => s.runs.flatMap(r => Object.keys(r.came_to?.messages || {}))))];
    return {heads: ["setting", "seed", ...names], rows: settings.flatMap(s => s.runs.map(r => [s.setting, r.seed, ...names.map(n => r.came_to?.messages[n] ?? null)]))};
  });
}

/// What accuracy and distance do from the sample before a unification to the one after it, and what they do elsewhere.
export function unificationCard(parent, state) {
  const settings = state.settings.filter(s => s.unification && s.runs.some(r => r.came_to?.unifications));
  if (!settings.length) return;
  const place = card(parent, {id: "unification", title: "What does a unification do?", how: "Every client takes the model of one of them. From the last sample before it to the first after it, and from any other sample to the next: means, of distances geometric ones, ± standard deviation."});
  const made = settings.map(s => [s, acrossUnifications(s, "accuracy"), acrossUnifications(s, "consensus")]);
  const moved = all => { const m = meanOf(all); return m.n ? `${m.mean > 0 ? "+" : ""}${spread(100 * m.mean, 100 * m.std)} points` : "–"; };
  const fell = all => { const m = meanOf(all.map(Math.log).filter(isNumber)); return m.n ? `× ${short(Number(Math.exp(m.mean).toPrecision(2)))}` : "–"; };
  table(place, ["setting", "", "across it", "elsewhere"], made.flatMap(([s, accuracy, distance]) => [
    [s.setting, "mean accuracy", ...["across", "elsewhere"].map(where => moved(accuracy[where].map(c => c.to - c.from)))],
    ["", "distance", ...["across", "elsewhere"].map(where => fell(distance[where].map(c => c.to / c.from)))]]), {class: "ends"});
  for (const [s] of made) note(place, `${s.setting}: every ${seconds(s.unification.period)}, ${count(Math.round(means(s, r => r.came_to?.unifications)))} times in a run; hub: ${s.unification.hub.replaceAll("_", " ")}.`);
  const apart = made.map(([, accuracy]) => accuracy.apart).filter(isNumber);
  if (apart.length) note(place, `Samples are ${seconds(Math.min(...apart), 2)} apart: what clients learn in that time is in the change, too. At the unification itself the distance of the models is 0.`);
}

const facts = [["training_samples", "training rows", count], ["largest_class", "of one class", tenths], ["computations", "computations", count], ["kept", "messages kept", count]];
const worstOf = s => s.runs.map(r => r.came_to?.worst_client).filter(Boolean);
const ownAndMedian = (s, key) => ["own", "median"].map(which => meanOf(worstOf(s).map(w => w[key]?.[which]).filter(isNumber)).mean);

const ofWorst = s => { const m = meanOf(worstOf(s).map(w => w.accuracy)); return spread(m.mean, m.std, "share"); };
const shown = (key, word, value) => word(isNumber(value) && key !== "largest_class" ? Math.round(value) : value);

// In every run on the same side of the median, and a quarter away from it.
function apartIn(s, key) {
  const ratios = worstOf(s).map(w => w[key] && w[key].median > 0 ? w[key].own / w[key].median : NaN);
  if (!ratios.length || !ratios.every(isNumber)) return NaN;
  return ratios.every(r => r <= .8) || ratios.every(r => r >= 1.25) ? meanOf(ratios).mean : NaN;
}

function sentences(state) {
  const ends = state.settings.map(s => [s, means(s, r => r.end?.accuracy ?? NaN)]).filter(([, v]) => isNumber(v)).sort((a, b) => a[1] - b[1]);
  const parts = [];
  if (!ends.length) return "";
  const [low, lowest] = ends[0], [top, highest] = ends.at(-1), of = (s, name) => means(s, r => r.end?.[name] ?? NaN);
  if (ends.length > 1) {
    const p = paired(low, top, r => r.end?.accuracy ?? NaN);
    parts.push(`${low.setting} ends lowest: ${tenths(lowest)}, ${points(highest - lowest)} below ${top.setting}${p.n > 1 ? p.mean + p.half < 0 ? "" : ", which chance may explain" : ""}.`);
    const gap = s => of(s, "accuracy_mean_model") - of(s, "accuracy"), before = parts.length;
    if (gap(low) > .01) parts.push(`The mean of its models is better than they are by ${points(gap(low))} (${top.setting}: ${points(gap(top))}): its clients' models are apart.`);
    const less = of(low, "gradients") / of(top, "gradients");
    if (less < .9) parts.push(`It computed ${count(Math.round(of(low, "gradients")))} gradients, ${top.setting} ${count(Math.round(of(top, "gradients")))}.`);
    const heard = means(low, merged), other = means(top, merged);
    if (isNumber(heard) && isNumber(other) && heard < other - .05) parts.push(`Of its messages ${tenths(heard)} were merged, of those of ${top.setting} ${tenths(other)}.`);
    if (parts.length === before) parts.push(`In gradients, messages merged and distance of its models it is not behind ${top.setting}.`);
  }
  const own = worstOf(low);
  if (own.length) {
    const found = facts.map(([key, name]) => [name, apartIn(low, key)]).filter(([, r]) => isNumber(r)).map(([name, r]) => `${Number(r.toPrecision(2))} times the median of ${name === "of one class" ? "the share of one class" : name}`);
    parts.push(`Its worst client has ${tenths(meanOf(own.map(w => w.accuracy)).mean)} (${whose(own)})${found.length ? `: ${found.join(", ")}` : own.length > 1 ? "; in no number below is it a quarter off the median in every seed" : ""}.`);
  }
  return parts.join(" ");
}

/// Which setting ends lowest, and of each setting the worst client beside the median of all.
export function worstCard(parent, state) {
  const settings = told(state.settings).filter(s => worstOf(s).length);
  if (!settings.length) return;
  const place = card(parent, {id: "worst", title: "Who is worst, and what sets it apart?", kind: "wide"});
  element(place, "p", {class: "note"}, sentences(state));
  const known = facts.filter(([key]) => settings.some(s => isNumber(ownAndMedian(s, key)[0])));
  table(place, ["setting", "worst client", "by seed", ...known.map(f => f[1])], settings.map(s => [s.setting, ofWorst(s),
    worstOf(s).map(w => w.client).join(", "), ...known.map(([key, , word]) => { const [own, median] = ownAndMedian(s, key); return `${shown(key, word, own)} (${shown(key, word, median)})`; })]), {class: "ends"});
  note(place, `Of the worst client at the end of each of ${many(state.data.seeds, "seed")}: its number, in brackets the median of all clients, both means over seeds. What sets a client apart need not be why it is worst.`);
}
