// What made the end as late as it was? The critical path: the chain of computations and messages that the last merge has waited for.
import {card, element, keyed, note, numbers, table} from "./dom.js";
import {colour} from "./paint.js";
import {sheet} from "./sheet.js";
import {store} from "./store.js";
import {count, many, seconds, tenths} from "./words.js";

const kinds = [["work", "clients compute, or their timers run", "blue"], ["way", "messages are on the way", "orange"], ["mailbox", "they lie in a mailbox", "soft"]];

/// The pieces that the page has, in the order of time: [from, kind, client, the other, to].
export const piecesOf = path => path.last.map((piece, i) => [...piece, path.last[i + 1]?.[0] ?? path.end]);

export function pathCard(parent) {
  const path = store.data.waits?.path;
  if (!path) return;
  const place = card(parent, {id: "path", title: "What made the end as late as it was?", how:
    "From the last merge back to the beginning: the message that came last for it, what its sender did before, the message that this had to wait for, and so on. What is not in this chain had time to spare."});
  const share = name => (path.kinds[name] || 0) / path.end;
  note(place, `The last merge, of client ${path.client}, came at ${seconds(path.end)}. The chain that led to it has ${many(path.pieces, "piece")}: for ${kinds.filter(([name]) => share(name) > 0).map(([name, text]) => `${tenths(share(name))} of the time ${text}`).join(", for ")}.`);
  sheet(place, {label: "The path by its kinds", height: 22, draw(ctx, width) {
    let at = 0;
    for (const [name, , paint] of kinds) {
      ctx.fillStyle = colour(paint);
      ctx.fillRect(at * width, 3, Math.max(0, share(name) * width - 1), 16);
      at += share(name);
    }
  }});
  const legend = element(place, "p", {class: "legend"});
  for (const [name, text, paint] of kinds) if (share(name) > 0) keyed(legend, text, `var(--${paint})`, "bar");
  const rows = [...path.by_client.slice(0, 5).map(([client, , time, times]) => [`client ${client} at work`, seconds(time), tenths(time / path.end), count(times)]),
                ...path.by_link.slice(0, 5).map(([from, to, time, times]) => [`${from} → ${to} on the way`, seconds(time), tenths(time / path.end), count(times)])];
  table(element(place, "div"), ["the costliest", "seconds", "of the path", "times"], rows);
  const all = piecesOf(path);
  if (path.pieces > all.length) note(place, `The page has the last ${count(all.length)} pieces; critical_path.csv has all.`);
  numbers(place, "critical_path", () => ({heads: ["from", "to", "what", "client", "other"], rows: all.map(([from, kind, client, other, to]) => [from, to, kinds[kind][0], client, other])}));
}
