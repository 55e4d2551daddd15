// What a run is for the page: lanes of instances and of reasons, looked up by number and by time.
// Times are in ps. An instance is {run, counter, index}: index 0 is the signal of position 1.

import { above } from "./data.js";

export const WORKING = 0;
export const WAITING = 1;
export const QUEUE_BUSY = 2;
export const TRIGGER = 3;
export const BARRIER = 11;
export const IDLE = 12;

/** Return the model of everything that the page shows. */
export function modelOf(header) {
  return { ...header, runs: header.runs.map((run) => runOf(run, header)) };
}

function runOf(run, header) {
  const tracks = run.counters.map(() => null);
  for (const track of run.tracks) tracks[track.counter] = { ...track, ...trackFacts(run, track) };
  const found = { ...run, tracks, lines: run.text.split("\n"), required: requiredOf(header, run, tracks) };
  found.lanes = lanesOf(found);
  found.flagOf = Object.fromEntries(found.flags.map((flag) => [flag.counter, flag]));
  return found;
}

function trackFacts(run, track) {
  const n = track.start.length;
  const done = new Float64Array(n);
  const worked = new Float64Array(n + 1); // before each instance; of an engine, its occupancy
  const deep = new Uint32Array(n + 1); // where the iterations of each instance begin
  for (let i = 0; i < n; i++) {
    const site = run.sites[track.site[i]];
    done[i] = track.start[i] + track.length[i];
    worked[i + 1] = worked[i] + site.occupancy;
    deep[i + 1] = deep[i] + site.depth;
  }
  return { done, worked, deep };
}

/** Return for each counter what its instances require, unless this run has other control reads. */
function requiredOf(header, run, tracks) {
  const { counters, of } = header.required;
  const numbers = counters.map((name) => run.counters.indexOf(name));
  const rows = run.counters.map((name, number) => {
    const found = of[name];
    if (!found || found.count.length !== tracks[number]?.start.length) return null;
    return { ...found, first: firsts(found.count) };
  });
  const same = counters.map((name, n) => rows[numbers[n]] !== null);
  return { numbers, rows, same };
}

function firsts(counts) {
  const found = new Uint32Array(counts.length + 1);
  for (let i = 0; i < counts.length; i++) found[i + 1] = found[i] + counts[i];
  return found;
}

/** Return the lanes, from top to bottom: each engine, then its queues. */
function lanesOf(run) {
  const lanes = [];
  run.engines.forEach((engine, number) => {
    const counter = run.counters.indexOf(engine.name);
    lanes.push({ name: engine.name, kind: "engine", counter, track: run.tracks[counter], spans: engine, engine: number });
    for (const queue of run.queues) {
      const track = run.tracks[queue.counter];
      if (track?.engine !== number) continue;
      const name = run.counters[queue.counter];
      lanes.push({ name, kind: "queue", counter: queue.counter, track, spans: queue, engine: number });
    }
  });
  return lanes;
}

/** Return the lane of a counter; a control load is in the lane of its engine. */
export function laneOf(run, counter) {
  const lane = run.lanes.find((each) => each.counter === counter);
  if (lane) return lane;
  return run.lanes.find((each) => each.kind === "engine" && each.engine === run.tracks[counter]?.engine);
}

/** Return when an instance is drawn to end: where the next one of its lane begins, at the latest. */
export function shownEnd(track, i) {
  const next = i + 1 < track.start.length ? track.start[i + 1] : Infinity;
  return Math.min(track.done[i], next);
}

/** Return the index of the instance that is drawn at a time, -1 if there is none. */
export function indexAt(track, time) {
  if (!track) return -1;
  const i = above(track.start, time) - 1;
  return i >= 0 && time < shownEnd(track, i) ? i : -1;
}

/** Return the index of the span at a time. */
export function spanAt(spans, time) {
  return Math.min(above(spans.end, time), spans.end.length - 1);
}

/** Return when a span begins. */
export function spanBegin(spans, i) {
  return i ? spans.end[i - 1] : 0;
}

/** Return the iteration numbers of an instance. */
export function iterations(track, i) {
  return Array.from(track.iterations.subarray(track.deep[i], track.deep[i + 1]));
}

/** Return the name of an instance, like load[3]. */
export function nameOf(run, counter, i) {
  const track = run.tracks[counter];
  return `${run.sites[track.site[i]].name}[${iterations(track, i).join(",")}]`;
}

/** Return the instance behind signal number `position` of a counter or flag, null if there is none. */
export function instanceOf(run, counter, position) {
  if (position <= 0 || counter < 0) return null;
  const flag = run.flagOf[counter];
  if (!flag) return { run, counter, index: position - 1 };
  const last = flag.last[position - 1];
  return last ? { run, counter: flag.source, index: last - 1 } : null;
}

/** Return the waits of an instance, with what is required of the same counter. */
export function waitsOf({ run, counter, index }) {
  const track = run.tracks[counter];
  const { waits } = run.engines[track.engine];
  const needs = new Map(requires(run, counter, index).map((need) => [need.counter, need.position]));
  const found = [];
  const first = track.firstWait[index];
  for (let w = first; w < first + track.waits[index]; w++) {
    const number = waits.counter[w];
    const position = waits.position[w];
    const instance = instanceOf(run, number, position);
    found.push({
      counter: number,
      threshold: waits.threshold[w],
      position,
      required: needs.get(instance?.counter ?? number) ?? 0,
      passed: waits.passed[w],
      stood: waits.stood[w],
      line: waits.line[w],
      instance,
    });
  }
  return found;
}

/** Return what an instance requires: counters and positions from the beginning of the run. */
export function requires(run, counter, index) {
  const rows = run.required.rows[counter];
  if (!rows) return [];
  const found = [];
  for (let r = rows.first[index]; r < rows.first[index + 1]; r++) {
    if (run.required.same[rows.counter[r]]) {
      found.push({ counter: run.required.numbers[rows.counter[r]], position: rows.position[r] });
    }
  }
  return found;
}

/** Return how much of a stretch of time a lane works, 0 to 1. */
export function utilisation(lane, from, to) {
  if (!lane.track || to <= from) return 0;
  if (lane.kind === "queue") return working(lane.spans, from, to) / (to - from);
  const { start, worked } = lane.track;
  const until = (time) => {
    const i = above(start, time) - 1;
    return i < 0 ? 0 : worked[i] + Math.min(worked[i + 1] - worked[i], time - start[i]);
  };
  return (until(to) - until(from)) / (to - from);
}

function working(spans, from, to) {
  let sum = 0;
  for (let i = spanAt(spans, from); i < spans.end.length && spanBegin(spans, i) < to; i++) {
    if (spans.reason[i] !== WORKING) continue;
    sum += Math.min(spans.end[i], to) - Math.max(spanBegin(spans, i), from);
  }
  return sum;
}

/** Return what an engine did before it issued an instance, back to its work or trigger before. */
export function gapBefore(run, counter, index) {
  const track = run.tracks[counter];
  const to = track.start[index] - track.lead[index];
  const spans = run.engines[track.engine];
  const found = [];
  for (let i = above(spans.end, to - 1); i >= 0; i--) {
    const begin = spanBegin(spans, i);
    if (begin >= to) continue;
    const reason = spans.reason[i];
    if (reason === WORKING || (reason === TRIGGER && laneOf(run, counter).kind === "queue")) break;
    const time = Math.min(spans.end[i], to) - begin;
    found.unshift({ reason, time, counter: spans.counter[i], position: spans.position[i] });
    if (found.length === 50) break;
  }
  return found;
}
