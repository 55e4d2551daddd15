// Colours: the hues of Okabe and Ito, which colour-blind people can tell apart. Work is blue on
// engines and green on queues; what is lost has warm colours, and hatches where it matters most.

const WORK = {
  engine: ["#0072b2", "#3f8fc4", "#005586", "#6aaad3"],
  queue: ["#009e73", "#3fb393", "#007656", "#66c2a6"],
};

// By reason: working, waiting, queue busy, trigger, hop, wait instruction, register, loop control,
// load, flag, issue, barrier, idle.
const LIGHT = {
  reasons: ["#b9c4cd", "#d55e00", "#e69f00", "#56b4e9", "#f0e442", "#8a4f7d", "#a9689b", "#cc79a7", "#5e4b8b", "#b08bbb", "#c9b8d0", "#2b3138", "#e9edf1"],
  paper: "#ffffff",
  ink: "#1b2027",
  muted: "#5d6875",
  grid: "#e4e8ec",
  row: "#f5f7f9",
  path: "#111418",
  halo: "#ffffff",
  mark: "#d6006c",
};
const DARK = {
  reasons: ["#47525e", "#ef7d2d", "#e69f00", "#56b4e9", "#f0e442", "#b07aa3", "#c48ab7", "#df9fc1", "#9a86cc", "#c9a5d4", "#8d7a96", "#dfe5ec", "#20262d"],
  paper: "#14181d",
  ink: "#e6eaef",
  muted: "#98a3af",
  grid: "#272e36",
  row: "#191e24",
  path: "#ffffff",
  halo: "#14181d",
  mark: "#ff5fa8",
};

const HATCHED = new Set([1, 2, 11]);

/** Return the colours of a theme. */
export function paletteOf(theme) {
  return { theme, work: WORK, ...(theme === "dark" ? DARK : LIGHT) };
}

/** Return a fill of a reason: a hatch for what is waited for, a plain colour for the others. */
export function fillOf(context, palette, reason) {
  const colour = palette.reasons[reason];
  if (!HATCHED.has(reason)) return colour;
  palette.patterns ??= new Map();
  if (!palette.patterns.has(reason)) palette.patterns.set(reason, hatch(context, colour, palette.paper, reason));
  return palette.patterns.get(reason);
}

function hatch(context, colour, paper, reason) {
  const size = 8;
  const tile = new OffscreenCanvas(size, size);
  const brush = tile.getContext("2d");
  brush.fillStyle = colour;
  brush.fillRect(0, 0, size, size);
  brush.strokeStyle = paper;
  brush.globalAlpha = 0.45;
  brush.lineWidth = 1.6;
  const lines = reason === 2 ? [[0, 0, 0, size]] : reason === 11 ? [[0, 0, size, size], [-size, 0, size, 2 * size], [0, -size, 2 * size, size]] : [[0, size, size, 0], [-1, 1, 1, -1], [size - 1, size + 1, size + 1, size - 1]];
  for (const [x0, y0, x1, y1] of lines) {
    brush.beginPath();
    brush.moveTo(x0, y0);
    brush.lineTo(x1, y1);
    brush.stroke();
  }
  return context.createPattern(tile, "repeat");
}
