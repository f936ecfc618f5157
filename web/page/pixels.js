// uPlot asks for the pixels of the screen once and when the screen changes; paper has more. This stands before uPlot is loaded:
// what it listens with is kept, and called when the pixels that it is to use have changed.
import {onPrinting, paper} from "./paint.js";

const real = window.matchMedia.bind(window);
let tell = () => {};
window.matchMedia = query => {
  const list = real(query);
  if (query.includes("dppx")) {
    const listen = list.addEventListener.bind(list);
    list.addEventListener = (name, act, options) => { tell = act; listen(name, act, options); };
  }
  return list;
};
const ofScreen = Object.getOwnPropertyDescriptor(window, "devicePixelRatio");
onPrinting(isOn => {
  Object.defineProperty(window, "devicePixelRatio", isOn ? {value: paper.ratio, configurable: true} : ofScreen);
  tell();
});
