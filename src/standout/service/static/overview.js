// All arms at a glance: intervals side by side in the order of the rows, the threshold's
// band across them, the pulls of each below. Drawn on a canvas.

import { find, perFrame, say } from "./dom.js";
import { count, isKnown, short } from "./format.js";
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

/** The largest width of an arm, in pixels, where others are drawn closer together for it. */
const ROOMY = 14;
/** Where every arm has this much room, none needs more. */
const ENOUGH = 7;
/** The part of the width that arms near the threshold may take. */
const SHARE = 0.66;
/** The numbers of undecided and of normal arms that are candidates. */
const MOST_OPEN = 80;
const NEIGHBOURS = 20;

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

  /** `hasLens`: in this order arms near the threshold stand together, and may be given room. */
  show(data, order, values, hasLens) {
    Object.assign(this, { data, order, values, range: [values.low, values.high] });
    this.near = hasLens ? candidates(data, order) : null;
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
    const middle = this.x.indexAt(at);
    const step = this.x.step(clamp(middle, 0, this.order.length - 1));
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
    this.x = spread(this.order.length, this.near, LEFT, width - RIGHT);
    this.y = scale(...this.range, this.bottom, TOP);
    this.#window(pen, height, colour);
    this.#grid(pen, width, colour);
    this.#bands(pen, width, colour);
    this.#likely(pen, width, colour);
    for (const kind of [NORMAL, UNDECIDED, OUTLIER]) this.#intervals(pen, kind, colour(MARKS[kind].name));
    for (const kind of [NORMAL, UNDECIDED, OUTLIER]) this.#marks(pen, kind, colour);
    this.#ticks(pen, colour);
    this.#pulls(pen, width, height, colour);
    this.#chosenLine(pen, height, colour);
    this.#note();
  }

  /** Say that not all arms are drawn alike. */
  #note() {
    const note = find("overview-note");
    note.hidden = !this.x.isBent;
    if (this.x.isBent) say(note, `The ${count(this.x.roomy)} arms at the threshold and beyond are drawn wider than the ${count(this.order.length - this.x.roomy)} others.`);
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
      if (!isKnown(band.estimate) || band.estimate < this.range[0] || band.estimate > this.range[1]) continue;
      pen.beginPath();
      pen.moveTo(LEFT, this.y(band.estimate));
      pen.lineTo(width - RIGHT, this.y(band.estimate));
      pen.stroke();
    }
  }

  #likely(pen, width, colour) {
    for (const band of this.data.likely()) {
      const top = this.y(clamp(band.upper, ...this.range));
      const low = this.y(clamp(band.lower, ...this.range));
      pen.strokeStyle = colour("band-line");
      pen.lineWidth = 1.5;
      pen.setLineDash([1.5, 3]);
      pen.strokeRect(LEFT + 1, top, width - LEFT - RIGHT - 2, Math.max(1.5, low - top));
      pen.setLineDash([]);
    }
  }

  #intervals(pen, kind, colour) {
    const { data, order, range } = this;
    const columns = new Map();
    pen.beginPath();
    for (let i = 0; i < order.length; i++) {
      const place = order[i];
      if (data.verdict[place] !== kind || Number.isNaN(data.estimate[place])) continue;
      const low = clamp(data.lower[place], ...range);
      const high = clamp(data.upper[place], ...range);
      // Where many share a pixel, one line stands for all of them.
      const at = this.x.step(i) < 1 ? Math.round(this.x(i + 0.5)) + 0.5 : this.x(i + 0.5);
      const column = columns.get(at);
      if (column === undefined) columns.set(at, [low, high]);
      else columns.set(at, [Math.min(low, column[0]), Math.max(high, column[1])]);
    }
    for (const [at, [low, high]] of columns) {
      pen.moveTo(at, this.y(low));
      pen.lineTo(at, this.y(high));
    }
    pen.strokeStyle = colour;
    pen.globalAlpha = this.x.least < 2 && kind === NORMAL ? 0.4 : 0.75;
    pen.lineWidth = clamp((kind === NORMAL ? this.x.least : this.x.most) * 0.5, 1, 2.5);
    pen.stroke();
    pen.globalAlpha = 1;
  }

  #marks(pen, kind, colour) {
    const { data, order } = this;
    const all = [];
    for (let i = 0; i < order.length; i++) {
      if (data.verdict[order[i]] === kind && !Number.isNaN(data.estimate[order[i]])) all.push(i);
    }
    const size = clamp(this.x.most * 0.45, 3.5, 5);
    const areFew = kind !== NORMAL && all.length * size < 0.15 * (this.x.to - this.x.from);
    const isRoomy = (i) => areFew || this.x.step(i) >= 5;
    pen.fillStyle = colour(MARKS[kind].name);
    for (const i of all) {
      if (!isRoomy(i)) pen.fillRect(this.x(i + 0.5) - 0.75, this.y(data.estimate[order[i]]) - 0.75, 1.5, 1.5);
    }
    const chosen = all.filter(isRoomy);
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
  #ticks(pen, colour) {
    const base = this.bottom + 18;
    for (const kind of [NORMAL, UNDECIDED, OUTLIER]) {
      pen.fillStyle = colour(MARKS[kind].name);
      this.order.forEach((place, i) => {
        if (this.data.verdict[place] !== kind) return;
        const wide = clamp(this.x.step(i) * 0.6, 1, 4);
        pen.fillRect(this.x(i + 0.5) - wide / 2, base - TICKS[kind], wide, TICKS[kind]);
      });
    }
    pen.fillStyle = colour("muted");
    pen.textAlign = "right";
    pen.textBaseline = "alphabetic";
    pen.fillText("verdict", LEFT - 8, base);
  }

  #pulls(pen, width, height, colour) {
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
      const step = this.x.step(i);
      const at = step < 1 ? Math.floor(this.x(i)) : this.x(i);
      const found = columns.get(at);
      if (found === undefined || found[0] < data.pulls[place]) columns.set(at, [data.pulls[place], Math.max(1, step * 0.8)]);
    });
    for (const [at, [pulls, wide]] of columns) pen.fillRect(at, y(pulls), wide, base - y(pulls));
    pen.globalAlpha = 1;
  }

  #chosenLine(pen, height, colour) {
    const index = this.order.indexOf(this.active);
    if (index < 0) return;
    const at = this.x(index + 0.5);
    pen.strokeStyle = colour("ink");
    pen.lineWidth = clamp(this.x.step(index), 1, 2);
    pen.setLineDash([2, 3]);
    pen.beginPath();
    pen.moveTo(at, 0);
    pen.lineTo(at, height);
    pen.stroke();
    pen.setLineDash([]);
  }
}

/**
 * Which of the arms, by their place in the order, are near the threshold or beyond it: all
 * outliers, the undecided ones whose means come nearest, and the normal ones next to these.
 */
function candidates(data, order) {
  const isNear = new Uint8Array(order.length);
  const open = [];
  const others = [];
  order.forEach((place, i) => {
    const kind = data.verdict[place];
    if (kind === OUTLIER) isNear[i] = 1;
    else (kind === UNDECIDED ? open : others).push([shortOf(data, place), i]);
  });
  for (const [some, most] of [[open, MOST_OPEN], [others, NEIGHBOURS]]) {
    some.sort((a, b) => a[0] - b[0]);
    for (const [, i] of some.slice(0, most)) isNear[i] = 1;
  }
  return isNear;
}

/** How far an arm's mean lies on the normal side of the nearest threshold's estimate; 0 beyond it. */
function shortOf(data, place) {
  const mean = data.estimate[place];
  const [first, second] = data.bands();
  const isLow = data.head.problem.side === "low";
  const sides = [isLow ? mean - first.estimate : first.estimate - mean];
  if (second) sides.push(mean - second.estimate);
  const found = Math.min(...sides.filter(isKnown));
  return Number.isFinite(found) ? Math.max(0, found) : Infinity;
}

/**
 * From places in the order to pixels: evenly, or with more room for some of them where there is
 * too little for all. `step(i)` is the width of an arm, `indexAt` the way back.
 */
function spread(length, isNear, from, to) {
  const even = (to - from) / Math.max(1, length);
  const roomy = isNear === null ? 0 : isNear.reduce((a, b) => a + b, 0);
  const wide = Math.min(ROOMY, (SHARE * (to - from)) / Math.max(1, roomy));
  const isBent = roomy > 0 && roomy < length && even < ENOUGH && wide > 1.5 * even;
  const narrow = isBent ? (to - from - wide * roomy) / (length - roomy) : even;
  const edges = new Float64Array(length + 1);
  edges[0] = from;
  for (let i = 0; i < length; i++) edges[i + 1] = edges[i] + (isBent && isNear[i] ? wide : narrow);
  const step = (i) => edges[i + 1] - edges[i];
  const at = (place) => {
    const i = clamp(Math.floor(place), 0, length);
    return edges[i] + (i < length ? (place - i) * step(i) : 0);
  };
  const indexAt = (pixel) => {
    let [low, high] = [0, length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (edges[middle + 1] <= pixel) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  return Object.assign(at, { from, to, step, indexAt, isBent, roomy, least: narrow, most: isBent ? wide : even });
}
