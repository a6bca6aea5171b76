// layout.js - layers from top to bottom: longest paths, order by what stands above and below, then places.
// Takes { n, edges: [[from, to]], width: [], height: [] } without circles (others are cut), gives { x, y, w, h }. Deterministic.
function layoutGraph (g) {
  const n = g.n, out = Array.from ({ length: n }, () => []), into = Array.from ({ length: n }, () => []);
  const seen = new Set ();
  for (const [a, b] of g.edges) {
    const key = a * n + b;
    if (a === b || seen.has (key)) continue;
    seen.add (key);
    out[a].push (b);
    into[b].push (a);
  }
  // Kahn's order; what is left over stands in a circle and goes in the order of its numbers.
  const waits = into.map (l => l.length), order = [], done = new Array (n).fill (false);
  const queue = [];
  for (let i = 0; i < n; i++) if (waits[i] === 0) queue.push (i);
  let next = 0;
  while (order.length < n) {
    if (next === queue.length) {
      const k = done.indexOf (false);
      queue.push (k);
    }
    const v = queue[next++];
    if (done[v]) continue;
    done[v] = true;
    order.push (v);
    for (const w of out[v]) if (--waits[w] === 0 && !done[w]) queue.push (w);
  }
  const at = new Array (n), layer = new Array (n).fill (0);
  order.forEach ((v, i) => { at[v] = i; });
  for (const v of order) for (const w of out[v]) if (at[w] > at[v]) layer[w] = Math.max (layer[w], layer[v] + 1);
  // Inputs come down to what reads them.
  for (let i = order.length - 1; i >= 0; i--) {
    const v = order[i];
    if (into[v].length === 0 && out[v].length > 0) layer[v] = Math.max (0, Math.min (...out[v].filter (w => at[w] > at[v]).map (w => layer[w])) - 1) || layer[v];
    if (!isFinite (layer[v])) layer[v] = 0;
  }
  const layers = [];
  for (const v of order) (layers[layer[v]] = layers[layer[v]] || []).push (v);
  for (let i = 0; i < layers.length; i++) layers[i] = layers[i] || [];
  const place = new Array (n).fill (0), set = l => l.forEach ((v, i) => { place[v] = i - l.length / 2; });
  layers.forEach (set);
  const mean = (l, v) => l.length ? l.reduce ((s, w) => s + place[w], 0) / l.length : place[v];
  const rounds = n > 2000 ? 2 : 4;
  for (let round = 0; round < rounds; round++) {
    const down = round % 2 === 0, side = down ? into : out;
    for (let k = 0; k < layers.length; k++) {
      const l = layers[down ? k : layers.length - 1 - k], key = new Map (l.map (v => [v, mean (side[v], v)]));
      l.sort ((a, b) => key.get (a) - key.get (b) || at[a] - at[b]);
      set (l);
    }
  }
  // Places: as near to the middle of neighbours as the width allows.
  const x = new Array (n).fill (0), y = new Array (n).fill (0), gapX = 18, gapY = 26;
  let top = 0;
  for (const l of layers) {
    let tall = 0;
    for (const v of l) { y[v] = top; tall = Math.max (tall, g.height[v]); }
    top += tall + gapY;
  }
  const pack = (l, want) => {
    let right = -Infinity;
    const left = [];
    l.forEach (v => { const c = Math.max (want (v), right + g.width[v] / 2 + gapX); left.push (c); right = c + g.width[v] / 2; });
    let shift = 0;
    l.forEach ((v, i) => { shift += want (v) - left[i]; });
    shift = l.length ? shift / l.length : 0;
    l.forEach ((v, i) => { x[v] = left[i] + shift; });
  };
  for (const l of layers) pack (l, v => into[v].length ? into[v].reduce ((s, w) => s + x[w], 0) / into[v].length : x[v]);
  for (let k = layers.length - 1; k >= 0; k--) pack (layers[k], v => out[v].length ? out[v].reduce ((s, w) => s + x[w], 0) / out[v].length : x[v]);
  for (const l of layers) pack (l, v => into[v].length ? (into[v].reduce ((s, w) => s + x[w], 0) / into[v].length + x[v]) / 2 : x[v]);
  let low = Infinity, high = -Infinity;
  for (let v = 0; v < n; v++) { low = Math.min (low, x[v] - g.width[v] / 2); high = Math.max (high, x[v] + g.width[v] / 2); }
  for (let v = 0; v < n; v++) x[v] -= low;
  return { x, y, w: n ? high - low : 0, h: top };
}
