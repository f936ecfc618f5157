// Words on a canvas: their font, and what of them fits.
import {ratio} from "./paint.js";

export const textFont = (size = 11) => `${size}px system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif`;

/// Of the labels of a picture this wide: a telephone's are smaller.
export const labelSize = width => width < 480 ? 10 : 11;

/// Behind the end of an axis, for half of what its last mark says.
export const roomOfTick = 22;

/// For the widest of the labels of a picture this wide, at most so much; in CSS pixels.
export function roomFor(labels, width, most) {
  const ctx = document.createElement("canvas").getContext("2d");
  ctx.font = textFont(labelSize(width) * ratio());  // as they are drawn: glyphs do not grow evenly
  return Math.min(most, Math.max(0, ...labels.map(label => Math.ceil(ctx.measureText(label).width / ratio()))));
}

/// The text, or where it is wider than the room its beginning and its end: values and what tells settings apart stand at the end.
export function fitted(ctx, text, room) {
  let made = text;
  for (let kept = text.length - 1; kept > 0 && ctx.measureText(made).width > room; --kept) {
    const end = Math.ceil(kept * .6);
    made = `${text.slice(0, kept - end)}…${text.slice(text.length - end)}`;
  }
  return made;
}
