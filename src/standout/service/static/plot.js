// The frame of a picture over pulls: grid, labels, and the axis below.

import { draw } from "./dom.js";
import { short } from "./format.js";
import { clamp, countTicks, logTicks, scale } from "./scale.js";

export const LEFT = 52;
export const RIGHT = 12;
export const TOP = 8;
export const BOTTOM = 22;

/** From pulls to pixels; in magnitudes where they grow by many. */
export function pullScale(pulls, width) {
  const [first, last] = [pulls[0], pulls[pulls.length - 1]];
  return scale(first, last > first ? last : first + 1, LEFT, width - RIGHT, last / first > 12);
}

/** Lines and labels of both axes; `marks` are the ticks of `y` as pairs of value and label. */
export function plotFrame(width, height, x, y, marks) {
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

/** The area between two lines over the same pulls, and its edges; ends that are not known lie far out. */
export function area(pulls, lower, upper, x, y, classes) {
  const at = (ends, i, unknown) => `${x(pulls[i]).toFixed(1)} ${y(clamp(ends[i] ?? unknown, y.low, y.high)).toFixed(1)}`;
  const all = Array.from(pulls, (_, i) => i);
  const above = all.map((i) => at(upper, i, Infinity));
  const below = all.map((i) => at(lower, i, -Infinity));
  return [
    draw("path", { class: classes[0], d: `M${above.join("L")}L${[...below].reverse().join("L")}Z` }),
    draw("path", { class: classes[1], d: `M${above.join("L")}M${below.join("L")}` }),
  ];
}
