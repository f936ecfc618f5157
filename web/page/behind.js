// Who is left behind? Every dot is a client; against what it has, does, hears and waits for.
import {card, choice, element, numbers} from "./dom.js";
import {colour} from "./paint.js";
import {axisX, axisY, explains, scale, sheet} from "./sheet.js";
import {setSelected, selected} from "./selection.js";
import {on, store} from "./store.js";
import {linearTicks} from "./ticks.js";
import {count, isNumber, many, seconds, share, short, tenths} from "./words.js";

const sides = [["training_samples", "training rows", count], ["computations", "computations", count], ["merged", "messages merged", count],
               ["age", "age of what it hears", seconds], ["waited", "seconds waited", seconds], ["achieved_rate", "rate", short]];
const shapes = ["circle", "square", "triangle", "diamond"];

function dot(ctx, x, y, shape, size) {
  ctx.beginPath();
  if (shape === "circle") ctx.arc(x, y, size, 0, 2 * Math.PI);
  if (shape === "square") ctx.rect(x - size, y - size, 2 * size, 2 * size);
  if (shape === "triangle") { ctx.moveTo(x, y - size - 1); ctx.lineTo(x + size + 1, y + size); ctx.lineTo(x - size - 1, y + size); ctx.closePath(); }
  if (shape === "diamond") { ctx.moveTo(x, y - size - 1); ctx.lineTo(x + size + 1, y); ctx.lineTo(x, y + size + 1); ctx.lineTo(x - size - 1, y); ctx.closePath(); }
}

/// What is known of clients that scores may be set against.
function known(all) {
  const extra = {merged: all.kept && all.kept.map((v, i) => v - ((all.superseded?.[i] || 0) - (all.surplus?.[i] || 0)))};
  return sides.map(([key, name, word]) => ({key, name, word, values: all[key] || extra[key]})).filter(side => side.values?.some(v => isNumber(v) && v > 0));
}

// Of how much the order of one says of the other: Spearman's, over clients that have both.
function correlation(a, b) {
  const pairs = a.map((v, i) => [v, b[i]]).filter(([v, w]) => isNumber(v) && isNumber(w));
  if (pairs.length < 4) return NaN;
  const ranks = values => {
    const order = values.map((v, i) => [v, i]).sort((x, y) => x[0] - y[0]), made = new Array(values.length);
    for (let i = 0; i < order.length;) {
      let end = i;
      while (end < order.length && order[end][0] === order[i][0]) ++end;
      for (let k = i; k < end; ++k) made[order[k][1]] = (i + end - 1) / 2;
      i = end;
    }
    return made;
  };
  const x = ranks(pairs.map(p => p[0])), y = ranks(pairs.map(p => p[1])), middle = (pairs.length - 1) / 2;
  let xy = 0, xx = 0, yy = 0;
  x.forEach((v, i) => { xy += (v - middle) * (y[i] - middle); xx += (v - middle) ** 2; yy += (y[i] - middle) ** 2; });
  return xx && yy ? xy / Math.sqrt(xx * yy) : NaN;
}

const median = values => { const v = values.filter(isNumber).toSorted((a, b) => a - b), m = v.length >> 1; return v.length % 2 ? v[m] : (v[m - 1] + v[m]) / 2; };

// The worst client beside the median of all, and whether anything sets it apart: by a quarter, that is.
function besideOthers(client, score, options) {
  const said = options.filter(o => isNumber(o.values[client])).map(o => [o, o.values[client], median(o.values)]);
  const apart = said.filter(([, own, middle]) => middle > 0 && (own / middle <= .8 || own / middle >= 1.25)).map(([o]) => o.name);
  return `The worst, client ${client}: ${score}; ${said.map(([o, own, middle]) => `${o.name} ${o.word(own)} (median ${o.word(middle)})`).join(", ")}. ` +
         (apart.length ? `What sets it apart is ${apart.join(", ")}, which need not be why.` : "None of these sets it apart.");
}

export function behindCard(parent) {
  const all = store.data.clients.columns;
  if (!all) return;
  const isScored = all.accuracy.some(isNumber), scores = isScored ? all.accuracy : all.loss;
  if (!scores.some(isNumber)) return;
  const place = card(parent, {id: "behind", title: "Who is left behind?", how: `Each dot is a client: its ${isScored ? "accuracy" : "loss"} at the end. A click selects it in all pictures.`});
  const options = known(all);
  let side = options[0];
  if (!side) return;
  const sayings = element(place, "p", {class: "note"});
  const classes = [...new Set(all.class || [])];
  let x, y;
  const left = 56, bottom = 190;
  const draw = (ctx, width) => {
    const xs = side.values.filter(isNumber), ys = scores.filter(isNumber), pad = (Math.max(...ys) - Math.min(...ys) || .01) * .08;
    const low = Math.min(...xs), high = Math.max(...xs), xpad = (high - low || 1) * .05;
    x = scale(low - xpad, high + xpad, left, width - 20);
    y = scale(Math.min(...ys) - pad, Math.max(...ys) + pad, bottom, 10);
    axisY(ctx, y, linearTicks(Math.min(...ys) - pad, Math.max(...ys) + pad, 4), left, width - 20, isScored ? tenths : short);
    axisX(ctx, x, linearTicks(low - xpad, high + xpad, Math.max(2, Math.floor(width / 110))), bottom, side.word);
    const worst = scores.indexOf(isScored ? Math.min(...ys) : Math.max(...ys));
    scores.forEach((score, i) => {
      if (!isNumber(score) || !isNumber(side.values[i])) return;
      const isChosen = selected() === i;
      dot(ctx, x(side.values[i]), y(score), shapes[Math.max(0, classes.indexOf(all.class?.[i])) % shapes.length], isChosen ? 6 : scores.length > 300 ? 2 : 4);
      ctx.fillStyle = colour(isChosen ? "orange" : i === worst ? "red" : "blue");
      ctx.globalAlpha = isChosen || i === worst ? 1 : .65;
      ctx.fill();
      ctx.globalAlpha = 1;
      if (isChosen || i === worst) {
        ctx.fillStyle = colour("ink");
        ctx.textAlign = x(side.values[i]) > width - 90 ? "right" : "left";
        ctx.fillText(`client ${i}`, x(side.values[i]) + (ctx.textAlign === "right" ? -9 : 9), y(score));
      }
    });
    const rank = correlation(side.values, scores);
    sayings.textContent = isNumber(rank) ? `Rank correlation of ${isScored ? "accuracy" : "loss"} with ${side.name}: ${rank.toFixed(2)} over ${many(ys.length, "client")}${Math.abs(rank) < .3 ? ", which is little" : ""}.` : "";
  };
  const controls = element(place, "div", {class: "controls"});
  const made = sheet(place, {label: "Clients by score", height: bottom + 24, draw});
  choice(controls, "against", options.map(o => [o.key, o.name]), side.key, key => { side = options.find(o => o.key === key); made.redraw(); });
  place.append(sayings);
  const measured = scores.filter(isNumber), worst = scores.indexOf(isScored ? Math.min(...measured) : Math.max(...measured));
  element(place, "p", {class: "note beside"}, besideOthers(worst, isScored ? tenths(scores[worst]) : short(scores[worst]), options));
  const nearest = (px, py) => {
    let best = -1, distance = 14 ** 2;
    scores.forEach((score, i) => {
      if (!isNumber(score) || !isNumber(side.values[i])) return;
      const d = (x(side.values[i]) - px) ** 2 + (y(score) - py) ** 2;
      if (d < distance) [best, distance] = [i, d];
    });
    return best;
  };
  explains(made, (px, py) => {
    const i = nearest(px, py);
    return i < 0 ? "" : `client ${i}${all.class?.[i] ? `, ${all.class[i]}` : ""}: ${isScored ? share(scores[i]) : short(scores[i])}, ${side.word(side.values[i])} ${side.name}`;
  });
  made.canvas.addEventListener("click", event => {
    const box = made.canvas.getBoundingClientRect();
    setSelected(nearest(event.clientX - box.left, event.clientY - box.top));
  });
  on("selection", made.redraw);
  numbers(place, "clients-by-score", () => ({heads: ["client", "score", ...options.map(o => o.name)],
    rows: scores.map((score, i) => [i, isNumber(score) ? score : null, ...options.map(o => isNumber(o.values[i]) ? o.values[i] : null)])}));
}
