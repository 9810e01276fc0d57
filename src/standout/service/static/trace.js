// The threshold's interval and the number of undecided arms over the pulls: two pictures
// with one axis, and a line through both under the pointer.

import { draw, perFrame, say, table } from "./dom.js";
import { count, interval, short } from "./format.js";
import { area, BOTTOM, plotFrame, pullScale, TOP } from "./plot.js";
import { countTicks, scale, thinned } from "./scale.js";

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
    this.x = pullScale(trace.pulls, width);
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
    const parts = plotFrame(width, height, this.x, y, thinned(ticks, 5));
    for (const [lower, upper] of pairs) parts.push(...area(trace.pulls, lower, upper, this.x, y, ["band", "band-edge"]));
    this.threshold.replaceChildren(...parts, ...this.#pointer(height));
  }

  #drawUndecided(width, height) {
    const { trace, x } = this;
    const most = Math.max(1, ...trace.undecided);
    const y = scale(0, most, height - BOTTOM, TOP);
    const marks = countTicks(0, most, 3).map((tick) => ({ value: tick, label: short(tick) }));
    const steps = trace.pulls.map((pulls, i) => `${i ? "H" : "M"}${x(pulls).toFixed(1)}${i ? "V" : " "}${y(trace.undecided[i]).toFixed(1)}`);
    const parts = plotFrame(width, height, x, y, marks);
    const end = trace.pulls.length - 1;
    parts.push(
      draw("path", { class: "undecided-line", d: steps.join("") }),
      draw("circle", { class: "undecided-end", cx: x(trace.pulls[end]), cy: y(trace.undecided[end]), r: 3.5 }),
    );
    this.undecided.replaceChildren(...parts, ...this.#pointer(height));
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
  const rows = trace.pulls.map((pulls, i) => [
    count(pulls),
    interval(trace.lower[i], trace.upper[i]),
    ...(hasLow ? [interval(trace.lower_low[i], trace.upper_low[i])] : []),
    count(trace.undecided[i]),
  ]);
  return table(titles, rows, titles);
}
