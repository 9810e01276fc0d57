// One arm in full: what it shows, its interval over its pulls, who measured it. Beside the
// arms on a wide screen, below its row on a narrow one.

import { get, studyPath } from "./api.js";
import { draw, find, make, name, perFrame, say, seldom, shown, table } from "./dom.js";
import { count, interval, isKnown, plural, time, value } from "./format.js";
import { itemParts } from "./items.js";
import { MARKS } from "./marks.js";
import { area, BOTTOM, LEFT, plotFrame, pullScale, RIGHT, TOP } from "./plot.js";
import { clamp, scale, thinned } from "./scale.js";
import { armFacts, mark, verdictWords } from "./verdicts.js";

const NUMBERS = ["Rewards", "Mean", "Pulls", "Reward", "Interval"];
const FAILED = "The picture could not be loaded.";

export class Sheet {
  constructor(study, data, items, closed) {
    Object.assign(this, { study, data, items, place: null, history: null });
    this.root = find("chosen");
    /** Set for an owner. */
    this.controls = null;
    find("chosen-close").addEventListener("click", closed);
    find("chosen-pause").addEventListener("click", () => this.controls.pause(data.names[this.place]));
    this.root.addEventListener("keydown", (event) => {
      if (event.key === "Escape") closed();
    });
    this.fetch = seldom(1500, () => this.#fetch());
    this.draw = perFrame(() => this.#draw());
    new ResizeObserver(this.draw).observe(find("chosen-picture"));
    find("chosen-table").addEventListener("toggle", () => this.#showTable());
  }

  get isOpen() {
    return !this.root.hidden;
  }

  /** Show this arm. */
  open(place) {
    const isNew = place !== this.place;
    this.place = place;
    this.root.hidden = false;
    if (isNew) {
      this.history = null;
      this.shown = null;
      find("chosen-item").replaceChildren();
      find("chosen-more").hidden = true;
      this.root.scrollTop = 0;
    }
    this.items.want([place]);
    this.update();
  }

  close() {
    this.root.hidden = true;
    this.place = null;
  }

  /** The same arm, with what has changed. */
  update() {
    const { data, place } = this;
    if (place === null) return;
    const kind = `${data.verdict[place]} ${data.isLow(place)}`;
    if (find("chosen-mark").dataset.kind !== kind) {
      find("chosen-mark").dataset.kind = kind;
      find("chosen-mark").replaceChildren(mark(data.verdict[place], data.isLow(place)));
    }
    find("chosen-name").replaceChildren(name(data.names[place]));
    find("chosen-pause").hidden = this.controls === null || data.head.stopped;
    say(find("chosen-pause"), data.paused.has(data.names[place]) ? "Resume" : "Pause");
    find("chosen-facts").replaceChildren(...factPairs(data, place, 200));
    this.#showItem();
    if (this.history?.position !== place || this.seen !== data.pulls[place]) {
      this.seen = data.pulls[place];
      this.fetch();
    }
    this.draw();
  }

  #showItem() {
    const item = this.items.of(this.place);
    if (item === this.shown) return;
    this.shown = item;
    find("chosen-item").replaceChildren(...(item === null ? [] : itemParts(item, FAILED)));
  }

  async #fetch() {
    const { place } = this;
    if (place === null || this.data.pulls[place] === 0) return;
    const found = await get(studyPath(this.study, `/arm?position=${place}`)).catch(() => null);
    if (found === null || place !== this.place) return;
    this.history = found;
    find("chosen-more").hidden = found.pulls.length === 0;
    this.#showWorkers(found);
    this.#showLatest(found);
    this.#showTable();
    this.draw();
  }

  #showWorkers(found) {
    const rest = found.n_workers - found.workers.length;
    say(find("chosen-workers-title"), `Measured by ${plural(found.n_workers, "worker")}`);
    const rows = found.workers.map((one) => [name(one.worker), count(one.rewards), value(one.mean, this.data.decimals)]);
    const note = rest > 0 ? make("p", { class: "small muted", text: `and ${plural(rest, "other")} with fewer` }) : null;
    find("chosen-workers").replaceChildren(table(["Who", "Rewards", "Mean"], rows, NUMBERS), ...(note ? [note] : []));
  }

  #showLatest(found) {
    const rows = found.latest.map((one) => [
      time(one.time),
      make("span", {}, value(one.reward), one.counted ? null : make("span", { class: "muted", text: " (not counted)" })),
      make("span", {}, name(one.worker), this.#voidButton(one)),
    ]);
    find("chosen-latest").replaceChildren(table(["When", "Reward", "Who"], rows, NUMBERS));
  }

  #voidButton(reward) {
    if (this.controls === null || !reward.counted) return null;
    return make("button", { type: "button", class: "plain small", text: "Void", "aria-label": `Void the reward ${value(reward.reward)} of ${time(reward.time)}`, onclick: () => this.controls.void(reward) });
  }

  #showTable() {
    const { history } = this;
    if (!find("chosen-table").open || history === null) return;
    const rows = history.pulls.map((pulls, i) => [count(pulls), value(history.mean[i]), interval(history.lower[i], history.upper[i])]);
    find("chosen-moments").replaceChildren(table(["Pulls", "Mean", "Interval"], rows, NUMBERS));
  }

  #draw() {
    const picture = find("chosen-picture");
    const { history, data, place } = this;
    const [width, height] = [picture.clientWidth, picture.clientHeight];
    if (history === null || history.position !== place || !width || history.pulls.length === 0) return;
    const x = pullScale(history.pulls, width);
    const { low, high, ticks } = history.scale;
    const y = scale(low, high, height - BOTTOM, TOP);
    const kind = MARKS[data.verdict[place]].name;
    const means = history.pulls.map((pulls, i) => `${x(pulls).toFixed(1)} ${y(clamp(history.mean[i], low, high)).toFixed(1)}`);
    picture.replaceChildren(
      ...data.bands().flatMap((band) => this.#band(band, width, y)),
      ...plotFrame(width, height, x, y, thinned(ticks, 5)),
      ...area(history.pulls, history.lower, history.upper, x, y, [`area ${kind}`, `area-edge ${kind}`]),
      draw("path", { class: `mean-line ${kind}`, d: `M${means.join("L")}` }),
    );
    say(find("chosen-words"), `After ${plural(data.pulls[place], "pull")}: ${verdictWords(data, place)}, interval ${interval(data.lower[place], data.upper[place])}`);
  }

  #band(band, width, y) {
    if (!band.isKnown || band.upper < y.low || band.lower > y.high) return [];
    const top = y(clamp(band.upper, y.low, y.high));
    const low = y(clamp(band.lower, y.low, y.high));
    const parts = [draw("rect", { class: "band", x: LEFT, y: top, width: width - LEFT - RIGHT, height: Math.max(1.5, low - top) })];
    if (isKnown(band.estimate) && band.estimate > y.low && band.estimate < y.high) {
      parts.push(draw("path", { class: "estimate-line", d: `M${LEFT} ${y(band.estimate)}H${width - RIGHT}` }));
    }
    return parts;
  }
}

/** What is known of an arm as terms and their values. */
export function factPairs(data, place, most) {
  return armFacts(data, place).flatMap(([term, text]) => [make("dt", { text: term }), make("dd", { text: shown(text, most) })]);
}
