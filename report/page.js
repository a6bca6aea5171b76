// page.js - the page: numbers into tiles, graph, tables and plots.
const data = JSON.parse (document.getElementById ("data").textContent);
for (const r of data.reasons) r.wording = r.wording.replace (/\*/g, "…");
const $ = id => document.getElementById (id);
const nodes = data.nodes, profile = data.profile, hasTime = nodes.some (n => n.t !== undefined);
const totalMacs = nodes.reduce ((s, n) => s + (n.m || 0), 0), totalTime = nodes.reduce ((s, n) => s + (n.t || 0), 0) + (profile ? profile.elsewhere : 0);
const readers = nodes.map (() => []);
nodes.forEach ((n, i) => { n.index = i; n.i.forEach (k => readers[k].push (i)); });
const isReal = p => /^(f|bf|nf)/.test (p);
const short = (s, n) => s.length > n ? s.slice (0, Math.ceil (n / 2) - 1) + "…" + s.slice (s.length - Math.floor (n / 2)) : s;
// TensorFlow Lite names an op after all that became part of it: "a;b;c".
const brief = s => s.includes (";") ? s.slice (0, s.indexOf (";")) + ";…" : s;
const briefReason = s => (s || "").replace (/"([^"]*;[^"]*)"/g, (_, name) => '"' + brief (name) + '"');
// Bias, activation, gone: ops that run as part of another, or not at all.
const isPart = n => n.p === "i32" && n.c === "part-of-writing" || n.p === "none";
// What is measured behind its parts is the error of an op.
for (const n of nodes)
  for (let k = n; n.p !== "" && !isPart (n) && n.e === undefined && readers[k.index].length === 1; ) {
    k = nodes[readers[k.index][0]];
    if (!isPart (k) && k.p !== "") break;
    if (k.e !== undefined) Object.assign (n, { e: k.e, co: k.co });
  }
const hasError = nodes.some (n => n.e !== undefined);
const known = { u8: 1, i8: 1, i16: 1, i32: 1, f32: 1, none: 1 };

// --- colours ---
const ramp = v => "hsl(" + Math.round (120 * Math.max (0, Math.min (1, v))) + " 65% 29%)";
const colours = { type: n => n.p === "" ? "var(--none)" : "var(--" + (known[n.p] ? n.p : "other") + ")" };
if (hasError) colours.error = n => n.e === undefined || n.e === null ? "var(--none)" : ramp ((n.e - 5) / 35);
if (hasTime) colours.time = n => !n.t ? "var(--none)" : ramp (1 - Math.min (1, n.t / totalTime * 12));
let colourBy = "type";
const isPale = fill => fill === "var(--none)";

// --- summary ---
function tile (value, label, ...more) { return make ("div", { class: "tile" }, make ("b", { text: value }), make ("span", { text: label }), ...more); }
function summary () {
  const tiles = $("tiles"), low = data.types.filter (t => /^[ui]8$/.test (t.type)).reduce ((s, t) => s + t.macs, 0), all = data.types.reduce ((s, t) => s + t.macs, 0);
  const bar = make ("div", { class: "bar", role: "img", "aria-label": data.types.map (t => t.ops + " ops " + t.type).join (", ") });
  for (const t of data.types) { const part = make ("i"); part.style.cssText = "background:" + colours.type ({ p: t.type }) + ";flex:" + (all > 0 ? t.macs / all : t.ops); bar.append (part); }
  tiles.append (tile (all > 0 ? (100 * low / all).toFixed (1) + " %" : "none", all > 0 ? "of " + gmac (all) + " on 8-bit integers" : "multiply-accumulates", bar));
  const parts = nodes.filter (isPart).length, ops = data.types.map (t => [t.type, nodes.filter (n => n.p === t.type && !isPart (n)).length]).filter (t => t[1] > 0).sort ((a, b) => b[1] - a[1]);
  tiles.append (tile (String (ops.reduce ((s, t) => s + t[1], 0)), "ops that compute: " + ops.map (t => t[1] + " " + t[0]).join (", ") + (parts ? "; " + parts + " more are parts of these" : "")));
  const samples = data.samples + (data.samples === 1 ? " sample" : " samples");
  for (const s of data.scores || []) {
    const before = (data.originalScores || []).find (o => o.metric === s.metric);
    tiles.append (tile (format (s.value, 4), s.metric + " on " + samples + ", [" + format (s.low, 4) + ", " + format (s.high, 4) + "]" + (before ? "; original " + format (before.value, 4) : "")));
  }
  if (data.sqnr !== undefined && data.sqnr !== null) tiles.append (tile (format (data.sqnr, 1) + " dB", "SQNR of the output against " + data.original));
  if (data.agree !== undefined && data.agree !== null) tiles.append (tile ((100 * data.agree).toFixed (1) + " %", "same answer as the original, " + samples));
  const ratio = data.originalSize ? Math.max (data.size, data.originalSize) / Math.min (data.size, data.originalSize) : 0;
  if (data.size) tiles.append (tile (bytes (data.size), "file" + (!ratio ? "" : ratio < 1.05 ? ", as large as the original" : ", " + ratio.toFixed (1) + " times " + (data.originalSize > data.size ? "smaller" : "larger") + " than the original")));
  tiles.append (tile (bytes (data.weights), "constants as they run" + (data.sourceWeights > data.weights ? ", " + bytes (data.sourceWeights) + " before" : "")));
  if (profile) {
    tiles.append (tile (format (profile.median_ms, 3) + " ms", "median of a run, " + profile.threads + " thread" + (profile.threads === 1 ? "" : "s") + ", " + (profile.cpu || profile.level)));
    if (data.originalProfile) tiles.append (tile ((data.originalProfile.median_ms / profile.median_ms).toFixed (2) + " ×", "as fast as the original, " + format (data.originalProfile.median_ms, 3) + " ms"));
    if (profile.gmacs_per_s > 0) tiles.append (tile (format (profile.gmacs_per_s, 1) + " GMAC/s", profile.peak_gmacs_per_s > 0 ? (100 * profile.gmacs_per_s / profile.peak_gmacs_per_s).toFixed (1) + " % of the measured peak" : "speed"));
  }
  if (data.memory) tiles.append (tile (bytes (data.memory.size), "memory for values of a run"));
  showFindings ($("findings"));
}

// --- graph ---
const members = data.blocks.map (() => []);
nodes.forEach (n => members[n.b].push (n.index));
// Blocks of the same ops in the same order: how often each comes.
const kindOf = members.map (list => list.map (k => nodes[k].o).join (" ")), alike = new Map ();
members.forEach ((list, b) => { if (list.length > 3) alike.set (kindOf[b], (alike.get (kindOf[b]) || 0) + 1); });
const open = new Set (nodes.length <= 260 ? data.blocks.keys () : []);
const view = { moved: false, items: [], itemOf: [], x: 0, y: 0, scale: 1, chosen: -1, hits: [], hit: -1, root: null };
function buildItems () {
  view.items = [];
  view.itemOf = new Array (nodes.length);
  data.blocks.forEach ((name, b) => {
    if (!members[b].length) return;
    if (open.has (b) || members[b].length === 1) for (const k of members[b]) { view.itemOf[k] = view.items.length; view.items.push ({ node: nodes[k], block: b, text: short (brief (nodes[k].n), 26), op: nodes[k].o }); }
    else { for (const k of members[b]) view.itemOf[k] = view.items.length; view.items.push ({ block: b, closed: true, text: name.split (" … ").map (p => short (brief (p).replace (/\/(Convolution|GroupConvolution|MatMul)$/, ""), 20)).join (" … "), op: members[b].length + " ops" + (alike.get (kindOf[b]) > 1 ? ", one of " + alike.get (kindOf[b]) + " alike" : "") }); }
  });
  const edges = [];
  nodes.forEach ((n, i) => n.i.forEach (k => edges.push ([view.itemOf[k], view.itemOf[i]])));
  const width = view.items.map (t => Math.max (70, 7 * Math.max (t.text.length, t.op.length) + 14)), height = view.items.map (t => t.closed ? 46 : 36);
  view.layout = layoutGraph ({ n: view.items.length, edges, width, height });
  view.items.forEach ((t, i) => { t.w = width[i]; t.h = height[i]; t.x = view.layout.x[i]; t.y = view.layout.y[i]; });
}
// What part of a closed block runs in which type: [type, share], by work where there is some.
function shares (t) {
  const list = members[t.block].map (k => nodes[k]).filter (n => n.p !== "" && !isPart (n)), by = {}, weigh = n => list.some (x => x.m) ? n.m || 0 : 1;
  for (const n of list) by[n.p] = (by[n.p] || 0) + weigh (n);
  // Ops without products stay visible.
  for (const n of list) by[n.p] = by[n.p] || .02 * list.reduce ((s, x) => s + weigh (x), 0);
  const all = Object.values (by).reduce ((a, b) => a + b, 0);
  return Object.keys (by).sort ((a, b) => by[b] - by[a]).map (p => [p, by[p] / all]);
}
function fillOf (t) {
  if (!t.closed) return colours[colourBy] (t.node);
  const list = members[t.block].map (k => nodes[k]);
  if (colourBy === "error") { const e = list.map (n => n.e).filter (v => v !== undefined && v !== null); return e.length ? ramp ((Math.min (...e) - 5) / 35) : "var(--none)"; }
  if (colourBy === "time") { const s = list.reduce ((a, n) => a + (n.t || 0), 0); return s ? ramp (1 - Math.min (1, s / totalTime * 4)) : "var(--none)"; }
  const first = shares (t)[0];
  return colours.type ({ p: first ? first[0] : "" });
}
function drawGraph () {
  buildItems ();
  const svg = $("svg"), root = draw ("g");
  let path = "";
  for (const line of view.layout.lines) {
    const [x0, y0, x1, y1] = line.map (v => v.toFixed (1)), middle = ((line[1] + line[3]) / 2).toFixed (1);
    path += "M" + x0 + " " + y0 + (x0 === x1 ? "V" + y1 : "C" + x0 + " " + middle + " " + x1 + " " + middle + " " + x1 + " " + y1);
  }
  root.append (draw ("path", { d: path, class: "edge" }));
  view.items.forEach ((t, i) => {
    const g = draw ("g", { class: "node", transform: "translate(" + (t.x - t.w / 2).toFixed (1) + " " + t.y.toFixed (1) + ")" }), fill = fillOf (t), name = t.closed ? data.blocks[t.block] : t.node.n;
    const r = draw ("rect", { width: t.w, height: t.h });
    r.style.fill = fill;
    if (isPale (fill)) g.classList.add ("pale");
    g.append (r, draw ("text", { x: t.w / 2, y: t.closed ? 19 : 15, "text-anchor": "middle", class: "op" }, t.op), draw ("text", { x: t.w / 2, y: t.closed ? 36 : 29, "text-anchor": "middle" }, t.text), draw ("title", {}, name));
    let from = 0;
    const parts = t.closed ? shares (t) : [];
    if (parts.length > 1) for (const [p, share] of parts) {
      const strip = draw ("rect", { x: (4 + (t.w - 8) * from).toFixed (1), y: t.h - 7, width: ((t.w - 8) * share).toFixed (1), height: 4, class: "strip" });
      strip.style.fill = colours.type ({ p });
      g.append (strip);
      from += share;
    }
    g.dataset.item = i;
    t.g = g;
    root.append (g);
  });
  if (view.root) view.root.remove ();
  svg.append (root);
  view.root = root;
  mark ();
}
function paint () { view.items.forEach (t => { const fill = fillOf (t); t.g.firstChild.style.fill = fill; t.g.classList.toggle ("pale", isPale (fill)); }); legend (); }
function mark () {
  const hits = new Set (view.hits.map (k => view.itemOf[k]));
  view.items.forEach ((t, i) => { t.g.classList.toggle ("hit", hits.has (i)); t.g.classList.toggle ("chosen", view.chosen >= 0 && view.itemOf[view.chosen] === i); });
}
function move () { view.root.setAttribute ("transform", "translate(" + view.x.toFixed (1) + " " + view.y.toFixed (1) + ") scale(" + view.scale.toFixed (4) + ")"); }
// All of it; @readable: its beginning, large enough to be read.
function fitGraph (readable) {
  const box = $("canvas").getBoundingClientRect (), w = box.width || 600, h = box.height || 400;
  view.scale = Math.min (1.2, Math.max (.01, Math.min (w / (view.layout.w + 20), h / (view.layout.h + 20))));
  if (readable && view.scale < .9) view.scale = Math.min (1, Math.max (.6, w / (view.layout.w + 20)));
  view.x = readable && view.items.length ? w / 2 - view.items[0].x * view.scale : (w - view.layout.w * view.scale) / 2;
  view.y = 10;
  move ();
}
function zoom (factor, cx, cy) {
  view.moved = true;
  const box = $("canvas").getBoundingClientRect (), x = cx === undefined ? box.width / 2 : cx - box.left, y = cy === undefined ? box.height / 2 : cy - box.top;
  const s = Math.max (.01, Math.min (4, view.scale * factor));
  view.x = x - (x - view.x) * s / view.scale;
  view.y = y - (y - view.y) * s / view.scale;
  view.scale = s;
  move ();
}
function center (k) {
  view.moved = true;
  const t = view.items[view.itemOf[k]], box = $("canvas").getBoundingClientRect ();
  view.scale = Math.max (view.scale, .7);
  view.x = box.width / 2 - t.x * view.scale;
  view.y = box.height / 2 - (t.y + t.h / 2) * view.scale;
  move ();
}
function toggle (b, yes) {
  if (yes) open.add (b); else open.delete (b);
  drawGraph ();
  move ();
}
function choose (k, go) {
  view.chosen = k;
  const n = nodes[k];
  if (go && !open.has (n.b) && members[n.b].length > 1) { open.add (n.b); drawGraph (); }
  mark ();
  if (go) { center (k); if ($("graph").getBoundingClientRect ().top < 0 || $("graph").getBoundingClientRect ().top > window.innerHeight * .6) $("graph").scrollIntoView (); }
  details (n);
}
function term (list, name, value) { if (value !== undefined && value !== null && value !== "") list.append (make ("dt", { text: name }), make ("dd", { text: value })); }
function details (n) {
  const list = make ("dl"), links = (title, ids) => {
    if (!ids.length) return;
    const dd = make ("dd");
    ids.slice (0, 12).forEach ((k, i) => dd.append (i ? ", " : "", make ("button", { type: "button", title: nodes[k].n, text: brief (nodes[k].n), onclick: () => choose (k, true) })));
    list.append (make ("dt", { text: title }), dd);
  };
  term (list, "op", n.o);
  term (list, "runs in", n.p === "none" ? "nothing: it is gone" : n.p);
  term (list, "inputs", n.in);
  term (list, "result", n.s);
  term (list, "quantization", n.q);
  term (list, "reason", n.r);
  term (list, "code", n.c);
  const reason = data.reasons.find (r => r.code === n.c);
  if (reason && isReal (n.p)) term (list, "what helps", reason.remedy);
  term (list, "decided by", n.by);
  term (list, "real from", n.rf);
  term (list, "is now", n.as);
  term (list, "kernel", n.k);
  if (n.m) term (list, "MACs", (n.m / 1e6).toFixed (3) + " million, " + (100 * n.m / totalMacs).toFixed (1) + " %");
  if (n.t !== undefined) term (list, "time", format (n.t, 4) + " ms, " + (100 * n.t / totalTime).toFixed (1) + " %" + (n.ft ? "; original " + format (n.ft, 4) + " ms" : ""));
  if (n.e !== undefined && n.e !== null) term (list, "error", n.e >= 900 ? "none" : "SQNR " + format (n.e, 1) + " dB, cosine " + format (n.co, 5));
  if (isNumber (n.ie)) term (list, "alone", n.ie >= 900 ? "no error" : "SQNR " + format (n.ie, 1) + " dB with only this layer quantized" + (n.cl ? "; " + (100 * n.cl).toFixed (2) + " % of its values lie beyond the range" : ""));
  if (n.h) term (list, "integers", format (n.eb, 1) + " bits of 8 used, " + n.un + " codes never; " + (100 * n.lo).toFixed (2) + " % at the least, " + (100 * n.hi).toFixed (2) + " % at the greatest");
  links ("fused into", n.w === undefined ? [] : [n.w]);
  links ("reads", n.i);
  links ("read by", readers[n.index]);
  const box = $("details");
  box.textContent = "";
  box.append (make ("h3", { text: n.n }), list);
  if (n.h) box.append (histogram (n.h, "How often each eighth part of the integers comes, least to greatest"));
  if (open.has (n.b) && members[n.b].length > 1) box.append (make ("button", { type: "button", text: "Close " + short (brief (data.blocks[n.b]), 40), onclick: () => toggle (n.b, false) }));
}
function blockDetails (b) {
  const box = $("details"), list = members[b].map (k => nodes[k]);
  box.textContent = "";
  const dl = make ("dl"), sum = key => list.reduce ((s, n) => s + (n[key] || 0), 0);
  term (dl, "ops", String (list.length));
  if (alike.get (kindOf[b]) > 1) term (dl, "alike", alike.get (kindOf[b]) + " blocks have these ops in this order");
  term (dl, "types", view.items.some (t => t.closed && t.block === b) ? shares ({ block: b }).map (([p, share]) => percent (share) + " " + p).join (", ") : "");
  if (sum ("m")) term (dl, "MACs", (sum ("m") / 1e6).toFixed (3) + " million, " + (100 * sum ("m") / totalMacs).toFixed (1) + " %");
  if (hasTime) term (dl, "time", format (sum ("t"), 4) + " ms");
  box.append (make ("h3", { text: data.blocks[b] }), dl, make ("button", { type: "button", text: "Open", onclick: () => toggle (b, true) }));
}
function find () {
  const text = $("find").value.trim ().toLowerCase ();
  view.hits = text ? nodes.filter (n => (n.n + " " + n.o).toLowerCase ().includes (text)).map (n => n.index) : [];
  view.hit = -1;
  $("found").textContent = text ? view.hits.length + " found" : "";
  mark ();
}
function nextHit () {
  if (!view.hits.length) return;
  view.hit = (view.hit + 1) % view.hits.length;
  choose (view.hits[view.hit], true);
  $("found").textContent = (view.hit + 1) + " of " + view.hits.length;
}
function legend () {
  const box = $("legend"), entry = (colour, text) => { const i = make ("i"); i.style.background = colour; return make ("span", {}, i, text); };
  box.textContent = "";
  if (colourBy === "type") for (const p of [...new Set (nodes.map (n => n.p).filter (p => p))].sort ()) box.append (entry (colours.type ({ p }), p === "none" ? "gone" : p === "i32" ? "part of an op on integers" : p));
  else if (colourBy === "error") box.append (entry (ramp (0), "5 dB or less"), entry (ramp (.5), "22 dB"), entry (ramp (1), "40 dB or more"));
  else box.append (entry (ramp (0), "8 % of the time or more"), entry (ramp (.5), "4 %"), entry (ramp (1), "little"));
}
function graphEvents () {
  const canvas = $("canvas");
  let drag = null;
  // Until a reader moves it the beginning stays in the middle, however wide the page gets.
  new ResizeObserver (() => { if (!view.moved) fitGraph (true); }).observe (canvas);
  canvas.addEventListener ("wheel", e => { e.preventDefault (); zoom (e.deltaY < 0 ? 1.15 : 1 / 1.15, e.clientX, e.clientY); }, { passive: false });
  canvas.addEventListener ("pointerdown", e => { drag = { x: e.clientX - view.x, y: e.clientY - view.y, far: 0, sx: e.clientX, sy: e.clientY }; });
  window.addEventListener ("pointermove", e => { if (!drag) return; drag.far = Math.max (drag.far, Math.abs (e.clientX - drag.sx) + Math.abs (e.clientY - drag.sy)); view.x = e.clientX - drag.x; view.y = e.clientY - drag.y; view.moved = true; move (); });
  window.addEventListener ("pointerup", () => { setTimeout (() => { drag = null; }, 0); });
  canvas.addEventListener ("click", e => {
    const g = e.target.closest (".node");
    if (!g || (drag && drag.far > 5)) return;
    const t = view.items[Number (g.dataset.item)];
    if (t.closed) blockDetails (t.block); else choose (t.node.index, false);
  });
  canvas.addEventListener ("dblclick", e => { const g = e.target.closest (".node"), t = g && view.items[Number (g.dataset.item)]; if (t && t.closed) toggle (t.block, true); });
  canvas.addEventListener ("keydown", e => {
    const k = view.chosen < 0 ? 0 : view.chosen, n = nodes[k];
    const to = { ArrowUp: n && n.i[0], ArrowDown: readers[k] && readers[k][0], ArrowLeft: k - 1, ArrowRight: k + 1, Home: 0, End: nodes.length - 1, Enter: k }[e.key];
    if (e.key === "+" || e.key === "=") zoom (1.2); else if (e.key === "-") zoom (1 / 1.2); else if (to !== undefined && nodes[to]) choose (to, true); else return;
    e.preventDefault ();
  });
  $("zoom-in").addEventListener ("click", () => zoom (1.3));
  $("zoom-out").addEventListener ("click", () => zoom (1 / 1.3));
  $("fit").addEventListener ("click", () => { view.moved = true; fitGraph (false); });
  $("expand").addEventListener ("click", () => { data.blocks.forEach ((_, b) => open.add (b)); drawGraph (); fitGraph (true); });
  $("collapse").addEventListener ("click", () => { open.clear (); drawGraph (); fitGraph (true); });
  $("find").addEventListener ("input", find);
  $("find").addEventListener ("keydown", e => { if (e.key === "Enter") nextHit (); });
  $("next").addEventListener ("click", nextHit);
  for (const c of Object.keys (colours)) $("colour").append (make ("option", { value: c, text: c }));
  $("colour").addEventListener ("change", () => { colourBy = $("colour").value; paint (); });
}

// --- tables ---
function tables () {
  const rows = nodes.filter (n => n.p !== ""), go = n => choose (n.index, true);
  const columns = [{ key: "n", title: "Name", action: go, value: n => brief (n.n), text: n => brief (n.n), full: n => n.n }, { key: "o", title: "Op", word: true }, { key: "p", title: "Runs in" }, { key: "r", title: "Reason", wide: true, text: n => briefReason (n.r), full: n => n.r }, { key: "m", title: "MMAC", num: true, text: n => n.m ? (n.m / 1e6).toFixed (3) : "" }];
  if (hasError) columns.push ({ key: "e", title: "SQNR dB", num: true, text: n => n.e === undefined || n.e === null ? "" : n.e >= 900 ? "equal" : format (n.e, 1) });
  if (rows.some (n => isNumber (n.ie))) columns.push ({ key: "ie", title: "Alone dB", num: true, text: n => !isNumber (n.ie) ? "" : n.ie >= 900 ? "equal" : format (n.ie, 1) });
  if (rows.some (n => n.h)) columns.push ({ key: "hi", title: "At ends %", num: true, value: n => n.h ? n.lo + n.hi : null, text: n => n.h ? (100 * (n.lo + n.hi)).toFixed (2) : "" }, { key: "eb", title: "Bits used", num: true, text: n => n.h ? format (n.eb, 1) : "" });
  if (hasTime) columns.push ({ key: "t", title: "ms", num: true, text: n => n.t === undefined ? "" : format (n.t, 4) }, { key: "share", title: "Time %", num: true, value: n => n.t, text: n => n.t === undefined ? "" : (100 * n.t / totalTime).toFixed (1) }, { key: "g", title: "GMAC/s", num: true, value: n => n.t && n.m ? n.m / n.t : null, text: n => n.t && n.m ? format (n.m / n.t / 1e6, 1) : "" }, { key: "k", title: "Kernel", word: true });
  columns.push ({ key: "s", title: "Result", word: true });
  const table = makeTable ($("layer-table"), "Ops that compute. A heading sorts, a name shows the op in the graph.", columns, rows);
  const types = $("filter-type");
  types.append (make ("option", { value: "", text: "all" }));
  for (const t of data.types) types.append (make ("option", { value: t.type, text: t.type }));
  const parts = $("filter-parts");
  parts.checked = !rows.some (n => !isPart (n));
  const filter = () => {
    const text = $("filter").value.trim ().toLowerCase (), type = types.value;
    const list = rows.filter (n => (parts.checked || type || text || !isPart (n)) && (!type || n.p === type) && (!text || (n.n + " " + n.o + " " + n.p + " " + (n.r || "") + " " + (n.c || "")).toLowerCase ().includes (text)));
    table.show (list);
    $("count").textContent = list.length + " of " + rows.length;
  };
  $("filter").addEventListener ("input", filter);
  types.addEventListener ("change", filter);
  parts.addEventListener ("change", filter);
  filter ();
  const reasons = data.reasons.slice ().sort ((a, b) => (b.real > 0) - (a.real > 0) || b.macs - a.macs || b.count - a.count);
  const show = r => { types.value = ""; $("filter").value = r.code; filter (); $("layers").scrollIntoView (); };
  makeTable ($("reason-table"), "Each reason once; its code shows its ops in the table of layers.", [{ key: "code", title: "Code", action: show }, { key: "count", title: "Ops", num: true }, { key: "real", title: "In real numbers", num: true }, { key: "macs", title: "MMAC", num: true, text: r => r.macs ? (r.macs / 1e6).toFixed (3) : "" }, { key: "wording", title: "Reason", wide: true }, { key: "remedy", title: "What helps", wide: true }], reasons);
  if (data.passes.length) makeTable ($("pass-table"), "Passes that changed or declined something, in the order in which they ran.", [{ key: "name", title: "Pass" }, { key: "tried", title: "Tried", num: true }, { key: "changed", title: "Changed", num: true }, { key: "declined", title: "Declined", num: true }, { key: "doc", title: "What it does", wide: true }], data.passes);
  else $("pass-table").append (make ("p", { text: "The file was lowered already, or carries no quantization: no pass ran." }));
}
function against () {
  const b = data.against;
  if (!b) return;
  $("against").hidden = false;
  const line = (name, x, y) => make ("tr", {}, make ("th", { scope: "row", text: name }), make ("td", { text: x }), make ("td", { text: y }));
  const types = t => t.map (v => v.ops + " " + (v.type === "none" ? "gone" : v.type)).join (", ");
  const body = make ("tbody", {}, line ("MACs", data.macsLine, b.macsLine), line ("ops", types (data.types), types (b.types)), line ("constants", bytes (data.weights), bytes (b.weights)), line ("memory for values", bytes (data.memory.size), bytes (b.memory.size)));
  if (data.size && b.size) body.append (line ("file", bytes (data.size), bytes (b.size)));
  const box = $("against-table");
  box.before (make ("table", {}, make ("caption", { text: "Both models" }), make ("thead", {}, make ("tr", {}, make ("th", { scope: "col", text: "" }), make ("th", { scope: "col", text: data.title }), make ("th", { scope: "col", text: b.title }))), body));
  makeTable (box, b.changes.length + " ops that differ", [{ key: "n", title: "Name", text: r => brief (r.n), full: r => r.n }, { key: "o", title: "Op" }, { key: "a", title: data.title, text: r => r.a || "not there" }, { key: "b", title: b.title, text: r => r.b || "not there" }, { key: "r", title: "Reason there", wide: true }], b.changes);
}

// --- all of it ---
function setTheme (dark) { document.documentElement.classList.toggle ("dark", dark); $("theme").setAttribute ("aria-pressed", String (dark)); }
function start () {
  setTheme (window.matchMedia && matchMedia ("(prefers-color-scheme: dark)").matches);
  $("theme").addEventListener ("click", () => setTheme (!document.documentElement.classList.contains ("dark")));
  $("version").textContent = data.version;
  const pick = name => { const n = nodes.find (m => m.n === name || m.as === name); if (n) choose (n.index, true); };
  summary ();
  graphEvents ();
  drawGraph ();
  fitGraph (true);
  legend ();
  tables ();
  against ();
  $("depth").hidden = !depthPlot ($("depth-plot"), nodes, colours.type, n => choose (n.index, true));
  $("roofline").hidden = !profile || !rooflinePlot ($("roofline-plot"), nodes, profile, colours.type, n => choose (n.index, true));
  $("memory").hidden = !memoryPlot ($("memory-plot"), data.memory, pick);
  for (const s of document.querySelectorAll ("main section")) if (!s.hidden) $("nav").append (make ("a", { href: "#" + s.id, text: s.querySelector ("h2").textContent }));
  document.body.dataset.ready = "yes";
}
start ();
