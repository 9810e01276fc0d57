// All arms at a glance: intervals side by side in the order of the rows, the threshold's
// band across them, the pulls of each below. Drawn on a canvas.

import { perFrame } from "./dom.js";
import { short } from "./format.js";
import { MARKS, NORMAL, OUTLIER, UNDECIDED } from "./marks.js";
import { clamp, scale, thinned } from "./scale.js";
import { armWords, markPath } from "./verdicts.js";

const LEFT = 52;
const RIGHT = 8;
const TOP = 10;
const GAP = 30;
const STRIP = 40;
/** Where marks would hide each other, dots are drawn, and ticks below tell the verdicts apart. */
const TICKS = { [OUTLIER]: 11, [UNDECIDED]: 6, [NORMAL]: 1.5 };

export class Overview {
  constructor(canvas, { chosen, hovered }) {
    Object.assign(this, { canvas, chosen, hovered });
    this.order = [];
    this.active = null;
    this.span = [0, 0];
    this.render = perFrame(() => this.#render());
    new ResizeObserver(this.render).observe(canvas);
    window.addEventListener("themechange", this.render);
    canvas.addEventListener("pointermove", (event) => this.#hover(event));
    canvas.addEventListener("pointerleave", () => hovered(null));
    canvas.addEventListener("click", (event) => {
      const place = this.#near(event);
      if (place !== null) chosen(place);
    });
    canvas.addEventListener("keydown", (event) => this.#key(event));
  }

  show(data, order, values) {
    Object.assign(this, { data, order, values, range: [values.low, values.high] });
    this.render();
  }

  /** Which rows are in sight below, and which arm is chosen. */
  follow(first, last) {
    if (this.span[0] === first && this.span[1] === last) return;
    this.span = [first, last];
    this.render();
  }

  choose(place) {
    this.active = place;
    this.render();
    const index = this.order.indexOf(place);
    this.canvas.setAttribute("aria-valuemax", this.order.length);
    this.canvas.setAttribute("aria-valuenow", index + 1);
    this.canvas.setAttribute("aria-valuetext", armWords(this.data, place));
  }

  #key(event) {
    const step = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 50, PageDown: -50 }[event.key];
    const index = this.order.indexOf(this.active);
    let to = null;
    if (event.key === "Home") to = 0;
    else if (event.key === "End") to = this.order.length - 1;
    else if (step !== undefined) to = index < 0 ? 0 : index + step;
    if (to === null || !this.order.length) return;
    event.preventDefault();
    this.chosen(this.order[clamp(to, 0, this.order.length - 1)]);
  }

  #hover(event) {
    this.hovered(this.#near(event), event);
  }

  /** The arm under the pointer: of those in its column, the one whose mean is nearest. */
  #near(event) {
    if (!this.order.length || !this.x) return null;
    const box = this.canvas.getBoundingClientRect();
    const at = event.clientX - box.left;
    const step = (this.x.to - this.x.from) / this.order.length;
    const middle = Math.floor((at - this.x.from) / step);
    const reach = step < 1 ? Math.ceil(1.5 / step) : 0;
    const height = event.clientY - box.top;
    let best = null;
    let least = Infinity;
    for (let i = middle - reach; i <= middle + reach; i++) {
      if (i < 0 || i >= this.order.length) continue;
      const place = this.order[i];
      const mean = this.data.estimate[place];
      const far = Number.isFinite(mean) ? Math.abs(this.y(mean) - height) : 1e6;
      if (far < least) [best, least] = [place, far];
    }
    return best;
  }

  #render() {
    if (!this.data || !this.canvas.clientWidth) return;
    const { canvas } = this;
    const [width, height] = [canvas.clientWidth, canvas.clientHeight];
    const dense = window.devicePixelRatio || 1;
    if (canvas.width !== Math.round(width * dense) || canvas.height !== Math.round(height * dense)) {
      canvas.width = Math.round(width * dense);
      canvas.height = Math.round(height * dense);
    }
    const pen = canvas.getContext("2d");
    pen.setTransform(dense, 0, 0, dense, 0, 0);
    pen.clearRect(0, 0, width, height);
    const style = getComputedStyle(canvas);
    const colour = (key) => style.getPropertyValue(`--${key}`).trim();
    pen.font = `12px ${style.fontFamily}`;
    this.bottom = height - STRIP - GAP;
    this.x = scale(0, this.order.length, LEFT, width - RIGHT);
    this.y = scale(...this.range, this.bottom, TOP);
    this.#window(pen, height, colour);
    this.#grid(pen, width, colour);
    this.#bands(pen, width, colour);
    const step = (width - LEFT - RIGHT) / Math.max(1, this.order.length);
    for (const kind of [NORMAL, UNDECIDED, OUTLIER]) this.#intervals(pen, kind, step, colour(MARKS[kind].name));
    for (const kind of [NORMAL, UNDECIDED, OUTLIER]) this.#marks(pen, kind, step, colour);
    this.#ticks(pen, step, colour);
    this.#pulls(pen, width, height, step, colour);
    this.#chosenLine(pen, height, step, colour);
  }

  /** The part that the rows below show. */
  #window(pen, height, colour) {
    const [first, last] = this.span;
    if (last - first >= this.order.length) return;
    pen.fillStyle = colour("raised");
    pen.fillRect(this.x(first), 0, Math.max(2, this.x(last) - this.x(first)), height);
  }

  #grid(pen, width, colour) {
    pen.strokeStyle = colour("line");
    pen.fillStyle = colour("muted");
    pen.lineWidth = 1;
    pen.textAlign = "right";
    pen.textBaseline = "middle";
    for (const tick of thinned(this.values.ticks, 6)) {
      const y = Math.round(this.y(tick.value)) + 0.5;
      pen.beginPath();
      pen.moveTo(LEFT, y);
      pen.lineTo(width - RIGHT, y);
      pen.stroke();
      pen.fillText(tick.label, LEFT - 8, y);
    }
  }

  #bands(pen, width, colour) {
    for (const band of this.data.bands()) {
      if (!band.isKnown) continue;
      const top = this.y(clamp(band.upper, ...this.range));
      const low = this.y(clamp(band.lower, ...this.range));
      pen.fillStyle = colour("band");
      pen.fillRect(LEFT, top, width - LEFT - RIGHT, Math.max(1.5, low - top));
      pen.strokeStyle = colour("band-line");
      pen.lineWidth = 1;
      pen.setLineDash([5, 3]);
      for (const y of [top, low]) {
        pen.beginPath();
        pen.moveTo(LEFT, y);
        pen.lineTo(width - RIGHT, y);
        pen.stroke();
      }
      pen.setLineDash([]);
    }
  }

  #intervals(pen, kind, step, colour) {
    const { data, order, range } = this;
    const columns = new Map();
    pen.beginPath();
    for (let i = 0; i < order.length; i++) {
      const place = order[i];
      if (data.verdict[place] !== kind || Number.isNaN(data.estimate[place])) continue;
      const low = clamp(data.lower[place], ...range);
      const high = clamp(data.upper[place], ...range);
      // Where many share a pixel, one line stands for all of them.
      const at = step < 1 ? Math.round(this.x(i + 0.5)) + 0.5 : this.x(i + 0.5);
      const column = columns.get(at);
      if (column === undefined) columns.set(at, [low, high]);
      else columns.set(at, [Math.min(low, column[0]), Math.max(high, column[1])]);
    }
    for (const [at, [low, high]] of columns) {
      pen.moveTo(at, this.y(low));
      pen.lineTo(at, this.y(high));
    }
    pen.strokeStyle = colour;
    pen.globalAlpha = step < 2 && kind === NORMAL ? 0.4 : 0.75;
    pen.lineWidth = clamp(step * 0.5, 1, 2.5);
    pen.stroke();
    pen.globalAlpha = 1;
  }

  #marks(pen, kind, step, colour) {
    const { data, order } = this;
    const chosen = [];
    for (let i = 0; i < order.length; i++) {
      if (data.verdict[order[i]] === kind && !Number.isNaN(data.estimate[order[i]])) chosen.push(i);
    }
    const size = clamp(step * 0.45, 3.5, 5);
    const isRoomy = step >= 5 || (kind !== NORMAL && chosen.length * size < 0.15 * (this.x.to - this.x.from));
    pen.fillStyle = colour(MARKS[kind].name);
    if (!isRoomy) {
      for (const i of chosen) pen.fillRect(this.x(i + 0.5) - 0.75, this.y(data.estimate[order[i]]) - 0.75, 1.5, 1.5);
      return;
    }
    const path = new Path2D(
      chosen
        .map((i) => markPath(kind, data.isLow(order[i]), this.x(i + 0.5), this.y(data.estimate[order[i]]), size))
        .join(""),
    );
    if (MARKS[kind].isOpen) {
      pen.fillStyle = colour("card");
      pen.strokeStyle = colour(MARKS[kind].name);
      pen.lineWidth = 1.5;
      pen.fill(path);
      pen.stroke(path);
    } else {
      pen.fill(path);
    }
  }

  /** A tick per arm, the higher the more it stands out. */
  #ticks(pen, step, colour) {
    const base = this.bottom + 18;
    const wide = clamp(step * 0.6, 1, 4);
    for (const kind of [NORMAL, UNDECIDED, OUTLIER]) {
      pen.fillStyle = colour(MARKS[kind].name);
      this.order.forEach((place, i) => {
        if (this.data.verdict[place] === kind) pen.fillRect(this.x(i + 0.5) - wide / 2, base - TICKS[kind], wide, TICKS[kind]);
      });
    }
    pen.fillStyle = colour("muted");
    pen.textAlign = "right";
    pen.textBaseline = "alphabetic";
    pen.fillText("verdict", LEFT - 8, base);
  }

  #pulls(pen, width, height, step, colour) {
    const { data, order } = this;
    const most = order.reduce((found, place) => Math.max(found, data.pulls[place]), 1);
    const base = height - 1;
    const y = scale(0, most, base, height - STRIP);
    pen.fillStyle = colour("muted");
    pen.textAlign = "right";
    pen.textBaseline = "top";
    pen.fillText(short(most), LEFT - 8, height - STRIP);
    pen.textBaseline = "bottom";
    pen.fillText("pulls", LEFT - 8, base);
    pen.fillStyle = colour("accent");
    pen.globalAlpha = 0.8;
    const columns = new Map();
    order.forEach((place, i) => {
      const at = step < 1 ? Math.floor(this.x(i)) : this.x(i);
      columns.set(at, Math.max(columns.get(at) ?? 0, data.pulls[place]));
    });
    const wide = Math.max(1, step * 0.8);
    for (const [at, pulls] of columns) pen.fillRect(at, y(pulls), wide, base - y(pulls));
    pen.globalAlpha = 1;
  }

  #chosenLine(pen, height, step, colour) {
    const index = this.order.indexOf(this.active);
    if (index < 0) return;
    const at = this.x(index + 0.5);
    pen.strokeStyle = colour("ink");
    pen.lineWidth = Math.max(1, Math.min(2, step));
    pen.setLineDash([2, 3]);
    pen.beginPath();
    pen.moveTo(at, 0);
    pen.lineTo(at, height);
    pen.stroke();
    pen.setLineDash([]);
  }
}
