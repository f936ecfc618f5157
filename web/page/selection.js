// The client that was chosen in one picture is shown in all; -1: none.
import {tell} from "./store.js";

let client = -1;
export const selected = () => client;
export function setSelected(chosen) {
  client = chosen === client ? -1 : chosen;
  tell("selection");
}
