// A chart of curves over steps (or learning rates) in SVG, with a cursor, zoom and a log scale.
//
// A curve: {run, series, label, colour, dash, x, y} and, if wanted, line: false, marks: true, faint, weak,
// shown() and note(i); y[i] is null where there is nothing to draw.
// A link: {domain, cursor, changed(), charts}: what the charts over the same axis have in common.

const MARGIN = {top: 8, right: 18, bottom: 40};
const MOST_MARKS = 200;

function svg(tag, attributes, parent, text) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  if (text !== undefined) element.textContent = text;
  if (parent) parent.append(element);
  return element;
}

function html(tag, className, parent, text) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  if (text !== undefined) element.textContent = text;
  if (parent) parent.append(element);
  return element;
}

// A stroke as the legend and the cursor's table show it.
function swatch(curve, parent) {
  const image = svg("svg", {width: 26, height: 10, "aria-hidden": "true"}, parent);
  const style = `stroke:${curve.colour};stroke-width:2.5;opacity:${curve.faint ? 0.4 : curve.weak ? 0.55 : 1}`;
  svg("line", {x1: 1, y1: 5, x2: 25, y2: 5, style, "stroke-dasharray": curve.dash || "none"}, image);
  if (curve.marks) svg("circle", {cx: 13, cy: 5, r: 3.5, style: `fill:${curve.colour}`}, image);
  return image;
}

function linearTicks(low, high, most) {
  const rough = (high - low) / Math.max(1, most);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= rough * 0.999);
  const ticks = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9; ++i) {
    ticks.push(i * step + 0); // no -0
  }
  return {ticks, step};
}

// Powers of ten with 2 and 5 between them where there is room; null if the range is too narrow for them.
function logTicks(low, high, most) {
  for (const digits of [[1, 2, 5], [1, 3], [1]]) {
    const ticks = [];
    for (let k = Math.floor(Math.log10(low)); k <= Math.log10(high); ++k) {
      for (const digit of digits) {
        const tick = digit * 10 ** k;
        if (tick >= low * 0.999 && tick <= high * 1.001) ticks.push(Number(tick.toPrecision(3)));
      }
    }
    if (ticks.length < 3) return null;
    if (ticks.length <= most + 2) return ticks;
  }
  return null;
}

function plain(value, step) {
  const decimals = Math.min(9, Math.max(0, -Math.floor(Math.log10(step) + 1e-9)));
  return value.toLocaleString("en", {minimumFractionDigits: decimals, maximumFractionDigits: decimals});
}

function scientific(value) {
  return value === 0 ? "0" : Number(value.toPrecision(6)).toExponential().replace("e+", "e");
}

// The index of the last x that is not above the value, or -1.
function indexAt(x, value) {
  let low = 0;
  let high = x.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (x[middle] <= value) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

class Chart {
  // options: title, note, wide, height, curves, format (of y values), axis (of y ticks: value, step),
  // xLabel, logX, fromZero, and whether it is about a loss: mayLog, mayLate
  constructor(parent, link, options) {
    Object.assign(this, {link, logY: false, late: false, ...options});
    link.charts.push(this);
    this.figure = html("figure", options.wide ? "wide" : "", parent);
    const caption = html("figcaption", "", this.figure, options.title);
    if (options.note) html("small", "", caption, options.note);
    this.svg = svg("svg", {role: "img", "aria-label": options.title, tabindex: 0}, this.figure);
    this.tip = html("div", "tip", this.figure);
    this.tip.hidden = true;
    this.listen();
  }

  visible() {
    return this.curves.filter((curve) => !curve.shown || curve.shown());
  }

  // The steps that there are, with a margin where x is logarithmic.
  wholeDomain() {
    let low = Infinity;
    let high = -Infinity;
    for (const curve of this.link.charts.flatMap((chart) => chart.curves)) {
      if (!curve.x.length) continue;
      low = Math.min(low, curve.x[0]);
      high = Math.max(high, curve.x[curve.x.length - 1]);
    }
    if (low > high) return [0, 1];
    if (this.logX) return [low / 1.25, high * 1.25];
    return low === high ? [low - 1, high + 1] : [low, high];
  }

  range([start, to]) {
    let low = Infinity;
    let high = -Infinity;
    for (const curve of this.visible()) {
      if (!curve.x.length) continue;
      const begin = Math.max(start, curve.x[0]);
      const end = Math.min(to, curve.x[curve.x.length - 1]);
      const from = this.late ? begin + (end - begin) / 4 : begin;
      for (let i = Math.max(0, indexAt(curve.x, from)); i < curve.x.length && curve.x[i] <= to; ++i) {
        const y = curve.y[i];
        if (curve.x[i] < from || y === null || (this.logY && y <= 0)) continue;
        low = Math.min(low, y);
        high = Math.max(high, y);
      }
    }
    if (low > high) return this.logY ? [0.1, 1] : [0, 1];
    if (this.logY) {
      const margin = Math.max(1.02, (high / low) ** 0.05);
      return [low / margin, high * margin];
    }
    if (this.fromZero && low >= 0) return [0, high > 0 ? high * 1.06 : 1];
    const margin = high > low ? (high - low) * 0.05 : Math.abs(high) * 0.05 || 1;
    return [low - margin, high + margin];
  }

  draw() {
    const width = Math.max(280, this.svg.clientWidth || this.figure.clientWidth - 32);
    this.domain = this.link.domain || this.wholeDomain();
    const [low, high] = this.range(this.domain);
    const most = Math.max(2, Math.floor((this.height - MARGIN.top - MARGIN.bottom) / 36));
    let ticks = this.logY ? logTicks(low, high, most) : null;
    let labels = ticks && ticks.map((tick) => this.axis(tick, tick));
    if (!ticks) {
      const linear = linearTicks(low, high, most);
      ticks = linear.ticks;
      labels = ticks.map((tick) => this.axis(tick, linear.step));
    }
    const left = 14 + 7.2 * Math.max(3, ...labels.map((label) => label.length));
    this.box = {left, right: width - MARGIN.right, top: MARGIN.top, bottom: this.height - MARGIN.bottom};
    const {box} = this;
    const bend = (value, log) => (log ? Math.log(value) : value);
    const scale = (from, to, log, start, end) => {
      const a = bend(from, log);
      const b = bend(to, log);
      return (value) => start + ((bend(value, log) - a) / (b - a)) * (end - start);
    };
    this.across = scale(...this.domain, this.logX, box.left, box.right);
    this.down = scale(low, high, this.logY, box.bottom, box.top);
    this.svg.setAttribute("viewBox", `0 0 ${width} ${this.height}`);
    this.svg.replaceChildren();
    this.drawGrid(ticks, labels);
    this.drawCurves();
    this.cursor = svg("line", {class: "cursor", y1: box.top, y2: box.bottom, visibility: "hidden"}, this.svg);
    this.selection = svg("rect", {class: "selection", y: box.top, height: box.bottom - box.top, width: 0}, this.svg);
  }

  drawGrid(ticks, labels) {
    const {left, right, top, bottom} = this.box;
    ticks.forEach((tick, i) => {
      const y = this.down(tick);
      svg("line", {class: "grid", x1: left, x2: right, y1: y, y2: y}, this.svg);
      svg("text", {x: left - 8, y: y + 4, "text-anchor": "end"}, this.svg, labels[i]);
    });
    for (const [value, label] of this.xTicks()) {
      const x = this.across(value);
      svg("line", {class: "axis", x1: x, x2: x, y1: bottom, y2: bottom + 4}, this.svg);
      svg("text", {x, y: bottom + 18, "text-anchor": "middle"}, this.svg, label);
    }
    svg("line", {class: "axis", x1: left, x2: right, y1: bottom, y2: bottom}, this.svg);
    svg("text", {x: (left + right) / 2, y: bottom + 35, "text-anchor": "middle"}, this.svg, this.xLabel);
  }

  xTicks() {
    const {left, right} = this.box;
    if (!this.logX) {
      const room = 40 + 7 * plain(Math.round(this.domain[1]), 1).length;
      const {ticks, step} = linearTicks(...this.domain, Math.floor((right - left) / room));
      if (step >= 1) return ticks.map((tick) => [tick, plain(tick, step)]);
      return ticks.filter(Number.isInteger).map((tick) => [tick, plain(tick, 1)]);
    }
    // The learning rates that were tried, as many as have room.
    const tried = [...new Set(this.curves.flatMap((curve) => curve.x))].sort((a, b) => a - b);
    const shown = [];
    let end = -Infinity;
    for (const value of tried) {
      const label = scientific(value);
      const half = 4 * label.length;
      const x = this.across(value);
      if (x < left || x > right || x - half < end) continue;
      shown.push([value, label]);
      end = x + half + 6;
    }
    return shown;
  }

  drawCurves() {
    const {left, right, top, bottom} = this.box;
    const id = `clip-${Chart.count = (Chart.count || 0) + 1}`;
    const clip = svg("clipPath", {id}, this.svg);
    svg("rect", {x: left - 4, y: top - 4, width: right - left + 8, height: bottom - top + 8}, clip);
    const all = svg("g", {"clip-path": `url(#${id})`}, this.svg);
    for (const curve of this.curves) this.drawCurve(curve, all);
  }

  drawCurve(curve, parent) {
    const points = [];
    let path = "";
    let open = false;
    curve.y.forEach((y, i) => {
      const there = y !== null && !(this.logY && y <= 0);
      if (there) {
        const at = `${this.across(curve.x[i]).toFixed(1)} ${this.down(y).toFixed(1)}`;
        path += open ? `L${at}` : `M${at}h0`;
        points.push(i);
      }
      open = there;
    });
    const kinds = ["curve", curve.faint && "faint", curve.weak && "weak"].filter(Boolean);
    const group = svg("g", {class: kinds.join(" "), "data-run": curve.run, "data-series": curve.series,
                            "data-points": points.length}, parent);
    if (curve.shown && !curve.shown()) group.setAttribute("display", "none");
    if (curve.line !== false) {
      svg("path", {d: path, style: `stroke:${curve.colour}`, "stroke-dasharray": curve.dash || "none"}, group);
    }
    if (!curve.marks || points.length > MOST_MARKS) return;
    for (const i of points) {
      svg("circle", {cx: this.across(curve.x[i]).toFixed(1), cy: this.down(curve.y[i]).toFixed(1),
                     r: curve.line === false ? 4 : 3.2, style: `fill:${curve.colour}`,
                     "data-step": curve.x[i], "data-value": curve.y[i]}, group);
    }
  }

  // The value of x under the pointer, and the nearest x of a visible curve.
  valueAt(event) {
    const box = this.svg.getBoundingClientRect();
    const scale = this.svg.viewBox.baseVal.width / box.width || 1;
    const x = Math.min(this.box.right, Math.max(this.box.left, (event.clientX - box.left) * scale));
    const part = (x - this.box.left) / (this.box.right - this.box.left);
    const [from, to] = this.domain;
    return {x, value: this.logX ? from * (to / from) ** part : from + (to - from) * part};
  }

  nearest(value) {
    let best = null;
    for (const curve of this.visible()) {
      const i = indexAt(curve.x, value);
      for (const x of [curve.x[i], curve.x[i + 1]]) {
        if (x === undefined || x < this.domain[0] || x > this.domain[1]) continue;
        if (best === null || Math.abs(x - value) < Math.abs(best - value)) best = x;
      }
    }
    return best;
  }

  point(value) {
    this.link.cursor = value;
    for (const chart of this.link.charts) chart.drawCursor();
    this.showTip();
  }

  drawCursor() {
    const {cursor} = this.link;
    const there = cursor !== null && cursor >= this.domain[0] && cursor <= this.domain[1];
    this.cursor.setAttribute("visibility", there ? "visible" : "hidden");
    if (!there) return;
    for (const side of ["x1", "x2"]) this.cursor.setAttribute(side, this.across(cursor));
  }

  showTip() {
    const {cursor} = this.link;
    for (const chart of this.link.charts) chart.tip.hidden = true;
    if (cursor === null) return;
    this.tip.replaceChildren();
    html("strong", "", this.tip, this.logX ? `learning rate ${scientific(cursor)}` : `step ${plain(cursor, 1)}`);
    const table = html("table", "", this.tip);
    for (const chart of this.link.together ? this.link.charts : [this]) {
      for (const curve of chart.visible()) chart.tipRow(curve, cursor, table);
    }
    this.tip.hidden = false;
    const frame = this.svg.getBoundingClientRect();
    const offset = frame.left - this.figure.getBoundingClientRect().left;
    const x = offset + (this.across(cursor) * frame.width) / this.svg.viewBox.baseVal.width;
    const before = this.across(cursor) > (this.box.left + this.box.right) / 2;
    this.tip.style.left = before ? "auto" : `${x + 14}px`;
    this.tip.style.right = before ? `${this.figure.clientWidth - x + 14}px` : "auto";
    this.tip.style.top = "44px";
  }

  tipRow(curve, cursor, table) {
    const i = indexAt(curve.x, cursor);
    if (i < 0 || curve.y[i] === null || curve.tip === false) return;
    const row = html("tr", "", table);
    Object.assign(row.dataset, {run: curve.run, series: curve.series, step: curve.x[i], value: curve.y[i]});
    swatch(curve, html("td", "", row));
    html("td", "", row, curve.label);
    html("td", "", row, this.format(curve.y[i]));
    html("td", "", row, curve.note ? curve.note(i) : curve.x[i] === cursor ? "" : `at step ${plain(curve.x[i], 1)}`);
  }

  zoom(domain) {
    this.link.domain = domain;
    this.link.changed();
  }

  listen() {
    let start = null;
    const stop = () => {
      start = null;
      this.selection.setAttribute("width", 0);
    };
    this.svg.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      start = this.valueAt(event);
      if (event.isTrusted) this.svg.setPointerCapture(event.pointerId);
    });
    this.svg.addEventListener("pointermove", (event) => {
      const at = this.valueAt(event);
      this.point(this.nearest(at.value));
      if (!start) return;
      this.selection.setAttribute("x", Math.min(start.x, at.x));
      this.selection.setAttribute("width", Math.abs(at.x - start.x));
    });
    this.svg.addEventListener("pointerup", (event) => {
      if (!start) return;
      const end = this.valueAt(event);
      const from = start;
      stop();
      if (Math.abs(end.x - from.x) < 6) return;
      const domain = [from.value, end.value].sort((a, b) => a - b);
      if (this.logX || domain[1] - domain[0] >= 2) this.zoom(domain);
    });
    this.svg.addEventListener("pointercancel", stop);
    this.svg.addEventListener("pointerleave", () => this.point(null));
    this.svg.addEventListener("blur", () => this.point(null));
    this.svg.addEventListener("dblclick", () => this.zoom(null));
    this.svg.addEventListener("keydown", (event) => {
      if (event.key === "Escape") return this.zoom(null);
      const side = {ArrowLeft: -1, ArrowRight: 1}[event.key];
      if (!side) return;
      event.preventDefault();
      const steps = this.visible().flatMap((curve) => {
        const i = indexAt(curve.x, this.link.cursor ?? this.domain[0]);
        return [curve.x[i - 1], curve.x[i], curve.x[i + 1]];
      });
      const from = this.link.cursor ?? this.domain[0] - side;
      const onward = steps.filter((x) => x !== undefined && (x - from) * side > 0);
      if (onward.length) this.point(onward.reduce((a, b) => (Math.abs(a - from) < Math.abs(b - from) ? a : b)));
    });
  }
}
