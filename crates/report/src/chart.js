// Draws the charts of a page from its data: layout, legend and print. The page's data says what is drawn; this script and
// the page's style decide how it looks.

const root = document.documentElement;
const PRINTED = 700;
const states = JSON.parse(document.getElementById("figures").textContent).map((chart) => ({
  chart, plot: document.getElementById(chart.id), hidden: new Set(), zoom: null, all: false,
}));

const pen = document.createElement("canvas").getContext("2d");
const textWidth = (text, font) => { pen.font = font; return pen.measureText(text).width; };

const visible = (state) => state.chart.series.filter((series) => !state.hidden.has(series.name));
// Series with the same name share a position beside those with other names.
const groups = (state) => [...new Set(visible(state).map((series) => series.name))];

// Returns the names that are drawn side by side; none if no position has two names.
function sideBySide(state) {
  const names = new Map();
  for (const { name, x } of visible(state).filter((series) => !isStack(series))) x.forEach((place) => names.set(place, (names.get(place) || new Set()).add(name)));
  return [...names.values()].some((at) => at.size > 1) ? groups(state) : [];
}

// Returns the ticks of the horizontal axis with their text lines; fewer ticks if texts would touch.
function acrossTicks(axis, range, [left, right], values, { size, font }) {
  const scale = scaleOf(axis, range, [left, right]);
  const unit = shownUnit(axis, range);
  const tick = (value, text) => ({ value, x: scale.at(value), lines: [text], width: textWidth(text, font) });
  const all = (room) => {
    const at = tickValues(axis, range, room, values);
    return tickTexts(axis, at, unit).map((text, i) => tick(at[i], text));
  };
  const apart = (ticks) => ticks.every((one, i) => i === 0 || one.x - ticks[i - 1].x >= (one.width + ticks[i - 1].width) / 2 + 10);
  let ticks = all(Math.floor((right - left) / 50));
  if (axis.scale === "names") {
    const slot = (right - left) / (range[1] - range[0]) - 8;
    const lines = ticks.map((one) => folded(one.lines[0], slot, font));
    const wide = (some) => highest(some.map((line) => textWidth(line, font)));
    if (lines.every((some) => wide(some) <= slot && some.length <= 4)) {
      return { unit, ticks: ticks.map((one, i) => ({ ...one, lines: lines[i], width: wide(lines[i]) })) };
    }
  }
  if (axis.scale === "names" && !apart(ticks)) return { unit, ...turned(ticks, size) };
  for (let room = Math.floor((right - left) / 60); !apart(ticks) && room > 0; room -= 1) {
    ticks = axis.places ? ticks : all(room);
  }
  for (let step = 2; !apart(ticks) && ticks.length > 1; step += 1) {
    ticks = (axis.places ? all(2) : ticks).filter((_, i) => i % step === 0);
  }
  return { unit, ticks };
}

// Returns how far turned texts reach beyond the left end of the figure.
const beyond = ({ ticks, turn }) =>
  (turn ? Math.ceil(highest(ticks.map((tick) => tick.width * Math.cos(turn) + 14 - tick.x).concat(0))) : 0);

function sizeOf(state) {
  const printed = root.dataset.print !== undefined;
  const width = printed ? PRINTED : Math.max(240, state.plot.clientWidth || 600);
  const size = width < 420 || printed ? 12 : 13;
  const low = printed || root.clientWidth < 640;
  return { width, height: state.chart.series.some(isStack) ? (low ? 400 : 480) : (low ? 290 : 340), size, font: `${size}px ${getComputedStyle(document.body).fontFamily}` };
}

// Computes the geometry: ranges, ticks, scales.
function layout(state) {
  const { chart } = state;
  const { width, height, size, font } = sizeOf(state);
  const shown = visible(state);
  const marks = chart.marks || [];
  const lines = marks.filter((mark) => mark.kind === "line" && mark.x.every((x) => hasPlace(chart.x, x)));
  const xs = shown.filter((series) => series.mode !== "points").flatMap((series) => series.x);
  const allX = shown.flatMap((series) => series.x).concat(lines.flatMap((mark) => mark.x));
  // On a logarithmic axis the low end of an interval may be far below all other values.
  const ends = ({ low, high }) => (chart.y.scale === "log" ? high : [...low, ...high]);
  const drawn = (series) => (series.interval && series.interval.drawn ? ends(series.interval) : []);
  const ys = shown.flatMap((series) => topsOf(state, series).concat(drawn(series)));
  const x = state.zoom ? state.zoom.x : fullRange(chart.x, allX, true);
  const y = state.zoom ? state.zoom.y : fullRange(chart.y, ys, state.all);
  const upUnit = shownUnit(chart.y, y);
  const toFlat = scaleOf(chart.y, y, [height - 60, 30]);
  // Of two overlapping ticks, the upper one is kept.
  const up = tickValues(chart.y, y, Math.floor((height - 80) / 30), []).reduceRight((kept, value) =>
    (kept.length > 0 && Math.abs(toFlat.at(value) - toFlat.at(kept[0])) < size + 3 ? kept : [value, ...kept]), []);
  const upTexts = tickTexts(chart.y, up, upUnit);
  const right = width - 18;
  const edge = Math.ceil(highest(upTexts.map((text) => textWidth(text, font)).concat(20))) + 12;
  const left = edge + beyond(acrossTicks(chart.x, x, [edge, right], xs, { size, font }));
  // The text above a mark is beside the title, or below it if both would touch.
  const toX = scaleOf(chart.x, x, [left, right]);
  const said = lines.filter((mark) => mark.text).map((mark) => toX.at(mark.x[0]) - textWidth(mark.text, `bold ${font}`) / 2);
  const under = said.some((from) => from < textWidth(axisTitle(chart.y, upUnit), font) + 14);
  const top = (under ? 2 : 1) * (size + 6) + 6;
  const across = acrossTicks(chart.x, x, [left, right], xs, { size, font });
  const rows = highest(across.ticks.map((tick) => tick.lines.length).concat(1));
  const bottom = height - (rows + 1) * (size + 4) - 14;
  const deeper = across.turn ? across.deep - size : 0;
  return {
    width, height: height + deeper, size, font, top, left, right, bottom, across, upTexts, up, upUnit, x, y, toX,
    slot: Math.abs(toX.at(1) - toX.at(0)),
    toY: scaleOf(chart.y, y, [bottom, top]),
  };
}

const written = (text, x, y, attributes = {}) => svg("text", { x: p(x), y: p(y), ...attributes }, text);

function frame(state, at) {
  const { chart } = state;
  const { left, right, top, bottom, size } = at;
  const g = svg("g", { class: "axes" });
  at.up.forEach((value, i) => {
    const y = at.toY.at(value);
    g.append(svg("path", { class: "grid", d: `M${left},${p(y)}H${right}` }));
    g.append(written(at.upTexts[i], left - 7, y + size * 0.35, { "text-anchor": "end" }));
  });
  for (const { x, lines, width } of at.across.ticks) {
    g.append(svg("path", { class: chart.x.scale === "names" ? "tick" : "grid", d: chart.x.scale === "names" ? `M${p(x)},${bottom}v5` : `M${p(x)},${top}V${bottom + 5}` }));
    if (at.across.turn) {
      const [down, angle] = [bottom + 7 + size * 0.7, (-at.across.turn * 180) / Math.PI];
      g.append(written(lines[0], x, down, { class: "turned", transform: `rotate(${p(angle)} ${p(x)} ${p(down)})` }));
      continue;
    }
    // Keeps the first and last text within the figure.
    const middle = Math.max(width / 2 + 1, Math.min(at.width - width / 2 - 1, x));
    lines.forEach((line, i) => g.append(written(line, middle, bottom + 7 + (i + 1) * (size + 3), { "text-anchor": "middle" })));
  }
  g.append(svg("path", { class: "edge", d: `M${left},${top}V${bottom}H${right}` }));
  g.append(written(axisTitle(chart.y, at.upUnit), 2, size, { class: "title" }));
  g.append(written(axisTitle(chart.x, at.across.unit), (left + right) / 2, at.height - 5, { class: "title", "text-anchor": "middle" }));
  return g;
}

// Draws bands, dotted lines and lines, with the text above them.
function marksOf(state, at) {
  const g = svg("g", { class: "marks" });
  const inside = (x) => x >= at.left - 1 && x <= at.right + 1;
  for (const { kind, x, text } of state.chart.marks || []) {
    const pixels = x.filter((value) => hasPlace(state.chart.x, value)).map(at.toX.at);
    if (kind === "band" && pixels.length === 2) {
      const [from, to] = pixels.map((pixel) => Math.max(at.left, Math.min(at.right, pixel)));
      g.append(svg("rect", { class: "band", x: p(from), y: at.top, width: p(Math.max(0, to - from)), height: at.bottom - at.top }));
      continue;
    }
    const shown = pixels.filter(inside);
    g.append(svg("path", { class: `mark mark-${kind}`, d: shown.map((pixel) => `M${p(pixel)},${at.top}V${at.bottom}`).join("") }));
    if (!text || shown.length === 0) continue;
    const half = textWidth(text, `bold ${at.font}`) / 2 + 2;
    const middle = Math.max(half, Math.min(at.width - half, shown[0]));
    g.append(written(text, middle, at.top - 5, { class: "said", "text-anchor": "middle" }));
  }
  return g;
}

// Returns the positions of a series' points; `null` if a point cannot be drawn. On an axis of names, series are side by
// side.
function spotsOf(state, series, at) {
  const { x: across, y: up } = state.chart;
  const slot = across.scale === "names" ? at.slot : 0;
  const beside = slot && !isStack(series) ? sideBySide(state) : [];
  const width = Math.min(slot * 0.84 / Math.max(1, beside.length), { bars: 56, stack: 110 }[series.mode] || 220);
  const shift = beside.length > 0 ? (beside.indexOf(series.name) - (beside.length - 1) / 2) * width : 0;
  // The golden ratio spreads the points of a strip evenly and reproducibly.
  const spread = (i) => (slot && series.mode === "points" ? ((i * 0.6180339887) % 1 - 0.5) * width * 0.6 : 0);
  const { interval } = series;
  const tops = topsOf(state, series);
  const spots = series.x.map((x, i) => {
    const y = tops[i];
    if (!hasPlace(across, x) || !hasPlace(up, y)) return null;
    const spot = { series, i, x: at.toX.at(x) + shift + spread(i), y: at.toY.at(y) };
    if (isStack(series)) return partSpot(spot, at.toY.at(Math.max(0, y - partOf(series, i))), spot.y);
    if (!interval || !interval.drawn || !hasPlace(up, interval.high[i])) return spot;
    const low = hasPlace(up, interval.low[i]) ? at.toY.at(interval.low[i]) : at.bottom;
    return low === at.toY.at(interval.high[i]) ? spot : { ...spot, low, high: at.toY.at(interval.high[i]) };
  });
  return { spots, half: Math.max(0.5, width / 2 - (width > 8 ? 1 : 0)) };
}

function draw(state) {
  const { chart, plot } = state;
  const at = layout(state);
  const clip = `clip-${chart.id}`;
  const area = { x: at.left, y: at.top - 1, width: at.right - at.left, height: at.bottom - at.top + 2 };
  const fillings = chart.series.filter(isFilled);
  const defs = svg("defs", {}, svg("clipPath", { id: clip }, svg("rect", area)),
    ...fillings.map((series) => filling(fillId(chart, series), series.look)));
  const body = svg("g", { "clip-path": `url(#${clip})` });
  const halo = chart.series.some((series) => series.mode === "points");
  const [below, own, above] = [svg("g"), svg("g"), svg("g")];
  const lines = chart.series.filter((series) => series.mode !== "points");
  state.spots = [];
  for (const series of chart.series) {
    const g = svg("g", { class: "series", style: colour(series.look) });
    if (!state.hidden.has(series.name)) {
      const { spots, half } = spotsOf(state, series, at);
      state.spots.push(...spots.filter(Boolean).map((spot) => (isFilled(series) ? { ...spot, half } : spot)));
      const base = at.toY.at(chart.y.scale === "zero" ? 0 : back(chart.y)(at.y[0]));
      const parts = shapes(series, spots, { half, halo, base, rank: lines.indexOf(series), most: Math.floor((at.right - at.left) / 12), fill: `url(#${fillId(chart, series)})` });
      const styled = (some) => some.map((one) => { one.setAttribute("style", colour(series.look)); return one; });
      below.append(...parts.below);
      g.append(...parts.own);
      above.prepend(...styled(parts.above));
    }
    // Clouds are below everything that is drawn behind lines.
    (series.mode === "points" ? body : own).append(g);
  }
  body.append(below, own, above);
  const seen = (spot) => spot.x >= at.left - 1 && spot.x <= at.right + 1 && spot.y >= at.top - 2 && spot.y <= at.bottom + 2;
  state.spots = state.spots.filter((spot) => spot.half || seen(spot));
  state.ring = svg("circle", { class: "ring", r: 7, cx: -99, cy: -99 });
  state.box = svg("rect", { class: "box", width: 0, height: 0 });
  const picture = svg("svg", { viewBox: `0 0 ${at.width} ${at.height}`, style: `font-size: ${at.size}px` },
    defs, frame(state, at), marksOf(state, at), body, stackTexts(state, at), state.ring, state.box);
  Object.assign(state, { at, picture });
  plot.replaceChildren(picture);
  legend(state);
}

const fillId = (chart, series) => `fill-${chart.id}-${chart.series.indexOf(series)}`;

// The legend below the drawing, which wraps like text; each entry hides or shows its series.
function legend(state) {
  const { chart, plot } = state;
  const names = [...new Set(chart.series.map((series) => series.name))].filter(Boolean);
  const entries = names.map((name) => {
    const of = chart.series.filter((series) => series.name === name);
    const series = of.find((one) => one.mode !== "points") || of[0];
    const button = html("button", { type: "button", "aria-pressed": String(!state.hidden.has(name)) }, swatch(series, `url(#${fillId(chart, series)})`), html("span", {}, name));
    button.addEventListener("click", () => {
      if (!state.hidden.delete(name)) state.hidden.add(name);
      draw(state);
    });
    return button;
  });
  if (state.zoom) {
    const reset = html("button", { type: "button", class: "reset" }, "Reset zoom");
    reset.addEventListener("click", () => zoom(state, null));
    entries.push(reset);
  }
  if (!state.legend) {
    state.legend = html("div", { class: "legend" });
    state.tip = html("div", { class: "tip", hidden: "" });
    plot.after(state.legend, state.tip);
  }
  // Keeps the keyboard focus.
  const focused = [...state.legend.children].indexOf(document.activeElement);
  state.legend.replaceChildren(...entries);
  if (focused >= 0 && entries[focused]) entries[focused].focus();
}

function zoom(state, range) {
  state.zoom = range;
  hush(state);
  draw(state);
}

function drawAll() {
  states.forEach(draw);
  root.dataset.drawn = states.length;
}

for (const button of document.querySelectorAll("button[data-all]")) {
  const state = states.find((one) => one.chart.id === button.dataset.all);
  button.addEventListener("click", () => {
    state.all = !state.all;
    button.textContent = state.all ? "Show fewer" : "Show all";
    zoom(state, null);
  });
}

let waiting = 0;
let width = root.clientWidth;
window.addEventListener("resize", () => {
  // A phone that hides its address bar changes only the height.
  if (root.clientWidth === width) return;
  width = root.clientWidth;
  clearTimeout(waiting);
  waiting = setTimeout(drawAll, 120);
});
// Collapsed details cannot be opened on paper.
const foldedAway = [...document.querySelectorAll("details")];
window.addEventListener("beforeprint", () => {
  root.dataset.print = "";
  foldedAway.forEach((details) => { details.dataset.was = details.open ? "open" : ""; details.open = true; });
  drawAll();
});
window.addEventListener("afterprint", () => {
  delete root.dataset.print;
  foldedAway.forEach((details) => { details.open = details.dataset.was === "open"; });
  drawAll();
});
drawAll();
states.forEach(listen);
