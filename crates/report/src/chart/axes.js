// Units, ticks and scales: positions of values on an axis, and the texts there.

const TIMES = [[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]];
const SIZES = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];

const digits = (value, most) => String(Number(value.toPrecision(most)));
const timeUnit = (ns) => TIMES.find(([per]) => Math.abs(ns) >= per * 0.9995) || TIMES[3];
const time = (ns, most = 4) => {
  const [per, unit] = timeUnit(ns);
  return `${digits(ns / per, most)} ${unit}`;
};
const bytes = (size, exactly) => {
  let power = 0;
  while (size >= 1024 ** (power + 1) && power < SIZES.length - 1) power += 1;
  const rounded = Number((size / 1024 ** power).toFixed(2));
  const rest = exactly && rounded * 1024 ** power !== size ? ` (${size} B)` : "";
  return `${rounded} ${SIZES[power]}${rest}`;
};
// A percentage near 100 needs a digit for each decade of the remainder.
const share = (above) => {
  const decades = above > 0 ? Math.max(0, Math.ceil(-Math.log10(above) - 1e-9)) : 9;
  return `${Number((100 - 100 * above).toFixed(Math.min(12, decades + (decades > 1 ? 0 : 1))))} %`;
};

// Formats a value for the reader who points at it.
const TELL = {
  number: (value) => digits(value, 6),
  ns: (value) => (value === 0 ? "0 s" : time(value)),
  bytes: (value) => bytes(value, true),
  rate: (value) => `${digits(value / 1e6, 4)} MB/s`,
  above: share,
};
const tell = (axis, value) => {
  const place = axis.scale === "names" ? value : (axis.places || []).indexOf(value);
  return (axis.names || [])[place] ?? TELL[axis.unit](value);
};

// Scales convert every value to a number that is proportional to its pixels.
const FORWARD = { log: Math.log10, tail: (value) => -Math.log10(value) };
const BACK = { log: (at) => 10 ** at, tail: (at) => 10 ** -at };
const same = (value) => value;
const forward = (axis) => FORWARD[axis.scale] || same;
const back = (axis) => BACK[axis.scale] || same;
const hasPlace = (axis, value) => Number.isFinite(value) && (value > 0 || !FORWARD[axis.scale]);

const lowest = (values) => values.reduce((a, b) => Math.min(a, b), Infinity);
const highest = (values) => values.reduce((a, b) => Math.max(a, b), -Infinity);

// Returns the initial range of an axis.
function fullRange(axis, values, all) {
  if (axis.scale === "names") return [-0.5, Math.max(1, (axis.names || []).length) - 0.5];
  const placed = values.filter((value) => hasPlace(axis, value));
  if (placed.length === 0) return [0, 1];
  const [low, high] = [lowest(placed), highest(placed)];
  if (axis.scale === "tail") return [-Math.log10(1.1), -Math.log10(Math.min(low, 0.5) / 1.3)];
  if (axis.scale === "zero") {
    const top = axis.top !== undefined && !all ? axis.top : high + (high - Math.min(0, low)) * 0.05;
    return [Math.min(0, low * 1.05), top > 0 ? top : 1];
  }
  const [from, to] = [forward(axis)(low), forward(axis)(high)];
  const least = axis.scale === "log" ? 0.1 : Math.abs(high) * 0.03 || 0.5;
  const room = from === to ? least : (to - from) * 0.03;
  // Limited, because the inverse of a larger logarithm is not finite.
  return axis.scale === "log" ? [Math.max(-300, from - room), Math.min(300, to + room)] : [from - room, to + room];
}

// Maximum number of ticks of an axis.
const TICKS_MAX = 1000;

// Returns multiples of 1, 2 or 5 times a power of ten; of a power of two for byte sizes.
function even(low, high, room, binary) {
  const raw = (high - low) / Math.max(1, room);
  if (!(raw > 0) || !Number.isFinite(raw)) return [low];
  let step = binary ? 2 ** Math.max(0, Math.ceil(Math.log2(raw) - 1e-9)) : 10 ** Math.floor(Math.log10(raw));
  if (!binary) step *= [1, 2, 5, 10].find((part) => part * step >= raw * 0.9999) || 10;
  const ticks = [];
  const first = Math.ceil(low / step - 1e-9);
  for (let i = 0; i < TICKS_MAX && (first + i) * step <= high + step * 1e-9; i += 1) ticks.push(Number(((first + i) * step).toPrecision(12)));
  return ticks;
}

// Returns powers of `base`, at most `room` of them; for base ten also their multiples by 2 and 5 if there is room.
function powers(low, high, room, base) {
  const [first, last] = [low, high].map((value) => Math.log(value) / Math.log(base));
  const parts = base === 10 && (last - first) * 3 <= room ? [1, 2, 5] : [1];
  const step = Math.max(1, Math.ceil((last - first) / Math.max(1, room)));
  const ticks = [];
  for (let power = Math.floor(first / step) * step; power <= last && ticks.length < TICKS_MAX; power += step) {
    for (const part of parts) ticks.push(Number((part * base ** power).toPrecision(12)));
  }
  return ticks.filter((tick) => tick >= low * (1 - 1e-9) && tick <= high * (1 + 1e-9));
}

// Returns the values of the ticks for an axis with this range and room for `room` ticks.
function tickValues(axis, [from, to], room, values) {
  if (axis.scale === "names") return (axis.names || []).map((_, i) => i).filter((i) => i >= from && i <= to);
  const [a, b] = [back(axis)(from), back(axis)(to)];
  const [low, high] = a < b ? [a, b] : [b, a];
  const within = (value) => value >= low && value <= high;
  const places = (axis.places || []).filter(within).sort((x, y) => x - y);
  if (places.length > 1) return places;
  const binary = axis.unit === "bytes";
  let ticks = [];
  if (axis.scale === "tail") {
    ticks = powers(low, high, room, 10).concat(within(0.5) ? [0.5] : []).filter((tick) => tick <= 1);
    ticks = [...new Set(ticks)].sort((x, y) => y - x);
  } else if (axis.scale === "log") ticks = powers(low, high, room, binary ? 2 : 10);
  // If there are hardly any round values in the range, use the data's own values.
  if (axis.scale === "log" && ticks.length < 2 && binary) {
    ticks = [...new Set(values)].filter(within).sort((x, y) => x - y);
    ticks = ticks.filter((_, i) => i % Math.ceil(ticks.length / room) === 0);
  }
  return ticks.length < 2 ? even(low, high, room, binary) : ticks;
}

// Returns the unit shown with the title of a linear axis, or null if each tick has its unit.
function shownUnit(axis, [from, to]) {
  const high = Math.max(Math.abs(from), Math.abs(to));
  if (axis.unit === "rate") return [1e6, "MB/s"];
  return axis.unit === "ns" && axis.scale !== "log" ? timeUnit(high) : null;
}

// Returns the texts of the ticks.
function tickTexts(axis, ticks, unit) {
  if (axis.scale === "names" || axis.places) return ticks.map((tick) => tell(axis, tick));
  if (unit) return ticks.map((tick) => digits(tick / unit[0], 8));
  if (axis.unit === "bytes") return ticks.map((tick) => bytes(tick));
  if (axis.unit === "ns") return ticks.map((tick) => time(tick, 6));
  return ticks.map(axis.unit === "above" ? share : (tick) => digits(tick, 8));
}

const axisTitle = (axis, unit) => (unit ? `${axis.title} (${unit[1]})` : axis.title);

// Converts values to pixels and back, for an axis that shows `range` between two pixels.
function scaleOf(axis, range, [start, end]) {
  const [f, b] = [forward(axis), back(axis)];
  const per = (end - start) / (range[1] - range[0]);
  // Limits positions far outside, because drawing libraries do not accept larger numbers.
  const near = (pixel) => Math.max(-1e5, Math.min(1e5, pixel));
  return { at: (value) => near(start + (f(value) - range[0]) * per), back: (pixel) => b(range[0] + (pixel - start) / per), span: (pixel) => range[0] + (pixel - start) / per };
}

// Wraps text to lines of at most `most` pixels, or of one word.
function folded(text, most, font) {
  return text.split(" ").reduce((lines, word) => {
    const last = lines[lines.length - 1];
    const fits = last !== undefined && textWidth(`${last} ${word}`, font) <= most;
    return fits ? [...lines.slice(0, -1), `${last} ${word}`] : [...lines, word];
  }, []);
}

// Rotates names that do not fit side by side. The angle is as steep as the space on the left requires; if names would still
// touch, some are dropped. `deep` is the height below the axis.
function turned(ticks, size) {
  const room = ticks.length > 1 ? ticks[1].x - ticks[0].x : Infinity;
  const turn = highest(ticks.map(({ x, width }) => Math.acos(Math.max(0, Math.min(0.64, (x - 4) / width)))));
  const step = Math.ceil((size + 2) / Math.sin(turn) / room);
  const kept = ticks.filter((_, i) => i % step === 0);
  return { ticks: kept, turn, deep: highest(kept.map(({ width }) => width)) * Math.sin(turn) };
}
