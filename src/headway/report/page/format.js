// Words and numbers.

const UNITS = [["s", 1e12], ["ms", 1e9], ["us", 1e6], ["ns", 1e3], ["ps", 1]];

/** Return a time in ps with the unit that suits it. */
export function time(ps, digits = 2) {
  if (ps === 0) return "0";
  const [unit, size] = UNITS.find(([, each]) => Math.abs(ps) >= each) ?? UNITS[4];
  const value = ps / size;
  const shown = unit === "ps" ? value.toFixed(0) : trimmed(value, digits);
  return `${shown} ${unit}`;
}

/** Return a time in ns: exactly, or with fewer digits. */
export function ns(ps, digits = 3) {
  return (ps / 1000).toLocaleString("en-US", { maximumFractionDigits: digits });
}

/** Return a share of 1 in percent. */
export function percent(share) {
  const value = 100 * share;
  return `${value >= 99.95 || value === 0 ? value.toFixed(0) : value.toFixed(1)}%`;
}

/** Return a whole number with separators. */
export function whole(number) {
  return number.toLocaleString("en-US");
}

/** Return text that is safe in HTML. */
export function escaped(text) {
  const safe = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
  return String(text).replace(/[&<>"]/g, (c) => safe[c]);
}

function trimmed(value, digits) {
  return value.toFixed(digits).replace(/\.?0+$/, "");
}
