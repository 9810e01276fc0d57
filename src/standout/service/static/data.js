// What the page knows of a study: columns with one entry per arm, as the server sent them.
// Nothing statistical is worked out here; intervals and verdicts are the stopping rule's own.

import { decimalsOf } from "./format.js";
import { NORMAL, OUTLIER, UNDECIDED } from "./marks.js";

const FLOATS = { estimate: NaN, lower: -Infinity, upper: Infinity };
const WHOLES = ["pulls", "pending", "verdict"];

const names = new Intl.Collator("en", { numeric: true });

export class StudyData {
  constructor() {
    this.size = 0;
    this.head = null;
    this.names = [];
    this.failures = new Map();
    this.paused = new Map();
    /** Null until they are known, undefined if they cannot be. */
    this.chances = null;
  }

  get seq() {
    return this.head === null ? null : this.head.seq;
  }

  /** Take in a whole view, or the arms that changed. False when the parts do not fit together. */
  apply(view) {
    if (view.full) this.#begin(view);
    const places = view.full ? null : view.positions;
    for (const [key, unknown] of Object.entries(FLOATS)) this.#put(key, view[key], places, unknown);
    for (const key of WHOLES) this.#put(key, view[key], places, 0);
    this.head = view;
    this.failures = new Map(Object.entries(view.failures));
    this.paused = new Map(Object.entries(view.paused));
    this.decimals = decimalsOf(this.upper.map((end, i) => end - this.lower[i]));
    return this.#agrees(view.counts);
  }

  #begin(view) {
    this.size = view.names.length;
    this.names = view.names;
    this.searched = null;
    for (const key of Object.keys(FLOATS)) this[key] = new Float64Array(this.size);
    this.pulls = new Float64Array(this.size);
    this.pending = new Float64Array(this.size);
    if (this.chance?.length !== this.size) {
      this.chance = new Float64Array(this.size).fill(NaN);
      this.chances = null;
    }
    this.verdict = new Uint8Array(this.size);
  }

  #put(key, values, places, unknown) {
    const column = this[key];
    for (let i = 0; i < values.length; i++) column[places === null ? i : places[i]] = values[i] ?? unknown;
  }

  /** Take in estimates: the chance of each arm to stand out. They never touch a verdict. */
  takeChances(found) {
    if (found.arms.length !== this.size) return;
    this.chances = found;
    this.chance = Float64Array.from(found.chance);
  }

  /** The undecided arms with the highest chances; none while nothing is measured. */
  leaders(most) {
    if (!this.chances?.pulls) return [];
    return this.order("chance", UNDECIDED).slice(0, most);
  }

  #agrees(counts) {
    const found = [0, 0, 0];
    for (const verdict of this.verdict) found[verdict]++;
    return (
      found[OUTLIER] === counts.outliers &&
      found[NORMAL] === counts.normal &&
      found[UNDECIDED] === counts.undecided
    );
  }

  /** The thresholds: one, or the high and the low one when both sides are asked. */
  get thresholds() {
    return [this.head.threshold, this.head.threshold_low].filter(Boolean);
  }

  /** Their intervals, with an infinite end where none is known. */
  bands() {
    return this.thresholds.map((band) => ({
      lower: band.lower ?? -Infinity,
      upper: band.upper ?? Infinity,
      isKnown: band.lower !== null || band.upper !== null,
      estimate: band.estimate ?? NaN,
    }));
  }

  /** Where the thresholds probably lie, while some arm is undecided: estimates. */
  likely() {
    const found = this.chances;
    if (!found?.pulls || this.head.counts.undecided === 0) return [];
    return [found.likely_threshold, found.likely_threshold_low].filter((one) => one && one.lower !== null && one.upper !== null);
  }

  /** Whether an outlier is one for being low. */
  isLow(place) {
    const side = this.head.problem.side;
    return side === "low" || (side === "both" && this.estimate[place] < this.head.median);
  }

  /** How far a decided arm's interval reaches into the threshold's that it was decided against. */
  overlap(place) {
    const kind = this.verdict[place];
    const [high, second] = this.bands();
    const low = this.head.problem.side === "low" ? high : second;
    const isOutlier = kind === OUTLIER;
    const reaches = [];
    if (high !== low && !(isOutlier && this.isLow(place))) reaches.push(isOutlier ? high.upper - this.lower[place] : this.upper[place] - high.lower);
    if (low && !(isOutlier && !this.isLow(place))) reaches.push(isOutlier ? this.upper[place] - low.lower : low.upper - this.lower[place]);
    return kind === UNDECIDED ? 0 : Math.max(0, ...reaches);
  }

  /** The positions of the arms of one kind (or all, for null), sorted; the other way round if reversed. */
  order(sort, kind, isReversed = false) {
    const places = [];
    for (let i = 0; i < this.size; i++) if (kind === null || this.verdict[i] === kind) places.push(i);
    const down = (column) => (a, b) => column[b] - column[a] || a - b;
    const sign = this.head.problem.side === "low" ? -1 : 1;
    // Arms without a reward come last.
    const means = this.estimate.map((mean) => (Number.isNaN(mean) ? -Number.MAX_VALUE : sign * mean));
    const mean = down(means);
    const group = [0, 2, 1];
    const rank = [1, 2, 0];
    const by = {
      mean,
      undecided: (a, b) => group[this.verdict[a]] - group[this.verdict[b]] || mean(a, b),
      chance: (a, b) => (this.chance[b] || 0) - (this.chance[a] || 0) || mean(a, b),
      verdict: (a, b) => rank[this.verdict[a]] - rank[this.verdict[b]] || mean(a, b),
      lower: down(this.lower),
      upper: down(this.upper),
      pulls: down(this.pulls),
      name: (a, b) => names.compare(this.names[a], this.names[b]),
      given: null,
    }[sort];
    if (by) places.sort(by);
    return isReversed ? places.reverse() : places;
  }

  /** Positions whose names contain the text, those that begin with it first. */
  search(text, most) {
    const wanted = text.trim().toLowerCase();
    if (!wanted) return [];
    this.searched ??= this.names.map((one) => one.toLowerCase());
    const begins = [];
    const contains = [];
    for (let i = 0; i < this.size && begins.length < most; i++) {
      const at = this.searched[i].indexOf(wanted);
      if (at === 0) begins.push(i);
      else if (at > 0 && contains.length < most) contains.push(i);
    }
    return [...begins, ...contains].slice(0, most);
  }
}
