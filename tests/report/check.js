// check.js - what test-report.py puts behind a page: does what a reader does, and leaves what it saw in an element.
(async () => {
  const result = { errors: [] };
  window.addEventListener ("error", e => result.errors.push (String (e.message)));
  const wait = () => new Promise (r => setTimeout (r, 20));
  const input = (id, text) => { const e = document.getElementById (id); e.value = text; e.dispatchEvent (new Event ("input")); };
  // Pieces of edges that go through a box, by points on their curves.
  const crossed = () => view.layout.lines.filter (([x0, y0, x1, y1]) => {
    for (let t = .1; t < 1; t += .1) {
      const u = 1 - t, x = (u * u * u + 3 * u * u * t) * x0 + (3 * u * t * t + t * t * t) * x1, y = u * u * u * y0 + 3 * u * t * (y0 + y1) / 2 + t * t * t * y1;
      if (view.items.some (b => Math.abs (b.x - x) < b.w / 2 - 1 && y > b.y + 1 && y < b.y + b.h - 1)) return true;
    }
    return false;
  }).length;
  const rows = () => document.querySelectorAll ("#layer-table tbody tr").length;
  try {
    result.ready = document.body.dataset.ready || "no";
    result.opened = performance.now ();
    result.nodes = nodes.length;
    result.drawn = document.querySelectorAll ("#svg .node").length;
    result.images = document.images.length;
    result.scripts = document.scripts.length;
    result.requests = performance.getEntriesByType ("resource").filter (e => !e.name.startsWith ("data:")).map (e => e.name);
    result.tiles = document.querySelectorAll (".tile").length;
    result.findings = document.querySelectorAll ("#findings li").length;
    result.overflow = document.documentElement.scrollWidth - window.innerWidth;
    result.unlabelled = [...document.querySelectorAll ("button,input,select")].filter (e => !(e.textContent.trim () || e.getAttribute ("aria-label") || e.closest ("label"))).length;
    const all = nodes.filter (n => n.p !== "").length, target = nodes[Math.floor (nodes.length / 2)];
    // Search.
    let start = performance.now ();
    input ("find", target.n);
    result.searchMs = performance.now () - start;
    result.found = view.hits.includes (target.index);
    document.getElementById ("next").click ();
    result.chosen = document.querySelector ("#details h3").textContent === nodes[view.hits[0]].n && !!document.querySelector (".node.chosen");
    input ("find", "");
    // Filter and sort.
    start = performance.now ();
    input ("filter", "convolution");
    result.filterMs = performance.now () - start;
    result.filtered = [...document.querySelectorAll ("#layer-table tbody tr")].every (r => /convolution/i.test (r.textContent)) && (rows () < all || all < 3);
    input ("filter", "");
    document.querySelectorAll ("#layer-table thead button")[0].click ();
    const names = [...document.querySelectorAll ("#layer-table tbody th")].map (e => e.textContent);
    result.sorted = names.every ((n, i) => i === 0 || names[i - 1] <= n);
    // Blocks.
    document.getElementById ("expand").click ();
    result.opened_all = document.querySelectorAll ("#svg .node").length;
    document.getElementById ("collapse").click ();
    result.closed_all = document.querySelectorAll ("#svg .node").length;
    // A click, the keyboard, colours.
    document.getElementById ("expand").click ();
    const g = document.querySelectorAll ("#svg .node")[0];
    g.dispatchEvent (new MouseEvent ("click", { bubbles: true }));
    const first = document.querySelector ("#details h3").textContent;
    result.clicked = first.length > 0 && nodes.some (n => n.n === first);
    document.getElementById ("canvas").dispatchEvent (new KeyboardEvent ("keydown", { key: "End", bubbles: true }));
    result.keyed = document.querySelector ("#details h3").textContent === nodes[nodes.length - 1].n;
    for (const c of Object.keys (colours)) { const s = document.getElementById ("colour"); s.value = c; s.dispatchEvent (new Event ("change")); }
    const theme = document.getElementById ("theme"), look = () => getComputedStyle (theme).backgroundColor;
    const looks = [look ()];
    theme.click ();
    looks.push (look (), getComputedStyle (document.body).backgroundColor);
    theme.click ();
    looks.push (getComputedStyle (document.body).backgroundColor);
    /* Another page, and a button that shows that it is pressed: both ways one of the two is not like the page. */
    result.themed = looks[2] !== looks[3] && looks.slice (0, 2).some (colour => !looks.slice (2).includes (colour));
    // Boxes of one layer do not meet, and no edge lies on a box that it does not end at.
    document.getElementById ("expand").click ();
    if (nodes.length <= 600) result.crossed = crossed ();
    const t = view.items.slice ().sort ((a, b) => a.y - b.y || a.x - b.x);
    result.overlaps = t.filter ((b, i) => i > 0 && t[i - 1].y === b.y && t[i - 1].x + t[i - 1].w / 2 > b.x - b.w / 2 + .5).length;
    await wait ();
  } catch (e) { result.errors.push (String (e && e.stack || e)); }
  const pre = document.createElement ("pre");
  pre.id = "checked";
  pre.textContent = JSON.stringify (result);
  document.body.append (pre);
})();
