// Reading the packed columns: see pack.py, which writes them.

const ARRAYS = { u8: Uint8Array, u16: Uint16Array, u32: Uint32Array, i32: Int32Array, f64: Float64Array };

/** Return the bytes that an element of the page holds as compressed base64. */
export async function unpacked(text) {
  const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).arrayBuffer();
}

/** Return the values of a column: a typed array, of sums where the column holds differences. */
export function values(buffer, column) {
  const found = new ARRAYS[column.type](buffer, column.at, column.n);
  return column.rising ? sums(found) : found;
}

/** Return `object` with every column in it, however deep, replaced by its values. */
export function read(buffer, object) {
  if (Array.isArray(object)) return object.map((part) => read(buffer, part));
  if (object === null || typeof object !== "object") return object;
  if ("at" in object && "rising" in object) return values(buffer, object);
  return Object.fromEntries(Object.entries(object).map(([key, part]) => [key, read(buffer, part)]));
}

function sums(differences) {
  const found = new Float64Array(differences.length);
  let sum = 0;
  for (let i = 0; i < found.length; i++) found[i] = sum += differences[i];
  return found;
}

/** Return the first index whose value is greater than `x`. */
export function above(sorted, x) {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle] <= x) low = middle + 1;
    else high = middle;
  }
  return low;
}
