// The marks of the score: unpacked from the page into columns. web/packing.cpp says how they are written.

export const fates = ["merged", "superseded", "late", "capped", "lost", "partition", "absent", "other", "waiting", "under way"];
export const fateOf = Object.fromEntries(fates.map((name, i) => [name, i]));

async function inflated(text) {
  const letters = atob(text), bytes = new Uint8Array(letters.length);
  for (let i = 0; i < letters.length; ++i) bytes[i] = letters.charCodeAt(i);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

class Reader {
  constructor(bytes) { this.bytes = bytes; this.at = 0; }
  number() {
    let value = 0, factor = 1;
    for (;;) {
      const byte = this.bytes[this.at++];
      value += (byte & 127) * factor;
      if (byte < 128) return value;
      factor *= 128;
    }
  }
  column(size, Kind = Float64Array) {
    const values = new Kind(size);
    for (let i = 0; i < size; ++i) values[i] = this.number();
    return values;
  }
  /// Whole units since the beginning of the part: sums of them are exact, so that what happened at one instant is found again.
  ticks(size) {
    const values = this.column(size);
    for (let i = 1; i < size; ++i) values[i] += values[i - 1];
    return values;
  }
}

function unpacked(bytes, {from}, unit) {
  const reader = new Reader(bytes);
  const seconds = ticks => ticks.map(tick => from + tick * unit);
  const marks = () => {
    const size = reader.number(), ticks = reader.ticks(size);
    return {size, ticks, at: seconds(ticks), client: reader.column(size, Uint32Array)};
  };
  const computations = marks(), publications = marks();
  const size = reader.number(), m = {size};
  const steps = reader.column(size), fate = reader.column(size, Uint8Array), receivers = reader.column(size);
  // What is not known is 0; else it is one more than it says.
  const transit = reader.column(size), hold = reader.column(size);
  Object.assign(m, {fate, lag: reader.column(size, Uint32Array), sender: new Uint32Array(size), receiver: new Uint32Array(size),
                    sent: new Float64Array(size), arrived: new Float64Array(size), ended: new Float64Array(size), endTick: new Float64Array(size)});
  let publication = 0;
  for (let i = 0; i < size; ++i) {
    publication += steps[i];
    const departure = publications.ticks[publication], arrival = departure + transit[i] - 1;
    m.sender[i] = publications.client[publication];
    m.receiver[i] = m.sender[i] + (receivers[i] % 2 ? -(receivers[i] + 1) / 2 : receivers[i] / 2);
    m.endTick[i] = hold[i] ? (transit[i] ? arrival : departure) + hold[i] - 1 : NaN;
    m.sent[i] = from + departure * unit;
    m.arrived[i] = transit[i] ? from + arrival * unit : NaN;
    m.ended[i] = from + m.endTick[i] * unit;
  }
  const waits = {size: reader.number()};
  const begun = reader.ticks(waits.size);
  waits.from = seconds(begun);
  waits.client = reader.column(waits.size, Uint32Array);
  waits.other = reader.column(waits.size, Uint32Array);
  waits.to = reader.column(waits.size).map((v, i) => from + (begun[i] + v) * unit);
  return {computations, publications, messages: m, waits};
}

// The windows: what one client merged at one instant came in one.
function windowsOf(m) {
  const groups = new Map();
  for (let i = 0; i < m.size; ++i) {
    if (m.fate[i] !== fateOf.merged) continue;
    const key = m.endTick[i] * 65536 * 32 + m.receiver[i], group = groups.get(key);
    if (group) group.push(i);
    else groups.set(key, [i]);
  }
  const all = [];
  m.window = new Int32Array(m.size).fill(-1);
  for (const members of groups.values()) {
    const opened = Math.min(...members.map(i => m.arrived[i]));
    for (const i of members) m.window[i] = all.length;
    all.push({client: m.receiver[members[0]], from: opened, to: m.ended[members[0]], members});
  }
  return all;
}

const spans = m => {
  let longest = 0;
  for (let i = 0; i < m.size; ++i) {
    const end = Number.isNaN(m.ended[i]) ? m.arrived[i] : m.ended[i];
    if (end - m.sent[i] > longest) longest = end - m.sent[i];
  }
  return longest;
};

// Computations and merges by group and slice, where not all marks are there.
async function readDensity(density) {
  const reader = new Reader(await inflated(density.packed)), size = density.groups * density.slices;
  density.computations = reader.column(size);
  density.merges = reader.column(size);
}

export async function readScore(score) {
  const parts = [];
  if (score.density) await readDensity(score.density);
  for (const part of score.parts) {
    const marks = unpacked(await inflated(part.packed), part, score.unit);
    let windows = null;  // made when they are drawn first
    parts.push({from: part.from, to: part.to, ...marks, longest: spans(marks.messages), get windows() { return windows ??= windowsOf(marks.messages); }});
  }
  return parts;
}

/// The first of ascending values that is not below.
export function lowerBound(values, wanted) {
  let low = 0, high = values.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    values[middle] < wanted ? low = middle + 1 : high = middle;
  }
  return low;
}
