// The arms of a study: overview, rows and table in one order, with search and filters.

import { find, make, name, say, shown } from "./dom.js";
import { count } from "./format.js";
import { MARKS, NORMAL, OUTLIER, UNDECIDED } from "./marks.js";
import { Overview } from "./overview.js";
import { FEW, Rows } from "./rows.js";
import { steady } from "./scale.js";
import { searchBox } from "./search.js";
import { ArmTable } from "./table.js";
import { armFacts, mark } from "./verdicts.js";

function factList(data, place, most) {
  const facts = armFacts(data, place);
  return make("dl", {}, ...facts.flatMap(([term, text]) => [make("dt", { text: term }), make("dd", { text: shown(text, most) })]));
}

export class Arms {
  constructor(data) {
    this.data = data;
    this.kind = null;
    this.sort = "mean";
    this.scale = null;
    this.order = [];
    this.overview = new Overview(find("overview"), {
      chosen: (place) => this.choose(place, "list"),
      hovered: (place, event) => this.#showTip(place, event),
    });
    this.rows = new Rows(find("frame"), find("rows"), find("axis"), {
      chosen: (place) => this.choose(place, null),
      moved: (first, last) => this.overview.follow(first, last),
    });
    this.table = new ArmTable(find("table"));
    this.#setUp();
  }

  show() {
    const { data, rows } = this;
    this.scale = steady(this.scale, data.head.scale);
    // Rows do not change places under someone's pointer.
    const key = `${this.sort} ${this.kind} ${data.size}`;
    if (!rows.isHeld || key !== this.key) this.order = data.order(this.sort, this.kind);
    this.key = key;
    find("overview").hidden = data.size <= FEW;
    find("frame").classList.toggle("tall", data.size > FEW);
    for (const part of [this.overview, rows, this.table]) part.show(data, this.order, this.scale);
    const none = find("no-arms");
    none.hidden = this.order.length > 0;
    say(none, this.kind === null ? "" : `No arm is ${this.kind === OUTLIER ? "an outlier" : MARKS[this.kind].name} at the moment.`);
    this.#showChips();
    if (rows.active !== null) this.#showChosen(rows.active);
  }

  /** Make an arm the chosen one; bring it into sight in its list, or on the page. */
  choose(place, scroll = "page") {
    if (place < 0) return;
    if (!this.order.includes(place)) {
      this.kind = null;
      this.show();
    }
    this.rows.active = place;
    if (scroll === "page") find("frame").scrollIntoView({ block: "nearest" });
    if (scroll) this.rows.reveal(this.order.indexOf(place));
    this.rows.render();
    this.overview.choose(place);
    this.table.turnTo(place);
    this.#showChosen(place);
  }

  #unchoose() {
    this.rows.active = null;
    this.overview.active = null;
    find("chosen").hidden = true;
    this.rows.render();
    this.overview.render();
    find("rows").focus();
  }

  #showChosen(place) {
    const { data } = this;
    const close = make("button", { type: "button", class: "plain", text: "Close", onclick: () => this.#unchoose() });
    const title = make("h3", {}, mark(data.verdict[place], data.isLow(place)), name(data.names[place]));
    const room = find("chosen");
    // An update must not take the button from under a finger, or from the keyboard.
    if (room.contains(document.activeElement)) room.querySelector("dl").replaceWith(factList(data, place, 200));
    else room.replaceChildren(title, factList(data, place, 200), close);
    room.hidden = false;
  }

  #showTip(place, event) {
    const tip = find("tip");
    tip.hidden = place === null;
    if (place === null) return;
    tip.replaceChildren(name(this.data.names[place], { class: "tip-name" }), factList(this.data, place, 80));
    const room = document.documentElement.clientWidth;
    const isRight = event.clientX + 16 + tip.offsetWidth > room;
    tip.style.left = `${Math.max(4, isRight ? event.clientX - tip.offsetWidth - 12 : event.clientX + 16)}px`;
    tip.style.top = `${Math.min(event.clientY + 12, window.innerHeight - tip.offsetHeight - 8)}px`;
  }

  #showChips() {
    const { counts } = this.data.head;
    const numbers = [counts.arms, counts.outliers, counts.undecided, counts.normal];
    [...find("kinds").children].forEach((chip, i) => {
      chip.setAttribute("aria-pressed", String(chip.dataset.kind === String(this.kind)));
      say(chip.querySelector(".number"), count(numbers[i]));
    });
  }

  #setUp() {
    const kinds = [["All", null], ["Outliers", OUTLIER], ["Undecided", UNDECIDED], ["Normal", NORMAL]];
    for (const [text, kind] of kinds) {
      const icon = kind === null ? null : mark(kind);
      const chip = make("button", { type: "button", class: "chip", "data-kind": String(kind) }, icon, text, make("span", { class: "number" }));
      chip.addEventListener("click", () => {
        this.kind = kind;
        this.show();
      });
      find("kinds").append(chip);
    }
    find("sort").addEventListener("change", (event) => {
      this.sort = event.target.value;
      find("frame").scrollTop = 0;
      this.show();
    });
    searchBox(find("search"), find("matches"), this.data, (place) => this.choose(place));
    find("as-table").addEventListener("click", () => this.#showAs(true));
    find("as-picture").addEventListener("click", () => this.#showAs(false));
  }

  #showAs(isTable) {
    find("table").hidden = !isTable;
    find("picture").hidden = isTable;
    find("as-table").setAttribute("aria-pressed", String(isTable));
    find("as-picture").setAttribute("aria-pressed", String(!isTable));
    for (const part of [this.table, this.rows, this.overview]) part.render();
  }
}
