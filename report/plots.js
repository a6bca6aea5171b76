// plots.js - pictures: a scatter or a line with axes, boxes of memory, bars of a histogram.
const SVG = "http://www.w3.org/2000/svg";
function draw (tag, attributes, text) {
  const e = document.createElementNS (SVG, tag);
  for (const [k, v] of Object.entries (attributes || {})) e.setAttribute (k, v);
  if (text !== undefined) e.textContent = text;
  return e;
}
function frame (into, label, x, y) {
  const svg = draw ("svg", { viewBox: "0 0 960 380", class: "plot", role: "img", "aria-label": label });
  svg.append (draw ("title", {}, label));
  const L = 82, R = 945, T = 15, B = 335;
  const px = v => L + (R - L) * ((x.log ? Math.log10 (v) : v) - x.low) / ((x.high - x.low) || 1);
  const py = v => B - (B - T) * ((y.log ? Math.log10 (v) : v) - y.low) / ((y.high - y.low) || 1);
  const ticks = a => { const list = [], step = a.log ? 1 : niceStep ((a.high - a.low) / 6 / (a.unit || 1)) * (a.unit || 1); for (let v = Math.ceil (a.low / step) * step; v <= a.high + step * 1e-6; v += step) list.push (v); return list; };
  for (const v of ticks (x)) {
    const at = px (x.log ? 10 ** v : v);
    svg.append (draw ("line", { x1: at, x2: at, y1: T, y2: B, class: "grid" }), draw ("text", { x: at, y: B + 16, "text-anchor": "middle" }, x.log ? power (v) : x.tick ? x.tick (v) : format (v, 0)));
  }
  for (const v of ticks (y)) {
    const at = py (y.log ? 10 ** v : v);
    svg.append (draw ("line", { x1: L, x2: R, y1: at, y2: at, class: "grid" }), draw ("text", { x: L - 6, y: at + 4, "text-anchor": "end" }, y.log ? power (v) : y.tick ? y.tick (v) : format (v, 0)));
  }
  svg.append (draw ("text", { x: (L + R) / 2, y: 372, "text-anchor": "middle" }, x.title), draw ("text", { x: 14, y: (T + B) / 2, transform: "rotate(-90 14 " + (T + B) / 2 + ")", "text-anchor": "middle" }, y.title));
  into.append (svg);
  return { svg, px, py };
}
const power = v => v < -3 || v > 5 ? "1e" + v : v < 0 ? (10 ** v).toFixed (-v) : String (10 ** v);
function niceStep (v) {
  const p = 10 ** Math.floor (Math.log10 (v || 1)), m = v / p;
  return (m <= 1 ? 1 : m <= 2 ? 2 : m <= 5 ? 5 : 10) * p;
}
function dot (f, x, y, colour, title, action) {
  const c = draw ("circle", { cx: f.px (x), cy: f.py (y), r: 4, fill: colour, "fill-opacity": .8, tabindex: 0, role: "button", "aria-label": title });
  c.append (draw ("title", {}, title));
  c.addEventListener ("click", action);
  c.addEventListener ("keydown", e => { if (e.key === "Enter") action (); });
  f.svg.append (c);
}
function depthPlot (into, nodes, colour, choose) {
  const list = nodes.filter (n => n.e !== undefined && n.e !== null && n.e < 900);
  if (!list.length) return false;
  const low = Math.min (0, ...list.map (n => n.e)), high = Math.max (...list.map (n => n.e));
  const f = frame (into, "Signal to quantization noise of each layer, by its place in the model", { title: "place in the model", low: 0, high: nodes.length }, { title: "SQNR, dB", low, high });
  for (const n of list) dot (f, n.index, n.e, colour (n), n.n + ": " + format (n.e) + " dB", () => choose (n));
  return true;
}
function rooflinePlot (into, nodes, profile, colour, choose) {
  const list = nodes.filter (n => n.m > 0 && n.t > 0 && n.y > 0).map (n => ({ n, x: n.m / n.y, y: n.m / n.t / 1e6 }));
  if (!list.length) return false;
  const peak = profile.peak_gmacs_per_s, bw = profile.core_gbytes_per_s;
  const xs = list.map (p => p.x), ys = list.map (p => p.y).concat (peak > 0 ? [peak] : []);
  const range = l => ({ low: Math.floor (Math.log10 (Math.min (...l))), high: Math.ceil (Math.log10 (Math.max (...l)) + 1e-9) });
  const f = frame (into, "Speed of each layer against its intensity, below the roof of the processor", { title: "MACs per byte of inputs, weights and outputs", log: true, ...range (xs) }, { title: "GMAC/s", log: true, ...range (ys) });
  const left = 10 ** range (xs).low, right = 10 ** range (xs).high, bottom = 10 ** range (ys).low;
  if (peak > 0 && bw > 0) {
    const knee = Math.min (right, Math.max (left, peak / bw)), start = Math.max (left, bottom / bw);
    const points = [[start, Math.min (peak, start * bw)], [knee, Math.min (peak, knee * bw)], [right, Math.min (peak, right * bw)]];
    f.svg.append (draw ("polyline", { points: points.map (p => f.px (p[0]) + "," + f.py (p[1])).join (" "), fill: "none", stroke: "var(--bad)", "stroke-width": 2 }));
    f.svg.append (draw ("text", { x: 100, y: 30 }, "roof: " + format (peak, 0) + " GMAC/s measured in 8 bits, " + format (bw, 1) + " GB/s of one core"));
  }
  for (const p of list) dot (f, p.x, p.y, colour (p.n), p.n.n + ": " + format (p.y, 1) + " GMAC/s, " + format (p.x, 1) + " MAC/byte", () => choose (p.n));
  return true;
}
function memoryPlot (into, memory, pick) {
  if (!memory || !memory.blocks.length) return false;
  const f = frame (into, "Arena of " + bytes (memory.size) + ": what lies where, from which op to which", { title: "op of the run", low: 0, high: Math.max (memory.ops, ...memory.blocks.map (b => b[2] + 1)) }, { title: "offset", low: 0, high: memory.size, tick: v => v ? bytes (v).replace (".0 ", " ") : "0", unit: memory.size >= 6 << 20 ? 1 << 20 : memory.size >= 6 << 10 ? 1024 : 1 });
  memory.blocks.forEach (([name, first, last, offset, size], i) => {
    const r = draw ("rect", { x: f.px (first), width: Math.max (1.5, f.px (last + 1) - f.px (first)), y: f.py (offset + size), height: Math.max (1, f.py (offset) - f.py (offset + size)),
      fill: "hsl(" + (i * 67) % 360 + " 55% 55%)", "fill-opacity": .75, stroke: "var(--bg)", "stroke-width": .5 });
    r.append (draw ("title", {}, name + ": " + bytes (size) + ", ops " + first + " to " + last));
    r.addEventListener ("click", () => pick (name));
    f.svg.append (r);
  });
  into.append (make ("p", { text: "Arena of " + bytes (memory.size) + "; at least " + bytes (memory.bound) + " are alive at one time." }));
  return true;
}
function histogram (list, label) {
  const most = Math.max (...list, 1e-9), svg = draw ("svg", { viewBox: "0 0 " + list.length * 10 + " 60", class: "spark", preserveAspectRatio: "none", role: "img", "aria-label": label });
  svg.append (draw ("title", {}, label));
  list.forEach ((v, i) => svg.append (draw ("rect", { x: i * 10 + 1, width: 8, y: 60 - 58 * v / most, height: 58 * v / most, fill: "var(--accent)" })));
  return svg;
}
