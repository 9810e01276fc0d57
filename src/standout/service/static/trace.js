// The threshold's interval and the number of undecided arms over the pulls: two pictures
// with one axis, and a line through both under the pointer.

import { draw, make, perFrame, say } from "./dom.js";
import { count, interval, short } from "./format.js";
import { clamp, countTicks, logTicks, scale, thinned } from "./scale.js";

const LEFT = 52;
const RIGHT = 12;
const TOP = 8;
const BOTTOM = 22;

export class TracePictures {
  constructor(threshold, undecided, words) {
    Object.assign(this, { threshold, undecided, words });
    this.at = null;
    this.render = perFrame(() => this.#render());
    for (const picture of [threshold, undecided]) {
      new ResizeObserver(this.render).observe(picture);
      picture.addEventListener("pointermove", (event) => this.#point(event, picture));
      picture.addEventListener("pointerleave", () => {
        this.at = null;
        this.render();
      });
    }
  }

  show(trace) {
    this.trace = trace;
    this.render();
  }

  #point(event, picture) {
    if (!this.x) return;
    const left = event.clientX - picture.getBoundingClientRect().left;
    let best = 0;
    this.trace.pulls.forEach((pulls, i) => {
      if (Math.abs(this.x(pulls) - left) < Math.abs(this.x(this.trace.pulls[best]) - left)) best = i;
    });
    this.at = best;
    this.render();
  }

  #render() {
    const { trace } = this;
    if (!trace || trace.pulls.length === 0 || !this.threshold.clientWidth) return;
    const width = this.threshold.clientWidth;
    const [first, last] = [trace.pulls[0], trace.pulls[trace.pulls.length - 1]];
    const isLog = last / first > 12;
    this.x = scale(first, last > first ? last : first + 1, LEFT, width - RIGHT, isLog);
    this.#drawThreshold(width, this.threshold.clientHeight);
    this.#drawUndecided(width, this.undecided.clientHeight);
    say(this.words, this.at === null ? "" : this.#sentence(this.at));
  }

  #sentence(i) {
    const { trace } = this;
    const bands = [interval(trace.lower[i], trace.upper[i])];
    if (trace.lower_low[i] !== null) bands.push(interval(trace.lower_low[i], trace.upper_low[i]));
    return `After ${count(trace.pulls[i])} pulls: threshold ${bands.join(" and ")}, ${count(trace.undecided[i])} undecided`;
  }

  #drawThreshold(width, height) {
    const { trace } = this;
    const pairs = [[trace.lower, trace.upper]];
    if (trace.lower_low.some((end) => end !== null)) pairs.push([trace.lower_low, trace.upper_low]);
    const { low, high, ticks } = trace.scale;
    const y = scale(low, high, height - BOTTOM, TOP);
    const parts = this.#frame(width, height, y, thinned(ticks, 5));
    for (const [lower, upper] of pairs) parts.push(...this.#band(lower, upper, y));
    this.threshold.replaceChildren(...parts, ...this.#pointer(height));
  }

  #band(lower, upper, y) {
    const { trace, x } = this;
    const at = (ends, i, unknown) => `${x(trace.pulls[i]).toFixed(1)} ${y(clamp(ends[i] ?? unknown, y.low, y.high)).toFixed(1)}`;
    const all = trace.pulls.map((_, i) => i);
    const above = all.map((i) => at(upper, i, Infinity));
    const below = all.map((i) => at(lower, i, -Infinity));
    return [
      draw("path", { class: "band", d: `M${above.join("L")}L${[...below].reverse().join("L")}Z` }),
      draw("path", { class: "band-edge", d: `M${above.join("L")}M${below.join("L")}` }),
    ];
  }

  #drawUndecided(width, height) {
    const { trace, x } = this;
    const most = Math.max(1, ...trace.undecided);
    const y = scale(0, most, height - BOTTOM, TOP);
    const marks = countTicks(0, most, 3).map((tick) => ({ value: tick, label: short(tick) }));
    const steps = trace.pulls.map((pulls, i) => `${i ? "H" : "M"}${x(pulls).toFixed(1)}${i ? "V" : " "}${y(trace.undecided[i]).toFixed(1)}`);
    const parts = this.#frame(width, height, y, marks);
    const end = trace.pulls.length - 1;
    parts.push(
      draw("path", { class: "undecided-line", d: steps.join("") }),
      draw("circle", { class: "undecided-end", cx: x(trace.pulls[end]), cy: y(trace.undecided[end]), r: 3.5 }),
    );
    this.undecided.replaceChildren(...parts, ...this.#pointer(height));
  }

  #frame(width, height, y, marks) {
    const { x } = this;
    const parts = [];
    for (const tick of marks) {
      const at = y(tick.value);
      parts.push(draw("path", { class: "grid", d: `M${LEFT} ${at}H${width - RIGHT}` }));
      parts.push(draw("text", { x: LEFT - 8, y: at + 4, "text-anchor": "end", text: tick.label }));
    }
    const found = x.isLog ? logTicks(x.low, x.high) : countTicks(x.low, x.high, clamp(Math.floor(width / 110), 2, 6));
    for (const tick of found) {
      const at = x(tick);
      const anchor = at > width - 40 ? "end" : "middle";
      parts.push(draw("path", { class: "grid", d: `M${at} ${TOP}V${height - BOTTOM}` }));
      parts.push(draw("text", { x: at, y: height - 6, "text-anchor": anchor, text: short(tick) }));
    }
    return parts;
  }

  #pointer(height) {
    if (this.at === null) return [];
    return [draw("path", { class: "pointer", d: `M${this.x(this.trace.pulls[this.at])} ${TOP}V${height - BOTTOM}` })];
  }
}

/** The same as a table. */
export function traceTable(trace) {
  const hasLow = trace.lower_low.some((end) => end !== null);
  const titles = ["Pulls", hasLow ? "High threshold" : "Threshold", ...(hasLow ? ["Low threshold"] : []), "Undecided"];
  const head = make("tr", {}, ...titles.map((text) => make("th", { scope: "col", text })));
  const rows = trace.pulls.map((pulls, i) => {
    const cells = [count(pulls), interval(trace.lower[i], trace.upper[i])];
    if (hasLow) cells.push(interval(trace.lower_low[i], trace.upper_low[i]));
    cells.push(count(trace.undecided[i]));
    return make("tr", {}, ...cells.map((text) => make("td", { class: "number", text })));
  });
  return make("table", {}, make("thead", {}, head), make("tbody", {}, ...rows));
}
