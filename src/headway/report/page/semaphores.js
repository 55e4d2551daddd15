// What counters count over time, and who waits for them. Worked out once for each counter.

/** Return {times, counts}: the value of a counter or flag from each time on. */
export function valuesOf(run, counter) {
  run.values ??= new Map();
  if (!run.values.has(counter)) run.values.set(counter, counted(run, counter));
  return run.values.get(counter);
}

function counted(run, counter) {
  const flag = run.flagOf[counter];
  const ups = flag ? flag.time : (run.tracks[counter]?.done ?? []);
  const resets = flag ? [] : run.resets;
  const times = new Float64Array(1 + ups.length + resets.length);
  const counts = new Float64Array(times.length);
  let [up, reset, count] = [0, 0, 0];
  for (let i = 1; i < times.length; i++) {
    const isUp = reset === resets.length || (up < ups.length && ups[up] <= resets[reset]);
    count = isUp ? count + (flag ? flag.change[up] : 1) : 0;
    times[i] = isUp ? ups[up++] : resets[reset++];
    counts[i] = count;
  }
  return { times, counts };
}

/** Return the waits for a counter, for each engine that has any: {engine, passed, stood, thresholds}. */
export function waitsOn(run, counter) {
  run.waitsOn ??= byCounter(run);
  return run.waitsOn.get(counter) ?? [];
}

function byCounter(run) {
  const found = new Map();
  run.engines.forEach(({ waits }, engine) => {
    const own = new Map();
    for (let i = 0; i < waits.counter.length; i++) {
      if (waits.threshold[i] <= 0) continue; // it asks for nothing
      const counter = waits.counter[i];
      if (!own.has(counter)) own.set(counter, { engine, passed: [], stood: [], thresholds: [] });
      const each = own.get(counter);
      each.passed.push(waits.passed[i]);
      each.stood.push(waits.stood[i]);
      each.thresholds.push(run.flagOf[counter] ? 1 : waits.threshold[i]);
    }
    for (const [counter, each] of own) found.set(counter, [...(found.get(counter) ?? []), each]);
  });
  return found;
}
