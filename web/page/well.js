// How well do they do? Accuracy of clients with its spread, the worst named, and of the mean of their models; loss and F1.
import {boundLines, boundNote} from "./bounds.js";
import {card} from "./dom.js";
import {linePlot} from "./lines.js";
import {marks, marksAre} from "./marks.js";
import {column, hasAccuracy, isKnown, last, store} from "./store.js";
import {isNumber, share, short, tenths} from "./words.js";

const plus = (a, b, sign) => a.map((v, i) => isNumber(v) && isNumber(b[i]) ? v + sign * b[i] : NaN);
const inUnit = values => values.map(v => isNumber(v) ? Math.min(1, Math.max(0, v)) : v);

function accuracies() {
  const mean = column("accuracy_mean"), spread = column("accuracy_std"), worst = column("accuracy_min_client");
  const hasQuantiles = isKnown("accuracy_p5") && isKnown("accuracy_p95");
  const [low, high] = hasQuantiles ? [column("accuracy_p5"), column("accuracy_p95")]
    : [inUnit(plus(mean, spread, -1)), inUnit(plus(mean, spread, 1))];
  const lines = [{name: "clients", values: mean, low, high, paint: "blue", label: `clients ${tenths(last("accuracy_mean"))}`,
                  says: i => hasQuantiles ? `(5–95 %: ${tenths(low[i])} to ${tenths(high[i])})` : `± ${tenths(spread[i])}`},
                 {name: "mean model", values: column("accuracy_mean_model"), paint: "orange", dash: [6, 4],
                  label: `mean model ${tenths(last("accuracy_mean_model"))}`}];
  if (isKnown("accuracy_min"))
    lines.push({name: "worst", values: column("accuracy_min"), paint: "red", width: 1.2, dash: [2, 3],
                label: `worst ${tenths(last("accuracy_min"))}${isNumber(worst.at(-1)) ? ` (${worst.at(-1)})` : ""}`,
                says: i => isNumber(worst[i]) ? `client ${worst[i]}` : ""});
  return {lines, word: share, tickWord: v => `${Number((100 * v).toFixed(1))} %`, full: [0, 1], marks: marks()};
}

const losses = () => ({
  lines: [{name: "clients", values: column("loss_mean"), paint: "blue", label: `clients ${short(last("loss_mean"))}`},
          {name: "mean model", values: column("loss_mean_model"), paint: "orange", dash: [6, 4], label: `mean model ${short(last("loss_mean_model"))}`}],
  marks: marks()});

const optimality = () => {
  const lines = [["gradient_norm", "gradient at the mean model", "violet"], ["stationarity", "stationarity", "green"], ["objective", "objective", "orange"]]
    .filter(([name]) => isKnown(name)).map(([name, title, paint]) => ({name: title, values: column(name), paint}));
  if (isKnown("gradient_norm")) lines.push(...boundLines());
  return lines.length ? {lines, log: true, marks: marks()} : null;
};

export function wellCards(parent) {
  if (hasAccuracy() || store.data.live) {
    const bands = isKnown("accuracy_p5") ? "nine of ten clients" : "one standard deviation of the clients";
    linePlot(card(parent, {id: "well", title: "How well do they do?", how:
      `Accuracy on the test rows. The band holds ${bands}; the worst client is named.${marksAre()}`}),
      {title: "Accuracy on test data", give: accuracies, file: "accuracy"});
  }
  linePlot(card(parent, {id: "loss", title: hasAccuracy() || store.data.live ? "How wrong are they?" : "How well do they do?", how:
    "Loss on the test rows: mean of the clients' own, and that of the mean of their models."}), {title: "Loss", give: losses, file: "loss"});
  if (!optimality()) return;
  const place = card(parent, {id: "optimality", title: "How near is the optimum?", how: "What is 0 where nothing can be gained any more."});
  linePlot(place, {title: "Stationarity", give: optimality, file: "optimality"});
  boundNote(place);
}
