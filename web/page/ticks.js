// Places for the marks of an axis, of whatever ends it has.
export function linearTicks(low, high, wanted) {
  const span = high - low;
  if (!(span > 1e-12 * Math.max(Math.abs(low), Math.abs(high))) || !Number.isFinite(span)) return [low].filter(Number.isFinite);  // no number lies between
  const raw = span / Math.max(1, wanted), power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 2.5, 5, 10].map(f => f * power).find(s => span / s <= wanted) || 10 * power;
  const ticks = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9; ++i) ticks.push(Number((i * step).toPrecision(12)));
  return ticks;
}

/// At least three, also within one decade.
export function logTicks(low, high, wanted) {
  if (!(low > 0) || !Number.isFinite(high)) return linearTicks(low, high, wanted);
  const from = Math.floor(Math.log10(low)), to = Math.ceil(Math.log10(high));
  for (const digits of [[1], [1, 3], [1, 2, 5], [1, 1.5, 2, 3, 4, 5, 6, 7, 8, 9]]) {
    const ticks = [];
    for (let power = from; power <= to; ++power)
      for (const digit of digits) {
        const at = digit * 10 ** power;
        if (at >= low * .999 && at <= high * 1.001) ticks.push(Number(at.toPrecision(12)));
      }
    if (ticks.length >= 3) {
      const every = Math.ceil(ticks.length / Math.max(3, wanted));
      return ticks.filter((_, i) => i % every === 0);
    }
  }
  return linearTicks(low, high, Math.max(3, wanted));
}
