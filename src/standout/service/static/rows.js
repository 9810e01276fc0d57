// Every arm's interval against the threshold's band, one arm per row. Only the rows in
// sight exist, so that ten thousand arms cost no more than forty.

import { draw, make, name, perFrame, say } from "./dom.js";
import { chance, count, interval, isKnown, value } from "./format.js";
import { brief, thumb } from "./items.js";
import { MARKS } from "./marks.js";
import { clamp, scale, thinned } from "./scale.js";
import { mark, markClass, markPath, verdictWords } from "./verdicts.js";

/** Up to this many rows are shown at once, without scrolling. */
export const FEW = 40;
const SPARE = 6;
const ARROW = 5;

export class Rows {
  /** `frame` scrolls, `list` is the listbox in it, `axis` the SVG above the pictures. */
  constructor(frame, list, axis, items, { chosen, moved }) {
    Object.assign(this, { frame, list, axis, items, chosen, moved });
    this.rows = new Map();
    this.order = [];
    this.active = null;
    /** What lies open below the active row, if anything. */
    this.inset = null;
    this.isHeld = false;
    this.render = perFrame(() => this.#render());
    frame.addEventListener("scroll", this.render, { passive: true });
    new ResizeObserver(this.render).observe(frame);
    list.addEventListener("keydown", (event) => this.#key(event));
    list.addEventListener("click", (event) => {
      const row = event.target.closest("[role=option]");
      if (row) this.#choose(Number(row.dataset.place));
    });
    // Rows do not change places under someone's finger.
    for (const [event, held] of [["pointerenter", true], ["pointerleave", false]]) {
      frame.addEventListener(event, () => (this.isHeld = held));
    }
  }

  /** Show these positions of these data in this order, on the scale that the server sent. */
  show(data, order, values) {
    Object.assign(this, { data, order, values });
    this.most = Math.max(1, data.pulls.reduce((a, b) => Math.max(a, b), 0));
    this.render();
  }

  /** Make an arm the active one, at the request of a user of the rows. */
  #choose(place) {
    this.active = place;
    this.chosen(place);
  }

  /** Open something below the active row (null for nothing): it lies in the frame, above the list. */
  open(inset) {
    this.inset = inset;
    this.render();
  }

  /** The index behind which the rows make room, and how much. */
  #gap() {
    const after = this.inset === null ? -1 : this.order.indexOf(this.active);
    return after < 0 ? [Infinity, 0] : [after, this.inset.offsetHeight];
  }

  #top(index) {
    const [after, room] = this.#gap();
    return index * this.height() + (index > after ? room : 0);
  }

  reveal(index) {
    if (index < 0) return;
    const height = this.height();
    const top = this.#top(index);
    const room = this.frame.clientHeight - this.list.offsetTop;
    if (this.frame.scrollHeight > this.frame.clientHeight + 1) {
      if (top < this.frame.scrollTop || top + height > this.frame.scrollTop + room) {
        this.frame.scrollTop = top - (room - height) / 2;
      }
    } else {
      this.rows.get(this.order[index])?.root.scrollIntoView({ block: "nearest" });
    }
  }

  height() {
    return this.#measure("--row");
  }

  #measure(name) {
    return parseFloat(getComputedStyle(this.list).getPropertyValue(name)) || 32;
  }

  #key(event) {
    const page = Math.max(1, Math.floor((this.frame.clientHeight - 40) / this.height()));
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity };
    const step = steps[event.key];
    if (step === undefined || !this.order.length) return;
    event.preventDefault();
    const from = this.order.indexOf(this.active);
    const to = from < 0 ? 0 : clamp(from + step, 0, this.order.length - 1);
    this.#choose(this.order[to]);
    this.reveal(to);
  }

  #span() {
    if (this.order.length <= FEW) return [0, this.order.length];
    const height = this.height();
    const [after, gap] = this.#gap();
    const { scrollTop, clientHeight } = this.frame;
    const at = (y) => (y <= (after + 1) * height ? y : Math.max((after + 1) * height, y - gap)) / height;
    const first = clamp(Math.floor(at(scrollTop)), 0, this.order.length);
    const room = clientHeight - this.list.offsetTop;
    return [first, clamp(Math.ceil(at(scrollTop + room)), first, this.order.length)];
  }

  #render() {
    if (!this.data) return;
    this.frame.classList.toggle("with-items", this.items.areThere);
    const height = this.height();
    const width = this.axis.clientWidth;
    this.tall = this.#measure("--picture");
    const [after, room] = this.#gap();
    this.list.style.height = `${this.order.length * height + room}px`;
    if (room) this.inset.style.top = `${this.list.offsetTop + (after + 1) * height}px`;
    this.x = scale(this.values.low, this.values.high, ARROW + 2, Math.max(40, width - ARROW - 2));
    this.ticks = thinned(this.values.ticks, clamp(Math.floor(width / 70), 2, 8));
    this.#drawAxis(width);
    const [first, last] = this.#span();
    const wanted = new Map();
    for (let i = Math.max(0, first - SPARE); i < Math.min(this.order.length, last + SPARE); i++) {
      wanted.set(this.order[i], i);
    }
    // The active row stays: a screen reader looks it up by its id.
    const place = this.order.indexOf(this.active);
    if (place >= 0) wanted.set(this.active, place);
    for (const [key, row] of this.rows) {
      if (!wanted.has(key)) {
        row.root.remove();
        this.rows.delete(key);
      }
    }
    for (const [key, index] of wanted) {
      this.#fill(this.rows.get(key) ?? this.#make(key), key, index, index * height + (index > after ? room : 0));
    }
    this.items.want([...wanted.keys()].reverse());
    this.#arrange(wanted);
    if (place >= 0) this.list.setAttribute("aria-activedescendant", `arm-${this.active}`);
    else this.list.removeAttribute("aria-activedescendant");
    this.moved(first, last);
  }

  /** The elements stand in the order in which they are seen, also for those who do not see. */
  #arrange(wanted) {
    const sorted = [...wanted].sort((a, b) => a[1] - b[1]).map(([key]) => this.rows.get(key).root);
    if (sorted.some((root, i) => this.list.children[i] !== root)) this.list.append(...sorted);
  }

  #make(key) {
    const row = {
      bands: [draw("rect", { class: "band" }), draw("rect", { class: "band" })],
      // Higher than the row, so that only the sides are seen.
      likely: [draw("rect", { class: "likely-band", y: -2 }), draw("rect", { class: "likely-band", y: -2 })],
      grid: draw("path", { class: "grid" }),
      line: draw("path", { class: "line" }),
      mark: draw("path"),
      lines: [draw("path", { class: "estimate-line" }), draw("path", { class: "estimate-line" })],
      icon: make("span", { class: "icon" }),
      item: make("span", { class: "item-words", dir: "auto" }),
      verdict: make("span", { class: "only-read" }),
      estimate: make("span"),
      ends: make("span"),
      pulls: make("span", { class: "number" }),
      bar: make("span", { class: "bar" }),
      chance: make("span"),
    };
    row.picture = draw("svg", { class: "picture", "aria-hidden": "true" }, ...row.bands, ...row.likely, ...row.lines, row.grid, row.line, row.mark);
    row.arm = make("span", { class: "arm-cell" }, name(this.data.names[key], { class: "arm" }), row.item);
    // What is read out is what is seen, with the words between that columns need no more.
    row.root = make(
      "div",
      { role: "option", id: `arm-${key}`, "data-place": key },
      row.icon,
      row.arm,
      row.verdict,
      row.picture,
      make("span", { class: "estimate number" }, said("mean"), row.estimate),
      make("span", { class: "ends number" }, said("interval"), row.ends),
      make("span", { class: "pulls" }, row.bar, said("pulls"), row.pulls),
      make("span", { class: "chance number" }, said("estimated chance to stand out"), row.chance),
    );
    row.root.title = this.data.names[key].slice(0, 500);
    this.rows.set(key, row);
    this.list.append(row.root);
    return row;
  }

  #fill(row, key, index, top) {
    const { data } = this;
    const kind = data.verdict[key];
    const isActive = key === this.active;
    row.root.style.transform = `translateY(${top}px)`;
    row.root.className = `row ${MARKS[kind].name}${isActive ? " active" : ""}${data.paused.has(data.names[key]) ? " paused" : ""}`;
    row.root.setAttribute("aria-selected", String(isActive));
    row.root.setAttribute("aria-posinset", index + 1);
    row.root.setAttribute("aria-setsize", this.order.length);
    if (row.kind !== kind) {
      row.icon.replaceChildren(mark(kind, data.isLow(key)));
      row.kind = kind;
    }
    say(row.verdict, `, ${verdictWords(data, key)}${data.paused.has(data.names[key]) ? ", paused" : ""}`);
    say(row.estimate, value(data.estimate[key], data.decimals));
    say(row.ends, interval(data.lower[key], data.upper[key], data.decimals).replace("not known yet", "–"));
    say(row.pulls, count(data.pulls[key]));
    say(row.chance, chance(data.chance[key]));
    row.bar.style.width = `${(100 * data.pulls[key]) / this.most}%`;
    this.#fillItem(row, this.items.of(key));
    this.#draw(row, key, kind);
  }

  #fillItem(row, item) {
    if (row.shown === item || item === null) return;
    row.shown = item;
    say(row.item, brief(item));
    if (item.image) row.arm.prepend(thumb(item));
  }

  #draw(row, key, kind) {
    const { data, x } = this;
    const { tall } = this;
    const middle = tall / 2;
    const bands = data.bands();
    const likely = data.likely();
    row.bands.forEach((rect, i) => placeBand(rect, bands[i]?.isKnown ? bands[i] : undefined, x, tall));
    row.likely.forEach((rect, i) => placeBand(rect, likely[i], x, tall + 4));
    row.lines.forEach((path, i) => {
      const at = bands[i]?.estimate;
      const isIn = isKnown(at) && at >= x.low && at <= x.high;
      path.setAttribute("d", isIn ? `M${x(at).toFixed(1)} 0v${tall}` : "");
    });
    row.grid.setAttribute("d", this.ticks.map((tick) => `M${x(tick.value).toFixed(1)} 0v${tall}`).join(""));
    const estimate = data.estimate[key];
    const hasMean = Number.isFinite(estimate);
    row.line.setAttribute("d", hasMean ? line(data.lower[key], data.upper[key], x, middle) : "");
    row.mark.setAttribute("class", markClass(kind));
    const at = x(clamp(hasMean ? estimate : 0, x.low, x.high));
    row.mark.setAttribute("d", hasMean ? markPath(kind, data.isLow(key), at, middle, 5.5) : "");
  }

  #drawAxis(width) {
    const labels = this.ticks.map((tick) => {
      const at = clamp(this.x(tick.value), 14, width - 14);
      return draw("text", { x: at, y: 16, "text-anchor": "middle", text: tick.label });
    });
    const lines = this.ticks.map((tick) => `M${this.x(tick.value)} 21v5`).join("");
    this.axis.replaceChildren(...labels, draw("path", { d: lines, class: "tick" }));
  }
}

/** A word that only a screen reader needs: the head of its column is far. */
const said = (word) => make("span", { class: "only-read", text: `, ${word} ` });

/** Put a rectangle where a threshold's interval lies; nowhere without one. */
function placeBand(rect, band, x, tall) {
  const isShown = band !== undefined && band.upper >= x.low && band.lower <= x.high;
  rect.setAttribute("visibility", isShown ? "visible" : "hidden");
  if (!isShown) return;
  const from = x(clamp(band.lower, x.low, x.high));
  const to = x(clamp(band.upper, x.low, x.high));
  rect.setAttribute("x", from);
  rect.setAttribute("width", Math.max(1.5, to - from));
  rect.setAttribute("height", tall);
}

/** An interval with its ends; an arrow where it goes on beyond the picture. */
function line(lower, upper, x, y) {
  const [cutLow, cutHigh] = [lower < x.low, upper > x.high];
  const from = cutLow ? x.from : x(Math.min(lower, x.high));
  const to = cutHigh ? x.to : x(Math.max(upper, x.low));
  const low = cutLow ? `M${from + ARROW} ${y - 4}L${from} ${y}L${from + ARROW} ${y + 4}` : `M${from} ${y - 4}v8`;
  const high = cutHigh ? `M${to - ARROW} ${y - 4}L${to} ${y}L${to - ARROW} ${y + 4}` : `M${to} ${y - 4}v8`;
  return `${low}${high}M${from} ${y}H${to}`;
}
