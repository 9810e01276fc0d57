// An arm on the page: its mark, its verdict and all that is known of it, in words.

import { draw } from "./dom.js";
import { chance, count, decimalsFor, interval, isKnown, plural, value } from "./format.js";
import { MARKS, OUTLIER } from "./marks.js";

/** The outline of a verdict's mark around (x, y); an outlier for being low stands upside down. */
export function markPath(kind, isLow, x, y, size) {
  const { corners, radius } = MARKS[kind];
  if (corners.length === 0) {
    const r = radius * size;
    return `M${x - r} ${y}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0Z`;
  }
  const turn = isLow && kind === OUTLIER ? -1 : 1;
  return `M${corners.map(([a, b]) => `${x + a * size} ${y + turn * b * size}`).join("L")}Z`;
}

/** How a mark is drawn: in its colour, filled or as an outline. */
export const markClass = (kind) => `mark ${MARKS[kind].name}${MARKS[kind].isOpen ? " open" : ""}`;

/** A mark on its own, in the colour of its verdict. */
export function mark(kind, isLow = false) {
  const shape = draw("path", { d: markPath(kind, isLow, 8, 8, 5.5), class: markClass(kind) });
  return draw("svg", { viewBox: "0 0 16 16", class: "mark-icon", "aria-hidden": "true" }, shape);
}

/** What is known of an arm, in words. */
export function verdictWords(data, place) {
  const kind = data.verdict[place];
  if (kind === OUTLIER) {
    return data.head.problem.side === "both" ? `${data.isLow(place) ? "low" : "high"} ${MARKS[kind].name}` : MARKS[kind].name;
  }
  return MARKS[kind].name;
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
  if (isKnown(data.chance[place])) parts.push(`estimated chance to stand out ${chance(data.chance[place])}`);
  if (data.paused.has(data.names[place])) parts.push("paused");
  return parts.join(", ");
}

/** Why an arm is decided though its interval reaches into the threshold's; null if it does not. */
export function overlapWords(data, place) {
  const { tolerance } = data.head.problem;
  const reach = data.overlap(place);
  if (!(reach > 0)) return null;
  return reach <= tolerance * (1 + 1e-9)
    ? `Its interval reaches into the threshold’s by less than the tolerance of ${tolerance}.`
    : "Its interval alone still reaches into the threshold’s; the rewards of all arms together rule out the other verdict.";
}

/** All that is known of an arm, as pairs of a term and its value. */
export function armFacts(data, place) {
  const name = data.names[place];
  const span = data.upper[place] - data.lower[place];
  const places = Number.isFinite(span) ? decimalsFor(span) : null;
  const why = overlapWords(data, place);
  const facts = [
    ["Verdict", verdictWords(data, place)],
    ...(why ? [["Decided", why]] : []),
    ["Mean", value(data.estimate[place], isKnown(data.estimate[place]) ? places : null)],
    ["Interval", interval(data.lower[place], data.upper[place])],
    ["Pulls", count(data.pulls[place])],
  ];
  if (isKnown(data.chance[place])) facts.push(["Chance (estimate)", chance(data.chance[place])]);
  if (data.pending[place]) facts.push(["Pending", count(data.pending[place])]);
  if (data.failures.has(name)) facts.push(["Failures", count(data.failures.get(name))]);
  if (data.paused.has(name)) facts.push(["Paused", data.paused.get(name)]);
  return facts;
}
