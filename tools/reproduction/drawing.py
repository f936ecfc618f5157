"""Figures as SVG: one style for all. Curves differ in their dashes and marks and not in their colour alone, so that they can be
told apart in black and white; bands are one standard deviation over seeds to both sides of the mean, on logarithmic axes of the
logarithms to both sides of the geometric mean."""

import math
from html import escape

from plan import is_known

colours = ("#000000", "#b03a2e", "#1f618d", "#117a65", "#7d3c98", "#9a7d0a", "#5d6d7e", "#d35400", "#2e86c1", "#7b241c")
dashes = ("", "7 3", "2 3", "9 3 2 3", "12 4", "4 2 1 2 1 2", "1 2", "6 2 6 6", "3 1", "10 2 2 2 2 2")
marks = ("circle", "square", "up", "diamond", "down", "cross", "plus", "ring", "box", "triangle")

width_of_panel, height_of_panel = 400, 270
left, right, top, bottom = 66, 14, 30, 48


def _number(value):
    if value == 0:
        return "0"
    size = abs(value)
    if size >= 1e5 or size < 1e-3:
        exponent = math.floor(math.log10(size))
        factor = value / 10 ** exponent
        return f"1e{exponent}" if abs(factor - 1) < 1e-9 else f"{factor:.3g}e{exponent}"
    return f"{value:.6g}"


def _ticks(low, high):
    if high <= low:
        return [low]
    raw = (high - low) / 5
    size = 10 ** math.floor(math.log10(raw))
    step = next(one * size for one in (1, 2, 2.5, 5, 10) if one * size >= raw * 0.999)
    first = math.ceil(low / step - 1e-9)
    return [i * step for i in range(first, int(math.floor(high / step + 1e-9)) + 1)]


def _powers(low, high):
    first, last = math.ceil(math.log10(low) - 1e-9), math.floor(math.log10(high) + 1e-9)
    if last - first >= 2:
        stride = max(1, (last - first) // 6 + (1 if (last - first) % 6 else 0)) if last - first > 6 else 1
        return [10.0 ** one for one in range(first, last + 1, stride)]
    fine = [one for power in range(first - 1, last + 1) for one in (10.0 ** power, 2 * 10.0 ** power, 5 * 10.0 ** power)
            if low * 0.999 <= one <= high * 1.001]
    return fine if len(fine) <= 6 or last == first else [10.0 ** one for one in range(first, last + 1)]  # more words run into each other


def style(number):
    """Colour, dash and mark of a curve; those of two curves of a figure differ."""
    again = number // len(colours)
    return (colours[number % len(colours)], dashes[(number + 3 * again) % len(dashes)], marks[(number + 5 * again) % len(marks)])


class Axis:
    def __init__(self, low, high, start, stop, log=False):
        if log and low <= 0:
            low = high / 1e6 if high > 0 else 1e-6
        if high <= low:
            low, high = (low * 0.9, high * 1.1) if log and low > 0 else (low - 0.5, high + 0.5)
        self.low, self.high, self.start, self.stop, self.log = low, high, start, stop, log

    def place(self, value):
        if self.log:
            value = max(value, self.low)
            share = (math.log10(value) - math.log10(self.low)) / (math.log10(self.high) - math.log10(self.low))
        else:
            share = (value - self.low) / (self.high - self.low)
        return self.start + min(max(share, -1), 2) * (self.stop - self.start)  # what is far outside is cut off in any case

    def ticks(self):
        return _powers(self.low, self.high) if self.log else _ticks(self.low, self.high)


def _mark(kind, x, y, colour, size=3.4):
    path = {
        "square": f"M{x - size:.1f} {y - size:.1f}h{2 * size}v{2 * size}h{-2 * size}z",
        "up": f"M{x:.1f} {y - size:.1f}l{size} {2 * size}h{-2 * size}z",
        "down": f"M{x:.1f} {y + size:.1f}l{size} {-2 * size}h{-2 * size}z",
        "diamond": f"M{x:.1f} {y - size * 1.3:.1f}l{size} {size * 1.3}l{-size} {size * 1.3}l{-size} {-size * 1.3}z",
        "cross": f"M{x - size:.1f} {y - size:.1f}l{2 * size} {2 * size}m0 {-2 * size}l{-2 * size} {2 * size}",
        "plus": f"M{x:.1f} {y - size:.1f}v{2 * size}m{-size} {-size}h{2 * size}",
        "box": f"M{x - size:.1f} {y - size:.1f}h{2 * size}v{2 * size}h{-2 * size}z",
        "triangle": f"M{x:.1f} {y - size:.1f}l{size} {2 * size}h{-2 * size}z",
    }
    if kind == "circle":
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{size}" fill="{colour}"/>'
    if kind == "ring":
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{size}" fill="#fff" stroke="{colour}" stroke-width="1.4"/>'
    is_open = kind in ("cross", "plus", "box", "triangle")
    fill = ("#fff" if kind in ("box", "triangle") else "none") if is_open else colour
    return f'<path d="{path[kind]}" fill="{fill}" stroke="{colour}" stroke-width="1.4"/>'


def _text(x, y, text, anchor="middle", size=12, turn=False, weight=""):
    turned = f' transform="rotate(-90 {x:.1f} {y:.1f})"' if turn else ""
    bold = f' font-weight="{weight}"' if weight else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}"{turned}{bold}>{escape(text)}</text>'


def _frame(x_axis, y_axis, panel):
    parts = []
    for tick in y_axis.ticks():
        y = y_axis.place(tick)
        parts.append(f'<path d="M{x_axis.start} {y:.1f}H{x_axis.stop}" stroke="#ddd"/>')
        parts.append(_text(x_axis.start - 6, y + 4, _number(tick), "end", 11))
    for tick in x_axis.ticks():
        x = x_axis.place(tick)
        parts.append(f'<path d="M{x:.1f} {y_axis.start}v4" stroke="#000"/>')
        parts.append(_text(x, y_axis.start + 17, _number(tick), size=11))
    parts.append(f'<path d="M{x_axis.start} {y_axis.stop}V{y_axis.start}H{x_axis.stop}" fill="none" stroke="#000"/>')
    parts.append(_text((x_axis.start + x_axis.stop) / 2, y_axis.start + 37, panel.x_label))
    parts.append(_text(x_axis.start - 50, (y_axis.start + y_axis.stop) / 2, panel.y_label, turn=True))
    if panel.title:
        parts.append(_text((x_axis.start + x_axis.stop) / 2, y_axis.stop - 10, panel.title, weight="bold"))
    return parts


def _extent(values, log):
    known = [one for one in values if is_known(one) and not math.isinf(one) and (one > 0 or not log)]
    if not known:
        return (1e-3, 1.0) if log else (0.0, 1.0)
    low, high = min(known), max(known)
    if log:
        # Twelve decades at most: what a curve does below is rounding.
        low = max(low, high * 1e-12)
        return low * 0.8, high * 1.25
    room = (high - low) * 0.04
    return low - room, high + room


def _band_of(panel, mean, deviation):
    """Its ends; on a logarithmic axis the deviation is a factor."""
    return (mean / deviation, mean * deviation) if panel.y_log else (mean - deviation, mean + deviation)


def _curves(panel, curves, order, x0, width, clip):
    """curves: name -> (xs, means, deviations); clip: a name that no other panel of the figure has."""
    shown = {name: curve for name, curve in curves.items() if curve[0]}
    xs = [x for curve in shown.values() for x in curve[0]]
    ys = []
    for _, means, deviations in shown.values():
        for mean, deviation in zip(means, deviations):
            ys += [mean, *_band_of(panel, mean, deviation)] if is_known(deviation) else [mean]
    ys = [min(max(y, panel.y_from), panel.y_to) for y in ys if is_known(y)]
    x_axis = Axis(*((min(xs), max(xs)) if xs and not panel.x_log else _extent(xs, panel.x_log)), x0 + left,
                  x0 + width - right, panel.x_log)
    y_axis = Axis(*_extent(ys, panel.y_log), height_of_panel - bottom, top, panel.y_log)
    parts = _frame(x_axis, y_axis, panel)
    # Marks at the edges are shown whole.
    parts.append(f'<clipPath id="{clip}"><rect x="{x_axis.start - 5}" y="{y_axis.stop - 5}" width="{x_axis.stop - x_axis.start + 10}" '
                 f'height="{y_axis.start - y_axis.stop + 10}"/></clipPath><g clip-path="url(#{clip})">')
    for name, (places, means, deviations) in shown.items():
        number = order.index(name)
        colour, dash, mark = style(number)
        known = [(x, y, d) for x, y, d in zip(places, means, deviations) if is_known(y) and not math.isinf(y) and (y > 0 or not panel.y_log)]
        points = [(x_axis.place(x), y_axis.place(y)) for x, y, _ in known]
        band = [(x_axis.place(x), *map(y_axis.place, _band_of(panel, y, d))) for x, y, d in known if is_known(d) and not math.isinf(d)]
        if len(band) > 1:
            up = " ".join(f"{x:.1f},{high:.1f}" for x, _, high in band)
            down = " ".join(f"{x:.1f},{low:.1f}" for x, low, _ in reversed(band))
            parts.append(f'<polygon points="{up} {down}" fill="{colour}" fill-opacity="0.13"/>')
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        parts.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="1.6" stroke-dasharray="{dash}"/>')
        stride = max(1, len(points) // 6)
        for x, y in points[(number * stride // max(1, len(shown))) % stride::stride]:
            parts.append(_mark(mark, x, y, colour))
    parts.append("</g>")
    return parts


def _dots(panel, dots, order, x0, width, height):
    """dots: name -> (mean, deviation, paper); one line for each setting."""
    names = [name for name in order if name in dots]
    values = []
    for mean, deviation, paper in dots.values():
        spread = deviation if is_known(deviation) else 0
        values += [min(max(one, panel.y_from), panel.y_to) for one in (mean - spread, mean + spread, paper) if is_known(one)]
    label_room = 14 + 6.6 * max([len(name) for name in names] + [4])
    x_axis = Axis(*_extent(values, panel.x_log), x0 + label_room, x0 + width - right, panel.x_log)
    y_start = height - bottom
    parts = []
    for tick in x_axis.ticks():
        x = x_axis.place(tick)
        parts.append(f'<path d="M{x:.1f} {y_start}V{top}" stroke="#ddd"/>')
        parts.append(_text(x, y_start + 17, _number(tick), size=11))
    parts.append(f'<path d="M{x_axis.start} {top}V{y_start}H{x_axis.stop}" fill="none" stroke="#000"/>')
    parts.append(_text((x_axis.start + x_axis.stop) / 2, y_start + 37, panel.x_label))
    if panel.title:
        parts.append(_text((x_axis.start + x_axis.stop) / 2, top - 10, panel.title, weight="bold"))
    for i, name in enumerate(names):
        y = top + (i + 0.5) * (y_start - top) / len(names)
        mean, deviation, paper = dots[name]
        parts.append(_text(x_axis.start - 6, y + 4, name, "end", 11))
        if is_known(mean) and not panel.y_from <= mean <= panel.y_to:
            parts.append(_text(x_axis.start + 8, y + 4, f"at {mean:.3g}" + (f" ± {deviation:.2g}" if is_known(deviation) else ""), "start", 11))
        elif is_known(mean):
            if is_known(deviation):
                low, high = (x_axis.place(min(max(one, x_axis.low), x_axis.high)) for one in (mean - deviation, mean + deviation))
                parts.append(f'<path d="M{low:.1f} {y:.1f}H{high:.1f}M{low:.1f} {y - 4:.1f}v8M{high:.1f} {y - 4:.1f}v8" '
                             'stroke="#000" stroke-width="1.3"/>')
            parts.append(_mark("circle", x_axis.place(mean), y, "#000", 4))
        else:
            parts.append(_text(x_axis.start + 8, y + 4, "not reached", "start", 11))
        if is_known(paper):
            parts.append(_mark("box", x_axis.place(paper), y, "#b03a2e", 4.5))
    return parts


def _lines(text, width):
    """Broken between words where they are longer than so many points."""
    lines = [""]
    for word in text.split():
        if lines[-1] and 5.6 * (len(lines[-1]) + len(word) + 1) > width - 24:
            lines.append("")
        lines[-1] += (" " if lines[-1] else "") + word
    return lines


def _legend(names, order, width, y, note):
    parts, x = [], 12
    for name in names:
        room = 50 + 6.6 * len(name)
        if x + room > width and x > 12:
            x, y = 12, y + 18
        colour, dash, mark = style(order.index(name))
        parts.append(f'<path d="M{x} {y - 4}h30" stroke="{colour}" stroke-width="1.6" stroke-dasharray="{dash}"/>')
        parts.append(_mark(mark, x + 15, y - 4, colour))
        parts.append(_text(x + 36, y, name, "start"))
        x += room
    for i, line in enumerate(_lines(note, width) if note else []):
        y += 15 if i or not names else 22
        parts.append(_text(12, y, line, "start", 11))
    return parts, y


def figure(panels, order, note):
    """panels: (Panel, curves or dots). Two panels a line; a single one is wider. The whole file as text."""
    columns = min(len(panels), 2)
    width_of = 640 if columns == 1 else width_of_panel
    parts, y = [], 0
    drawn = [name for name in order if any(panel.x and name in data and data[name][0] for panel, data in panels)]
    has_paper = any(is_known(one[2]) for panel, data in panels if not panel.x for one in data.values())
    for first in range(0, len(panels), columns):
        row, height = [], height_of_panel
        for panel, data in panels[first:first + columns]:
            if not panel.x:
                height = max(height, top + bottom + 24 * len(data))
        for i, (panel, data) in enumerate(panels[first:first + columns]):
            row += _curves(panel, data, drawn, i * width_of, width_of, f"panel-{first + i}") if panel.x else _dots(panel, data, order, i * width_of, width_of, height)
        parts.append(f'<g transform="translate(0 {y})">' + "".join(row) + "</g>")
        y += height + 6
    width = columns * width_of
    legend, y = _legend(drawn, drawn, width, y + 14, note + (" Squares: the paper." if has_paper else ""))
    height = y + 12
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
            'font-family="Helvetica, Arial, sans-serif" fill="#000"><rect width="100%" height="100%" fill="#fff"/>\n'
            + "\n".join(parts) + "\n" + "".join(legend) + "\n</svg>\n")
