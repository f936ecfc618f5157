// What became of one message, in a sentence or two.
import {fates} from "./score_data.js";
import {store} from "./store.js";
import {instant, isNumber, many, seconds} from "./words.js";

export function story(part, i, span) {
  const m = part.messages, at = t => instant(t, span), what = fates[m.fate[i]];
  const begin = `Client ${m.sender[i]} sent to client ${m.receiver[i]} at ${at(m.sent[i])}`;
  const way = isNumber(m.arrived[i]) ? `; it was ${seconds(m.arrived[i] - m.sent[i], 3)} on the way` : "";
  const age = isNumber(m.ended[i]) ? seconds(m.ended[i] - m.sent[i], 3) : "";
  const {deadline, cap} = store.data.words.about || {};
  switch (what) {
    case "merged": {
      const others = part.windows[m.window[i]].members.length - 1, hold = m.ended[i] - m.arrived[i];
      const stay = isNumber(hold) && hold > 0 ? ` and ${seconds(hold, 3)} in the mailbox${others ? `, together with ${many(others, "other")}` : ", alone"}` : "";
      const lag = m.lag[i] ? `; client ${m.sender[i]} had sent ${many(m.lag[i], "newer one")} by then` : "; it was the newest of its sender";
      return `${begin}${way}${stay}. It was merged at ${at(m.ended[i])}, ${age} old${lag}.`;
    }
    case "superseded": return `${begin}${way}. It was not merged: a newer message of the same sender was there, or it was not needed any more.`;
    case "late": return `${begin}${way}${isNumber(deadline) ? `, longer than the deadline of ${seconds(deadline)}` : ""}. It was dropped as too late.`;
    case "capped": return `${begin}${way}. The receiver had taken as many messages as it may${cap ? ` (${cap} in a period)` : ""}: it was dropped.`;
    case "lost": return `${begin}. The link lost it.`;
    case "partition": return `${begin}. A partition was between them: it was lost.`;
    case "absent": return `${begin}. Client ${m.receiver[i]} was away when it came: it was lost.`;
    case "waiting": return `${begin}${way}. It was in the mailbox when the run ended.`;
    case "under way": return `${begin}. It was still on its way when the run ended.`;
    default: return `${begin}${way}. It was refused: seen before, or of an earlier life.`;
  }
}
