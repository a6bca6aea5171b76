// layout.js - layers from top to bottom: longest paths; long edges go through places of their own, beside the boxes; order by what stands above and
// below, with the fewest crossings seen; then places, each as near to its neighbours as the others of its layer allow. Deterministic.
// Takes { n, edges: [[from, to]], width: [], height: [] } without circles (others are cut). Gives { x, y, w, h, lines: [[x0, y0, x1, y1]] }: boxes by
// the middle of their upper sides, and the pieces that edges are drawn of.
const GAP = 18, BESIDE = 9, MOST_BENDS = 20000;

// Neighbours without repetition, an order in which each stands behind what it waits for, and the layer of each.
function layerGraph (g) {
  const n = g.n, out = Array.from ({ length: n }, () => []), into = Array.from ({ length: n }, () => []), seen = new Set ();
  for (const [a, b] of g.edges) {
    const key = a * n + b;
    if (a === b || seen.has (key)) continue;
    seen.add (key);
    out[a].push (b);
    into[b].push (a);
  }
  // Kahn's order; what is left over stands in a circle and goes in the order of its numbers.
  const waits = into.map (l => l.length), order = [], done = new Array (n).fill (false), queue = [];
  for (let i = 0; i < n; i++) if (waits[i] === 0) queue.push (i);
  for (let next = 0, first = 0; order.length < n; ) {
    if (next === queue.length) {
      while (done[first]) first++;
      queue.push (first);
    }
    const v = queue[next++];
    if (done[v]) continue;
    done[v] = true;
    order.push (v);
    for (const w of out[v]) if (--waits[w] === 0 && !done[w]) queue.push (w);
  }
  const at = new Array (n), layer = new Array (n).fill (0);
  order.forEach ((v, i) => { at[v] = i; });
  const ahead = v => out[v].filter (w => at[w] > at[v]);
  for (const v of order) for (const w of ahead (v)) layer[w] = Math.max (layer[w], layer[v] + 1);
  // What has more edges downwards comes down to what reads it: inputs first of all.
  for (let i = n - 1; i >= 0; i--) {
    const v = order[i], next = ahead (v);
    if (next.length > into[v].length) layer[v] = Math.max (layer[v], Math.min (...next.map (w => layer[w])) - 1);
  }
  return { out, into, order, at, layer, ahead };
}

// Edges from layer to layer; bends in between are further vertices. Edges of one box share theirs.
function bendEdges (g, l) {
  const layers = [], down = Array.from ({ length: g.n }, () => []), up = Array.from ({ length: g.n }, () => []), layer = l.layer.slice (), straight = [];
  const put = v => (layers[layer[v]] = layers[layer[v]] || []).push (v), link = (a, b) => { down[a].push (b); up[b].push (a); };
  for (const v of l.order) {
    put (v);
    let last = v;
    for (const w of l.out[v].slice ().sort ((a, b) => layer[a] - layer[b] || a - b)) {
      if (layer[w] <= layer[v] || layer.length + layer[w] - layer[last] > g.n + MOST_BENDS) { straight.push ([v, w]); continue; }
      while (layer[last] < layer[w] - 1) {
        const bend = layer.length;
        layer.push (layer[last] + 1);
        down.push ([]);
        up.push ([]);
        put (bend);
        link (last, bend);
        last = bend;
      }
      link (last, w);
    }
  }
  for (let i = 0; i < layers.length; i++) layers[i] = layers[i] || [];
  return { layers, down, up, layer, straight };
}

// Crossings between two layers: inversions of the lower ends, by the order of the upper ones.
function countCrossings (upper, down, place) {
  const ends = [];
  let most = 0, sum = 0;
  for (const v of upper) for (const p of down[v].map (w => place[w]).sort ((a, b) => a - b)) { ends.push (p); most = Math.max (most, p); }
  const tree = new Int32Array (most + 2);
  ends.forEach ((p, i) => {
    let below = 0;
    for (let k = p + 1; k > 0; k -= k & -k) below += tree[k];
    sum += i - below;
    for (let k = p + 1; k < tree.length; k += k & -k) tree[k]++;
  });
  return sum;
}

function orderLayers (b) {
  const place = new Array (b.layer.length).fill (0), set = l => l.forEach ((v, i) => { place[v] = i; });
  const crossings = () => b.layers.reduce ((s, l) => s + countCrossings (l, b.down, place), 0);
  const mean = (near, v) => near.length ? near.reduce ((s, w) => s + (place[w] + .5) / b.layers[b.layer[w]].length, 0) / near.length : (place[v] + .5) / b.layers[b.layer[v]].length;
  b.layers.forEach (set);
  let best = b.layers.map (l => l.slice ()), least = crossings ();
  for (let round = 0, rounds = b.layer.length > 4000 ? 4 : b.layer.length > 1500 ? 8 : 24; round < rounds && least > 0; round++) {
    const down = round % 2 === 0;
    for (let k = 0; k < b.layers.length; k++) {
      const l = b.layers[down ? k : b.layers.length - 1 - k], key = new Map (l.map (v => [v, mean (down ? b.up[v] : b.down[v], v)]));
      l.sort ((p, q) => key.get (p) - key.get (q) || place[p] - place[q]);
      set (l);
    }
    const now = crossings ();
    if (now < least) { least = now; best = b.layers.map (l => l.slice ()); }
  }
  b.layers = best;
  b.layers.forEach (set);
  for (let round = 0; round < 6 && least > 0 && swapNeighbours (b, place); round++);
}

// Two boxes that stand side by side change places where that takes crossings away. FALSE: it never did.
function swapNeighbours (b, place) {
  const inversions = (p, q) => { let s = 0; for (const x of p) for (const y of q) s += place[x] > place[y] ? 1 : 0; return s; };
  const cost = (v, w) => inversions (b.up[v], b.up[w]) + inversions (b.down[v], b.down[w]);
  let changed = false;
  for (const l of b.layers)
    for (let i = 0; i + 1 < l.length; i++) {
      const v = l[i], w = l[i + 1];
      if (cost (v, w) <= cost (w, v)) continue;
      l[i] = w;
      l[i + 1] = v;
      place[w] = i;
      place[v] = i + 1;
      changed = true;
    }
  return changed;
}

// Places along one layer: the least sum of squares from where each wants to be, with room for all of them.
function settle (l, x, want, weight, room) {
  const shift = new Array (l.length).fill (0), groups = [];
  l.forEach ((v, i) => {
    if (i > 0) shift[i] = shift[i - 1] + room (l[i - 1], v);
    let group = { sum: weight (v) * (want (v) - shift[i]), weight: weight (v), first: i };
    while (groups.length && groups[groups.length - 1].sum * group.weight > group.sum * groups[groups.length - 1].weight) {
      const last = groups.pop ();
      group = { sum: last.sum + group.sum, weight: last.weight + group.weight, first: last.first };
    }
    groups.push (group);
  });
  groups.forEach ((group, k) => {
    const end = k + 1 < groups.length ? groups[k + 1].first : l.length;
    for (let i = group.first; i < end; i++) x[l[i]] = group.sum / group.weight + shift[i];
  });
}

function placeAcross (g, b) {
  const x = new Array (b.layer.length).fill (0), isBend = v => v >= g.n, wide = v => isBend (v) ? 0 : g.width[v];
  const room = (v, w) => (wide (v) + wide (w)) / 2 + (isBend (v) || isBend (w) ? BESIDE : GAP);
  // Long edges are straight before boxes stand in the middle.
  const pull = (v, w) => isBend (v) && isBend (w) ? 8 : 1;
  const near = (lists, v) => { let s = 0, p = 0; for (const list of lists) for (const w of list[v]) { s += pull (v, w) * x[w]; p += pull (v, w); } return p > 0 ? s / p : x[v]; };
  for (const l of b.layers) { let at = 0; l.forEach ((v, i) => { at += i > 0 ? room (l[i - 1], v) : 0; x[v] = at; }); for (const v of l) x[v] -= at / 2; }
  for (let round = 0, rounds = b.layer.length > 4000 ? 4 : 10; round < rounds; round++) {
    const lists = round >= rounds - 2 ? [b.up, b.down] : round % 2 === 0 ? [b.up] : [b.down];
    for (let k = 0; k < b.layers.length; k++) settle (b.layers[round % 2 === 0 ? k : b.layers.length - 1 - k], x, v => near (lists, v), () => 1, room);
  }
  // What follows alone stands below.
  const follows = v => b.up[v].length === 1 && b.down[b.up[v][0]].length === 1;
  for (const l of b.layers) settle (l, x, v => follows (v) ? x[b.up[v][0]] : x[v], v => follows (v) || isBend (v) ? 8 : 1, room);
  return x;
}

// Between layers is more room where edges go far to the side.
function placeDown (g, b, x) {
  const tops = [], bottoms = [];
  let top = 0;
  b.layers.forEach ((l, k) => {
    const tall = l.reduce ((m, v) => v < g.n ? Math.max (m, g.height[v]) : m, 0);
    let far = 0;
    for (const v of l) for (const w of b.down[v]) far = Math.max (far, Math.abs (x[v] - x[w]));
    tops[k] = top;
    bottoms[k] = top + tall;
    top += tall + 24 + Math.min (60, far / 14);
  });
  return { tops, bottoms, h: top };
}

function layoutGraph (g) {
  const l = layerGraph (g), b = bendEdges (g, l);
  orderLayers (b);
  const x = placeAcross (g, b), { tops, bottoms, h } = placeDown (g, b, x), lines = [];
  let low = Infinity, high = -Infinity;
  for (let v = 0; v < x.length; v++) { const half = v < g.n ? g.width[v] / 2 : 0; low = Math.min (low, x[v] - half); high = Math.max (high, x[v] + half); }
  for (let v = 0; v < x.length; v++) x[v] -= low;
  const bottom = v => v < g.n ? tops[b.layer[v]] + g.height[v] : bottoms[b.layer[v]];
  b.down.forEach ((list, v) => { for (const w of list) lines.push ([x[v], bottom (v), x[w], tops[b.layer[w]]]); });
  for (let v = g.n; v < x.length; v++) lines.push ([x[v], tops[b.layer[v]], x[v], bottoms[b.layer[v]]]);
  for (const [v, w] of b.straight) lines.push ([x[v], bottom (v), x[w], tops[b.layer[w]]]);
  return { x: x.slice (0, g.n), y: l.layer.map (k => tops[k]), w: g.n ? high - low : 0, h, lines };
}
