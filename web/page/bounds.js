// What theory says of the seconds until a gradient is small: dotted lines beside the measured ones, and a sentence.
import {note} from "./dom.js";
import {store} from "./store.js";

const paints = ["red", "orange", "teal"];

export const boundLines = () => (store.data.bounds?.lines ?? []).map(({name, values}, i) =>
  ({name, values, paint: paints[i % paints.length], width: 1.3, dash: [2, 3]}));

export function boundNote(place) {
  if (store.data.bounds) note(place, store.data.bounds.sentence);
}
