// tables.js - elements and tables that sort. Whatever comes from the model is written as text, never as markup.
function make (tag, attributes, ...children) {
  const e = document.createElement (tag);
  for (const [k, v] of Object.entries (attributes || {}))
    if (k === "text") e.textContent = v;
    else if (k.startsWith ("on")) e.addEventListener (k.slice (2), v);
    else if (v !== null && v !== undefined && v !== false) e.setAttribute (k, v);
  e.append (...children);
  return e;
}
const format = (v, digits) => v === null || v === undefined || Number.isNaN (v) ? "" : Math.abs (v) >= 1e6 || (v !== 0 && Math.abs (v) < 1e-3) ? v.toExponential (2) : v.toFixed (digits === undefined ? 2 : digits);
const bytes = v => v >= 1 << 20 ? (v / (1 << 20)).toFixed (1) + " MB" : v >= 1024 ? (v / 1024).toFixed (1) + " KB" : v + " B";

// columns: [{ key, title, num, wide, value: row => sorts, text: row => shown, action: row => on a click,
// full: row => told where a pointer rests }]. Many rows: as many as scroll into sight.
function makeTable (into, caption, columns, rows, onSort) {
  const state = { rows, key: null, down: false, shown: 0, page: 200 };
  const head = make ("tr"), body = make ("tbody"), table = make ("table", {}, make ("caption", {}, make ("span", { text: caption })), make ("thead", {}, head), body);
  const more = () => {
    const part = document.createDocumentFragment ();
    for (const row of state.rows.slice (state.shown, state.shown + state.page)) {
      const tr = make ("tr");
      for (const c of columns) {
        const text = c.text ? c.text (row) : row[c.key] === undefined || row[c.key] === null ? "" : String (row[c.key]);
        const cell = columns[0] === c ? make ("th", { scope: "row" }) : make ("td", { class: c.num ? "num" : c.wide ? "wide" : c.word ? "word" : null });
        if (c.full && c.full (row) !== text) cell.title = c.full (row);
        cell.append (c.action ? make ("button", { type: "button", text, onclick: () => c.action (row) }) : document.createTextNode (text));
        tr.append (cell);
      }
      if (row.picked) tr.className = "pick";
      part.append (tr);
    }
    state.shown += state.page;
    body.append (part);
  };
  const fill = () => { state.shown = 0; body.textContent = ""; more (); };
  const sort = c => {
    state.down = state.key === c ? !state.down : !!c.num;
    state.key = c;
    const get = c.value || (r => r[c.key]);
    const missing = v => v === undefined || v === null || v === "" || Number.isNaN (v);
    state.rows = state.rows.map ((r, i) => [r, i]).sort ((a, b) => {
      const x = get (a[0]), y = get (b[0]);
      if (missing (x) || missing (y)) return missing (x) - missing (y) || a[1] - b[1];
      return (x < y ? -1 : x > y ? 1 : 0) * (state.down ? -1 : 1) || a[1] - b[1];
    }).map (p => p[0]);
    for (const th of head.children) th.setAttribute ("aria-sort", th.column === c ? (state.down ? "descending" : "ascending") : "none");
    fill ();
  };
  for (const c of columns) {
    const th = make ("th", { scope: "col", class: c.num ? "num" : null, "aria-sort": "none" }, make ("button", { type: "button", text: c.title, onclick: () => sort (c) }));
    th.column = c;
    head.append (th);
  }
  into.textContent = "";
  into.append (table);
  into.addEventListener ("scroll", () => { if (into.scrollTop + into.clientHeight > into.scrollHeight - 400 && state.shown < state.rows.length) more (); });
  window.addEventListener ("beforeprint", () => { while (state.shown < state.rows.length) more (); });
  fill ();
  return { show: list => { state.rows = list; state.key = null; fill (); for (const th of head.children) th.setAttribute ("aria-sort", "none"); }, body, sort };
}
