// findings.js - what a reader should know first: which layers do the damage, which are real and why, what takes the time.
// A finding is { weight, parts }: words and nodes in turn; nodes are shown as buttons.

// What an op that ends at its own bounds holds there is not cut off.
const bounded = /^(Sigmoid|HSigmoid|HardSigmoid|Tanh|Softmax|SoftMax|Clamp|FakeQuantize|Quantize)$/;
const db = v => v >= 900 ? "no error" : format (v, 1) + " dB";
const isNumber = v => v !== undefined && v !== null;
const gmac = v => v >= 1e9 ? (v / 1e9).toFixed (2) + " GMAC" : v >= 1e6 ? (v / 1e6).toFixed (2) + " MMAC" : (v / 1e3).toFixed (1) + " KMAC";
const percent = v => (v > 0 && v < .0005 ? "less than 0.1" : (100 * v).toFixed (1)) + " %";

// "a, b and c" with nodes as they are, and how many more there are.
function listOf (some, all, after) {
  const parts = [];
  some.forEach ((n, i) => parts.push (i === 0 ? "" : i === some.length - 1 && all <= some.length ? " and " : ", ", n, after ? " (" + after (n) + ")" : ""));
  if (all > some.length) parts.push (" and " + (all - some.length) + " more");
  return parts;
}

// The SQNR nearest in front of each op that has one: the worst of those of its inputs.
function errorsInFront () {
  const here = nodes.map (() => null), front = nodes.map (() => null);
  nodes.forEach ((n, i) => {
    for (const k of n.i) if (here[k] !== null && (front[i] === null || here[k] < front[i])) front[i] = here[k];
    here[i] = isNumber (n.e) ? n.e : front[i];
  });
  return front;
}

function findError () {
  const alone = nodes.filter (n => isNumber (n.ie) && n.ie < 900).sort ((a, b) => a.ie - b.ie);
  if (alone.length) {
    const some = alone.slice (0, 3);
    return { weight: .35 + Math.max (0, (30 - some[0].ie) / 40), parts: ["Most error is added by ", ...listOf (some, 0, n => db (n.ie) + (isNumber (n.e) ? ", " + db (n.e) + " with all in front" : "")), ", quantized alone. What each costs the output, and what helps: lptc debug."] };
  }
  if (!hasError) return null;
  const front = errorsInFront (), fall = n => (front[n.index] === null ? 60 : Math.min (60, front[n.index])) - n.e;
  const worst = nodes.filter (n => isNumber (n.e) && n.e < 900).sort ((a, b) => fall (b) - fall (a)).slice (0, 3);
  return worst.length ? { weight: worst[0].e < 20 ? .9 : .4, parts: ["The error grows most at ", ...listOf (worst, 0, n => (front[n.index] === null ? "" : db (front[n.index]) + " to ") + db (n.e)), "."] } : null;
}

function findReal () {
  const real = nodes.filter (n => isReal (n.p)), own = real.filter (n => !n.rf), macs = real.reduce ((s, n) => s + (n.m || 0), 0), time = real.reduce ((s, n) => s + (n.t || 0), 0);
  const reasons = data.reasons.filter (r => r.real > 0).sort ((a, b) => b.macs - a.macs || b.real - a.real);
  if (!real.length || !reasons.length) return null;
  const first = (own.some (n => n.c === reasons[0].code) ? own : real).filter (n => n.c === reasons[0].code).sort ((a, b) => (b.m || 0) - (a.m || 0) || (b.t || 0) - (a.t || 0));
  const share = [totalMacs ? percent (macs / totalMacs) + " of the MACs" : null, hasTime ? percent (time / totalTime) + " of the time" : null].filter (s => s).join (", ");
  return { weight: .2 + Math.max (totalMacs ? macs / totalMacs : 0, hasTime ? time / totalTime : 0),
    parts: [real.length + (real.length === 1 ? " op runs" : " ops run") + " in real numbers" + (share ? " (" + share + ")" : "") + (reasons.length > 1 ? ", most of them because: " : ": ") + reasons[0].wording + " - ",
      ...listOf (first.slice (0, 3), first.length), "." + (reasons[0].remedy ? " What helps: " + reasons[0].remedy + "." : "")] };
}

function findClipped () {
  const exact = nodes.some (n => isNumber (n.ie)), share = n => exact ? n.cl || 0 : n.hi || 0;
  const list = nodes.filter (n => share (n) > .005 && !bounded.test (n.o) && (exact || n.h)).sort ((a, b) => share (b) - share (a));
  return list.length ? { weight: .3 + share (list[0]), parts: [...listOf (list.slice (0, 3), list.length, n => percent (share (n))), exact ? ": so many of the values lie beyond the range." : ": so many of the values are the greatest integer; the range may be too small for these samples."] } : null;
}

function findSlow () {
  const slow = nodes.filter (n => n.t).sort ((a, b) => b.t - a.t).slice (0, 3);
  return slow.length ? { weight: slow[0].t / totalTime + .25, parts: ["Most time goes to ", ...listOf (slow, 0, n => percent (n.t / totalTime) + (n.m ? ", " + format (n.m / n.t / 1e6, 0) + " GMAC/s" : "")), "."] } : null;
}

function findings () {
  const heavy = nodes.filter (n => n.m).sort ((a, b) => b.m - a.m).slice (0, 3), list = [findError (), findReal (), findClipped (), findSlow ()];
  if (heavy.length && totalMacs) list.push ({ weight: .1, parts: ["Most work is in ", ...listOf (heavy, 0, n => percent (n.m / totalMacs) + " in " + n.p), "."] });
  if (data.memory && data.memory.bound) list.push ({ weight: .05, parts: ["A run needs " + bytes (data.memory.size) + " for values; no placement can do with less than " + bytes (data.memory.bound) + "."] });
  return list.filter (f => f).sort ((a, b) => b.weight - a.weight);
}
// What the page was not given.
function missing () {
  const list = [];
  if (!data.original) list.push ("which layers add error (lptc report MODEL FLOAT --data SAMPLES)");
  else if (!hasError) list.push ("which layers add error (--data SAMPLES)");
  if (data.noAlone) list.push ("what each layer does alone (" + data.noAlone + ")");
  if (!hasTime) list.push ("where the time goes (--profile FILE, from lptc bench MODEL --profile --json)");
  return list.length ? "Not known here: " + list.join ("; ") + "." : "";
}
function showFindings (into) {
  const text = missing ();
  if (text) into.after (make ("p", { class: "soft", text }));
  for (const f of findings ().slice (0, 3))
    into.append (make ("li", {}, ...f.parts.filter (p => p !== "").map (p => typeof p === "string" ? document.createTextNode (p) : make ("button", { type: "button", class: "name", title: p.n, text: short (brief (p.n), 48), onclick: () => choose (p.index, true) }))));
}
