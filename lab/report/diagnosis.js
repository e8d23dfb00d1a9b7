// The charts of a diagnosis, of one group of parameters at a time; page.js has what it draws with.

// Of each curve [key, label, colour, dashed]; in a comparison one curve a run: [key, how to find it].
function diagnosisCharts() {
  const own = data.runs.some((run) => run.diagnosis.aiming?.all?.null_d);
  const note = own ? "x_ref: the last weights of the run" : "x_ref: the weights of another run";
  return [
    {kind: "aiming", title: "Aiming: cosines to x − x_ref", note, wide: true, height: 320, format: short,
     curves: [["cos_g", "g", 0], ["cos_m", "m", 1], ["cos_d", "d/√v", 2], ["cos_step", "d/√v + λx", 3],
              ["null_g", "pure noise", 0, true], ["null_m", "pure noise", 1, true],
              ["null_d", "pure noise", 2, true], ["null_step", "pure noise", 3, true]],
     compared: ["above_null", aboveNull], comparedTitle: "Aiming: cosine of the step less that of pure noise"},
    {kind: "aiming", title: "Aiming margin", note: "⟨x − x_ref, d/√v + λ x_ref⟩", format: short,
     curves: [["margin", "margin", 2]], compared: ["margin", (found) => found.margin]},
    {kind: "aiming", title: "Distance to x_ref", format: short, fromZero: true,
     curves: [["distance", "distance", 4]], compared: ["distance", (found) => found.distance]},
    {kind: "signal", title: "Signal fraction of the gradient", format: percent, axis: percentAxis, fromZero: true,
     curves: [["rho", "without bias", 0], ["raw", "raw", 5], ["kappa", "raw, pure noise", 5, true]],
     compared: ["rho", (found) => found.rho]},
    {kind: "signal", title: "Coordinates without signal", note: "about two thirds in pure noise", format: percent,
     axis: percentAxis, fromZero: true, curves: [["silent", "share", 1]],
     compared: ["silent", (found) => found.silent]},
    {kind: "signal", title: "Amplification |d|/√v", note: "since the point before", format: short, fromZero: true,
     curves: [["amp_max", "largest", 1], ["amp_mean", "mean", 0], ["amp_bound", "bound C", 1, true]],
     compared: ["amp_max", (found) => found.amp_max], comparedTitle: "Amplification |d|/√v, largest"},
  ];
}

// The cosine of the step less its null baseline; a reference that is no part of the run has none.
function aboveNull(found) {
  const cosine = found.cos_step || found.cos_d;
  const baseline = found.cos_step ? found.null_step : found.null_d;
  if (!cosine || !baseline) return cosine;
  const nulls = new Map(baseline.x.map((x, i) => [x, baseline.y[i]]));
  return {x: cosine.x, y: cosine.y.map((y, i) => (nulls.has(cosine.x[i]) ? y - nulls.get(cosine.x[i]) : null))};
}

function diagnosisCurves(chart, group, chosen) {
  const common = {marks: true, group};
  if (data.comparison) {
    return data.runs.map((run) => ({...common, ...(run.diagnosis[chart.kind]?.[group] &&
                                                   chart.compared[1](run.diagnosis[chart.kind][group])),
      run: run.name, series: `${chart.kind}-${group}-${chart.compared[0]}`, label: `${run.method}, ${runLabel(run)}`,
      colour: run.colour, dash: run.dash, weak: run.weak, shown: () => chosen() === group && !hidden.has(run.key)}));
  }
  const run = data.runs[0];
  return chart.curves.map(([key, label, index, dashed]) => ({...common, ...run.diagnosis[chart.kind]?.[group]?.[key],
    run: run.name, series: `${chart.kind}-${group}-${key}`, label, colour: colour(index), dash: dashed ? "6 4" : "",
    marks: !dashed, shown: () => chosen() === group}));
}

function addDiagnosis() {
  const groups = [...new Set(data.runs.flatMap((run) => Object.values(run.diagnosis).flatMap(Object.keys)))];
  if (!groups.length) return;
  document.getElementById("diagnosis").hidden = false;
  const select = document.getElementById("group");
  for (const group of groups) html("option", "", select, group === "all" ? "all parameters" : group).value = group;
  select.addEventListener("change", redrawAll);
  const parent = document.getElementById("diagnosis-charts");
  const link = newLink(false);
  for (const {kind, curves: keys, compared, comparedTitle, ...options} of diagnosisCharts()) {
    const all = groups.flatMap((group) => diagnosisCurves({kind, curves: keys, compared}, group, () => select.value));
    const curves = all.filter((curve) => curve.x);
    if (!curves.length) continue;
    const title = (data.comparison && comparedTitle) || options.title;
    const chart = new Chart(parent, link, {height: 230, axis: plain, xLabel: "step", ...options, title, curves});
    if (data.comparison || keys.length === 1) continue;
    const caption = chart.figure.querySelector("figcaption");
    for (const [label, curve] of keyOf(curves)) {
      const key = html("span", "key", caption);
      swatch(curve, key);
      html("span", "", key, label);
    }
  }
  const small = parent.querySelectorAll("figure:not(.wide)").length;
  parent.style.setProperty("--columns", small % 3 === 0 ? 3 : 2);
}

// One curve a label; what several colours have in common is grey.
function keyOf(curves) {
  const key = new Map();
  for (const curve of curves) {
    const other = key.get(curve.label);
    const shared = other && other.colour !== curve.colour;
    key.set(curve.label, shared ? {...curve, colour: "var(--axis)"} : curve);
  }
  return key;
}
