// The path explorer: the slider moves the marker, the sentence and the table of features.
function element(name, text = "", className = "") {
  const made = document.createElement(name);
  made.textContent = text;
  if (className !== "") made.className = className;
  return made;
}

function describePoint(path, at) {
  const point = path.points[at];
  const spread = point.sd === null ? "" : ` \u00b1 ${fixed(point.sd)}`;
  const lines = [];
  if (path.all !== null) lines.push(`all columns ${fixed(path.all)}`);
  if (path.none !== null) lines.push(`no column ${fixed(path.none)}`);
  const others = lines.length ? ` (${lines.join(", ")})` : "";
  const share = point.share === null || point.n === 0 ? ""
    : ` That is ${Math.round(100 * point.share)}\u00a0% of what all columns gain.`;
  const change = at === 0 ? ""
    : ` Compared with ${count(path.points[at - 1].n, "feature")}: ${point.n_entered} in, ${point.n_left} out.`;
  const own = at === path.chosen ? ", the chosen size" : "";
  const loss = point.loss === null ? " not judged on held-out rows"
    : ` held-out loss ${fixed(point.loss)}${spread}`;
  return {
    head: `${count(point.n, "feature")}${own}:`,
    rest: `${loss}${others}.${share}${change}`,
  };
}

function featureRow(name, change, isChosen, className) {
  const row = element("tr", "", className);
  const head = element("th");
  head.scope = "row";
  head.append(element("bdi", name, "name"));
  row.append(head, element("td", change), element("td", isChosen ? "yes" : "\u2013"));
  return row;
}

function featureTable(path, at, names) {
  const point = path.points[at];
  const entered = new Set(point.entered);
  const own = new Set(data.selected);
  const table = element("table");
  const head = element("tr");
  const before = at === 0 ? "Change" : `Compared with ${path.points[at - 1].n}`;
  for (const title of ["Feature", before, "In the chosen set"]) {
    const cell = element("th", title);
    cell.scope = "col";
    head.append(cell);
  }
  const body = element("tbody");
  const isNew = (feature) => entered.has(feature);
  const ordered = [...point.features.filter(isNew), ...point.features.filter((f) => !isNew(f))];
  for (const f of ordered) {
    body.append(featureRow(names[f], isNew(f) ? "comes in" : "stays", own.has(f), isNew(f) ? "new" : "stays"));
  }
  for (const f of point.left) body.append(featureRow(names[f], "goes out", own.has(f), "left"));
  const more = point.n - point.features.length;
  if (more > 0) body.append(featureRow(`and ${count(more, "more feature")}`, "", false, "left"));
  if (point.n === 0) body.append(featureRow("no feature: the base rate", "", false, "stays"));
  const top = element("thead");
  top.append(head);
  table.append(top, body);
  return table;
}

function startExplorer(path, names) {
  const slider = byId("size");
  if (path === null || slider === null) return;
  const last = path.points.length - 1;
  const mark = (chart, at) => {
    chart.data.datasets[4].data = path.points.map((p, i) => (i === at ? p.loss : null));
    chart.update("none");
  };
  const show = () => {
    const at = Number(slider.value);
    const { head, rest } = describePoint(path, at);
    slider.setAttribute("aria-valuetext", count(path.points[at].n, "feature"));
    byId("size-says").replaceChildren(element("b", head), rest);
    byId("size-table").replaceChildren(featureTable(path, at, names));
    byId("size-table").scrollTop = 0;
    byId("size-down").disabled = at === 0;
    byId("size-up").disabled = at === last;
    if (held.chart !== null) mark(held.chart, at);
  };
  const go = (at) => {
    slider.value = String(Math.max(0, Math.min(last, at)));
    show();
  };
  const align = (area, width) => { // the thumb stands under its point: it is about 16 pixels wide
    const box = byId("slider");
    box.style.marginLeft = `${Math.max(0, area.left - 12)}px`;
    box.style.paddingLeft = "4px";
    box.style.marginRight = `${Math.max(0, width - area.right - 8)}px`;
  };
  const held = pathChart(path, go, align);
  redraws.push(() => mark(held.chart, Number(slider.value)));
  slider.addEventListener("input", show);
  byId("size-down").addEventListener("click", () => go(Number(slider.value) - 1));
  byId("size-up").addEventListener("click", () => go(Number(slider.value) + 1));
  byId("size-chosen").addEventListener("click", () => go(path.chosen));
  slider.value = String(path.chosen); // a browser may remember another one
  show();
}
