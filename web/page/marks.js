// Instants that concern all clients, for the plots.
import {store} from "./store.js";

const words = {join: "+", leave: "−", crash: "×", restart: "+", pause: "‖", "go on": "▸", partition: "⊣⊢", heal: "⊢⊣", come: "+"};

export function marks() {
  const all = [];
  for (const [at, what] of store.data.events || [])
    all.push(what === "unification" ? {at, paint: "violet", text: "U"}
      : {at, paint: "red", text: words[what] || "", isLong: what === "partition" || what === "heal"});
  return all;
}
