// The page of a comparison: which setting does best, how sure that is, and what it costs to get there.
import {byId, card, choice, element, note, numbers, table} from "./dom.js";
import {comparedPlot} from "./compare_plot.js";
import {messagesCard, unificationCard, worstCard} from "./compare_fate.js";
import {rows} from "./compare_rows.js";
import {costOf, meanOf, paired, undominated} from "./compare_stats.js";
import {colour, mixed} from "./paint.js";
import {axisX, axisY, explains, scale, sheet} from "./sheet.js";
import {fitted} from "./texts.js";
import {linearTicks} from "./ticks.js";
import {count, isNumber, many, seconds, short, spread, tenths, wordOf} from "./words.js";

const hues = ["blue", "orange", "green", "violet", "red", "teal", "yellow", "pink"];

/// Hue by algorithm, lightness by the place of a setting among those of its algorithm.
function paints(settings) {
  const algorithms = [...new Set(settings.map(s => s.algorithm))];
  return settings.map(setting => {
    const own = settings.filter(s => s.algorithm === setting.algorithm), place = own.indexOf(setting);
    const amount = own.length < 2 ? 1 : .45 + .55 * place / (own.length - 1);
    return () => mixed(hues[algorithms.indexOf(setting.algorithm) % hues.length], amount);
  });
}

const state = {data: null, settings: [], axis: "seconds", measure: "accuracy", base: 0, target: NaN, redraws: []};
const redraw = () => { for (const act of state.redraws) act(); };
const atEnd = measure => run => run.end?.[measure] ?? NaN;
const titleOf = measure => state.data.measures[measure][0], unitOf = name => (state.data.measures[name] || state.data.axes[name])[1];
const isBetterHigher = measure => measure.startsWith("accuracy");
const axisTitle = axis => state.data.axes[axis][0];

function best(measure) {
  let found = 0, value = NaN;
  state.settings.forEach((setting, i) => {
    const {mean} = meanOf(setting.runs.map(atEnd(measure)));
    if (isNumber(mean) && (!isNumber(value) || (isBetterHigher(measure) ? mean > value : mean < value))) [found, value] = [i, mean];
  });
  return found;
}

// The label of a setting is its file's and the grid's: its algorithm where that does not say it.
const named = setting => setting.setting.includes(setting.algorithm) ? setting.setting : `${setting.setting} (${setting.algorithm})`;

/// The logarithm of what it took to come to the target: its differences are factors.
const logCost = axis => run => Math.log2(costOf(run, axis, state.target));
const factor = power => `${Number((2 ** power).toPrecision(2))}`;

// Of the next one after the winner, with what the seeds say of it.
function howMuchMore(next, winner) {
  const p = paired(next, winner, logCost("bits")), text = `the next, ${named(next)}, takes ${factor(p.mean)} times as many`;
  return p.n < 2 ? text : `${text} (95 % interval ${factor(p.mean - p.half)} to ${factor(p.mean + p.half)}${p.mean - p.half > 0 ? "" : ", so which takes fewer is not decided"})`;
}

function story() {
  const {data, settings, measure} = state, ranked = best(measure), top = settings[ranked], ends = meanOf(top.runs.map(atEnd(measure)));
  const parts = [`${named(top)} ends best: ${spread(ends.mean, ends.std, unitOf(measure))} (${titleOf(measure)}${ends.n > 1 ? `, ± s.d. of ${many(ends.n, "seed")}` : ""}).`];
  const others = settings.map((s, i) => [i, paired(top, s, atEnd(measure))]).filter(([i, p]) => i !== ranked && p.n > 1);
  const sure = others.filter(([, p]) => isBetterHigher(measure) ? p.mean - p.half > 0 : p.mean + p.half < 0).length;
  if (others.length) parts.push(`Under the same seeds it is better than ${sure} of ${many(others.length, "other")} beyond what chance explains (95 % interval of the paired differences)${sure < others.length ? "; from the rest it cannot be told apart" : ""}.`);
  if (data.axes.bits && isBetterHigher(measure) && isNumber(state.target)) {
    const costs = settings.map((s, i) => [meanOf(s.runs.map(run => costOf(run, "bits", state.target))), i]).filter(([m, i]) => m.n === settings[i].runs.length && m.n);
    if (costs.length) {
      costs.sort((a, b) => a[0].mean - b[0].mean);
      parts.push(`Fewest bits to ${tenths(state.target)}: ${named(settings[costs[0][1]])}, ${spread(costs[0][0].mean, costs[0][0].std, "bit")}${costs[1] ? `; ${howMuchMore(settings[costs[1][1]], settings[costs[0][1]])}` : ""}.`);
      const never = settings.filter((s, i) => !costs.some(c => c[1] === i)).map(s => s.setting);
      if (never.length) parts.push(`${never.slice(0, 4).join(", ")}${never.length > 4 ? ", …" : ""} did not come there with every seed.`);
    }
  }
  return parts.join(" ");
}

function warnings() {
  const {data} = state, all = [];
  if (data.stopped_early) all.push("The comparison was stopped early: runs that had not come to their end are missing.");
  for (const setting of data.settings) {
    for (const failure of setting.failures) all.push(`${setting.setting}, ${failure}`);
    if (setting.refusal !== null) all.push(`${setting.setting} was refused: ${setting.refusal}`);
    for (const run of setting.runs) if (isNumber(run.diverged_at)) all.push(`${setting.setting}, seed ${run.seed}, diverged at ${seconds(run.diverged_at)}`);
  }
  if (data.measured_clients !== "all") all.push(`Scores are of ${data.measured_clients} clients, which are drawn.`);
  if (isNumber(data.budget.bits)) all.push(`Budget: ${wordOf("bit")(data.budget.bits)} sent. Curves end there.`);
  if (isNumber(data.budget.gradients)) all.push(`Budget: ${count(data.budget.gradients)} gradients. Curves end there.`);
  for (const text of all) element(byId("warnings"), "li", {}, text);
}

const run = () => state.settings.map((s, i) => [s, i]).filter(([s]) => s.runs.length);

function targetCard(parent) {
  const place = card(parent, {id: "target", title: "What does it take to get there?", how: "Each dot is a seed: what it had spent when the mean accuracy of its clients first came to the target. ✕ at the edge: it never did."});
  const line = element(place, "div", {class: "controls"}), label = element(line, "label", {}, "target ");
  const input = element(label, "input", {type: "number", min: 0, max: 100, step: .5, value: Number((100 * state.target).toFixed(1))});
  label.append(" % accuracy");
  const costs = s => s.runs.map(r => costOf(r, state.axis, state.target));
  const say = s => { const all = costs(s), m = meanOf(all), n = all.length; return m.n ? `${spread(m.mean, m.std, unitOf(state.axis))}${m.n < n ? `, ${m.n} of ${n}` : ""}` : `0 of ${n}`; };
  const how = element(place, "p", {class: "note"});
  rows(place, {label: "Cost of the target by setting", redraws: state.redraws, settings: run(), ticks: linearTicks, word: v => wordOf(unitOf(state.axis))(v), say,
    extent() {
      how.textContent = `Against ${axisTitle(state.axis)}.`;
      const ends = state.settings.flatMap(s => s.runs.map(r => r.curve[state.axis]?.at(-1) ?? 0));
      return [0, Math.max(1e-9, ...ends)];
    },
    row(ctx, x, y, s, i, edge) {
      ctx.fillStyle = ctx.strokeStyle = state.paints[i]();
      costs(s).forEach((cost, k) => {
        const dy = (k % 3 - 1) * 3;
        if (!isNumber(cost)) { ctx.textAlign = "right"; ctx.fillText("✕", edge - k % 8 * 8, y); return; }
        ctx.beginPath();
        ctx.arc(x(cost), y + dy, 3, 0, 2 * Math.PI);
        ctx.fill();
      });
      const {mean} = meanOf(costs(s));
      if (isNumber(mean)) ctx.fillRect(x(mean) - 1, y - 8, 2, 16);
    }});
  input.addEventListener("input", () => { if (input.value > 0 && input.value <= 100) { state.target = input.value / 100; redraw(); } });
  numbers(place, "target", () => ({heads: ["setting", "seed", state.axis], rows: state.settings.flatMap(s => s.runs.map(r => [s.setting, r.seed, isNumber(costOf(r, state.axis, state.target)) ? costOf(r, state.axis, state.target) : null]))}));
}

// What may be paired: a measure at the end, as a difference; what the target took, as a factor.
const pairings = {
  end: {
    value: run => (unitOf(state.measure) === "share" ? 100 : 1) * atEnd(state.measure)(run),
    word: v => `${Number(v.toPrecision(3))}`, sign: v => v > 0 ? "+" : "", tick: v => short(v), ticks: linearTicks,
    says: base => `${titleOf(state.measure)} at the end${unitOf(state.measure) === "share" ? ", in points" : ""}: the setting of the row minus ${base}. An interval that leaves out 0 is more than chance.`},
  cost: {
    value: run => logCost(state.axis)(run),
    word: factor, sign: () => "× ", tick: v => `× ${factor(v)}`, ticks: (low, high, most) => linearTicks(low, high, most).map(v => Math.round(v * 2) / 2).filter((v, i, all) => all.indexOf(v) === i),
    says: base => `${axisTitle(state.axis)} until ${tenths(state.target)}: how many times what ${base} took. An interval that leaves out × 1 is more than chance; seeds that did not come there are left out.`}};

function pairedCard(parent) {
  if (state.data.seeds < 2) return;
  const place = card(parent, {id: "paired", title: "How sure is that?", how: "Paired by seed: settings share clocks, links, data and start under one seed, so that what a seed does to both falls out. Bar: 95 % interval (t); dots: seeds."});
  const line = element(place, "div", {class: "controls"}), label = element(line, "label", {}, "against "), select = element(label, "select", {});
  state.settings.forEach((s, i) => { const o = element(select, "option", {value: i}, s.setting); o.selected = i === state.base; });
  let by = pairings.end;
  const of = s => paired(s, state.settings[state.base], by.value);
  const frame = element(place, "div");
  const draw = () => {
    frame.replaceChildren();
    const shown = run().filter(([, i]) => i !== state.base), base = state.settings[state.base].setting;
    if (!shown.length) return;
    rows(frame, {label: "Paired differences", settings: shown, ticks: by.ticks, word: by.tick, zero: true,
      say: s => { const p = of(s); return p.n > 1 ? `${by.sign(p.mean)}${by.word(p.mean)} [${by.word(p.mean - p.half)}, ${by.word(p.mean + p.half)}]` : `${many(p.n, "common seed")}`; },
      extent() {
        const all = shown.flatMap(([s]) => { const p = of(s); return [p.mean - (p.half || 0), p.mean + (p.half || 0), ...p.differences.map(d => d.by)]; }).filter(isNumber);
        const low = Math.min(0, ...all), high = Math.max(0, ...all), pad = (high - low || 1) * .05;
        return [low - pad, high + pad];
      },
      row(ctx, x, y, s, i) {
        const p = of(s);
        ctx.strokeStyle = ctx.fillStyle = state.paints[i]();
        ctx.globalAlpha = .45;
        for (const d of p.differences) { ctx.beginPath(); ctx.arc(x(d.by), y, 2.5, 0, 2 * Math.PI); ctx.fill(); }
        ctx.globalAlpha = 1;
        if (p.n < 2) return;
        ctx.lineWidth = 2;
        ctx.beginPath();
        ctx.moveTo(x(p.mean - p.half), y);
        ctx.lineTo(x(p.mean + p.half), y);
        for (const at of [p.mean - p.half, p.mean + p.half]) { ctx.moveTo(x(at), y - 5); ctx.lineTo(x(at), y + 5); }
        ctx.stroke();
        ctx.lineWidth = 1;
        ctx.fillRect(x(p.mean) - 3, y - 3, 6, 6);
      }});
    note(frame, by.says(base));
    const beats = shown.map(([s]) => { const p = of(s); return `${s.setting} ${p.wins}/${p.ties}/${p.losses}`; });
    note(frame, `Higher/equal/lower by seed: ${beats.join(" · ")}.`);
  };
  if (isNumber(state.target)) choice(line, "in", [["end", "what is reached"], ["cost", "what the target takes"]], "end", name => { by = pairings[name]; draw(); });
  draw();
  select.addEventListener("change", () => { state.base = Number(select.value); draw(); });
  state.redraws.push(draw);
  numbers(place, "paired", () => ({heads: ["setting", "against", "n", "mean", "low", "high", "higher", "equal", "lower"], rows: run().filter(([, i]) => i !== state.base).map(([s]) => { const p = of(s); return [s.setting, state.settings[state.base].setting, p.n, p.mean, p.mean - p.half, p.mean + p.half, p.wins, p.ties, p.losses]; })}));
}

function paretoCard(parent) {
  const axes = ["bits", "joules", "gradients", "seconds"].filter(a => state.data.axes[a] && new Set(state.settings.flatMap(s => s.runs.map(atEnd(a)))).size > 1 && state.settings.some(s => s.runs.some(r => atEnd(a)(r) > 0)));
  if (!axes.length) return;
  const place = card(parent, {id: "pareto", title: "Who gives most for what it spends?", how: "A dot a setting at its end, means over seeds. Hollow: another one reaches more and spends less."});
  let axis = axes[0], x, y, points = [];
  const controls = element(place, "div", {class: "controls"});
  const bottom = 240, left = 60;
  const made = sheet(place, {label: "Reached against spent", height: bottom + 24, draw(ctx, width) {
    points = run().map(([s, i]) => ({i, s, x: meanOf(s.runs.map(atEnd(axis))).mean, y: meanOf(s.runs.map(atEnd(state.measure))).mean})).filter(p => isNumber(p.x) && isNumber(p.y));
    const ys = points.map(p => p.y), pad = (Math.max(...ys) - Math.min(...ys) || .01) * .08, isHigh = isBetterHigher(state.measure);
    const most = Math.max(...points.map(p => p.x));
    x = scale(0, most * 1.08, left, width - 20);
    y = scale(Math.min(...ys) - pad, Math.max(...ys) + pad, bottom, 10);
    axisY(ctx, y, linearTicks(Math.min(...ys) - pad, Math.max(...ys) + pad, 5), left, width - 20, wordOf(unitOf(state.measure)));
    axisX(ctx, x, linearTicks(0, most, Math.max(2, Math.floor(width / 110))), bottom, wordOf(unitOf(axis)));
    const front = undominated(points.map(p => ({x: p.x, y: isHigh ? p.y : -p.y})));
    const taken = [];
    points.forEach((p, k) => {
      ctx.fillStyle = ctx.strokeStyle = state.paints[p.i]();
      ctx.lineWidth = 2;
      ctx.beginPath();
      ctx.arc(x(p.x), y(p.y), 5, 0, 2 * Math.PI);
      front[k] ? ctx.fill() : ctx.stroke();
      ctx.lineWidth = 1;
      if (points.length > 12 && !front[k]) return;
      const behind = width - x(p.x) - 9, before = x(p.x) - 9;
      const isBefore = ctx.measureText(p.s.setting).width > behind && before > behind;
      let at = y(p.y);
      while (taken.some(t => Math.abs(t - at) < 12)) at += 12;
      taken.push(at);
      ctx.fillStyle = colour("ink");
      ctx.textAlign = isBefore ? "right" : "left";
      ctx.fillText(fitted(ctx, p.s.setting, isBefore ? before : behind), x(p.x) + (isBefore ? -9 : 9), at);
    });
  }});
  if (axes.length > 1) choice(controls, "against", axes.map(a => [a, axisTitle(a)]), axis, a => { axis = a; made.redraw(); });
  state.redraws.push(made.redraw);
  explains(made, (px, py) => {
    const p = points.find(q => Math.hypot(x(q.x) - px, y(q.y) - py) < 9);
    return p ? `${p.s.setting}: ${wordOf(unitOf(state.measure))(p.y)} for ${wordOf(unitOf(axis))(p.x)}` : "";
  });
}

// Two keys of the grid: the value at the end as a field.
function gridCard(parent) {
  const keys = [...new Set(state.settings.flatMap(s => Object.keys(s.grid)))];
  if (keys.length !== 2) return;
  const place = card(parent, {id: "grid", title: "Where is it best?", how: `${keys[0]} from the left, ${keys[1]} from the top. The darker, the better.`});
  const values = keys.map(key => [...new Set(state.settings.map(s => s.grid[key]).filter(v => v !== undefined))]);
  const algorithms = [...new Set(state.settings.map(s => s.algorithm))], left = 90, high = 26;
  const made = sheet(place, {label: "The grid", height: () => algorithms.length * (values[1].length * high + 44), draw(ctx, width) {
    const all = state.settings.map(s => meanOf(s.runs.map(atEnd(state.measure))).mean), known = all.filter(isNumber), low = Math.min(...known), most = Math.max(...known);
    const wide = (width - left - 6) / values[0].length;
    algorithms.forEach((algorithm, a) => {
      const top = a * (values[1].length * high + 44) + 20;
      ctx.fillStyle = colour("ink");
      ctx.textAlign = "left";
      ctx.fillText(algorithm, 0, top - 10);
      state.settings.forEach((s, i) => {
        if (s.algorithm !== algorithm || !isNumber(all[i])) return;
        const c = values[0].indexOf(s.grid[keys[0]]), r = values[1].indexOf(s.grid[keys[1]]);
        if (c < 0 || r < 0) return;
        const share = (all[i] - low) / (most - low || 1), amount = isBetterHigher(state.measure) ? share : 1 - share;
        ctx.fillStyle = mixed("blue", .1 + .9 * amount);
        ctx.fillRect(left + c * wide, top + r * high, wide - 2, high - 2);
        ctx.fillStyle = amount > .55 ? colour("card") : colour("ink");
        ctx.textAlign = "center";
        ctx.fillText(fitted(ctx, wordOf(unitOf(state.measure))(all[i]), wide - 4), left + (c + .5) * wide, top + (r + .5) * high);
      });
      ctx.fillStyle = colour("soft");
      values[1].forEach((v, r) => { ctx.textAlign = "right"; ctx.fillText(v, left - 6, top + (r + .5) * high); });
      values[0].forEach((v, c) => { ctx.textAlign = "center"; ctx.fillText(v, left + (c + .5) * wide, top + values[1].length * high + 8); });
    });
  }});
  state.redraws.push(made.redraw);
}

function tableCard(parent) {
  const place = card(parent, {id: "ends", title: "At the end", kind: "wide", how: "Mean ± standard deviation over the seeds (n − 1). Bold: best; ≈: its paired difference to the best holds 0."});
  const frame = element(place, "div");
  const draw = () => {
    frame.replaceChildren();
    const measures = Object.keys(state.data.measures).filter(m => state.settings.some(s => s.runs.some(r => isNumber(atEnd(m)(r)))));
    const isAlike = name => state.settings.length > 1 && new Set(state.settings.flatMap(s => s.runs.map(atEnd(name)))).size === 1;
    const everywhere = [...measures, ...Object.keys(state.data.axes)].filter(isAlike);
    for (const name of everywhere) if (measures.includes(name)) measures.splice(measures.indexOf(name), 1);
    const axes = Object.keys(state.data.axes).filter(a => !everywhere.includes(a) && state.settings.some(s => s.runs.some(r => atEnd(a)(r) > 0)));
    const made = table(frame, ["setting", "runs", ...measures.map(titleOf), ...axes.map(axisTitle)], state.data.settings.map(s => {
      if (s.refusal !== null) return [named(s), "refused", ...measures.map(() => ""), ...axes.map(() => "")];
      const one = name => { const m = meanOf(s.runs.map(atEnd(name))); return spread(m.mean, m.std, unitOf(name)); };
      return [named(s), s.runs.length, ...measures.map(one), ...axes.map(one)];
    }), {class: "ends"});
    measures.forEach((measure, c) => {
      const top = best(measure), winner = state.settings[top];
      state.data.settings.forEach((s, i) => {
        const cell = made.tBodies[0].rows[i].cells[c + 2];
        if (s === winner) cell.style.fontWeight = "700";
        else if (state.data.seeds > 1) { const p = paired(s, winner, atEnd(measure)); if (p.n > 1 && Math.abs(p.mean) <= p.half) cell.textContent += " ≈"; }
      });
    });
    if (everywhere.length) note(frame, `The same for all: ${everywhere.map(name => `${state.data.measures[name]?.[0] ?? axisTitle(name)} ${wordOf(unitOf(name))(atEnd(name)(state.settings[0].runs[0]))}`).join(", ")}.`);
  };
  draw();
  const by = element(place, "details");
  element(by, "summary", {}, "by seed, and how to run each again");
  by.addEventListener("toggle", () => {
    if (!by.open || by.children.length > 1) return;
    table(by, ["setting", "seed", titleOf(state.measure), "ended by", "run again"], state.settings.flatMap(s => s.runs.map(r =>
      [s.setting, r.seed, wordOf(unitOf(state.measure))(atEnd(state.measure)(r)), r.ended_by, `rubato run ${r.experiment}`])));
  });
  numbers(place, "runs", () => {
    const names = [...Object.keys(state.data.measures), ...Object.keys(state.data.axes)];
    return {heads: ["setting", "seed", ...names], rows: state.settings.flatMap(s => s.runs.map(r => [s.setting, r.seed, ...names.map(n => r.end?.[n] ?? null)]))};
  });
  if (state.data.command) note(place, `Made with: ${state.data.command}`);
}

export function compare(data) {
  state.data = data;
  state.settings = data.settings.filter(s => s.refusal === null && s.runs.length);
  byId("numbers").replaceChildren();
  byId("subtitle").textContent = [`${many(data.settings.length, "setting")}`, `${many(data.clients, "client")}`, `${many(data.seeds, "seed")} from ${data.first_seed}`, "the same clocks, links, data and start for each seed",
    (data.started_at || "").slice(0, 16).replace("T", " "), `Rubato ${data.rubato}${data.commit && `, commit ${data.commit}`}`].filter(Boolean).join(" · ");
  warnings();
  const main = byId("cards");
  if (!state.settings.length) return void note(main, "No run came to its end.");
  const known = Object.keys(data.measures).filter(m => state.settings.some(s => s.runs.some(r => r.curve[m]?.some(isNumber))));
  if (!known.length) return void note(main, "Nothing was measured.");
  state.measure = known[0];
  const axes = Object.keys(data.axes).filter(a => state.settings.some(s => s.runs.some(r => r.curve[a]?.some(v => v > 0))));
  state.axis = axes.includes(data.axis) ? data.axis : axes[0];
  state.paints = paints(state.settings);
  const ends = state.settings.map(s => meanOf(s.runs.map(atEnd("accuracy"))).mean).filter(isNumber).sort((a, b) => a - b);
  state.target = state.data.settings[0].targets[0]?.accuracy ?? (ends.length ? Math.floor(95 * ends[Math.floor(ends.length / 2)]) / 100 : NaN);
  state.base = best(state.measure);
  const tellStory = () => { byId("story").textContent = story(); };
  tellStory();
  state.redraws.push(tellStory);
  choice(byId("controls"), "show", known.map(m => [m, titleOf(m)]), state.measure, m => { state.measure = m; redraw(); });
  choice(byId("controls"), "against", axes.map(a => [a, axisTitle(a)]), state.axis, a => { state.axis = a; redraw(); });
  state.redraws.push(comparedPlot(main, state, {titleOf, axisTitle, unitOf}));
  if (known.includes("accuracy")) targetCard(main);
  pairedCard(main);
  paretoCard(main);
  unificationCard(main, state);
  gridCard(main);
  worstCard(main, state);
  messagesCard(main, state);
  tableCard(main);
}
