// The arms as a plain table, page by page: what the picture shows, in words. Any column sorts.

import { make, name, say, wide } from "./dom.js";
import { chance, count, value } from "./format.js";
import { brief, thumb } from "./items.js";
import { mark, verdictWords } from "./verdicts.js";

const PAGE = 50;
/** Title, what it sorts by, whether it holds numbers, whether its first order is upwards. */
const COLUMNS = [
  ["Arm", "name", false, true],
  ["Verdict", "verdict", false, true],
  ["Mean", "mean", true, false],
  ["Lower end", "lower", true, false],
  ["Upper end", "upper", true, false],
  ["Pulls", "pulls", true, false],
  ["Chance (estimate)", "chance", true, false],
];

export class ArmTable {
  constructor(root, items, { chosen, sorted }) {
    Object.assign(this, { root, items, chosen, page: 0, order: [], rows: new Map(), inset: null });
    this.heads = COLUMNS.map(([title, key, isNumber]) => {
      const button = make("button", { type: "button", class: "sorter", onclick: () => sorted(key) }, title, make("span", { class: "arrow", "aria-hidden": "true" }));
      return make("th", { scope: "col", class: isNumber ? "right whole" : "whole" }, button);
    });
    this.body = make("tbody");
    // A row of its own for what is opened below an arm.
    this.room = make("td", { colspan: COLUMNS.length });
    this.insetRow = make("tr", { class: "inset" }, this.room);
    const table = make(
      "table",
      { class: "arms-table" },
      make("caption", { class: "only-read", text: "Arms with their intervals; the heads of the columns sort" }),
      make("thead", {}, make("tr", {}, ...this.heads)),
      this.body,
    );
    this.back = make("button", { type: "button", id: "page-back", text: "Back", onclick: () => this.#turn(-1) });
    this.on = make("button", { type: "button", id: "page-on", text: "Next", onclick: () => this.#turn(1) });
    this.where = make("span", { class: "number", role: "status" });
    root.append(
      wide("Table of arms", table),
      make("p", { class: "pager" }, this.back, this.where, this.on),
    );
  }

  show(data, order, sort, isReversed) {
    Object.assign(this, { data, order, sort, isReversed });
    this.render();
  }

  /** Open something in a row below the active one (null for nothing). */
  open(inset) {
    this.inset = inset;
    this.render();
  }

  /** Turn to the page with this arm. */
  turnTo(place) {
    const index = this.order.indexOf(place);
    this.active = place;
    if (index < 0) return;
    this.page = Math.floor(index / PAGE);
    this.render();
    if (!this.root.hidden) this.rows.get(place)?.root.scrollIntoView({ block: "nearest" });
  }

  #turn(step) {
    this.page += step;
    this.render();
    const [pressed, other] = step > 0 ? [this.on, this.back] : [this.back, this.on];
    (pressed.disabled ? other : pressed).focus();
  }

  render() {
    if (this.root.hidden || !this.data) return;
    const pages = Math.max(1, Math.ceil(this.order.length / PAGE));
    this.page = Math.min(this.page, pages - 1);
    const shown = this.order.slice(this.page * PAGE, (this.page + 1) * PAGE);
    this.#showHeads();
    const isShown = new Set(shown);
    for (const [place, row] of this.rows) {
      if (isShown.has(place)) continue;
      row.root.remove();
      this.rows.delete(place);
    }
    for (const place of shown) this.#fill(this.rows.get(place) ?? this.#make(place), place);
    this.#arrange(shown);
    this.items.want([...shown].reverse());
    this.back.disabled = this.page === 0;
    this.on.disabled = this.page >= pages - 1;
    say(this.where, `Page ${this.page + 1} of ${count(pages)}`);
  }

  /** Rows keep their elements, so that the reader keeps the place. */
  #arrange(shown) {
    const wanted = shown.map((place) => this.rows.get(place).root);
    const at = this.inset === null ? -1 : shown.indexOf(this.active);
    if (at >= 0) {
      if (this.inset.parentElement !== this.room) this.room.append(this.inset);
      wanted.splice(at + 1, 0, this.insetRow);
    } else {
      this.insetRow.remove();
    }
    if (wanted.some((root, i) => this.body.children[i] !== root)) this.body.append(...wanted);
  }

  #showHeads() {
    COLUMNS.forEach(([, key, , isUp], i) => {
      const isSorted = key === this.sort;
      // Where low means are asked for, they come first.
      const isFirstUp = isUp || (key === "mean" && this.data.head.problem.side === "low");
      const isAscending = isFirstUp !== this.isReversed;
      if (isSorted) this.heads[i].setAttribute("aria-sort", isAscending ? "ascending" : "descending");
      else this.heads[i].removeAttribute("aria-sort");
      say(this.heads[i].querySelector(".arrow"), isSorted ? (isAscending ? "▴" : "▾") : "");
    });
  }

  #make(place) {
    const open = make("button", { type: "button", class: "link" }, name(this.data.names[place]));
    open.addEventListener("click", () => this.chosen(place));
    const row = { shown: null, picture: make("span"), item: make("span", { class: "item-words", dir: "auto" }), mark: make("span"), words: make("span") };
    row.numbers = COLUMNS.filter(([, , isNumber]) => isNumber).map(([, key]) => make("td", { class: `number right of-${key}` }));
    row.root = make("tr", {}, make("th", { scope: "row" }, row.picture, open, row.item), make("td", { class: "whole" }, row.mark, " ", row.words), ...row.numbers);
    this.rows.set(place, row);
    return row;
  }

  #fill(row, place) {
    const { data } = this;
    const kind = `${data.verdict[place]} ${data.isLow(place)}`;
    row.root.className = place === this.active ? "active" : "";
    if (row.kind !== kind) {
      row.mark.replaceChildren(mark(data.verdict[place], data.isLow(place)));
      row.kind = kind;
    }
    say(row.words, verdictWords(data, place) + (data.paused.has(data.names[place]) ? ", paused" : ""));
    const item = this.items.of(place);
    if (item !== row.shown) {
      row.shown = item;
      say(row.item, brief(item));
      if (item?.image) row.picture.replaceChildren(thumb(item), " ");
    }
    const numbers = [
      value(data.estimate[place], data.decimals),
      value(data.lower[place], data.decimals),
      value(data.upper[place], data.decimals),
      count(data.pulls[place]),
      chance(data.chance[place]),
    ];
    numbers.forEach((text, i) => say(row.numbers[i], text));
  }
}
