// The cards of a run, in the order of the questions.
import {ageCards} from "./ages.js";
import {againCard} from "./again.js";
import {apartCards} from "./apart.js";
import {behindCard} from "./behind.js";
import {clientCards} from "./clients.js";
import {byId, toggleNumbers} from "./dom.js";
import {controls, head} from "./head.js";
import {hostCard} from "./hosts.js";
import {linkCards} from "./links.js";
import {outcomeCards} from "./outcomes.js";
import {pathCard} from "./path.js";
import {scoreCard} from "./score.js";
import {fill, store} from "./store.js";
import {waitCard} from "./waits.js";
import {wellCards} from "./well.js";

function cards() {
  const main = byId("cards");
  main.replaceChildren();
  if (store.rows || store.data.live) {
    wellCards(main);
    apartCards(main);
  }
  behindCard(main);
  ageCards(main);
  outcomeCards(main);
  waitCard(main);
  pathCard(main);
  hostCard(main);
  scoreCard(main);
  linkCards(main);
  clientCards(main);
  againCard(main);
}

export function report(data) {
  fill(data);
  controls();
  head();
  cards();
}

document.addEventListener("keydown", event => {
  if (event.key === "n" && !event.target.matches("input, textarea, select")) toggleNumbers();
});
