// Pictures with a row for each setting of a comparison.
import {colour} from "./paint.js";
import {axisX, scale, sheet} from "./sheet.js";
import {fitted, labelSize, textFont} from "./texts.js";

/// Its name on the left, what `row` draws, its words on the right. Drawn again with `redraws`, where they are given.
export function rows(place, {label, settings, extent, ticks, word, row, say, zero, redraws}) {
  const high = 22, top = 6;
  let x, left, right;
  const made = sheet(place, {label, height: () => top + high * settings.length + 26, draw(ctx, width) {
    ctx.font = textFont(labelSize(width));
    left = Math.min(width * .36, 16 + Math.max(...settings.map(([s]) => ctx.measureText(s.setting).width)));
    right = Math.min(width * .3, 16 + Math.max(...settings.map(([s, i]) => ctx.measureText(say(s, i)).width)));
    const [low, most] = extent(), bottom = top + high * settings.length;
    x = scale(low, most, left, width - right);
    axisX(ctx, x, ticks(low, most, Math.max(2, Math.floor((width - left - right) / 90))), bottom, word);
    if (zero) {
      ctx.strokeStyle = colour("soft");
      ctx.beginPath();
      ctx.moveTo(x(0), top);
      ctx.lineTo(x(0), bottom);
      ctx.stroke();
    }
    settings.forEach(([setting, i], k) => {
      const y = top + high * (k + .5);
      ctx.strokeStyle = colour("line");
      ctx.beginPath();
      ctx.moveTo(left, y);
      ctx.lineTo(width - right, y);
      ctx.stroke();
      ctx.fillStyle = colour("ink");
      ctx.textAlign = "right";
      ctx.fillText(fitted(ctx, setting.setting, left - 8), left - 8, y);
      ctx.textAlign = "left";
      ctx.fillStyle = colour("soft");
      ctx.fillText(fitted(ctx, say(setting, i), right - 8), width - right + 8, y);
      row(ctx, x, y, setting, i, width - right);
    });
  }});
  if (redraws) redraws.push(made.redraw);
  return made;
}
