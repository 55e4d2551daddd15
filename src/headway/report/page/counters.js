// The value of one counter over time, against the thresholds that engines wait for.

import { above } from "./data.js";
import { time, whole } from "./format.js";
import { waitsOn, valuesOf } from "./semaphores.js";
import { SIDE } from "./panel.js";

const HEIGHT = 168;
const POINTS = 4000; // more than can be seen

export class CounterChart {
  /** Build the chart in `parent`, aligned with the panels: `names` is how wide their names are. */
  constructor(parent, state, names) {
    this.state = state;
    this.names = names;
    this.box = parent.querySelector(".chart");
    this.pick = parent.querySelector("select");
    this.legend = parent.querySelector(".legend");
    this.pick.addEventListener("change", () => state.chooseCounter(state.focus.run, Number(this.pick.value)));
    this.chart = new uPlot(this.options(), [[0], [0]], this.box);
  }

  options() {
    const { state } = this;
    const colour = (name) => () => state.palette[name];
    const axis = { stroke: colour("muted"), grid: { stroke: colour("grid"), width: 1 }, ticks: { show: false }, font: "11px system-ui, sans-serif" };
    return {
      width: this.box.clientWidth,
      height: HEIGHT,
      padding: [8, SIDE, 0, 0],
      legend: { show: false },
      cursor: { drag: { x: false, y: false }, y: false, points: { show: false }, sync: { key: "time", scales: ["x", null] } },
      scales: { x: { time: false, range: () => [state.view.from, state.view.to] }, y: { range: () => this.range } },
      series: [{}, { stroke: colour("ink"), width: 1.5, paths: uPlot.paths.stepped({ align: 1 }), points: { show: false } }],
      axes: [
        { ...axis, size: 24, values: (_, splits) => splits.map((ps) => time(ps, 3)) },
        { ...axis, size: this.names + SIDE, incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 1e5, 1e6], values: (_, splits) => splits.map(whole) },
      ],
      hooks: { draw: [(chart) => this.paintWaits(chart)] },
    };
  }

  /** Show the counter in focus. */
  show() {
    const { run, counter } = this.state.focus;
    const { from, to } = this.state.view;
    if (run !== this.run || counter !== this.counter) this.fill(run, counter);
    const { times, counts } = valuesOf(run, counter);
    const first = Math.max(0, above(times, from) - 1);
    const end = Math.min(times.length, above(times, to) + 1);
    const step = Math.max(1, Math.ceil((end - first) / POINTS));
    const data = [[], []];
    for (let i = first; i < end; i += step) {
      data[0].push(times[i]);
      data[1].push(counts[i]);
    }
    data[0].push(Math.min(to, run.latency));
    data[1].push(counts[Math.max(0, end - 1)]);
    this.range = this.rangeOf(data[1], from, to);
    this.chart.setData(data, false);
    this.chart.setScale("x", { min: from, max: to });
  }

  fill(run, counter) {
    this.run = run;
    this.counter = counter;
    const waited = run.counters.map((_, number) => number).filter((number) => waitsOn(run, number).length || number === counter);
    this.pick.replaceChildren(...waited.map((number) => new Option(run.counters[number], number, false, number === counter)));
    const engines = waitsOn(run, counter);
    this.legend.replaceChildren(...engines.map(({ engine }) => this.entry(engine)));
    if (!engines.length) this.legend.textContent = "nobody waits for it";
  }

  entry(engine) {
    const entry = document.createElement("span");
    entry.innerHTML = `<i style="background:${this.colour(engine)}"></i>`;
    entry.append(`${this.run.engines[engine].name} waits`);
    return entry;
  }

  colour(engine) {
    return this.state.palette.reasons[[1, 3, 2, 7, 8, 4][engine % 6]];
  }

  rangeOf(counts, from, to) {
    let [least, most] = [Infinity, 1];
    for (const count of counts) [least, most] = [Math.min(least, count), Math.max(most, count)];
    for (const waits of waitsOn(this.run, this.counter)) {
      const { first, end, step } = inView(waits, from, to);
      for (let i = first; i < end; i += step) {
        [least, most] = [Math.min(least, waits.thresholds[i]), Math.max(most, waits.thresholds[i])];
      }
    }
    least = Math.max(0, Math.min(least, most));
    const margin = Math.max(0.4, (most - least) * 0.06);
    return [least - margin / 2, most + margin];
  }

  /** Paint each wait at the height of its threshold, from when the engine stood until it passed. */
  paintWaits(chart) {
    if (!this.run) return;
    const { ctx: context, bbox } = chart;
    const { from, to } = this.state.view;
    const scale = uPlot.pxRatio;
    context.save();
    context.beginPath();
    context.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    context.clip();
    for (const waits of waitsOn(this.run, this.counter)) {
      context.strokeStyle = context.fillStyle = this.colour(waits.engine);
      context.lineWidth = 3 * scale;
      const { first, end, step } = inView(waits, from, to);
      for (let i = first; i < end; i += step) {
        const y = chart.valToPos(waits.thresholds[i], "y", true);
        const right = chart.valToPos(waits.passed[i], "x", true);
        const left = chart.valToPos(waits.passed[i] - waits.stood[i], "x", true);
        if (right - left > scale) {
          context.beginPath();
          context.moveTo(left, y);
          context.lineTo(right, y);
          context.stroke();
        }
        context.fillRect(right - scale, y - 3 * scale, 2 * scale, 6 * scale);
      }
    }
    context.restore();
  }

  resize() {
    this.chart.setSize({ width: this.box.clientWidth, height: HEIGHT });
  }
}

function inView(waits, from, to) {
  const first = above(waits.passed, from);
  const end = Math.min(waits.passed.length, above(waits.passed, to) + 1);
  return { first, end, step: Math.max(1, Math.ceil((end - first) / POINTS)) };
}
