// What is known of an instance or of a span of lost time, in words; and the program beside it.

import { escaped, ns, time, whole } from "./format.js";
import { gapBefore, instanceOf, laneOf, nameOf, requires, spanBegin, waitsOf, TRIGGER, WAITING, QUEUE_BUSY, WORKING, BARRIER } from "./model.js";

/** Return a swatch of a reason with its words. */
export function reasonText(model, palette, reason) {
  return `<i class="swatch" style="background:${palette.reasons[reason]}"></i>${model.reasons[reason]}`;
}

/** Return a link to an instance. */
export function link(instance) {
  const { run, counter, index } = instance;
  const name = escaped(nameOf(run, counter, index));
  return `<a href="#" data-run="${escaped(run.strategy)}" data-counter="${counter}" data-index="${index}">${name}</a>`;
}

/** Return the details of an instance as HTML. */
export function instanceHtml(state, instance) {
  const { run, counter, index } = instance;
  const track = run.tracks[counter];
  const site = run.sites[track.site[index]];
  const lane = laneOf(run, counter);
  const start = track.start[index];
  const place = run.counters[counter];
  const by = lane.kind === "queue" ? `queue ${place}, triggered by ${run.engines[track.engine].name}` : `engine ${place}`;
  const line = run.lines[site.line - 1]?.trim() ?? "";
  const source = state.model.sources[site.name];
  return `<h3>${escaped(nameOf(run, counter, index))}</h3>
    <p class="muted">${escaped(by)} · ${escaped(run.strategy)}</p>
    <pre class="source">${escaped(line)}</pre>
    ${source ? `<p class="muted">${escaped(source)}</p>` : ""}
    <dl><dt>issued</dt><dd>${ns(start - track.lead[index])} ns</dd>
    <dt>started</dt><dd>${ns(start)} ns</dd>
    <dt>completed</dt><dd>${ns(track.done[index])} ns</dd>
    <dt>took</dt><dd>${ns(track.length[index])} ns</dd>
    <dt>signal</dt><dd>${escaped(place)} number ${whole(index + 1)}</dd></dl>
    ${waitsHtml(state, instance)}${gapHtml(state, instance)}`;
}

function waitsHtml(state, instance) {
  const { run } = instance;
  const waits = waitsOf(instance);
  const waited = new Set(waits.map((wait) => wait.instance?.counter ?? wait.counter));
  const covered = requires(run, instance.counter, instance.index).filter((need) => !waited.has(need.counter));
  const rows = waits.map((wait) => {
    const released = wait.instance ? link(wait.instance) : "";
    const needed = wait.required ? whole(wait.required - signalsBefore(run, wait)) : "-";
    return `<tr><td>${escaped(run.counters[wait.counter])} ≥ <b>${whole(wait.threshold)}</b></td>
      <td>${needed}</td><td>${wait.stood ? `<b>${ns(wait.stood)}</b>` : "0"}</td><td>${released}</td></tr>`;
  });
  const table = rows.length
    ? `<table class="waits"><thead><tr><th>waits</th><th>required</th><th>stood, ns</th><th>for</th></tr></thead><tbody>${rows.join("")}</tbody></table>`
    : `<p>It carries no waits.</p>`;
  const rest = covered.map(({ counter, position }) => {
    const needed = instanceOf(run, counter, position);
    return `<li>${escaped(run.counters[counter])} number ${whole(position)}: ${needed ? link(needed) : ""}</li>`;
  });
  const known = rest.length ? `<p class="muted">Required too, and known without a wait of its own:</p><ul>${rest.join("")}</ul>` : "";
  return `<h4>Waits</h4>${table}${known}`;
}

/** Return how many signals lie before the last barrier: thresholds count from there, but of flags. */
function signalsBefore(run, wait) {
  return wait.position && !run.flagOf[wait.counter] ? wait.position - wait.threshold : 0;
}

function gapHtml(state, instance) {
  const { run, counter, index } = instance;
  const track = run.tracks[counter];
  const spans = summed(gapBefore(run, counter, index));
  if (laneOf(run, counter).kind === "queue") spans.push(...dispatched(run, counter, track, index));
  if (!spans.length) return "";
  const rows = spans.map((span) => `<tr><td>${reasonText(state.model, state.palette, span.reason)}</td><td>${ns(span.time)}</td><td>${awaited(run, span)}</td></tr>`);
  return `<h4>Just before it started</h4><table class="gap"><thead><tr><th>reason</th><th>ns</th><th>for</th></tr></thead><tbody>${rows.join("")}</tbody></table>`;
}

/** Return the spans with those that say the same as one. */
function summed(spans) {
  const found = new Map();
  for (const span of spans) {
    const key = `${span.reason} ${[WAITING, QUEUE_BUSY, BARRIER].includes(span.reason) ? [span.counter, span.position] : ""}`;
    if (found.has(key)) found.get(key).time += span.time;
    else found.set(key, { ...span });
  }
  return [...found.values()];
}

/** Return the time from the trigger of a transfer to its start: its dispatch, then its queue. */
function dispatched(run, counter, track, index) {
  const issue = track.start[index] - track.lead[index];
  const ready = Math.min(track.start[index], issue + run.dispatch);
  const found = [];
  if (ready > issue) found.push({ reason: TRIGGER, time: ready - issue, counter, position: 0 });
  if (track.start[index] > ready) found.push({ reason: QUEUE_BUSY, time: track.start[index] - ready, counter, position: 0 });
  return found;
}

function awaited(run, { counter, position, reason }) {
  const instance = instanceOf(run, counter, position);
  return instance && [WAITING, QUEUE_BUSY, BARRIER].includes(reason) ? link(instance) : "";
}

/** Return the details of a span as HTML. */
export function spanHtml(state, { run, lane, span }) {
  const { spans } = lane;
  const reason = spans.reason[span];
  const begin = spanBegin(spans, span);
  const instance = instanceOf(run, spans.counter[span], spans.position[span]);
  const through = run.counters[spans.counter[span]];
  const what = instance && [WAITING, QUEUE_BUSY, BARRIER].includes(reason) ? `<p>for ${link(instance)} through ${escaped(through)}, signal number ${whole(spans.position[span])}</p>` : "";
  const line = run.lines[spans.line[span] - 1]?.trim();
  return `<h3>${reasonText(state.model, state.palette, reason)}</h3>
    <p class="muted">${escaped(lane.name)} · ${escaped(run.strategy)}</p>${what}
    ${line ? `<pre class="source">${escaped(line)}</pre>` : ""}
    <dl><dt>from</dt><dd>${ns(begin)} ns</dd><dt>to</dt><dd>${ns(spans.end[span])} ns</dd>
    <dt>takes</dt><dd>${ns(spans.end[span] - begin)} ns</dd></dl>`;
}

/** Return a few words on what is under the cursor. */
export function tipHtml(state, run, { lane, index, span }) {
  if (index >= 0) {
    const { track } = lane;
    const instance = { run, counter: lane.counter, index };
    const waits = waitsOf(instance).filter((wait) => wait.stood);
    const stood = waits.map((wait) => `<div>stood <b>${ns(wait.stood)} ns</b> for ${wait.instance ? escaped(nameOf(run, wait.instance.counter, wait.instance.index)) : ""} (${escaped(run.counters[wait.counter])} ≥ ${whole(wait.threshold)})</div>`);
    return `<b>${escaped(nameOf(run, lane.counter, index))}</b> <span class="muted">${escaped(lane.name)}</span>
      <div>${ns(track.start[index])} to ${ns(track.done[index])} ns, ${ns(track.length[index])} ns</div>${stood.join("")}`;
  }
  const { spans } = lane;
  const reason = spans.reason[span];
  const instance = instanceOf(run, spans.counter[span], spans.position[span]);
  const what = instance && [WAITING, QUEUE_BUSY, BARRIER].includes(reason) ? ` for <b>${escaped(nameOf(run, instance.counter, instance.index))}</b> (${escaped(run.counters[spans.counter[span]])})` : "";
  return `${reasonText(state.model, state.palette, reason)}${what} <span class="muted">${escaped(lane.name)}</span>
    <div>${ns(spanBegin(spans, span))} to ${ns(spans.end[span])} ns, ${ns(spans.end[span] - spanBegin(spans, span))} ns</div>`;
}

/** The program of an engine, with the line that it is at. */
export class Listing {
  constructor(parent, state) {
    this.state = state;
    this.title = parent.querySelector("h3");
    this.box = parent.querySelector(".listing");
    this.code = parent.querySelector("pre");
    this.bar = parent.querySelector(".current");
  }

  /** Show the program of an engine of a run. */
  show(run, engine) {
    if (run === this.run && engine === this.engine) return;
    this.run = run;
    this.engine = engine;
    const { name } = run.engines[engine];
    this.title.textContent = `Program of ${name}, ${run.strategy}`;
    [this.first, this.end] = section(run.lines, name);
    const width = String(this.end).length;
    const lines = run.lines.slice(this.first, this.end);
    this.code.textContent = lines.map((line, n) => `${String(this.first + n + 1).padStart(width)}  ${line}`).join("\n");
    this.height = this.code.scrollHeight / Math.max(1, lines.length);
    this.line(0);
  }

  /** Mark a line of the text; 0 marks none. */
  line(number) {
    const isShown = number > this.first && number <= this.end;
    this.bar.hidden = !isShown;
    if (!isShown || number === this.marked) return;
    this.marked = number;
    const padding = this.code.offsetTop + parseFloat(getComputedStyle(this.code).paddingTop);
    const rows = this.end - this.first;
    const height = (this.code.scrollHeight - 2 * parseFloat(getComputedStyle(this.code).paddingTop)) / rows;
    const top = padding + (number - this.first - 1) * height;
    Object.assign(this.bar.style, { top: `${top}px`, height: `${height}px` });
    const { scrollTop, clientHeight } = this.box;
    if (top < scrollTop + height || top > scrollTop + clientHeight - 2 * height) this.box.scrollTop = top - clientHeight / 2;
  }
}

/** Return the first line and the end of an engine's program in the text; of a sequential one, all. */
function section(lines, engine) {
  const first = lines.findIndex((line) => line === `  engine ${engine} {`);
  if (first < 0) return [0, lines.length];
  return [first, lines.indexOf("  }", first) + 1];
}
