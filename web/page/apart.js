// How far apart are the models? The distance to their mean; who is there, where clients come and go.
import {card, note} from "./dom.js";
import {linePlot} from "./lines.js";
import {marks, presence} from "./marks.js";
import {column, isKnown, last} from "./store.js";
import {isNumber, short} from "./words.js";

const distances = () => {
  const all = [["consensus", "of models", "violet"], ["consensus_y", "of trackers", "teal"], ["consensus_nu", "of momenta", "pink"]]
    .filter(([name]) => isKnown(name));
  return {log: true, marks: marks(), lines: all.map(([name, title, paint]) => ({name: title, values: column(name), paint, label: `${title} ${short(last(name))}`}))};
};

export function apartCards(parent) {
  const place = card(parent, {id: "apart", title: "How far apart are their models?", how:
    "Squared distance to the mean, summed over the measured clients. A unification (U) makes all models one: there it is 0, which a logarithmic axis leaves out."});
  linePlot(place, {title: "Distance of models to their mean", give: distances, file: "consensus"});
  if (isKnown("mass_defect") && column("mass_defect").some(v => isNumber(v) && v > 1e-6))
    note(place, `What should sum to zero over all clients is off by up to ${short(Math.max(...column("mass_defect").filter(isNumber)))}.`);
  if (presence())
    linePlot(card(parent, {id: "presence", title: "Who is there?", how: "Clients that are there; + comes, − leaves, × crashes, ‖ pauses, ⊣⊢ a partition begins and ⊢⊣ ends."}),
      {title: "Clients that are there", height: 130, file: "presence",
       give: () => ({times: presence().map(p => p[0]), zero: true, marks: marks(), lines: [{name: "clients", values: presence().map(p => p[1]), paint: "teal"}]})});
}
