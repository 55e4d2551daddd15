// A strip of pixels that is painted column by column, and put on a canvas in one go.

export class Strip {
  /** Cover the width of a painter's plot. */
  constructor(painter, top, height) {
    Object.assign(this, { painter, top: Math.round(top), rows: Math.max(1, Math.round(height)) });
    this.left = Math.floor(painter.left);
    this.columns = Math.ceil(painter.right) - this.left;
    this.image = new ImageData(this.columns, this.rows);
    this.pixels = new Uint32Array(this.image.data.buffer);
  }

  /** Stack colours in a column, from the top: `shares` of it, in the order of `colours`. */
  stack(column, shares, colours) {
    let sum = 0;
    let row = 0;
    shares.forEach((share, n) => {
      if (!share) return;
      sum += share;
      const end = Math.round(Math.min(1, sum) * this.rows);
      for (; row < end; row++) this.pixels[row * this.columns + column] = colours[n];
    });
  }

  /** Fill a column with a colour, as much of it as `share` says. */
  shade(column, share, colour) {
    const alpha = Math.round(255 * Math.min(1, share));
    const pixel = (colour & 0x00ffffff) | (alpha << 24);
    for (let row = 0; row < this.rows; row++) this.pixels[row * this.columns + column] = pixel;
  }

  /** Paint it. */
  draw() {
    const canvas = new OffscreenCanvas(this.columns, this.rows);
    canvas.getContext("2d").putImageData(this.image, 0, 0);
    this.painter.context.drawImage(canvas, this.left, this.top);
  }
}

/** Return a colour like #0072b2 as a pixel. */
export function pixelOf(hex) {
  const [red, green, blue] = [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
  return (0xff000000 | (blue << 16) | (green << 8) | red) >>> 0;
}
