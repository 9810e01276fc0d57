// The arms as a plain table, page by page: what the picture shows, in words.

import { make, name } from "./dom.js";
import { chance, count, interval, value } from "./format.js";
import { mark, verdictWords } from "./verdicts.js";

const PAGE = 50;

export class ArmTable {
  constructor(root) {
    this.root = root;
    this.page = 0;
    this.order = [];
  }

  show(data, order) {
    Object.assign(this, { data, order });
    this.render();
  }

  /** Turn to the page with this arm. */
  turnTo(place) {
    const index = this.order.indexOf(place);
    if (index < 0) return;
    this.active = place;
    this.page = Math.floor(index / PAGE);
    this.render();
    this.root.querySelector("tr.active")?.scrollIntoView({ block: "center" });
  }

  render() {
    if (this.root.hidden || !this.data) return;
    const pages = Math.max(1, Math.ceil(this.order.length / PAGE));
    this.page = Math.min(this.page, pages - 1);
    const shown = this.order.slice(this.page * PAGE, (this.page + 1) * PAGE);
    const titles = ["Arm", "Verdict", "Mean", "Interval", "Pulls", "Chance (estimate)"];
    const head = make("tr", {}, ...titles.map((text) => make("th", { scope: "col", text })));
    const table = make(
      "table",
      { class: "arms-table" },
      make("caption", { class: "only-read", text: "Arms with their intervals" }),
      make("thead", {}, head),
      make("tbody", {}, ...shown.map((place) => this.#row(place))),
    );
    const frame = make("div", { class: "wide", tabindex: 0, role: "region", "aria-label": "Table of arms" }, table);
    this.root.replaceChildren(frame, this.#pager(pages));
  }

  #row(place) {
    const { data } = this;
    const kind = data.verdict[place];
    return make(
      "tr",
      { class: place === this.active ? "active" : null },
      make("th", { scope: "row" }, name(data.names[place])),
      make("td", {}, mark(kind, data.isLow(place)), " ", verdictWords(data, place)),
      make("td", { class: "number", text: value(data.estimate[place]) }),
      make("td", { class: "number", text: interval(data.lower[place], data.upper[place]) }),
      make("td", { class: "number", text: count(data.pulls[place]) }),
      make("td", { class: "number chance", text: chance(data.chance[place]) }),
    );
  }

  #pager(pages) {
    const turn = (step, id) => () => {
      this.page += step;
      this.render();
      // The buttons were made anew: stay where the reader was.
      const again = this.root.querySelector(`#${id}`);
      (again.disabled ? this.root.querySelector("button:enabled") : again)?.focus();
    };
    const button = (id, text, step, isOff) =>
      make("button", { type: "button", id, text, disabled: isOff, onclick: turn(step, id) });
    return make(
      "p",
      { class: "pager" },
      button("page-back", "Back", -1, this.page === 0),
      make("span", { class: "number", role: "status", text: `Page ${this.page + 1} of ${count(pages)}` }),
      button("page-on", "Next", 1, this.page >= pages - 1),
    );
  }
}
