// Looks and shapes: colours, dashes and markers that distinguish series, also without colour, and the shapes of their
// points.

const COLOURS = 14;
const DASHES = ["", "7 4", "2 3", "9 3 2 3", "14 4", "9 3 2 3 2 3"];
const DENSE = 150;

const svg = (name, attributes = {}, ...inside) => {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...inside);
  return element;
};
const html = (name, attributes = {}, ...inside) => {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...inside);
  return element;
};
const p = (value) => Math.round(value * 10) / 10;

// After the last colour the first one returns, with another dash.
const colour = (look) => `--c: var(--s${look % COLOURS})`;
const dash = (look) => DASHES[(look + Math.floor(look / COLOURS)) % DASHES.length];

// Outlines of markers at a position, with radius `r`.
const SHAPES = [
  (x, y, r) => `M${p(x - r)},${p(y)}a${r},${r} 0 1 0 ${2 * r},0a${r},${r} 0 1 0 ${-2 * r},0`,
  (x, y, r) => `M${p(x - r * 0.9)},${p(y - r * 0.9)}h${p(1.8 * r)}v${p(1.8 * r)}h${p(-1.8 * r)}z`,
  (x, y, r) => `M${p(x)},${p(y - r * 1.3)}l${p(1.3 * r)},${p(1.3 * r)}l${p(-1.3 * r)},${p(1.3 * r)}l${p(-1.3 * r)},${p(-1.3 * r)}z`,
  (x, y, r) => `M${p(x)},${p(y - r * 1.2)}l${p(1.2 * r)},${p(2.1 * r)}h${p(-2.4 * r)}z`,
  (x, y, r) => `M${p(x - r)},${p(y)}h${2 * r}M${p(x)},${p(y - r)}v${2 * r}`,
  (x, y, r) => `M${p(x - r)},${p(y - r)}l${2 * r},${2 * r}M${p(x + r)},${p(y - r)}l${-2 * r},${2 * r}`,
  (x, y, r) => `M${p(x)},${p(y + r * 1.2)}l${p(1.2 * r)},${p(-2.1 * r)}h${p(-2.4 * r)}z`,
];
const marker = (look, x, y, r) => SHAPES[look % SHAPES.length](x, y, r);

// Returns a filling for bars: plain, or hatched in six ways. Each look needs its own, because the colour is part of it.
const HATCHES = ["", "M0,8L8,0", "M0,0L8,8", "M0,4H8", "M4,0V8M0,4H8", "M4,0V8", "M0,8L8,0M0,0L8,8"];
function filling(id, look) {
  const inside = [svg("rect", { width: 8, height: 8, class: "tint" })];
  const hatch = HATCHES[look % HATCHES.length];
  if (hatch) inside.push(svg("path", { d: hatch, class: "hatch" }));
  return svg("pattern", { id, width: 8, height: 8, patternUnits: "userSpaceOnUse", style: colour(look) }, ...inside);
}

// Splits points into runs without gaps.
function stretches(spots) {
  const out = [[]];
  for (const spot of spots) {
    if (spot) out[out.length - 1].push(spot);
    else if (out[out.length - 1].length > 0) out.push([]);
  }
  return out.filter((stretch) => stretch.length > 0);
}

function linePath(spots, steps) {
  return stretches(spots).map((stretch) => {
    let d = `M${p(stretch[0].x)},${p(stretch[0].y)}`;
    // A point between gaps is drawn as a dot.
    if (stretch.length === 1) return `${d}h0`;
    for (let i = 1; i < stretch.length; i += 1) {
      const { x, y } = stretch[i];
      d += steps ? `H${p((stretch[i - 1].x + x) / 2)}V${p(y)}H${p(x)}` : `L${p(x)},${p(y)}`;
    }
    return d;
  }).join("");
}

// Returns the points of a line that get markers: all if there is room, otherwise enough to tell lines apart, at different
// positions for different lines.
function marked(spots, look, most) {
  const there = spots.filter(Boolean);
  if (there.length <= most) return there;
  const step = Math.ceil(there.length / 8);
  return there.filter((_, i) => (i + Math.floor(step * (look * 0.381966 % 1))) % step === 0);
}

function whiskers(spots, caps) {
  const each = spots.filter((spot) => spot && spot.low !== undefined);
  return each.map(({ x, low, high }) => `M${p(x - caps)},${p(low)}h${2 * caps}M${p(x)},${p(low)}V${p(high)}M${p(x - caps)},${p(high)}h${2 * caps}`).join("");
}

// Draws a cloud as a few paths. Overlapping points of different paths darken each other, and it saves thousands of elements.
const LAYERS = 12;
function cloud(spots, look) {
  const layers = Array.from({ length: Math.min(LAYERS, spots.length) }, () => []);
  spots.filter(Boolean).forEach((spot, i) => layers[i % layers.length].push(marker(look, spot.x, spot.y, 2.2)));
  return layers.map((layer) => svg("path", { class: "cloud", d: layer.join("") }));
}

const isFilled = ({ mode }) => mode === "bars" || mode === "stack";

function bars(spots, half, base, fill) {
  return spots.filter(Boolean).map(({ x, y }) =>
    svg("rect", { class: "bar", x: p(x - half), width: p(2 * half), y: p(Math.min(y, base)), height: p(Math.abs(base - y)), fill }));
}

// Returns the elements of a series with its points at `spots` (`null` for gaps): elements below all lines, the series
// itself, and elements above all lines. Larger markers are below smaller ones, so that all are visible.
function shapes(series, spots, { half, base, fill, halo, rank, most }) {
  const { look, mode } = series;
  const parts = { below: [], own: [], above: [] };
  if (mode === "points") return { ...parts, own: cloud(spots, look) };
  if (mode === "stack") return { ...parts, own: partBars(spots, half, fill) };
  const whisker = whiskers(spots, mode === "line" || mode === "steps" ? 3 : 5);
  const wings = whisker ? [svg("path", { class: mode === "bars" || mode === "marks" ? "whisker ink" : "whisker", d: whisker })] : [];
  if (mode === "bars") return { ...parts, own: [...bars(spots, half, base, fill), ...wings] };
  const marks = (some, r, kind) => svg("path", { class: kind, d: some.map(({ x, y }) => marker(look, x, y, r)).join("") });
  if (mode === "marks") return { ...parts, own: [...wings, marks(spots.filter(Boolean), 6, "marker large")] };
  const d = linePath(spots, mode === "steps");
  return {
    below: halo ? [svg("path", { class: "halo", d })] : [],
    own: [svg("path", { class: spots.length > DENSE ? "line thin" : "line", d, "stroke-dasharray": dash(look) }), ...wings],
    above: [marks(marked(spots, look, most), Math.min(3.2 + rank, 7), "marker")],
  };
}

// Returns the symbol beside a name in the legend.
function swatch(series, fill) {
  const { look, mode } = series;
  const inside = isFilled(series)
    ? [svg("rect", { class: "bar", x: 7, y: 2, width: 20, height: 12, fill })]
    : [...(mode === "line" || mode === "steps" ? [svg("path", { class: "line", d: "M1,8H33", "stroke-dasharray": dash(look) })] : []),
      svg("path", { class: "marker", d: marker(look, 17, 8, 4) })];
  return svg("svg", { width: 34, height: 16, style: colour(look), "aria-hidden": "true" }, ...inside);
}
