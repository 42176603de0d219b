// Pointer interaction: pointing at a point shows its values, dragging zooms, a double click resets the zoom.

// Returns the pointer's position, in the units of the drawing.
function pointed(state, event) {
  const box = state.picture.getBoundingClientRect();
  return { x: (event.clientX - box.left) * state.at.width / box.width, y: (event.clientY - box.top) * state.at.height / box.height };
}

// Returns the point nearest to a position. In a cloud it must be close; on a line any distance counts.
function nearest(state, { x, y }) {
  const { left, right, top, bottom } = state.at;
  if (x < left - 8 || x > right + 8 || y < top - 8 || y > bottom + 8) return null;
  const reach = state.chart.series.some((series) => series.mode === "points") ? 30 : Infinity;
  let best = null;
  let least = reach * reach;
  for (const spot of state.spots) {
    const within = spot.half && Math.abs(spot.x - x) <= spot.half;
    const past = pastPart(spot, y) ** 2;
    const away = past + (within ? 0 : (spot.x - x) ** 2 + (spot.y - y) ** 2 * (spot.half ? 0 : 0.5) + (spot.series.mode === "points" ? 9 : 0));
    if (away < least) { best = spot; least = away; }
  }
  return best;
}

// Returns the texts for a point, and for the points of other series at the same position.
function told(state, { series, i }) {
  const { x, y } = state.chart;
  const rows = [[x.title, tell(x, series.x[i])], [y.title, tell(y, series.y[i])]];
  if (isStack(series)) rows.push(...partRows(state, series, i));
  const { interval } = series;
  if (interval && interval.low[i] !== interval.high[i]) {
    rows.push([interval.what, `${tell(y, interval.low[i])} – ${tell(y, interval.high[i])}`]);
  }
  for (const { name, unit, values } of series.columns || []) rows.push([name, TELL[unit](values[i])]);
  const others = visible(state).filter((one) => one !== series && one.name !== series.name && one.mode !== "points").map((one) => {
    const j = one.x.indexOf(series.x[i]);
    return j >= 0 && Number.isFinite(one.y[j]) ? [one.name, tell(y, one.y[j])] : null;
  });
  return { rows, others: series.mode === "points" || isStack(series) ? [] : others.filter(Boolean).slice(0, 10) };
}

function show(state, spot) {
  const { tip, ring, plot } = state;
  const { rows, others } = told(state, spot);
  const list = (some, attributes) => html("dl", attributes, ...some.flatMap(([name, value]) => [html("dt", {}, name), html("dd", {}, value)]));
  const head = spot.series.name ? [html("strong", {}, spot.series.name)] : [];
  tip.replaceChildren(...head, list(rows, {}), ...(others.length > 0 ? [list(others, { class: "others" })] : []));
  tip.hidden = false;
  const per = plot.clientWidth / state.at.width;
  const x = spot.x * per;
  const beyond = x + 14 + tip.offsetWidth > plot.clientWidth;
  tip.style.left = `${Math.max(0, beyond ? x - 14 - tip.offsetWidth : x + 14)}px`;
  tip.style.top = `${Math.max(0, spot.y * per - tip.offsetHeight / 2)}px`;
  ring.setAttribute("cx", p(spot.x));
  ring.setAttribute("cy", p(spot.y));
  ring.setAttribute("style", colour(spot.series.look));
}

function hush(state) {
  state.tip.hidden = true;
  state.ring.setAttribute("cx", -99);
}

// Returns the dragged rectangle. If it is thin in one direction, the other axis alone is zoomed.
function dragged(state, a, b) {
  const { left, right, top, bottom } = state.at;
  const within = (value, low, high) => Math.max(low, Math.min(high, value));
  let [x0, x1] = [a.x, b.x].map((value) => within(value, left, right)).sort((m, n) => m - n);
  let [y0, y1] = [a.y, b.y].map((value) => within(value, top, bottom)).sort((m, n) => m - n);
  const [wide, high] = [x1 - x0 >= 10, y1 - y0 >= 10];
  if (!wide) [x0, x1] = [left, right];
  if (!high) [y0, y1] = [top, bottom];
  return { x0, x1, y0, y1, any: wide || high };
}

function listen(state) {
  const { plot } = state;
  let from = null;
  plot.addEventListener("pointerdown", (event) => {
    // On a touch screen, dragging scrolls the page and a tap shows a point.
    if (event.pointerType === "mouse" && event.button === 0) {
      from = pointed(state, event);
      plot.setPointerCapture(event.pointerId);
      event.preventDefault();
    }
  });
  plot.addEventListener("pointermove", (event) => {
    const here = pointed(state, event);
    if (from) {
      const { x0, x1, y0, y1, any } = dragged(state, from, here);
      const box = any ? { x: x0, y: y0, width: x1 - x0, height: y1 - y0 } : { width: 0, height: 0 };
      for (const [key, value] of Object.entries(box)) state.box.setAttribute(key, p(value));
      if (any) return hush(state);
    }
    const spot = nearest(state, here);
    return spot ? show(state, spot) : hush(state);
  });
  plot.addEventListener("pointerup", (event) => {
    const here = pointed(state, event);
    if (from) {
      const { x0, x1, y0, y1, any } = dragged(state, from, here);
      from = null;
      const { toX, toY } = state.at;
      if (any) return zoom(state, { x: [toX.span(x0), toX.span(x1)], y: [toY.span(y1), toY.span(y0)] });
    }
    const spot = nearest(state, here);
    return spot ? show(state, spot) : hush(state);
  });
  plot.addEventListener("pointercancel", () => { from = null; });
  plot.addEventListener("pointerleave", () => hush(state));
  plot.addEventListener("dblclick", () => zoom(state, null));
}
