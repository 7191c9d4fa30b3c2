// Plots as plain SVG.

const PLOT = { width: 520, height: 260, left: 62, right: 12, top: 10, bottom: 40 };

/** Choose about five round numbers that span some values. */
function niceTicks(low, high) {
  const span = high - low || Math.abs(high) || 1;
  const rough = span / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((unit) => unit * power).find((unit) => unit >= rough);
  const ticks = [];
  for (let k = Math.floor(low / step + 1e-9); (k - 1) * step < high - step * 1e-9; k++) {
    ticks.push(k * step);
  }
  return ticks;
}

/** Choose powers of ten that span some values. */
function logTicks(low, high) {
  const first = Math.floor(Math.log10(low) + 1e-9);
  const last = Math.max(first + 1, Math.ceil(Math.log10(high) - 1e-9));
  const stride = Math.ceil((last - first) / 5);
  const ticks = [];
  for (let power = first; power < last + stride; power += stride) ticks.push(10 ** power);
  return ticks;
}

function tickText(value) {
  const size = Math.abs(value);
  return size && (size < 1e-3 || size >= 1e6) ? value.toExponential(0) : brief(value, 3);
}

/** Axes of a plot: where a value lies, and the lines and numbers that say so. */
function makeAxes({ low, high, log, xLow, xHigh, xTicks, xLabel, label }) {
  const ticks = log ? logTicks(low, high) : niceTicks(low, high);
  const size = (value) => (log ? Math.log10(value) : value);
  const [bottom, top] = [size(ticks[0]), size(ticks[ticks.length - 1])];
  const inner = { width: PLOT.width - PLOT.left - PLOT.right,
    height: PLOT.height - PLOT.top - PLOT.bottom };
  const x = (value) => PLOT.left + (inner.width * (value - xLow)) / (xHigh - xLow || 1);
  const y = (value) => PLOT.top + inner.height * (1 - (size(value) - bottom) / (top - bottom));
  const svg = draw("svg", { viewBox: `0 0 ${PLOT.width} ${PLOT.height}`, role: "img",
    "aria-label": label });
  for (const tick of ticks) {
    svg.append(
      draw("line", { class: "rule", x1: PLOT.left, x2: PLOT.width - PLOT.right, y1: y(tick), y2: y(tick) }),
      draw("text", { x: PLOT.left - 8, y: y(tick) + 4, "text-anchor": "end" }, tickText(tick)));
  }
  for (const [value, text] of xTicks) {
    svg.append(draw("text", { x: x(value), y: PLOT.height - 22, "text-anchor": "middle" }, text));
  }
  svg.append(draw("text", { x: PLOT.left + inner.width / 2, y: PLOT.height - 4,
    "text-anchor": "middle" }, xLabel));
  return { svg, x, y };
}

function inCard(title, svg, note) {
  return make("div", { class: "card plot" }, make("h3", {}, title), svg,
    note ? make("p", { class: "muted" }, note) : null);
}

/** Draw values against iterations; nulls are left out. */
function lineChart({ title, values, log = false, shaded = 0, note = "" }) {
  const known = values.map((value, k) => [k, value]).filter(([, value]) => value !== null && (!log || value > 0));
  if (known.length < 2) return null;
  const heights = known.map(([, value]) => value);
  const last = values.length - 1;
  const axes = makeAxes({
    low: Math.min(...heights), high: Math.max(...heights), log, xLow: 0, xHigh: last,
    xTicks: niceTicks(0, last).filter((tick) => tick <= last && Number.isInteger(tick))
      .map((tick) => [tick, String(tick)]),
    xLabel: "iteration", label: title,
  });
  if (shaded) {
    axes.svg.prepend(draw("rect", { class: "ground", x: axes.x(0), y: PLOT.top,
      width: axes.x(shaded) - axes.x(0), height: PLOT.height - PLOT.top - PLOT.bottom }));
  }
  const points = known.map(([k, value]) => [axes.x(k), axes.y(value)]);
  axes.svg.append(draw("polyline", { class: "curve", points: points.map((p) => p.join(",")).join(" ") }));
  for (const [cx, cy] of points) axes.svg.append(draw("circle", { class: "dot", cx, cy, r: 2.5 }));
  return inCard(title, axes.svg, note);
}

/** Draw boxes from quartile to quartile, whiskers, and what lies beyond them. */
function boxChart({ title, boxes, xLabel, note = "" }) {
  const all = boxes.flatMap((box) => [box.low, box.high, ...box.beyond]);
  const every = Math.ceil(boxes.length / 12);
  const axes = makeAxes({
    low: Math.min(...all), high: Math.max(...all), log: false,
    xLow: -0.6, xHigh: boxes.length - 0.4, label: title, xLabel,
    xTicks: boxes.map((box, k) => [k, box.name]).filter((_, k) => k % every === 0),
  });
  const half = Math.min(18, (0.3 * (PLOT.width - PLOT.left - PLOT.right)) / boxes.length);
  boxes.forEach((box, k) => {
    const middle = axes.x(k);
    const [low, q1, median, q3, high] =
      [box.low, box.q1, box.median, box.q3, box.high].map(axes.y);
    axes.svg.append(
      draw("line", { class: "box", x1: middle, x2: middle, y1: low, y2: high }),
      draw("rect", { class: "box", x: middle - half, width: 2 * half, y: q3,
        height: Math.max(0.5, q1 - q3) }),
      draw("line", { class: "median", x1: middle - half, x2: middle + half, y1: median, y2: median }),
      ...box.beyond.map((value) =>
        draw("circle", { class: "outlier", cx: middle, cy: axes.y(value), r: 2.5 })));
  });
  return inCard(title, axes.svg, note);
}
