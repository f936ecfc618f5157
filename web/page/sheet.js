// A picture of our own on a canvas: as many pixels as the screen or the paper has, drawn anew when width or theme change, and the
// words beside the pointer, which a finger calls by a tap.
import {element} from "./dom.js";
import {colour, onRedraw, paper, ratio} from "./paint.js";
import {textFont} from "./texts.js";

/// `draw(ctx, width, height)` in CSS pixels; `height` may be a function of the width.
export function sheet(place, {label, height, draw}) {
  const canvas = element(place, "canvas", {role: "img", "aria-label": label, tabindex: 0});
  const made = {canvas, width: 0, height: 0};
  made.redraw = () => {
    if (!canvas.isConnected) return;
    made.width = paper.isOn ? paper.width : canvas.parentElement.clientWidth - inset(canvas.parentElement) || 520;
    made.height = typeof height === "function" ? height(made.width) : height;
    canvas.style.height = `${made.height}px`;
    canvas.style.width = `${made.width}px`;
    canvas.width = Math.round(made.width * ratio());
    canvas.height = Math.round(made.height * ratio());
    const ctx = canvas.getContext("2d");
    ctx.setTransform(ratio(), 0, 0, ratio(), 0, 0);
    ctx.clearRect(0, 0, made.width, made.height);
    ctx.font = textFont();
    ctx.textBaseline = "middle";
    draw(ctx, made.width, made.height);
  };
  const frame = canvas.parentElement, watch = new ResizeObserver(() => {
    if (!canvas.isConnected) return watch.disconnect();
    if (!paper.isOn && Math.abs(canvas.parentElement.clientWidth - inset(canvas.parentElement) - made.width) > 1) made.redraw();
  });
  watch.observe(frame);
  onRedraw(made.redraw);
  made.redraw();
  return made;
}

function inset(parent) {
  const style = getComputedStyle(parent);
  return parseFloat(style.paddingLeft) + parseFloat(style.paddingRight);
}

/// Linear from values to pixels; `back` is the other way.
export function scale(low, high, from, to) {
  const span = high - low || 1;
  const at = value => from + (value - low) / span * (to - from);
  at.back = pixel => low + (pixel - from) / (to - from) * span;
  return at;
}

export function axisX(ctx, x, ticks, bottom, word) {
  ctx.fillStyle = colour("soft");
  ctx.strokeStyle = colour("line");
  ctx.textAlign = "center";
  for (const tick of ticks) {
    ctx.beginPath();
    ctx.moveTo(x(tick), bottom);
    ctx.lineTo(x(tick), bottom + 4);
    ctx.stroke();
    ctx.fillText(word(tick), x(tick), bottom + 13);
  }
}

export function axisY(ctx, y, ticks, left, right, word) {
  ctx.fillStyle = colour("soft");
  ctx.strokeStyle = colour("line");
  ctx.textAlign = "right";
  for (const tick of ticks) {
    ctx.beginPath();
    ctx.moveTo(left, y(tick));
    ctx.lineTo(right, y(tick));
    ctx.stroke();
    ctx.fillText(word(tick), left - 6, y(tick));
  }
}

const tip = element(document.body, "div", {class: "tip", hidden: ""});
export function showTip(event, text) {
  tip.hidden = !text;
  if (!text) return;
  tip.textContent = text;
  const {width, height} = tip.getBoundingClientRect();
  tip.style.left = `${Math.max(4, Math.min(innerWidth - width - 8, event.clientX + 12))}px`;
  tip.style.top = `${event.clientY + 16 + height > innerHeight ? event.clientY - height - 8 : event.clientY + 16}px`;
}

/// Shows what `find(x, y)` says of a place of the picture, while the pointer is there or after a tap.
export function explains(made, find) {
  const at = event => {
    const box = made.canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  made.canvas.addEventListener("pointermove", event => showTip(event, find(...at(event))));
  made.canvas.addEventListener("pointerdown", event => showTip(event, find(...at(event))));
  made.canvas.addEventListener("pointerleave", event => { if (event.pointerType !== "touch") showTip(event, ""); });
}
