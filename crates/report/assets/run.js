"use strict";
// Draws the figures of a run from the data in the page. Everything that is a matter of looks is decided here.
(() => {
  const figures = JSON.parse(document.getElementById("figures").textContent);
  const COLOURS = 10;
  const DASHES = ["solid", "dot", "dash", "dashdot"];
  const PATTERNS = ["", "/", "x", "."];
  const root = document.documentElement;
  const css = (name) => getComputedStyle(root).getPropertyValue(name).trim();
  const number = (value, digits) => String(Number(value.toPrecision(digits)));
  const UNITS = [[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]];
  const time = (ns, digits = 4) => {
    const [scale, unit] = UNITS.find(([scale]) => ns >= scale * 0.9999) || UNITS[3];
    return number(ns / scale, digits) + " " + unit;
  };
  const share = (above) => number(100 - 100 * above, above < 1e-3 ? 8 : 5) + " %";
  const SIZES = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
  const size = (bytes) => {
    const thousand = Math.floor(Math.log2(bytes) / 10);
    return bytes / 1024 ** thousand + " " + SIZES[thousand];
  };
  const FORMATS = {
    time: (value) => (value === 0 ? "0 s" : time(value * 1e9)), log_ns: (value) => time(value), tail: share,
    linear: (value) => number(value, 4), size: (value) => "up to " + size(value),
  };

  const look = () => ({
    gridcolor: css("--rule"), zerolinecolor: css("--rule"), linecolor: css("--soft"), ticks: "outside",
    tickcolor: css("--rule"), tickangle: 0,
  });

  // Round times for ticks: each decade, and what is between where there is room.
  function decades(low, high, room) {
    const [first, last] = [Math.floor(Math.log10(low)), Math.ceil(Math.log10(high))];
    const between = (last - first) * 3 <= room ? [1, 2, 5] : [1];
    const parts = high < 3 * low ? [1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 7, 8, 9] : between;
    const step = Math.max(1, Math.ceil((last - first) / Math.max(1, room)));
    const values = [];
    for (let power = first; power <= last; power += parts.length > 1 ? 1 : step) {
      for (const part of parts) values.push(part * 10 ** power);
    }
    return values.filter((value) => value >= low && value <= high);
  }

  function axis({ title, scale }, values, room) {
    const base = { title: { text: title, standoff: 8 }, ...look() };
    const [low, high] = [Math.min(...values), Math.max(...values)];
    if (scale === "log_ns") {
      const range = [low / 1.25, high * 1.25];
      const ticks = decades(range[0], range[1], room);
      const tickvals = ticks.length > 1 ? ticks : [low, high];
      return { ...base, type: "log", range: range.map(Math.log10), tickvals, ticktext: tickvals.map((v) => time(v, 3)) };
    }
    if (scale === "tail") {
      // The upper end is where few are faster; the share above falls by decades towards the slow tail.
      const tickvals = [0.9, 0.5, 0.1, 0.01, 1e-3, 1e-4, 1e-5, 1e-6].filter((value) => value >= low * 0.9);
      const range = [Math.log10(1.1), Math.log10(Math.min(low, 0.5) / 1.3)];
      return { ...base, type: "log", range, tickvals, ticktext: tickvals.map(share) };
    }
    if (scale === "time") {
      // Seconds are too long for many runs: the unit goes with the longest.
      const [size, unit] = UNITS.find(([size]) => high * 1e9 >= size) || UNITS[3];
      base.title.text = `${title} (${unit})`;
      return { ...base, range: [0, (high || 1) * 1e9 / size], size: size / 1e9, nticks: Math.max(3, room) };
    }
    if (scale === "size") {
      // Every power of two from the least to the largest, and the names of as many as there is room for.
      const [first, last] = [Math.log2(low), Math.log2(high)];
      const step = Math.ceil((last - first + 1) / Math.max(1, room));
      // A single bar is not to be as wide as the figure.
      const rest = Math.max(0.6, 3.5 - (last - first) / 2);
      const tickvals = [];
      for (let power = last; power >= first; power -= step) tickvals.unshift(power);
      return { ...base, range: [first - rest, last + rest], tickvals, ticktext: tickvals.map((power) => size(2 ** power)) };
    }
    return { ...base, range: [0, (high || 1) * 1.08], zeroline: true, nticks: Math.max(3, room) };
  }

  function trace(figure, line, per) {
    const colour = css("--s" + (line.colour % COLOURS));
    const again = Math.floor(line.colour / COLOURS);
    const text = line.x.map((x, i) =>
      `<b>${escaped(line.name)}</b><br>${FORMATS[figure.y.scale](line.y[i] ?? 0)}<br>${FORMATS[figure.x.scale](x)}`);
    const common = { name: escaped(line.name), showlegend: true, y: line.y, text, hovertemplate: "%{text}<extra></extra>" };
    if (figure.x.scale === "size") {
      const marker = { color: colour, pattern: { shape: PATTERNS[again % PATTERNS.length] } };
      return { ...common, type: "bar", x: line.x.map(Math.log2), textposition: "none", marker };
    }
    const many = line.x.length > 60;
    const width = line.dash || (line.x.length > 200 && figure.lines.length > 1) ? 1.5 : 2;
    return {
      ...common, type: "scatter", mode: many ? "lines" : "lines+markers", x: line.x.map((x) => x / per), connectgaps: false,
      line: { color: colour, width, dash: DASHES[(line.dash + again) % DASHES.length] },
      marker: { color: colour, size: 4 },
    };
  }

  // Names go into labels, where the library knows some tags.
  const escaped = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");

  function draw(figure) {
    const element = document.getElementById(figure.id);
    const narrow = element.clientWidth < 520;
    // How many entries of the legend, of which all are as wide as the longest, fit beside one another.
    const longest = Math.max(...figure.lines.map((line) => line.name.length));
    const beside = Math.max(1, Math.floor((element.clientWidth - 100) / (longest * 8 + 50)));
    const stacked = narrow || beside === 1;
    const rows = stacked ? figure.lines.length : Math.ceil(figure.lines.length / beside);
    element.style.setProperty("--rows", rows);
    const width = element.clientWidth - (narrow ? 80 : 110);
    const xaxis = axis(figure.x, figure.lines.flatMap((line) => line.x), Math.floor(width / 75));
    const ys = figure.lines.flatMap((line) => line.y).filter((value) => value !== null);
    const layout = {
      autosize: true, paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
      font: { family: getComputedStyle(document.body).fontFamily, size: narrow ? 12 : 13, color: css("--ink") },
      margin: { l: narrow ? 56 : 70, r: narrow ? 16 : 28, t: 20, b: 56 + 24 * rows },
      xaxis, yaxis: { ...axis(figure.y, ys, 7), automargin: true },
      hovermode: "closest", hoverlabel: { align: "left" },
      legend: { orientation: stacked ? "v" : "h", maxheight: 1, x: 0, xanchor: "left", y: 0, yref: "container", yanchor: "bottom" },
      modebar: { bgcolor: "rgba(0,0,0,0)", color: css("--soft"), activecolor: css("--ink") },
      // On a touch screen a drag scrolls the page.
      dragmode: matchMedia("(pointer: coarse)").matches ? false : "zoom",
    };
    const config = {
      responsive: true, displaylogo: false, typesetMath: false,
      displayModeBar: narrow ? false : "hover", modeBarButtonsToRemove: ["select2d", "lasso2d"],
    };
    const per = xaxis.size || 1;
    delete xaxis.size;
    return Plotly.react(element, figure.lines.map((line) => trace(figure, line, per)), layout, config);
  }

  const drawAll = () => Promise.all(figures.map(draw)).then(() => { root.dataset.drawn = figures.length; });
  let waiting = 0;
  window.addEventListener("resize", () => {
    clearTimeout(waiting);
    waiting = setTimeout(drawAll, 150);
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
  // Paper is light.
  window.addEventListener("beforeprint", () => { root.dataset.print = ""; drawAll(); });
  window.addEventListener("afterprint", () => { delete root.dataset.print; drawAll(); });
  drawAll();
})();
