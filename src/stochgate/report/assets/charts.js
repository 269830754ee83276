// The charts. Each is drawn from the data by a function, and drawn again in other colours.
const minus = (text) => text.replace("-", "\u2212");
const fixed = (value, digits = 3) => (value === null ? "\u2013" : minus(value.toFixed(digits)));
const brief = (value) => minus(String(Number(value.toPrecision(3))));
const cut = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}\u2026` : text);
const count = (n, noun) => `${n.toLocaleString("en")} ${noun}${n === 1 ? "" : "s"}`;

function drawChart(id, configure) {
  const canvas = byId(id);
  if (canvas === null) return null;
  const held = { chart: null };
  const redraw = () => {
    if (held.chart !== null) held.chart.destroy();
    Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
    Chart.defaults.font.size = 13;
    Chart.defaults.color = colour("quiet");
    Chart.defaults.borderColor = colour("line");
    const config = configure();
    const common = { responsive: true, maintainAspectRatio: false, animation: false };
    config.options = { ...common, ...config.options };
    held.chart = new Chart(canvas, config);
  };
  redraws.push(redraw);
  return held;
}

function axis(title, others = {}) {
  const { ticks, ...rest } = others;
  return {
    title: { display: true, text: title },
    border: { display: false },
    ticks: { maxTicksLimit: 7, callback: (value) => brief(value), ...ticks },
    ...rest,
  };
}

const tooltip = (callbacks, others = {}) => ({
  backgroundColor: colour("text"),
  titleColor: colour("paper"),
  bodyColor: colour("paper"),
  displayColors: false,
  padding: 10,
  callbacks,
  ...others,
});

const bare = { pointRadius: 0, pointHoverRadius: 0, borderWidth: 0 };

function pathChart(path, onPick, onLayout) {
  const { points } = path;
  const beside = (p, sign) => (p.loss === null ? null : p.loss + sign * (p.sd ?? 0));
  const low = points.map((p) => beside(p, -1));
  const high = points.map((p) => beside(p, 1));
  const reached = [...points.map((p) => p.loss), path.all].filter((loss) => loss !== null);
  const lowest = Math.min(...reached), highest = Math.max(...reached);
  const isLog = lowest > 0 && highest / lowest > 4;
  const limits = isLog ? { min: lowest * 0.6, max: highest * 1.15 } : {}; // a band may go on to 0
  const isRound = (value) => ["1", "2", "5"].includes(value.toExponential(6).replace(/\.?0*e.*/, ""));
  const keepRound = (scale) => {
    const round = scale.ticks.filter((tick) => isRound(tick.value));
    if (isLog && round.length > 1) scale.ticks = round;
  };
  const only = (at) => points.map((p, i) => (i === at ? p.loss : null));
  const lines = () => {
    const accent = colour("accent"), band = colour("band");
    const sets = [
      { data: low, ...bare, fill: false, order: 9 },
      { data: high, ...bare, fill: "-1", backgroundColor: band, order: 9 },
      { data: points.map((p) => p.loss), borderColor: accent, backgroundColor: accent, borderWidth: 2,
        pointRadius: 3, pointHoverRadius: 5, order: 5 },
      { data: only(path.chosen), showLine: false, pointRadius: 7, pointHoverRadius: 7,
        backgroundColor: accent, borderColor: accent, order: 2 },
      { data: [], showLine: false, pointRadius: 12, pointHoverRadius: 12, pointBorderWidth: 2.5,
        backgroundColor: "transparent", borderColor: colour("text"), order: 1 },
    ];
    if (path.all !== null) {
      sets.push({ data: points.map(() => path.all), ...bare, borderColor: colour("text"), borderWidth: 1.5,
        borderDash: [6, 5], fill: false, order: 6 });
    }
    return sets;
  };
  return drawChart("path-chart", () => ({
    type: "line",
    data: { labels: points.map((p) => p.n), datasets: lines() },
    options: {
      interaction: { mode: "index", intersect: false },
      onClick: (event, found) => { if (found.length) onPick(found[0].index); },
      layout: { padding: { right: 14, top: 10 } },
      scales: {
        x: { title: { display: true, text: "number of features" }, grid: { display: false },
          border: { display: false }, ticks: { autoSkip: true, maxRotation: 0 } },
        y: axis(`held-out loss${isLog ? " (log scale)" : ""}`, { type: isLog ? "logarithmic" : "linear", ...limits, afterBuildTicks: keepRound }),
      },
      plugins: {
        legend: { display: false },
        tooltip: tooltip(
          {
            title: (items) => count(points[items[0].dataIndex].n, "feature"),
            label: (item) => {
              const { loss, sd } = points[item.dataIndex];
              return sd === null ? `loss ${fixed(loss)}` : `loss ${fixed(loss)} \u00b1 ${fixed(sd)}`;
            },
          },
          { filter: (item) => item.datasetIndex === 2 },
        ),
      },
    },
    plugins: [{ id: "align", afterLayout: (chart) => onLayout(chart.chartArea, chart.width) }],
  }));
}

function gatesChart(gates, names) {
  const follow = byId("gates-follow");
  const line = (curve, isChosen, followed) => {
    const isFollowed = curve.feature === followed;
    const faded = followed !== null && !isFollowed;
    const own = isFollowed ? colour("text") : colour(isChosen ? "accent" : "other");
    return {
      label: names[curve.feature],
      data: curve.gate.map((gate, i) => ({ x: gates.step[i], y: gate })),
      borderColor: own + (faded ? "40" : isFollowed ? "" : "b0"),
      borderWidth: isFollowed ? 3.5 : isChosen ? 2 : 1.25,
      pointRadius: 0,
      pointHoverRadius: 4,
      pointHoverBackgroundColor: own,
      clip: 4,
      order: isFollowed ? 0 : isChosen ? 1 : 2,
    };
  };
  const held = drawChart("gates-chart", () => {
    const followed = follow.value === "" ? null : Number(follow.value);
    return {
      type: "line",
      data: {
        datasets: [
          ...gates.chosen.map((curve) => line(curve, true, followed)),
          ...gates.others.map((curve) => line(curve, false, followed)),
        ],
      },
      options: {
        interaction: { mode: "nearest", intersect: false },
        scales: {
          x: axis("step of training", { type: "linear", grid: { display: false }, min: gates.step[0],
            max: gates.step[gates.step.length - 1] }),
          y: axis("gate: 0 is closed, 1 is open", { min: 0, max: 1 }),
        },
        plugins: {
          legend: { display: false },
          tooltip: tooltip(
            {
              title: (items) => cut(items[0].dataset.label, 40),
              label: (item) => `gate ${fixed(item.parsed.y, 2)} at step ${item.parsed.x}`,
            },
            { filter: (item, index) => index === 0 },
          ),
        },
      },
    };
  });
  if (held !== null) follow.addEventListener("change", () => redraws.forEach((redraw) => redraw()));
}

function stabilityChart(stability, names) {
  const canvas = byId("stability-chart");
  if (canvas === null) return;
  const bars = stability.features.slice(0, 30);
  canvas.parentElement.style.height = `${bars.length * 24 + 64}px`;
  drawChart("stability-chart", () => ({
    type: "bar",
    data: {
      labels: bars.map((bar) => cut(names[bar.feature], canvas.parentElement.clientWidth < 500 ? 18 : 36)),
      datasets: [{
        data: bars.map((bar) => 100 * bar.frequency),
        backgroundColor: bars.map((bar) => colour(bar.is_chosen ? "accent" : "other")),
        borderRadius: 3,
        barThickness: 12,
        minBarLength: 2,
      }],
    },
    options: {
      indexAxis: "y",
      layout: { padding: { right: 16 } },
      scales: {
        x: axis("share of parts that chose it", { min: 0, max: 100,
          ticks: { callback: (value) => `${value} %`, maxRotation: 0 } }),
        y: { grid: { display: false }, border: { display: false }, ticks: { autoSkip: false } },
      },
      plugins: {
        legend: { display: false },
        tooltip: tooltip({
          title: (items) => cut(names[bars[items[0].dataIndex].feature], 60),
          label: (item) => `${Math.round(item.parsed.x)} %${bars[item.dataIndex].is_chosen ? ", chosen" : ""}`,
        }),
      },
    },
  }));
}

function numbersChart(outcome) {
  const every = [...outcome.predicted, ...outcome.observed];
  const ends = [Math.min(...every), Math.max(...every)];
  drawChart("numbers-chart", () => ({
    type: "scatter",
    data: {
      datasets: [
        { data: outcome.predicted.map((x, i) => ({ x, y: outcome.observed[i] })), pointRadius: 3,
          backgroundColor: `${colour("accent")}80`, borderWidth: 0, order: 2 },
        { type: "line", data: ends.map((x) => ({ x, y: x })), pointRadius: 0, pointHitRadius: 0,
          borderColor: colour("text"), borderWidth: 1.5, borderDash: [6, 5], order: 1 },
      ],
    },
    options: {
      scales: { x: axis("predicted"), y: axis("observed") },
      plugins: {
        legend: { display: false },
        tooltip: tooltip({
          label: (item) => `predicted ${brief(item.parsed.x)}, observed ${brief(item.parsed.y)}`,
        }),
      },
    },
  }));
}

function survivalChart(outcome) {
  const { curves } = outcome;
  const longest = Math.max(...curves.map((curve) => curve.time[curve.time.length - 1]));
  const pairs = (curve, part) => curve.time.map((x, i) => ({ x, y: curve[part][i] }));
  const looks = () => {
    const all = [[colour("other"), []], [colour("text"), [7, 4]], [colour("accent"), []]];
    return curves.length === 3 ? all : [all[0], all[2]];
  };
  drawChart("survival-chart", () => ({
    type: "line",
    data: {
      datasets: curves.flatMap((curve, i) => {
        const [own, dash] = looks()[i];
        const stepped = "before";
        return [
          { label: curve.name, data: pairs(curve, "survival"), stepped, borderColor: own, borderWidth: 2.25,
            borderDash: dash, backgroundColor: own, pointRadius: 0, order: 1 },
          { data: pairs(curve, "low"), stepped, ...bare, fill: false, order: 2 },
          { data: pairs(curve, "high"), stepped, ...bare, fill: "-1", backgroundColor: `${own}22`, order: 2 },
        ];
      }),
    },
    options: {
      interaction: { mode: "nearest", axis: "x", intersect: false },
      scales: {
        x: axis("time", { type: "linear", min: 0, max: longest, grid: { display: false },
          ticks: { includeBounds: false } }),
        y: axis("share without event", { min: 0, max: 1, ticks: { callback: (v) => `${Math.round(100 * v)} %` } }),
      },
      plugins: {
        legend: { align: "start", labels: { filter: (item) => item.text !== undefined, boxWidth: 28, boxHeight: 0, padding: 16,
          color: colour("text") } },
        tooltip: tooltip(
          {
            title: (items) => `time ${brief(items[0].parsed.x)}`,
            label: (item) => `${item.dataset.label}: ${Math.round(100 * item.parsed.y)} %`,
          },
          { filter: (item) => item.dataset.label !== undefined },
        ),
      },
    },
  }));
}
