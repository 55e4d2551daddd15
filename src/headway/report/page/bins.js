// Level of detail: where more is in view than can be seen, lanes are painted from shares of time in
// equal bins of the whole run, made once for each lane, at the level whose bins are about a pixel.

export const MANY = 4000; // rows in view from which bins are used

/** Shares of time by kind, 0 to 255, in 2^k bins and in half as many, and so on. */
export class Bins {
  /** Make bins for the rows that `fill` adds, in order of time: add(begin, end, kind). */
  constructor(latency, kinds, rows, fill) {
    this.kinds = kinds;
    this.latency = Math.max(1, latency);
    this.size = 2 ** Math.max(10, Math.ceil(Math.log2(rows / 4)));
    this.levels = [new Uint8Array(this.size * kinds)];
    this.sums = new Float64Array(kinds);
    this.bin = 0;
    fill((begin, end, kind) => this.add(begin, end, kind));
    this.flush(this.bin + 1);
    while (this.levels.at(-1).length > 512 * kinds) this.levels.push(halved(this.levels.at(-1), kinds));
  }

  add(begin, end, kind) {
    const width = this.latency / this.size;
    while (begin < end) {
      const bin = Math.min(this.size - 1, Math.floor(begin / width));
      if (bin !== this.bin) this.flush(bin);
      const until = bin === this.size - 1 ? end : Math.min(end, (bin + 1) * width);
      this.sums[kind] += until - begin;
      if (until <= begin) break; // rounding: nothing is left
      begin = until;
    }
  }

  flush(next) {
    const width = this.latency / this.size;
    const { sums, kinds, bin } = this;
    for (let kind = 0; kind < kinds; kind++) {
      this.levels[0][bin * kinds + kind] = Math.min(255, Math.round((255 * sums[kind]) / width));
    }
    sums.fill(0);
    this.bin = next;
  }

  /** Return the level for columns of a width in time: {data, width} of its bins. */
  level(column) {
    const finest = this.latency / this.size;
    const n = Math.min(this.levels.length - 1, Math.max(0, Math.floor(Math.log2(column / finest))));
    return { data: this.levels[n], width: finest * 2 ** n };
  }
}

function halved(data, kinds) {
  const found = new Uint8Array(data.length / 2);
  for (let i = 0; i < found.length; i++) {
    const at = Math.floor(i / kinds) * 2 * kinds + (i % kinds);
    found[i] = (data[at] + data[at + kinds] + 1) >> 1;
  }
  return found;
}
