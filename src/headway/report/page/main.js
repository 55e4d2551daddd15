// The page: builds everything once, and keeps in `state` what is shown, chosen and hovered.

import { read, unpacked } from "./data.js";
import { modelOf, laneOf, spanAt, waitsOf, WORKING } from "./model.js";
import { escaped, time, whole } from "./format.js";
import { paletteOf } from "./palette.js";
import { Panel } from "./panel.js";
import { CounterChart } from "./counters.js";
import { following, search } from "./search.js";
import { Listing, instanceHtml, spanHtml, tipHtml } from "./details.js";
import { waitsOn } from "./semaphores.js";
import { needsHtml, timeHtml } from "./tables.js";
import { View, attach } from "./view.js";

const $ = (selector) => document.querySelector(selector);

async function start() {
  const header = JSON.parse($("#header").textContent);
  const buffer = await unpacked($("#columns").textContent.trim());
  const model = modelOf(read(buffer, header));
  const state = new Page(model);
  window.headway = state; // for the curious, and for tests
  document.documentElement.dataset.ready = "yes";
}

class Page {
  constructor(model) {
    this.model = model;
    this.palette = paletteOf(preferredTheme());
    this.view = new View(Math.max(...model.runs.map((run) => run.latency)), () => this.show());
    this.showsPath = false;
    this.prints = false;
    this.matches = new Map();
    this.found = new Map();
    this.hovered = null;
    this.chosen = null;
    this.span = null;
    const run = model.runs.find((each) => each.strategy === "counted") ?? model.runs[0];
    const lane = run.lanes.find((each) => each.kind === "engine" && each.track) ?? run.lanes[0];
    const counter = run.counters.findIndex((_, number) => waitsOn(run, number).length);
    this.focus = { run, lane, counter: counter < 0 ? lane.counter : counter };
    this.build();
  }

  build() {
    applyTheme(this.palette.theme);
    $("#program").textContent = this.model.program;
    $("#setting").textContent = [this.model.target, ...Object.entries(this.model.inputs).map(([name, value]) => `${name} = ${inputText(value)}`)].join(" · ");
    this.panels = this.model.runs.map((each) => new Panel($("#panels"), each, this));
    this.counters = new CounterChart($("#counter"), this, $(".names").offsetWidth);
    this.listing = new Listing($("#program-pane"), this);
    for (const panel of this.panels) this.listen(panel);
    attach(this.view, this.counters.chart.over, (...where) => this.select(...where));
    this.controls();
    this.tables();
    this.legend();
    this.show();
    this.focusOn(this.focus);
    this.details();
  }

  listen(panel) {
    const { over } = panel.chart;
    attach(this.view, over, (...where) => this.select(...where));
    over.addEventListener("mousemove", (event) => this.hover(panel, event));
    over.addEventListener("mouseleave", () => this.leave());
    over.addEventListener("click", (event) => over.dataset.moved || this.click(panel, event));
    over.addEventListener("dblclick", () => this.view.fit());
  }

  /** Paint everything that depends on the window of time. */
  show() {
    for (const panel of this.panels) panel.show();
    this.counters.show();
    $("#window").textContent = `${time(this.view.from, 3)} to ${time(this.view.to, 3)}`;
  }

  hover(panel, event) {
    const box = panel.chart.over.getBoundingClientRect();
    const at = panel.at(event.clientX - box.left, event.clientY - box.top);
    const instance = at && at.index >= 0 ? { run: panel.run, counter: at.lane.counter, index: at.index } : null;
    this.hoverOn(instance);
    const tip = $("#tip");
    tip.hidden = !at;
    if (!at) return;
    tip.innerHTML = tipHtml(this, panel.run, at);
    const left = Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8);
    const top = event.clientY + 18 + tip.offsetHeight > innerHeight ? event.clientY - tip.offsetHeight - 10 : event.clientY + 18;
    Object.assign(tip.style, { left: `${left}px`, top: `${top}px` });
    this.follow(panel.run, at.time);
  }

  leave() {
    $("#tip").hidden = true;
    this.hoverOn(null);
  }

  hoverOn(instance) {
    const same = instance && this.hovered && instance.run === this.hovered.run && instance.counter === this.hovered.counter && instance.index === this.hovered.index;
    if (same || (!instance && !this.hovered)) return;
    this.hovered = instance;
    for (const panel of this.panels) panel.paintAbove();
  }

  click(panel, event) {
    const box = panel.chart.over.getBoundingClientRect();
    const at = panel.at(event.clientX - box.left, event.clientY - box.top);
    if (!at) return;
    const { run } = panel;
    if (at.index >= 0) return this.choose({ run, counter: at.lane.counter, index: at.index }, false);
    this.chosen = null;
    this.span = { run, lane: at.lane, span: at.span };
    this.focusOn({ run, lane: at.lane, counter: this.span.lane.spans.counter[at.span] });
    this.details();
  }

  /** Choose an instance: show what is known of it. */
  choose(instance, reveal = true) {
    const { run, counter, index } = instance;
    this.chosen = instance;
    this.span = null;
    const track = run.tracks[counter];
    if (reveal) this.view.reveal(track.start[index], track.done[index]);
    const [longest] = waitsOf(instance).sort((a, b) => b.stood - a.stood);
    this.focusOn({ run, lane: laneOf(run, counter), counter: longest?.counter ?? counter });
    this.details();
    this.listing.line(track.line[index]);
  }

  chooseLane(run, lane) {
    this.focusOn({ run, lane, counter: lane.counter });
  }

  chooseCounter(run, counter) {
    this.focusOn({ ...this.focus, run, counter });
  }

  focusOn({ run, lane, counter }) {
    this.focus = { run, lane, counter: counter < 0 ? lane.counter : counter };
    $("#counter-title").textContent = run.strategy;
    this.listing.show(run, lane.engine);
    for (const panel of this.panels) {
      panel.mark();
      panel.paintAbove();
    }
    this.counters.show();
  }

  /** Mark the line that the engine in focus is at. */
  follow(run, at) {
    if (run !== this.focus.run) return;
    const spans = run.engines[this.focus.lane.engine];
    this.listing.line(spans.line[spanAt(spans, at)]);
  }

  details() {
    const box = $("#details");
    if (this.chosen) box.innerHTML = instanceHtml(this, this.chosen);
    else if (this.span) box.innerHTML = spanHtml(this, this.span);
    else box.innerHTML = `<p class="muted">Click an instance, or the strip of reasons below it. Keys: <kbd>?</kbd></p>`;
  }

  tables() {
    $("#time").innerHTML = timeHtml(this.model, this.palette);
    $("#needs").innerHTML = needsHtml(this.model);
  }

  legend() {
    const seen = new Set(this.model.runs.flatMap((run) => run.lanes.flatMap((lane) => [...new Set(lane.spans.reason)])));
    const entries = [["engine works", this.palette.work.engine[0]], ["transfer", this.palette.work.queue[0]]];
    this.model.reasons.forEach((reason, n) => n !== WORKING && seen.has(n) && entries.push([reason, this.palette.reasons[n], n]));
    $("#legend").innerHTML = entries.map(([name, colour, n]) => `<span><i class="swatch reason-${n}" style="background-color:${colour}"></i>${name}</span>`).join("");
  }

  /** Search all runs; the others are dimmed. */
  search(query) {
    this.matches.clear();
    this.found.clear();
    let count = 0;
    if (query.trim()) {
      for (const run of this.model.runs) {
        const found = search(run, query);
        const sets = found.map((list) => new Set(list));
        this.found.set(run, found);
        this.matches.set(run, (counter, index) => sets[counter].has(index));
        if (run === this.focus.run) count = found.reduce((sum, list) => sum + list.length, 0);
      }
    }
    $("#found").textContent = query.trim() ? `${whole(count)} in ${this.focus.run.strategy}` : "";
    this.show();
  }

  /** Choose the next found instance of the run in focus, or the one before. */
  next(back) {
    const { run } = this.focus;
    const found = this.found.get(run);
    if (!found) return;
    const from = this.chosen?.run === run ? run.tracks[this.chosen.counter].start[this.chosen.index] : back ? Infinity : -1;
    const instance = following(run, found, from, back);
    if (instance) this.choose(instance);
  }

  select(a, b, done) {
    const [low, high] = a < b ? [a, b] : [b, a];
    const width = this.view.to - this.view.from;
    for (const { chart } of this.panels) {
      const { clientWidth, clientHeight } = chart.over;
      chart.setSelect({ left: low * clientWidth, width: done ? 0 : (high - low) * clientWidth, top: 0, height: clientHeight }, false);
    }
    if (done) this.view.set(this.view.from + low * width, this.view.from + high * width);
  }

  togglePath() {
    this.showsPath = !this.showsPath;
    $("#path").setAttribute("aria-pressed", this.showsPath);
    this.show();
  }

  theme(name) {
    this.palette = paletteOf(name);
    applyTheme(name);
    this.tables();
    this.legend();
    this.details();
    this.counters.run = null;
    for (const { chart } of [...this.panels, this.counters]) chart.redraw(false, true);
    this.show();
  }

  resize() {
    for (const panel of this.panels) panel.resize();
    this.counters.resize();
    this.show();
  }

  controls() {
    const { view } = this;
    const on = (id, action) => $(id).addEventListener("click", action);
    on("#closer", () => view.zoom(1.6));
    on("#wider", () => view.zoom(1 / 1.6));
    on("#fit", () => view.fit());
    on("#path", () => this.togglePath());
    on("#theme", () => this.theme(this.palette.theme === "dark" ? "light" : "dark"));
    on("#keys", () => $("#help").showModal());
    $("#search").addEventListener("input", (event) => this.search(event.target.value));
    $("#search").addEventListener("keydown", (event) => event.key === "Enter" && this.next(event.shiftKey));
    document.addEventListener("click", (event) => this.followLink(event));
    document.addEventListener("keydown", (event) => this.key(event));
    for (const tab of document.querySelectorAll("[role=tab]")) tab.addEventListener("click", () => openTab(tab));
    addEventListener("resize", () => this.resize());
    addEventListener("beforeprint", () => this.print(true));
    addEventListener("afterprint", () => this.print(false));
  }

  followLink(event) {
    const anchor = event.target.closest("a[data-run]");
    if (!anchor) return;
    event.preventDefault();
    const { run: name, counter, index } = anchor.dataset;
    const run = this.model.runs.find((each) => each.strategy === name);
    this.choose({ run, counter: Number(counter), index: Number(index) });
  }

  key(event) {
    if ($("#help").open) return; // Escape is the browser's then: it closes the keys
    if (event.target.matches("input, select")) {
      if (event.key === "Escape") event.target.blur();
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const { view } = this;
    const actions = {
      w: () => view.zoom(1.4),
      s: () => view.zoom(1 / 1.4),
      a: () => view.pan(-0.15),
      d: () => view.pan(0.15),
      ArrowLeft: () => this.step(-1),
      ArrowRight: () => this.step(1),
      f: () => this.chosen && view.reveal(...this.stretch()),
      0: () => view.fit(),
      c: () => this.togglePath(),
      t: () => $("#theme").click(),
      n: () => this.next(false),
      N: () => this.next(true),
      "/": () => $("#search").focus(),
      "?": () => $("#help").showModal(),
      Escape: () => this.clear(),
    };
    const action = actions[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  }

  stretch() {
    const { run, counter, index } = this.chosen;
    return [run.tracks[counter].start[index], run.tracks[counter].done[index]];
  }

  /** Choose the instance before or after on the same lane. */
  step(by) {
    if (!this.chosen) return this.view.pan(0.15 * by);
    const { run, counter, index } = this.chosen;
    const next = index + by;
    if (next >= 0 && next < run.tracks[counter].start.length) this.choose({ run, counter, index: next });
  }

  clear() {
    this.chosen = this.span = null;
    $("#search").value = "";
    this.search("");
    this.details();
  }

  print(begins) {
    if (begins) this.before = this.palette.theme;
    this.prints = begins;
    this.theme(begins ? "light" : this.before);
    this.resize();
    for (const picture of document.querySelectorAll(".picture")) picture.remove();
    // uPlot paints after this task.
    if (begins) queueMicrotask(() => queueMicrotask(() => [...this.panels, this.counters].forEach(picture)));
  }
}

/** Put the pixels of a chart beside it, to be printed: what is painted while printing would be printed
 * stroke by stroke, and viewers of PDF files do not agree on clipped and hatched strokes. */
function picture({ chart }) {
  const { canvas } = chart.ctx;
  const pixels = new OffscreenCanvas(canvas.width, canvas.height);
  pixels.getContext("2d").drawImage(canvas, 0, 0);
  const found = document.createElement("canvas");
  Object.assign(found, { className: "picture", width: canvas.width, height: canvas.height });
  found.getContext("bitmaprenderer").transferFromImageBitmap(pixels.transferToImageBitmap());
  canvas.after(found);
}

function preferredTheme() {
  return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}

function applyTheme(name) {
  document.documentElement.dataset.theme = name;
}

function openTab(tab) {
  for (const each of document.querySelectorAll("[role=tab]")) {
    const isOpen = each === tab;
    each.setAttribute("aria-selected", isOpen);
    document.getElementById(each.getAttribute("aria-controls")).hidden = !isOpen;
  }
}

function inputText(value) {
  if (!Array.isArray(value)) return whole(value);
  return value.length > 6 ? `${value.slice(0, 6).join(",")}, … (${value.length})` : value.join(",");
}

start().catch((error) => {
  $("#failed").hidden = false;
  $("#failed").textContent = `This page could not be shown: ${error.message}`;
  throw error;
});
