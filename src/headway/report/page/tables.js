// Tables: where the time goes, and what each strategy needs of the machine.

import { escaped, ns, percent, whole } from "./format.js";
import { waitsOn } from "./semaphores.js";

const PATH = "critical path";

/** Return for each place, and each run, a bar of reasons; then the causes in numbers. */
export function timeHtml(model, palette) {
  const most = Math.max(1, ...model.runs.map((run) => run.latency));
  const places = [PATH, ...new Set(model.runs.flatMap((run) => [...Object.keys(run.why.engines), ...Object.keys(run.why.queues)]))];
  return places.map((place) => placeHtml(model, palette, place, most)).join("");
}

function causesOf(run, place) {
  return place === PATH ? run.why.critical_path : (run.why.engines[place] ?? run.why.queues[place] ?? []);
}

function placeHtml(model, palette, place, most) {
  const columns = model.runs.map((run) => causesOf(run, place));
  const bars = model.runs.map((run, n) => barHtml(model, palette, run, columns[n], most)).join("");
  const rows = new Map();
  columns.forEach((causes, n) => {
    for (const cause of causes) {
      const name = causeText(cause);
      if (!rows.has(name)) rows.set(name, { cause, times: columns.map(() => 0) });
      rows.get(name).times[n] = cause.ps;
    }
  });
  const order = [...rows.values()].sort((a, b) => model.reasons.indexOf(a.cause.reason) - model.reasons.indexOf(b.cause.reason) || Math.max(...b.times) - Math.max(...a.times));
  const heads = model.runs.map((run) => `<th>${escaped(run.strategy)}</th>`).join("");
  const lines = order.map(({ cause, times }) => `<tr><td><i class="swatch" style="background:${palette.reasons[model.reasons.indexOf(cause.reason)]}"></i>${escaped(causeText(cause))}</td>${times.map((ps) => `<td>${ps ? ns(ps, 0) : "-"}</td>`).join("")}</tr>`);
  return `<details class="place" ${place === PATH ? "open" : ""}><summary><b>${escaped(place)}</b>${bars}</summary>
    <table><thead><tr><th>ns</th>${heads}</tr></thead><tbody>${lines.join("")}</tbody></table></details>`;
}

function barHtml(model, palette, run, causes, most) {
  const parts = model.reasons.map((reason, n) => {
    const sum = causes.reduce((all, cause) => all + (cause.reason === reason ? cause.ps : 0), 0);
    return sum ? `<i style="width:${percent(sum / most)};background:${palette.reasons[n]}" title="${reason}: ${ns(sum)} ns"></i>` : "";
  });
  return `<span class="bar"><span>${escaped(run.strategy)}</span><span>${parts.join("")}</span></span>`;
}

function causeText(cause) {
  return cause.for ? `${cause.reason}: ${cause.for} (${cause.through})` : cause.reason;
}

/** Return the registers and semaphores of each run. */
export function needsHtml(model) {
  const runs = model.runs.filter((run) => run.strategy !== "ideal");
  const notes = Object.entries(model.unsupported).map(([name, why]) => `<p class="muted">${escaped(name)} is not shown: ${escaped(why)}</p>`);
  return runs.map(needsOf).join("") + notes.join("");
}

function needsOf(run) {
  const registers = Object.entries(run.registers).map(([engine, rows]) => {
    const count = rows.reduce((sum, row) => sum + row.size, 0);
    const names = rows.map((row) => (row.size === 1 ? row.name : `${row.name}[${row.size}]`)).join(", ");
    return `<tr><td>${escaped(engine)}</td><td>${count}</td><td class="wide">${escaped(names)}</td></tr>`;
  });
  const semaphores = run.semaphores.map((semaphore) => {
    const waits = waitsOn(run, run.counters.indexOf(semaphore.counts));
    const sum = (key) => waits.reduce((all, each) => all + (key ? each.stood.reduce((a, b) => a + b, 0) : each.stood.length), 0);
    const by = waits.map((each) => run.engines[each.engine].name).join(", ");
    return `<tr><td>${escaped(semaphore.counts)}</td><td>${semaphore.number ?? ""}</td><td>${semaphore.width ?? ""}</td><td>${whole(sum())}</td><td>${ns(sum("stood"), 0)}</td><td>${escaped(by)}</td></tr>`;
  });
  const given = run.concessions.map((text) => `<p class="muted">given up: ${escaped(text)}</p>`).join("");
  return `<h3>${escaped(run.strategy)}</h3>${given}
    <table><thead><tr><th>engine</th><th>registers</th><th>names</th></tr></thead><tbody>${registers.join("")}</tbody></table>
    <table><thead><tr><th>semaphore of</th><th>number</th><th>bits</th><th>waits</th><th>stood, ns</th><th>by</th></tr></thead><tbody>${semaphores.join("")}</tbody></table>`;
}
