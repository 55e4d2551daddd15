// Painting lanes on a canvas. A painter knows where times and lanes lie: see panel.js.

import { above } from "./data.js";
import { Bins, MANY } from "./bins.js";
import { fillOf } from "./palette.js";
import { Strip, pixelOf } from "./strip.js";
import { IDLE, WORKING, laneOf, nameOf, shownEnd, spanBegin, spanAt } from "./model.js";

const LABEL = 34; // pixels from which an instance carries its name

/** Paint a lane: its instances, and below them the reasons of what is between. */
export function paintLane(painter, run, lane) {
  if (lane.track) paintInstances(painter, run, lane);
  paintReasons(painter, run, lane);
}

function paintInstances(painter, run, lane) {
  const { from, to, x } = painter;
  const { track } = lane;
  const first = Math.max(0, above(track.start, from) - 1);
  const end = above(track.start, to);
  if (end - first > MANY) return paintCoverage(painter, run, lane);
  const { context, palette, scale, matches } = painter;
  const { top, height } = painter.work(lane);
  const colours = palette.work[lane.kind];
  const columns = new Columns(context, top, height, scale);
  for (let i = first; i < end; i++) {
    const left = x(track.start[i]);
    const right = x(shownEnd(track, i));
    if (right < painter.left) continue;
    const colour = colours[colourOf(run, track.site[i]) % colours.length];
    const dim = matches !== null && !matches(lane.counter, i);
    if (right - left < 1.2 * scale) columns.add(left, right, colour, dim);
    else box(painter, lane, i, left, right, colour, dim, run);
  }
  columns.flush();
}

/** Return a number for the colour of a site: the same for the same instruction. */
function colourOf(run, site) {
  run.colours ??= coloursOf(run);
  return run.colours[site];
}

function coloursOf(run) {
  const found = [];
  const seen = new Map(); // per counter: instruction -> colour
  for (const track of run.tracks) {
    if (!track) continue;
    for (const site of new Set(track.site)) {
      const key = `${track.counter} ${run.sites[site].name}`;
      const number = [...seen.keys()].filter((each) => each.startsWith(`${track.counter} `)).length;
      if (!seen.has(key)) seen.set(key, number);
      found[site] = seen.get(key);
    }
  }
  return found;
}

function box(painter, lane, i, left, right, colour, dim, run) {
  const { context, scale } = painter;
  const { top, height } = painter.work(lane);
  const l = Math.max(left, painter.left - 2 * scale);
  const r = Math.min(right, painter.right + 2 * scale);
  const gap = right - left > 4 * scale ? scale : 0.4 * scale;
  context.globalAlpha = dim ? 0.18 : 1;
  context.fillStyle = colour;
  context.fillRect(l, top, Math.max(0.6, r - l - gap), height);
  if (r - l > LABEL * scale && !dim) label(painter, nameOf(run, lane.counter, i), l, r - gap, top, height);
  context.globalAlpha = 1;
}

function label(painter, text, left, right, top, height) {
  const { context, scale } = painter;
  const room = right - left - 8 * scale;
  const most = Math.floor(room / (painter.letter ??= context.measureText("abcdefghij").width / 10));
  if (most < 3) return;
  const shown = text.length <= most ? text : `${text.slice(0, most - 1)}…`;
  context.fillStyle = "#ffffff";
  context.fillText(shown, left + 4 * scale, top + height / 2 + 0.5 * scale);
}

/** Instances narrower than a pixel, summed up in columns of a pixel. */
class Columns {
  constructor(context, top, height, scale) {
    Object.assign(this, { context, top, height, scale, column: -Infinity, covered: 0, colour: "", dim: true });
  }

  add(left, right, colour, dim) {
    const column = Math.floor(left / this.scale);
    if (column !== this.column) this.flush();
    this.column = column;
    this.covered += right - left;
    if (this.colour === "" || !dim) this.colour = colour;
    this.dim &&= dim;
  }

  flush() {
    const { context, scale } = this;
    if (this.covered > 0) {
      const share = Math.min(1, this.covered / scale);
      context.globalAlpha = (0.25 + 0.75 * share) * (this.dim ? 0.18 : 1);
      context.fillStyle = this.colour;
      context.fillRect(this.column * scale, this.top, scale, this.height);
      context.globalAlpha = 1;
    }
    Object.assign(this, { column: -Infinity, covered: 0, colour: "", dim: true });
  }
}

function paintCoverage(painter, run, lane) {
  const { palette } = painter;
  const { top, height } = painter.work(lane);
  lane.coverage ??= new Bins(run.latency, 1, lane.track.start.length, (add) => {
    const { track } = lane;
    for (let i = 0; i < track.start.length; i++) add(track.start[i], shownEnd(track, i), 0);
  });
  const strip = new Strip(painter, top, height);
  const colour = pixelOf(palette.work[lane.kind][0]);
  eachColumn(painter, run, lane.coverage, strip, (column, data, at) => {
    if (data[at]) strip.shade(column, 0.15 + (0.85 * data[at]) / 255, colour);
  });
  strip.draw();
}

/** Call `paint(column, data, at)` with where the shares lie for each column of a strip. */
function eachColumn({ from, to }, run, bins, strip, paint) {
  const step = (to - from) / strip.columns;
  const { data, width } = bins.level(step);
  for (let column = 0; column < strip.columns; column++) {
    const time = from + (column + 0.5) * step;
    if (time < 0 || time >= run.latency) continue;
    paint(column, data, Math.floor(time / width) * bins.kinds);
  }
}

function paintReasons(painter, run, lane) {
  const { from, to, x, scale } = painter;
  const { spans } = lane;
  const first = spanAt(spans, from);
  const end = spanAt(spans, to) + 1;
  if (end - first > MANY) return paintReasonBins(painter, run, lane);
  const { context, palette } = painter;
  const { top, height } = painter.reasons(lane);
  const stack = new Stack(painter, top, height);
  for (let i = first; i < end; i++) {
    const reason = spans.reason[i];
    if (reason === WORKING) continue;
    const left = Math.max(x(spanBegin(spans, i)), painter.left - scale);
    const right = Math.min(x(spans.end[i]), painter.right + scale);
    if (right - left < scale) {
      stack.add(left, right, reason);
    } else {
      context.fillStyle = fillOf(context, palette, reason);
      context.fillRect(left, top, right - left, height);
    }
  }
  stack.flush();
}

/** Reasons narrower than a pixel: a column of a pixel shows how much each has of it. */
class Stack {
  constructor(painter, top, height) {
    Object.assign(this, { painter, top, height, column: -Infinity, shares: new Map() });
  }

  add(left, right, reason) {
    const column = Math.floor(left / this.painter.scale);
    if (column !== this.column) this.flush();
    this.column = column;
    this.shares.set(reason, (this.shares.get(reason) ?? 0) + right - left);
  }

  flush() {
    const { scale } = this.painter;
    if (this.shares.size) {
      const left = this.column * scale;
      stacked(this.painter, left, scale, this.top, this.height, this.shares, scale);
    }
    this.shares.clear();
  }
}

function stacked(painter, left, width, top, height, shares, whole) {
  const { context, palette } = painter;
  let sum = 0;
  for (const amount of shares.values()) sum += amount;
  const all = Math.max(whole, sum); // spans that reach into the next pixel count here
  let y = top;
  for (const [reason, amount] of shares) {
    const part = (amount / all) * height;
    context.fillStyle = palette.reasons[reason];
    context.fillRect(left, y, width, part);
    y += part;
  }
}

function paintReasonBins(painter, run, lane) {
  const { palette } = painter;
  const { top, height } = painter.reasons(lane);
  const { spans } = lane;
  const kinds = IDLE + 1;
  lane.reasonBins ??= new Bins(run.latency, kinds, spans.end.length, (add) => {
    for (let i = 0; i < spans.end.length; i++) add(spanBegin(spans, i), spans.end[i], spans.reason[i]);
  });
  const strip = new Strip(painter, top, height);
  const colours = palette.reasons.map(pixelOf);
  const shares = new Float32Array(kinds);
  eachColumn(painter, run, lane.reasonBins, strip, (column, data, at) => {
    for (let reason = WORKING + 1; reason < kinds; reason++) shares[reason] = data[at + reason] / 255;
    strip.stack(column, shares, colours);
  });
  strip.draw();
}

/** Paint the critical path: a line along the lane that holds all others up, with steps between. */
export function paintPath(painter, run) {
  const { context, x, from, to, scale, palette } = painter;
  const { path } = run;
  const first = spanAt(path, from);
  const end = spanAt(path, to) + 1;
  if (end - first > MANY) return paintPathShares(painter, run);
  const line = new Path2D();
  let before = null;
  for (let i = first; i < end; i++) {
    const left = Math.max(x(spanBegin(path, i)), painter.left - scale);
    const right = Math.min(x(path.end[i]), painter.right + scale);
    const y = painter.middle(laneOf(run, path.place[i]), path.reason[i]);
    if (before === null) line.moveTo(left, y);
    else if (before !== y) line.lineTo(left, y);
    line.lineTo(right, y);
    before = y;
  }
  context.lineJoin = "round";
  context.lineWidth = 4.5 * scale;
  context.strokeStyle = palette.halo;
  context.globalAlpha = 0.8;
  context.stroke(line);
  context.globalAlpha = 1;
  context.lineWidth = 1.8 * scale;
  context.strokeStyle = palette.path;
  context.stroke(line);
}

/** Paint along each lane how much of the critical path it has: darker, the more. */
function paintPathShares(painter, run) {
  const { palette, scale } = painter;
  const { path, lanes } = run;
  run.pathBins ??= new Bins(run.latency, lanes.length, path.end.length, (add) => {
    const numbers = run.counters.map((_, counter) => lanes.indexOf(laneOf(run, counter)));
    for (let i = 0; i < path.end.length; i++) add(spanBegin(path, i), path.end[i], numbers[path.place[i]]);
  });
  const colour = pixelOf(palette.path);
  lanes.forEach((lane, n) => {
    const y = painter.middle(lane, lane.track ? WORKING : IDLE);
    const strip = new Strip(painter, y - 1.5 * scale, 3 * scale);
    eachColumn(painter, run, run.pathBins, strip, (column, data, at) => {
      if (data[at + n]) strip.shade(column, 0.15 + (0.85 * data[at + n]) / 255, colour);
    });
    strip.draw();
  });
}

/** Paint a frame around an instance, and an arrow to it from each instance that it waited for. */
export function paintChosen(painter, run, { counter, index }, waits) {
  const { context, palette, scale } = painter;
  const target = frame(painter, run, counter, index);
  for (const { instance, stood } of waits) {
    if (!instance) continue;
    const source = frame(painter, run, instance.counter, instance.index);
    context.strokeStyle = palette.mark;
    context.lineWidth = (stood ? 2 : 1.2) * scale;
    context.setLineDash(stood ? [] : [4 * scale, 3 * scale]);
    arrow(context, source.right, source.middle, target.left, target.middle, scale);
    context.setLineDash([]);
  }
}

function frame(painter, run, counter, index) {
  const { context, palette, x, scale } = painter;
  const track = run.tracks[counter];
  const lane = laneOf(run, counter);
  const { top, height } = painter.work(lane);
  const left = x(track.start[index]);
  const right = Math.max(left + 2 * scale, x(shownEnd(track, index)));
  context.strokeStyle = palette.mark;
  context.lineWidth = 2 * scale;
  context.strokeRect(left - scale, top - scale, right - left + scale, height + 2 * scale);
  return { left, right, middle: top + height / 2 };
}

function arrow(context, x0, y0, x1, y1, scale) {
  const bend = Math.max(14 * scale, Math.min(80 * scale, Math.abs(x1 - x0) / 2));
  context.beginPath();
  context.moveTo(x0, y0);
  context.bezierCurveTo(x0 + bend, y0, x1 - bend, y1, x1 - 2 * scale, y1);
  context.stroke();
  context.beginPath();
  context.moveTo(x1, y1);
  context.lineTo(x1 - 8 * scale, y1 - 4 * scale);
  context.lineTo(x1 - 8 * scale, y1 + 4 * scale);
  context.closePath();
  context.fillStyle = context.strokeStyle;
  context.fill();
}
