// A panel: the timeline of one strategy. uPlot holds the canvas, its scale of time and its axis; the
// lanes are painted in its draw hook, what is chosen on a canvas above.

import { paintChosen, paintLane, paintPath } from "./paint.js";
import { indexAt, laneOf, spanAt, utilisation, waitsOf, WORKING } from "./model.js";
import { escaped, percent, time } from "./format.js";

const SIZES = { engine: [20, 8], queue: [13, 5], bare: [0, 12] }; // bare: an engine without work of its own
const GAP = 9;
const AXIS = 26;
export const SIDE = 20; // pixels left and right of the plot, for the first and last label

export class Panel {
  /** Build the panel of a run in `parent`. `state` is shared: see main.js. */
  constructor(parent, run, state) {
    this.run = run;
    this.state = state;
    this.places = new Map();
    let y = 4;
    for (const lane of run.lanes) {
      const [work, reasons] = SIZES[lane.track ? lane.kind : "bare"];
      this.places.set(lane, { work: y, workHeight: work, reasons: y + work + 1, reasonsHeight: reasons });
      y += work + reasons + GAP;
    }
    this.height = y;
    this.build(parent);
  }

  build(parent) {
    const section = document.createElement("section");
    section.className = "panel";
    section.dataset.strategy = this.run.strategy;
    section.innerHTML = `<header>${title(this.run, this.state.model)}</header>
      <div class="lanes"><div class="names"></div><div class="chart"></div></div>`;
    parent.append(section);
    this.section = section;
    this.names = section.querySelector(".names");
    this.chartBox = section.querySelector(".chart");
    for (const lane of this.run.lanes) this.names.append(this.nameOf(lane));
    this.chart = new uPlot(this.options(), [[0, this.run.latency], [null, null]], this.chartBox);
    this.above = document.createElement("canvas");
    this.above.className = "above";
    this.chart.over.append(this.above);
  }

  nameOf(lane) {
    const place = this.places.get(lane);
    const row = document.createElement("button");
    row.className = `name ${lane.kind}`;
    row.style.top = `${place.work}px`;
    row.style.height = `${place.workHeight + place.reasonsHeight + 1}px`;
    row.title = `${lane.name}: show its counter over time and its program`;
    row.innerHTML = `<span>${escaped(lane.name)}</span><i><b></b></i><em></em>`;
    row.addEventListener("click", () => this.state.chooseLane(this.run, lane));
    place.row = row;
    return row;
  }

  options() {
    const { state } = this;
    const colour = (name) => () => state.palette[name];
    return {
      width: this.chartBox.clientWidth,
      height: this.height + AXIS,
      padding: [0, SIDE, 0, SIDE],
      legend: { show: false },
      cursor: { drag: { x: false, y: false }, y: false, points: { show: false }, sync: { key: "time", scales: ["x", null] } },
      scales: { x: { time: false, range: () => [state.view.from, state.view.to] }, y: { range: [0, 1] } },
      series: [{}, { show: false }],
      axes: [
        { stroke: colour("muted"), grid: { stroke: colour("grid"), width: 1 }, ticks: { show: false }, size: AXIS, font: "11px system-ui, sans-serif", values: (_, splits) => splits.map((ps) => time(ps, 3)) },
        { show: false },
      ],
      hooks: { draw: [(chart) => this.paint(chart)] },
    };
  }

  /** Return where things lie on a canvas, in its pixels. */
  painter(context, scale, left, top, width) {
    const { view, palette, matches } = this.state;
    const x = (ps) => left + ((ps - view.from) / (view.to - view.from)) * width;
    const place = (lane) => this.places.get(lane);
    return {
      context, palette, scale, x, left,
      right: left + width,
      from: view.from,
      to: view.to,
      matches: matches.get(this.run) ?? null,
      work: (lane) => ({ top: top + place(lane).work * scale, height: place(lane).workHeight * scale }),
      reasons: (lane) => ({ top: top + place(lane).reasons * scale, height: place(lane).reasonsHeight * scale }),
      middle: (lane, reason) => {
        const { work, workHeight, reasons, reasonsHeight } = place(lane);
        const y = reason === WORKING ? work + workHeight - 2 : reasons + reasonsHeight / 2;
        return top + y * scale;
      },
    };
  }

  paint(chart) {
    const { ctx: context, bbox } = chart;
    const scale = uPlot.pxRatio;
    const painter = this.painter(context, scale, bbox.left, bbox.top, bbox.width);
    context.save();
    context.beginPath();
    context.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    context.clip();
    context.textBaseline = "middle";
    context.textAlign = "left";
    context.font = `${11 * scale}px system-ui, sans-serif`;
    for (const lane of this.run.lanes) paintLane(painter, this.run, lane);
    if (this.state.showsPath) paintPath(painter, this.run);
    if (this.state.prints) this.paintFrames(painter); // the canvas above is not printed
    context.restore();
    this.paintAbove();
    this.utilisations();
  }

  paintFrames(painter) {
    const { hovered, chosen } = this.state;
    for (const instance of [chosen, hovered]) {
      if (instance?.run === this.run) paintChosen(painter, this.run, instance, waitsOf(instance));
    }
  }

  paintAbove() {
    if (!this.above) return; // not built yet
    this.sizeAbove();
    const context = this.above.getContext("2d");
    context.clearRect(0, 0, this.above.width, this.above.height);
    const scale = uPlot.pxRatio;
    this.paintFrames(this.painter(context, scale, 0, 0, this.above.width));
  }

  utilisations() {
    const { from, to } = this.state.view;
    for (const [lane, { row }] of this.places) {
      const share = utilisation(lane, from, Math.min(to, this.run.latency));
      row.querySelector("b").style.width = percent(share);
      row.querySelector("em").textContent = percent(share);
    }
  }

  /** Return what is at a place of the chart, in CSS pixels: {lane, time, index, span}. */
  at(left, top) {
    const { view } = this.state;
    const time = view.from + (left / this.chart.over.clientWidth) * (view.to - view.from);
    if (time < 0 || time > this.run.latency) return null;
    for (const [lane, place] of this.places) {
      if (top < place.work - GAP / 2 || top >= place.reasons + place.reasonsHeight + GAP / 2) continue;
      const span = spanAt(lane.spans, time);
      const isAbove = top < place.reasons || lane.spans.reason[span] === WORKING;
      return { lane, time, index: isAbove ? indexAt(lane.track, time) : -1, span };
    }
    return null;
  }

  /** Take the width that there is. */
  resize() {
    this.chart.setSize({ width: this.chartBox.clientWidth, height: this.height + AXIS });
  }

  sizeAbove() {
    const { clientWidth, clientHeight } = this.chart.over;
    const [width, height] = [clientWidth * uPlot.pxRatio, clientHeight * uPlot.pxRatio];
    if (this.above.width !== width || this.above.height !== height) Object.assign(this.above, { width, height });
  }

  /** Paint anew for the window of time of the view. */
  show() {
    const { from, to } = this.state.view;
    this.chart.setScale("x", { min: from, max: to });
  }

  mark() {
    const { focus } = this.state;
    this.section.classList.toggle("focus", focus.run === this.run);
    for (const [lane, { row }] of this.places) {
      row.classList.toggle("chosen", focus.run === this.run && focus.lane === lane);
    }
  }
}

function title(run, model) {
  const barrier = model.runs.find((each) => each.strategy === "barrier");
  const against = barrier && barrier !== run ? `<span><b>${(barrier.latency / run.latency).toFixed(2)}×</b> as fast as barrier</span>` : "";
  const over = run.strategy === "ideal" || !model.ideal ? "" : `<span><b>+${percent(run.latency / model.ideal - 1)}</b> over ideal</span>`;
  const counts = run.strategy === "ideal" ? "" : `<span>${run.waits.toLocaleString("en-US")} waits</span><span>${run.barriers.toLocaleString("en-US")} barriers</span>`;
  return `<h2>${escaped(run.strategy)}</h2><span class="latency">${time(run.latency)}</span>${against}${over}${counts}`;
}
