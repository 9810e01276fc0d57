// One shape and one word per verdict, so that nothing hangs on colour alone.

import { draw } from "./dom.js";
import { KINDS, NORMAL, OUTLIER } from "./data.js";
import { count, decimalsFor, interval, isKnown, plural, value } from "./format.js";

/** The outline of a verdict's mark around (x, y): a triangle, a disc or a diamond. */
export function markPath(kind, isLow, x, y, size) {
  if (kind === OUTLIER) {
    const tip = isLow ? size : -size;
    return `M${x} ${y + tip}L${x + size} ${y - tip * 0.75}H${x - size}Z`;
  }
  if (kind === NORMAL) {
    const r = size * 0.72;
    return `M${x - r} ${y}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0Z`;
  }
  return `M${x} ${y - size}L${x + size} ${y}L${x} ${y + size}L${x - size} ${y}Z`;
}

/** A mark on its own, in the colour of its verdict. */
export function mark(kind, isLow = false) {
  const shape = draw("path", { d: markPath(kind, isLow, 8, 8, 5.5), class: `mark ${KINDS[kind]}` });
  return draw("svg", { viewBox: "0 0 16 16", class: "mark-icon", "aria-hidden": "true" }, shape);
}

/** What is known of an arm, in words. */
export function verdictWords(data, place) {
  const kind = data.verdict[place];
  if (kind === OUTLIER) {
    return data.head.problem.side === "both" ? (data.isLow(place) ? "low outlier" : "high outlier") : "outlier";
  }
  return KINDS[kind];
}

/** An arm in one sentence, for those who do not see the picture. */
export function armWords(data, place) {
  const parts = [
    data.names[place],
    verdictWords(data, place),
    isKnown(data.estimate[place]) ? `mean ${value(data.estimate[place])}` : "no rewards yet",
    `interval ${interval(data.lower[place], data.upper[place])}`,
    plural(data.pulls[place], "pull"),
  ];
  if (data.paused.has(data.names[place])) parts.push("paused");
  return parts.join(", ");
}

/** All that is known of an arm, as pairs of a term and its value. */
export function armFacts(data, place) {
  const name = data.names[place];
  const span = data.upper[place] - data.lower[place];
  const places = Number.isFinite(span) ? decimalsFor(span) : null;
  const facts = [
    ["Verdict", verdictWords(data, place)],
    ["Mean", value(data.estimate[place], isKnown(data.estimate[place]) ? places : null)],
    ["Interval", interval(data.lower[place], data.upper[place])],
    ["Pulls", count(data.pulls[place])],
  ];
  if (data.pending[place]) facts.push(["Pending", count(data.pending[place])]);
  if (data.failures.has(name)) facts.push(["Failures", count(data.failures.get(name))]);
  if (data.paused.has(name)) facts.push(["Paused", data.paused.get(name)]);
  return facts;
}
