// Search: `load` finds every instance of instructions with that in their name, `load[3]` those of
// iteration 3, `load[3,1]` of iteration 3 of the outer loop and 1 of the inner one.

import { iterations } from "./model.js";

/** Return what a query asks for: {name, numbers}; null if it asks for nothing. */
export function parsed(query) {
  const found = /^\s*([^[\]]*?)\s*(?:\[([\d,\s]*)\]?)?\s*$/.exec(query);
  if (!found || (!found[1] && !found[2])) return null;
  const numbers = (found[2] ?? "").split(",").filter((part) => part.trim()).map(Number);
  return { name: found[1].toLowerCase(), numbers };
}

/** Return the instances of a run that a query finds: for each counter their indices, rising. */
export function search(run, query) {
  const wanted = parsed(query);
  return run.tracks.map((track) => (track && wanted ? indices(run, track, wanted) : []));
}

function indices(run, track, { name, numbers }) {
  const fits = run.sites.map((site) => site.name.toLowerCase().includes(name));
  const found = [];
  for (let i = 0; i < track.site.length; i++) {
    if (fits[track.site[i]] && (!numbers.length || hasNumbers(track, i, numbers))) found.push(i);
  }
  return found;
}

function hasNumbers(track, i, numbers) {
  const own = iterations(track, i);
  return numbers.length <= own.length && numbers.every((number, k) => own[k] === number);
}

/** Return the found instance that starts next after a time, or with `back` before it; wraps around. */
export function following(run, found, time, back) {
  let best = null;
  for (const wrapped of [time, back ? Infinity : -1]) {
    found.forEach((list, counter) => {
      const { start } = run.tracks[counter] ?? {};
      const at = position(list, start, wrapped, back);
      if (at === -1) return;
      const index = list[at];
      const isBetter = best === null || (back ? start[index] > best.time : start[index] < best.time);
      if (isBetter) best = { counter, index, time: start[index] };
    });
    if (best) return { run, counter: best.counter, index: best.index };
  }
  return null;
}

function position(list, start, time, back) {
  let [low, high] = [0, list.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (back ? start[list[middle]] < time : start[list[middle]] <= time) low = middle + 1;
    else high = middle;
  }
  if (back) return low - 1;
  return low < list.length ? low : -1;
}
