"use strict";
// Draws the figures of the page from the data in it. Everything that is a matter of looks (colours, ticks, room)
// is decided here; what is drawn was decided when the page was written.
(() => {
  const figures = JSON.parse(document.getElementById("figures").textContent);
  const SYMBOLS = ["circle", "square", "diamond", "triangle-up"];
  const DASHES = ["solid", "dash", "dot", "dashdot"];
  const UNITS = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
  const root = document.documentElement;

  const css = (name) => getComputedStyle(root).getPropertyValue(name).trim();
  const short = (value, digits = 2) => String(Number(value.toFixed(digits)));
  const bytes = (size) => {
    let power = 0;
    while (size >= 1024 && power < UNITS.length - 1) { size /= 1024; power += 1; }
    return short(size) + " " + UNITS[power];
  };
  const time = (ns) => {
    for (const [scale, unit] of [[1e9, "s"], [1e6, "ms"], [1e3, "µs"]]) {
      if (ns >= scale) return String(Number((ns / scale).toPrecision(4))) + " " + unit;
    }
    return ns + " ns";
  };

  const allX = (figure) => [...new Set(figure.lines.flatMap((line) => line.medians.x))].sort((a, b) => a - b);
  const yName = (figure, y) => short(y / figure.vertical.scale, 3) + " " + figure.vertical.unit;

  // The place of a size: itself, or the middle of its strip, with the lines side by side.
  function place(figure, sizes, index) {
    if (figure.axis !== "strip") return (x) => x;
    const width = 0.8 / figure.lines.length;
    return (x) => sizes.indexOf(x) + (index - (figure.lines.length - 1) / 2) * width;
  }
  // Spreads the points of a strip evenly (the golden ratio never lines up), the same at every drawing.
  const spread = (figure, i) =>
    figure.axis === "strip" ? (((i * 0.6180339887) % 1) - 0.5) * (0.5 / figure.lines.length) : 0;

  function rawTrace(figure, line, index, at) {
    const { x, y, ns, requests, offset, rep } = line.raw;
    const text = x.map((size, i) => {
      const rows = [`<b>${line.name}</b>, ${bytes(size)}`];
      rows.push(figure.vertical.unit === "MB/s" ? yName(figure, y[i]) : "latency " + time(y[i]));
      if (requests[i] > 1) rows.push(`${requests[i]} requests in ${time(ns[i])}`);
      else if (figure.vertical.unit === "MB/s") rows.push("all of it in " + time(ns[i]));
      rows.push(`offset ${bytes(offset[i])} (${offset[i]})`, `repetition ${rep[i]}, at ${time(line.raw.at[i])}`);
      return rows.join("<br>");
    });
    return {
      type: "scatter", mode: "markers", name: line.name, legendgroup: line.name, showlegend: false,
      x: x.map((size, i) => at(size) + spread(figure, i)), y: y.map((v) => v / figure.vertical.scale),
      text, hovertemplate: "%{text}<extra></extra>",
      marker: { color: css("--s" + (index % 4)), opacity: 0.4, size: 5, symbol: SYMBOLS[index % 4] },
    };
  }

  function medianTrace(figure, line, index, at) {
    const { x, y, low, high, n } = line.medians;
    const { scale } = figure.vertical;
    const colour = css("--s" + (index % 4));
    const strip = figure.axis === "strip";
    const trace = {
      type: "scatter", mode: strip ? "markers" : x.length > 80 ? "lines" : "lines+markers",
      name: line.name, legendgroup: line.name, showlegend: true,
      x: x.map(at), y: y.map((v) => v / scale),
      text: x.map((size, i) =>
        `<b>${line.name}</b>, ${bytes(size)}<br>median ${yName(figure, y[i])}` +
        `<br>half of ${n[i]} in ${yName(figure, low[i])} – ${yName(figure, high[i])}`),
      hovertemplate: "%{text}<extra></extra>",
      line: { color: colour, width: 2, dash: DASHES[index % 4] },
      marker: { color: colour, size: 7, symbol: SYMBOLS[index % 4] },
    };
    if (strip) {
      Object.assign(trace.marker, { size: 11, line: { color: css("--ink"), width: 1.5 } });
      trace.error_y = {
        type: "data", symmetric: false, thickness: 2, width: 8, color: css("--ink"),
        array: y.map((v, i) => (high[i] - v) / scale), arrayminus: y.map((v, i) => (v - low[i]) / scale),
      };
    }
    return trace;
  }

  // Ticks at round sizes, as many as there is room for; at the sizes themselves where hardly a round one lies between them.
  function ticks(figure, sizes, width) {
    const room = Math.max(2, Math.floor(width / 72));
    const [low, high] = [sizes[0], sizes[sizes.length - 1]];
    let values = [];
    if (figure.axis === "strip") return { tickvals: sizes.map((_, i) => i), ticktext: sizes.map(bytes) };
    if (figure.axis === "log2") {
      const [first, last] = [Math.ceil(Math.log2(low)), Math.floor(Math.log2(high))];
      const step = Math.max(1, Math.ceil((last - first + 1) / room));
      for (let power = first; power <= last; power += step) values.push(2 ** power);
    } else {
      let step = 2 ** Math.max(0, Math.floor(Math.log2(Math.max(1, high / room))));
      while (high / step > room) step *= 2;
      for (let value = 0; value <= high; value += step) values.push(value);
    }
    if (values.filter((value) => value >= low && value <= high).length < 2) {
      const every = Math.ceil(sizes.length / room);
      values = sizes.filter((_, i) => i % every === 0);
    }
    return { tickvals: values, ticktext: values.map(bytes) };
  }

  function xAxis(figure, sizes, width) {
    const axis = { title: { text: figure.x_title, standoff: 8 }, ...look(), tickangle: 0 };
    Object.assign(axis, ticks(figure, sizes, width));
    const [low, high] = [sizes[0], sizes[sizes.length - 1]];
    if (figure.axis === "strip") axis.range = [-0.5, sizes.length - 0.5];
    else if (figure.axis === "log2") Object.assign(axis, { type: "log", range: [Math.log10(low / 1.3), Math.log10(high * 1.3)] });
    else axis.range = [low - (high - low || 1) * 0.03, high + (high - low || 1) * 0.03];
    return axis;
  }

  function yAxis(figure) {
    const { title, unit, scale, log, top } = figure.vertical;
    const axis = { title: { text: `${title} (${unit})`, standoff: 6 }, ...look(), automargin: true };
    if (log) return { ...axis, type: "log", dtick: 1, exponentformat: "none" };
    if (top !== null && !figure.all) axis.range = [0, top / scale];
    return { ...axis, rangemode: "tozero" };
  }

  const look = () => ({ gridcolor: css("--rule"), zerolinecolor: css("--rule"), linecolor: css("--soft"), ticks: "outside", tickcolor: css("--rule") });

  // The identified size, its interval and its multiples.
  function marks(figure, sizes) {
    const { at, text, interval, period } = figure.marks;
    const line = (x, width, dash) => ({
      type: "line", xref: "x", yref: "paper", x0: x, x1: x, y0: 0, y1: 1, layer: "below",
      line: { color: css("--mark"), width, dash }, opacity: width > 1 ? 1 : 0.45,
    });
    const shapes = period.map((x) => line(x, 1, "dot"));
    if (interval) {
      shapes.push({
        type: "rect", xref: "x", yref: "paper", x0: interval[0], x1: interval[1], y0: 0, y1: 1, layer: "below",
        fillcolor: css("--shade"), opacity: 0.18, line: { width: 0 },
      });
    }
    if (at === null) return { shapes, annotations: [] };
    shapes.push(line(at, 2, "solid"));
    const [low, high] = [sizes[0], sizes[sizes.length - 1]];
    const share = figure.axis === "log2" ? Math.log(at / low) / Math.log(high / low) : (at - low) / (high - low);
    const annotation = {
      xref: "x", x: figure.axis === "log2" ? Math.log10(at) : at, yref: "paper", y: 1, yanchor: "bottom",
      xanchor: share < 0.15 ? "left" : share > 0.85 ? "right" : "center",
      text: `<b>${text}</b>`, showarrow: false, font: { color: css("--mark"), size: 14 },
    };
    return { shapes, annotations: [annotation] };
  }

  function draw(figure) {
    const element = document.getElementById(figure.id);
    const narrow = element.clientWidth < 520;
    // On a phone the names stand below one another, and the drawing grows by as much.
    const rows = narrow ? figure.lines.length : 1;
    element.style.setProperty("--rows", rows);
    const sizes = allX(figure);
    const width = element.clientWidth - (narrow ? 70 : 100);
    const traces = [];
    figure.lines.forEach((line, index) => traces.push(rawTrace(figure, line, index, place(figure, sizes, index))));
    figure.lines.forEach((line, index) => traces.push(medianTrace(figure, line, index, place(figure, sizes, index))));
    const layout = {
      autosize: true, paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
      font: { family: getComputedStyle(document.body).fontFamily, size: narrow ? 12 : 13, color: css("--ink") },
      margin: { l: narrow ? 52 : 64, r: narrow ? 28 : 32, t: narrow ? 26 : 46, b: 54 + 29 * rows },
      xaxis: xAxis(figure, sizes, width), yaxis: yAxis(figure),
      hovermode: "closest", hoverlabel: { align: "left" },
      legend: { orientation: narrow ? "v" : "h", x: 0, xanchor: "left", y: 0, yref: "container", yanchor: "bottom" },
      modebar: { bgcolor: "rgba(0,0,0,0)", color: css("--soft"), activecolor: css("--ink") },
      // On a touch screen a drag scrolls the page.
      dragmode: matchMedia("(pointer: coarse)").matches ? false : "zoom",
      ...marks(figure, sizes),
    };
    const config = {
      responsive: true, displaylogo: false, typesetMath: false,
      displayModeBar: narrow ? false : "hover", modeBarButtonsToRemove: ["select2d", "lasso2d"],
    };
    return Plotly.react(element, traces, layout, config);
  }

  const drawAll = () => Promise.all(figures.map(draw)).then(() => { root.dataset.drawn = figures.length; });

  for (const button of document.querySelectorAll("button[data-all]")) {
    const figure = figures.find((one) => one.id === button.dataset.all);
    button.addEventListener("click", () => {
      figure.all = !figure.all;
      button.textContent = figure.all ? "Show fewer" : "Show all";
      draw(figure);
    });
  }

  let waiting = 0;
  window.addEventListener("resize", () => {
    clearTimeout(waiting);
    waiting = setTimeout(drawAll, 150);
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
  // Paper is light, and what is folded away cannot be opened on it.
  const folded = [...document.querySelectorAll("details")];
  window.addEventListener("beforeprint", () => {
    root.dataset.print = "";
    folded.forEach((details) => { details.dataset.was = details.open ? "open" : ""; details.open = true; });
    drawAll();
  });
  window.addEventListener("afterprint", () => {
    delete root.dataset.print;
    folded.forEach((details) => { details.open = details.dataset.was === "open"; });
    drawAll();
  });
  drawAll();
})();
