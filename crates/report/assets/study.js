"use strict";
// Draws the figures of a study's page from the data in it: what is drawn was decided when the page was written.
(() => {
  const charts = JSON.parse(document.getElementById("figures").textContent);
  const SYMBOLS = ["circle", "square", "diamond", "triangle-up", "cross", "x"];
  const DASHES = ["solid", "dash", "dot", "dashdot", "longdash", "longdashdot"];
  const root = document.documentElement;
  const css = (name) => getComputedStyle(root).getPropertyValue(name).trim();
  const colour = (style) => css("--s" + style % 10);

  // A place on the horizontal axis may have a name: of bars by their number, of points by their value.
  const places = (chart) => [...new Set(chart.lines.flatMap((line) => line.x))].sort((a, b) => a - b);
  // Words in lines of so many characters at most, or of one word.
  const folded = (text, most) => text.split(" ").reduce((lines, word) => {
    const last = lines[lines.length - 1];
    return last !== undefined && last.length + word.length < most ? [...lines.slice(0, -1), `${last} ${word}`] : [...lines, word];
  }, []);
  const label = (chart, x) => chart.names[chart.lines[0].x.indexOf(x)] ?? String(x);

  function trace(chart, line) {
    const hovertemplate = `<b>${line.name}</b><br>${chart.x}: %{x}<br>${chart.y}: %{y:.4g}<extra></extra>`;
    const common = { name: line.name, x: line.x, y: line.y, hovertemplate };
    if (chart.shape === "bars") {
      // Side by side at equal distances, whatever the numbers are.
      return {
        ...common, x: line.x.map((x) => label(chart, x)), type: "bar", marker: { color: colour(line.style) },
        error_y: { type: "data", array: line.half, visible: line.half.length > 0, color: css("--ink"), thickness: 1, width: 2 },
      };
    }
    const steps = chart.shape === "steps";
    return {
      ...common, type: "scatter", mode: steps ? "lines" : "lines+markers",
      line: { color: colour(line.style), width: 2, dash: DASHES[line.style % 6], shape: steps ? "hvh" : "linear" },
      marker: { color: colour(line.style), size: 8, symbol: SYMBOLS[line.style % 6] },
      error_y: { type: "data", array: line.half, visible: line.half.length > 0, color: colour(line.style), thickness: 1 },
    };
  }

  const look = () => ({ gridcolor: css("--rule"), zerolinecolor: css("--rule"), linecolor: css("--soft"), ticks: "outside", tickcolor: css("--rule") });

  function xAxis(chart, width) {
    const axis = { title: { text: chart.x, standoff: 8 }, ...look(), tickangle: 0 };
    if (chart.shape === "steps") return { ...axis, rangemode: "tozero" };
    const xs = places(chart), texts = xs.map((x) => label(chart, x));
    if (chart.shape === "bars") {
      const category = { ...axis, type: "category", categoryorder: "array", categoryarray: texts };
      if (texts.length > 12) return { ...category, nticks: 12 };
      const most = Math.floor(width / texts.length / 7.5);
      return { ...category, tickvals: texts, ticktext: texts.map((text) => folded(text, most).join("<br>")), automargin: true };
    }
    // Sizes that double stand at equal distances.
    const wide = xs.length > 2 && xs[0] > 0 && xs[xs.length - 1] / xs[0] >= 16;
    return { ...axis, ...(wide ? { type: "log" } : {}), tickvals: xs, ticktext: texts };
  }

  function draw(chart) {
    const element = document.getElementById(chart.id);
    const narrow = element.clientWidth < 520;
    // How many lines the legend takes: a mark and a name for each line of the figure.
    const wide = chart.lines.reduce((sum, line) => sum + 56 + 7 * line.name.length, 0);
    const rows = narrow ? chart.lines.length : Math.max(1, Math.ceil(wide / (element.clientWidth - 96)));
    element.style.setProperty("--rows", rows);
    const log = chart.shape === "log-lines";
    const layout = {
      autosize: true, paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
      font: { family: getComputedStyle(document.body).fontFamily, size: narrow ? 12 : 13, color: css("--ink") },
      margin: { l: narrow ? 52 : 64, r: narrow ? 28 : 32, t: 20, b: 54 + 29 * rows },
      xaxis: xAxis(chart, element.clientWidth - 96),
      yaxis: {
        title: { text: folded(chart.y, 32).join("<br>"), standoff: 6 }, ...look(), automargin: true,
        ...(log ? { type: "log", dtick: 1, exponentformat: "none" } : { rangemode: "tozero" }),
      },
      barmode: "group", hovermode: "closest", hoverlabel: { align: "left" }, showlegend: true,
      legend: { orientation: narrow ? "v" : "h", x: 0, xanchor: "left", y: 0, yref: "container", yanchor: "bottom" },
      modebar: { bgcolor: "rgba(0,0,0,0)", color: css("--soft"), activecolor: css("--ink") },
      dragmode: matchMedia("(pointer: coarse)").matches ? false : "zoom",
    };
    const config = {
      responsive: true, displaylogo: false, typesetMath: false,
      displayModeBar: narrow ? false : "hover", modeBarButtonsToRemove: ["select2d", "lasso2d"],
    };
    return Plotly.react(element, chart.lines.map((line) => trace(chart, line)), layout, config);
  }

  const drawAll = () => Promise.all(charts.map(draw)).then(() => { root.dataset.drawn = charts.length; });
  let waiting = 0;
  window.addEventListener("resize", () => {
    clearTimeout(waiting);
    waiting = setTimeout(drawAll, 150);
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
  window.addEventListener("beforeprint", () => { root.dataset.print = ""; drawAll(); });
  window.addEventListener("afterprint", () => { delete root.dataset.print; drawAll(); });
  drawAll();
})();
