// Reads the data of the page, and makes its charts, legend and controls.

const DASHES = ["", "7 4", "2 3.5", "10 3 2 3", "4 2", "14 4", "1 5"];
const COLOURS = 8;
const LONGEST_SMOOTHING = 1000;

const data = JSON.parse(document.getElementById("data").textContent);
const hidden = new Set();
const links = [];
const smoothings = []; // [curve, its source]

function newLink(together) {
  const link = {domain: null, cursor: null, charts: [], together, changed: () => redraw(link)};
  links.push(link);
  return link;
}

function redraw(link) {
  for (const chart of link.charts) {
    chart.draw();
    chart.drawCursor();
  }
  document.getElementById("reset").disabled = links.every((other) => !other.domain);
}

function redrawAll() {
  links.forEach(redraw);
}

// Exponential moving average over about `steps` steps, corrected for its start from nothing.
function smooth({x, y}, steps) {
  const weight = 1 - 1 / steps;
  let sum = 0;
  let weights = 0;
  let last = null;
  return y.map((value, i) => {
    if (value === null) return null;
    const kept = weight ** (last === null ? 1 : x[i] - last);
    last = x[i];
    sum = kept * sum + (1 - kept) * value;
    weights = kept * weights + (1 - kept);
    return sum / weights;
  });
}

const colour = (index) => `var(--c${index % COLOURS})`;
const seeds = [...new Set(data.runs.map((run) => run.seed))];
const loss = (value) => (Math.abs(value) < 0.1 ? value.toPrecision(4) : value.toFixed(4));
const percent = (value) => `${(100 * value).toFixed(1)} %`;
const percentAxis = (value, step) => `${plain(100 * value, 100 * step)} %`;
const rate = (value) => scientific(Number(value.toPrecision(4)));
const short = (value) => Number(value.toPrecision(4)).toString();

// What a run is called where its method is known already.
function runLabel(run) {
  const parts = [];
  if (run.lr !== null) parts.push(`lr ${scientific(run.lr)}`);
  if (run.seed !== "") parts.push(`seed ${run.seed}`);
  return parts.join(", ") || run.name;
}

data.runs.forEach((run, index) => {
  run.key = `run ${index}`;
  run.colour = colour(data.comparison ? data.methods.indexOf(run.method) : 0);
  run.weak = data.comparison && !run.atBestLr && data.runs.some((other) => other.atBestLr);
  run.dash = data.comparison ? DASHES[seeds.indexOf(run.seed) % DASHES.length] : "";
});

// A curve of every run that has the series.
function curvesOf(series, options = {}) {
  return data.runs.filter((run) => run.curves[series]).map((run) => ({
    run: run.name,
    series,
    label: data.comparison ? `${run.method}, ${runLabel(run)}` : options.name,
    colour: run.colour,
    dash: run.dash,
    weak: run.weak,
    shown: () => !hidden.has(run.key) && !(options.key && hidden.has(options.key)),
    ...run.curves[series],
    ...options,
  }));
}

// A noisy series of every run: each step faintly, and smoothed over it.
function noisyCurves(series, smoothSeries, name) {
  const faint = {faint: true, dash: "", weak: false, tip: !data.comparison};
  const raw = curvesOf(series, {name: `${name}, each step`, key: "raw", ...faint});
  const smoothed = curvesOf(series, {name: `${name}, smoothed`, key: "smooth", series: smoothSeries});
  const runs = data.runs.filter((run) => run.curves[series]);
  smoothed.forEach((curve, i) => {
    const source = runs[i].curves[`${series}_means`] || runs[i].curves[series];
    curve.x = source.x;
    smoothings.push([curve, source]);
  });
  return [...raw, ...smoothed];
}

function applySmoothing() {
  const part = Number(document.getElementById("smoothing").value) / 100;
  const steps = Math.round(LONGEST_SMOOTHING ** part);
  document.getElementById("smoothing-text").textContent = steps > 1 ? `${steps} steps` : "off";
  for (const [curve, source] of smoothings) curve.y = smooth(source, steps);
}

// Charts over steps share their zoom and cursor; those without curves are left out.
function addCharts() {
  const parent = document.getElementById("charts");
  const link = newLink(!data.comparison);
  const add = (options) => {
    if (!options.curves.length) return;
    new Chart(parent, link, {height: 230, axis: plain, xLabel: "step", ...options});
  };
  const big = {wide: true, height: 380, mayLog: true, mayLate: true, format: loss};
  if (data.comparison) {
    const note = data.runs.some((run) => run.weak) ? "strong lines: the best learning rate of each method" : "";
    add({...big, title: "Validation loss", note, curves: curvesOf("validation", {marks: true})});
    add({...big, title: "Training loss", curves: noisyCurves("train", "smooth", "training")});
    addSweep(parent);
  } else {
    const validation = {name: "validation", key: "validation", marks: true, colour: colour(1)};
    add({...big, title: "Loss",
         curves: [...noisyCurves("train", "smooth", "training"), ...curvesOf("validation", validation)]});
  }
  add({title: "Validation accuracy", format: percent, axis: percentAxis,
       curves: curvesOf("accuracy", {name: "accuracy", marks: true})});
  add({title: "Learning rate", fromZero: true, format: rate, axis: scientific,
       curves: curvesOf("lr", {name: "learning rate"})});
  add({title: "Gradient norm", note: "before clipping", mayLog: true, format: short,
       curves: noisyCurves("norm", "norm-smooth", "norm")});
  add({title: "Optimizer's share of the step", fromZero: true, format: percent, axis: percentAxis,
       curves: noisyCurves("share", "share-smooth", "optimizer")});
  const small = parent.querySelectorAll("figure:not(.wide)").length;
  parent.style.setProperty("--columns", small % 3 === 0 ? 3 : Math.min(2, small));
}

// Final loss against learning rate: a line through the means of each method, and a dot a run.
function addSweep(parent) {
  const groups = data.groups.filter((group) => group.lr > 0 && group.final !== null);
  const swept = (method) => groups.filter((group) => group.method === method).length > 1;
  if (!data.methods.some(swept)) return;
  const curves = [];
  data.methods.forEach((method, index) => {
    const own = groups.filter((group) => group.method === method);
    const runs = data.runs.filter((run) => run.method === method && run.lr > 0 && run.final !== null)
      .sort((a, b) => a.lr - b.lr);
    const common = {run: method, colour: colour(index), label: method,
                    shown: () => data.runs.some((run) => run.method === method && !hidden.has(run.key))};
    curves.push({...common, series: "lr-runs", line: false, marks: true, weak: true, tip: false,
                 x: runs.map((run) => run.lr), y: runs.map((run) => run.final)});
    curves.push({...common, series: "lr-mean", marks: true,
                 x: own.map((group) => group.lr), y: own.map((group) => group.final),
                 note: (i) => (own[i].deviation === null ? "" : `± ${loss(own[i].deviation)}`)});
  });
  new Chart(parent, newLink(false), {
    title: "Final validation loss against learning rate", note: "line: mean over seeds, dots: runs", wide: true,
    height: 320, logX: true, mayLog: true, axis: plain, format: loss, xLabel: "learning rate (log scale)", curves});
}

function toggle(keys, on) {
  for (const key of keys) on ? hidden.delete(key) : hidden.add(key);
  refreshLegend();
  redrawAll();
}

const switches = []; // [button, its keys]

function addSwitch(parent, className, curve, text, keys, title) {
  const button = html("button", className, parent);
  button.type = "button";
  if (title) button.title = title;
  if (curve) swatch(curve, button);
  html("span", "", button, text);
  button.addEventListener("click", () => toggle(keys, keys.every((key) => hidden.has(key))));
  switches.push([button, keys]);
}

function refreshLegend() {
  for (const [button, keys] of switches) button.setAttribute("aria-pressed", keys.some((key) => !hidden.has(key)));
}

function addLegend() {
  const legend = document.getElementById("legend");
  if (!data.comparison) {
    const row = html("div", "row", legend);
    for (const curve of links[0].charts.find((chart) => chart.title === "Loss")?.curves || []) {
      addSwitch(row, "chip", curve, {raw: "each step", smooth: "smoothed"}[curve.key] || curve.label, [curve.key]);
    }
    return;
  }
  for (const method of data.methods) {
    const row = html("div", "row", legend);
    const runs = data.runs.filter((run) => run.method === method);
    addSwitch(row, "method", {colour: runs[0].colour}, method, runs.map((run) => run.key), "all runs of this method");
    for (const run of runs) addSwitch(row, "chip", run, runLabel(run), [run.key], run.name);
  }
  const row = html("div", "row", legend);
  addSwitch(row, "chip", null, "each step, unsmoothed", ["raw"]);
  const only = (text, wanted) => {
    const button = html("button", "chip", row, text);
    button.type = "button";
    button.addEventListener("click", () => {
      for (const run of data.runs) wanted(run) ? hidden.delete(run.key) : hidden.add(run.key);
      toggle([], true);
    });
  };
  if (data.runs.some((run) => run.atBestLr) && data.runs.some((run) => !run.atBestLr)) {
    only("only best learning rates", (run) => run.atBestLr);
    only("all runs", () => true);
  }
}

function addControls() {
  const slider = document.getElementById("smoothing");
  const steps = Math.max(0, ...data.runs.map((run) => run.steps));
  const wanted = Math.min(200, Math.max(1, steps / 80));
  slider.value = Math.round((100 * Math.log(wanted)) / Math.log(LONGEST_SMOOTHING));
  slider.addEventListener("input", () => {
    applySmoothing();
    redrawAll();
  });
  const bind = (id, option, allowed) => {
    const apply = () => {
      for (const chart of links.flatMap((link) => link.charts)) {
        chart[option] = Boolean(chart[allowed] && document.getElementById(id).checked);
      }
    };
    document.getElementById(id).addEventListener("change", () => {
      apply();
      redrawAll();
    });
    apply();
  };
  // Runs that are compared differ little next to how far they all came.
  document.getElementById("late").checked = data.comparison;
  bind("log-y", "logY", "mayLog");
  bind("late", "late", "mayLate");
  document.getElementById("reset").addEventListener("click", () => {
    for (const link of links) link.domain = null;
    redrawAll();
  });
}

if (data.comparison && data.runs.length > 2) hidden.add("raw");
addCharts();
addDiagnosis();
addLegend();
addControls();
applySmoothing();
refreshLegend();
redrawAll();
for (const id of ["charts", "diagnosis-charts"]) new ResizeObserver(redrawAll).observe(document.getElementById(id));
window.addEventListener("beforeprint", redrawAll);
document.documentElement.dataset.ready = "1";
