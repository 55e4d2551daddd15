// The window of time that is shown, and how mouse and keyboard move it.

const LEAST = 1000; // ps: no window is smaller than a nanosecond

export class View {
  /** A window on 0 to `latency`; `changed` is called once per frame after changes. */
  constructor(latency, changed) {
    this.full = Math.max(LEAST, latency * 1.01);
    this.changed = changed;
    this.pending = false;
    this.from = 0;
    this.to = this.full;
  }

  /** Show a window. */
  set(from, to) {
    const width = Math.min(this.full, Math.max(LEAST, to - from));
    this.from = Math.max(0, Math.min(from, this.full - width));
    this.to = this.from + width;
    if (this.pending) return;
    this.pending = true;
    requestAnimationFrame(() => {
      this.pending = false;
      this.changed();
    });
  }

  fit() {
    this.set(0, this.full);
  }

  /** Zoom by a factor (above 1: closer) about a place, 0 at the left edge and 1 at the right. */
  zoom(factor, place = 0.5) {
    const width = (this.to - this.from) / factor;
    const fixed = this.from + place * (this.to - this.from);
    this.set(fixed - place * width, fixed + (1 - place) * width);
  }

  /** Move by a share of the window. */
  pan(share) {
    const by = share * (this.to - this.from);
    this.set(this.from + by, this.to + by);
  }

  /** Bring a stretch of time into view, in the middle if it was not there, and not too small. */
  reveal(from, to) {
    const width = this.to - this.from;
    const inside = from >= this.from && to <= this.to;
    const wanted = Math.max(8 * (to - from), LEAST);
    if (inside && width <= 60 * wanted) return;
    const shown = Math.min(width, 12 * wanted);
    const middle = (from + to) / 2;
    this.set(middle - shown / 2, middle + shown / 2);
  }
}

/** Let the mouse zoom and pan on an element: wheel, drag, and drag with shift to choose a stretch. */
export function attach(view, element, select) {
  const place = (event) => (event.clientX - element.getBoundingClientRect().left) / element.clientWidth;
  element.addEventListener("wheel", (event) => {
    if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      view.pan((event.deltaX || event.deltaY) / element.clientWidth);
    } else if (event.ctrlKey || event.metaKey || event.altKey) {
      view.zoom(Math.exp(-event.deltaY / 300), place(event));
    } else return; // the page scrolls
    event.preventDefault();
  }, { passive: false });
  let grabbed = null;
  element.addEventListener("pointerdown", (event) => {
    if (event.button) return;
    grabbed = { x: event.clientX, place: place(event), from: view.from, to: view.to, moved: false, select: event.shiftKey };
    element.setPointerCapture(event.pointerId);
  });
  element.addEventListener("pointermove", (event) => {
    if (!grabbed) return;
    const by = event.clientX - grabbed.x;
    grabbed.moved ||= Math.abs(by) > 3;
    if (!grabbed.moved) return;
    if (grabbed.select) return select(grabbed.place, place(event), false);
    const time = (by / element.clientWidth) * (grabbed.to - grabbed.from);
    view.set(grabbed.from - time, grabbed.to - time);
  });
  element.addEventListener("pointerup", (event) => {
    if (grabbed?.moved && grabbed.select) select(grabbed.place, place(event), true);
    element.dataset.moved = grabbed?.moved ? "yes" : "";
    grabbed = null;
  });
}
