// Who waits for whom? In rounds, with a centre or a pull a client goes on when the last message it needs is there, in rounds also when
// the last has computed.
import {card, element, note, numbers, table} from "./dom.js";
import {mixed, colour} from "./paint.js";
import {explains, sheet} from "./sheet.js";
import {store} from "./store.js";
import {count, many, seconds, tenths} from "./words.js";

export function waitCard(parent) {
  const {waits, summary} = store.data;
  if (!waits) return;
  const isIdle = !waits.client.length;
  const place = card(parent, {id: "waits", title: "Who waits for whom?", how: isIdle ? "Where clients go on at their own pace, none waits." : "Row: who waits; column: whose message, or in rounds whose computation, came last. The darker, the longer in all."});
  if (isIdle) {
    const {ages} = store.data;
    return void note(place, `No client waits for another in this run: each goes on when its own timer ticks. What takes the place of waiting is age: what is merged is ${seconds((summary.staleness_seconds || {}).mean)} old${ages ? ` on average` : ""}.`);
  }
  const total = waits.seconds.reduce((a, b) => a + b, 0), whole = summary.clients * summary.virtual_seconds;
  note(place, `Clients waited ${seconds(total)} in all, ${tenths(total / whole)} of the run's ${seconds(summary.virtual_seconds)} times ${many(summary.clients, "client")}.`);
  const most = Math.max(...waits.seconds), n = summary.clients, left = 40, top = 18;
  if (n <= 400) {
    let cell = 1;
    const at = new Map(waits.client.map((c, i) => [c * n + waits.other[i], i]));
    const made = sheet(place, {label: "Waiting, by client and the last that it heard", height: width => Math.min(360, width - 10), draw(ctx, width, height) {
      cell = (Math.min(width - 6, height) - left) / n;
      ctx.strokeStyle = colour("line");
      ctx.strokeRect(left, top, cell * n, cell * n);
      waits.client.forEach((c, i) => {
        ctx.fillStyle = mixed("orange", .12 + .88 * waits.seconds[i] / most);
        ctx.fillRect(left + waits.other[i] * cell, top + c * cell, Math.max(.7, cell - (cell > 6 ? 1 : 0)), Math.max(.7, cell - (cell > 6 ? 1 : 0)));
      });
      ctx.fillStyle = colour("soft");
      const every = Math.ceil(n / Math.max(2, Math.floor(cell * n / 30)));
      for (let i = 0; i < n; i += every) {
        ctx.textAlign = "right";
        ctx.fillText(i, left - 5, top + (i + .5) * cell);
        ctx.textAlign = "center";
        ctx.fillText(i, left + (i + .5) * cell, top - 9);
      }
    }});
    explains(made, (px, py) => {
      const i = at.get(Math.floor((py - top) / cell) * n + Math.floor((px - left) / cell));
      return i === undefined || px < left ? "" : `client ${waits.client[i]} waited ${seconds(waits.seconds[i])} for ${waits.other[i]}, ${many(waits.times[i], "time")}`;
    });
  }
  const order = waits.seconds.map((v, i) => [v, i]).sort((a, b) => b[0] - a[0]).slice(0, 10).map(([, i]) => i);
  table(element(place, "div"), ["who", "for", "seconds", "times"], order.map(i => [`client ${waits.client[i]}`, `client ${waits.other[i]}`, seconds(waits.seconds[i]), count(waits.times[i])]));
  numbers(place, "waits", () => ({heads: ["client", "for", "seconds", "times"], rows: waits.client.map((c, i) => [c, waits.other[i], waits.seconds[i], waits.times[i]])}));
}
