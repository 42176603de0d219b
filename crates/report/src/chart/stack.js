// Stacks: bars on top of one another, from the first series at the bottom to the last. Parts have their numbers in them where
// there is room, and the sum above.

const isStack = (series) => series.mode === "stack";
const partOf = (series, i) => (Number.isFinite(series.y[i]) && series.y[i] > 0 ? series.y[i] : 0);

// Returns the height of the stack that these series make at a position.
const stackOf = (some, x) => some.filter(isStack).reduce((sum, series) => sum + partOf(series, series.x.indexOf(x)), 0);

// Returns the upper ends of a series' points: in a stack, sums of its own values and those below.
function topsOf(state, series) {
  if (!isStack(series)) return series.y;
  const all = visible(state);
  const below = all.slice(0, all.indexOf(series));
  return series.x.map((x, i) => (partOf(series, i) > 0 ? stackOf(below, x) + partOf(series, i) : null));
}

// Returns the place of a part between two pixels; it is pointed at in the middle.
function partSpot(spot, floor, top) {
  return { ...spot, floor, top, y: (floor + top) / 2 };
}

// Returns the distance from a height to a part, zero within it.
const pastPart = (spot, y) => (spot.floor === undefined ? 0 : Math.max(0, Math.abs(spot.y - y) - (spot.floor - spot.top) / 2));

function partBars(spots, half, fill) {
  return spots.filter(Boolean).map(({ x, floor, top }) =>
    svg("rect", { class: "bar", x: p(x - half), width: p(2 * half), y: p(top), height: p(Math.max(0, floor - top)), fill }));
}

// Returns what a part is of the whole. The whole includes hidden parts.
function partRows(state, series, i) {
  const all = stackOf(state.chart.series, series.x[i]);
  const percent = `${digits((100 * partOf(series, i)) / all, 3)} %`;
  return [["share", percent], ["total", tell(state.chart.y, all)]];
}

// Formats a number for a narrow place.
const brief = (axis, value) => (axis.unit === "ns" ? time(value, 3) : digits(value, Math.min(15, Math.max(3, Math.ceil(Math.log10(value + 1))))));

// Returns the numbers in the parts and above the stacks.
function stackTexts(state, at) {
  const g = svg("g", { class: "parts" });
  const { y } = state.chart;
  const put = (text, x, middle, room) => {
    if (textWidth(text, at.font) > room || x < at.left || x > at.right) return;
    g.append(written(text, x, middle + at.size * 0.35, { "text-anchor": "middle" }));
  };
  const stacks = new Map();
  for (const spot of state.spots.filter((one) => one.floor !== undefined)) {
    const { series, i, x, top, floor, half } = spot;
    const [from, to] = [Math.max(at.top, top), Math.min(at.bottom, floor)];
    if (to - from >= at.size + 2) put(brief(y, partOf(series, i)), x, (from + to) / 2, 2 * half - 4);
    const highest = stacks.get(x);
    if (!highest || top < highest.top) stacks.set(x, { ...spot, room: at.slot - 4 });
  }
  for (const { series, i, x, top, room } of stacks.values()) {
    if (top >= at.top) put(brief(y, stackOf(visible(state), series.x[i])), x, top - at.size * 0.6, room);
  }
  return g;
}
