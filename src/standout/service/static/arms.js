// The arms of a study: overview, rows and table in one order, with search and filters.

import { find, make, name, say } from "./dom.js";
import { count, plural } from "./format.js";
import { MARKS, NORMAL, OUTLIER, UNDECIDED } from "./marks.js";
import { Overview } from "./overview.js";
import { FEW, Rows } from "./rows.js";
import { steady } from "./scale.js";
import { searchBox } from "./search.js";
import { factPairs, Sheet } from "./sheet.js";
import { ArmTable } from "./table.js";
import { mark, overlapWords } from "./verdicts.js";

/** From here on there is room for an arm beside the others. */
const WIDE = window.matchMedia("(min-width: 68rem)");

export class Arms {
  constructor(study, data, items) {
    this.data = data;
    this.items = items;
    this.kind = null;
    this.sort = "mean";
    this.isReversed = false;
    this.scale = null;
    this.order = [];
    this.overview = new Overview(find("overview"), {
      chosen: (place) => this.choose(place, "list"),
      hovered: (place, event) => this.#showTip(place, event),
    });
    this.rows = new Rows(find("frame"), find("rows"), find("axis"), items, {
      chosen: (place) => this.choose(place, null),
      moved: (first, last) => this.overview.follow(first, last),
    });
    this.table = new ArmTable(find("table"), items, {
      chosen: (place) => this.choose(place, null),
      sorted: (key) => this.#sortBy(key, key === this.sort ? !this.isReversed : false),
    });
    this.sheet = new Sheet(study, data, items, () => this.#unchoose());
    new ResizeObserver(() => this.rows.render()).observe(this.sheet.root);
    this.#setUp();
    find("likely-arms").addEventListener("click", (event) => {
      const link = event.target.closest("a[data-arm]");
      if (link === null) return;
      event.preventDefault();
      this.choose(Number(link.dataset.arm));
    });
  }

  show() {
    const { data, rows } = this;
    this.scale = steady(this.scale, data.head.scale);
    // Rows do not change places under someone's pointer.
    const key = `${this.sort} ${this.isReversed} ${this.kind} ${data.size}`;
    if (!rows.isHeld || key !== this.key) this.order = data.order(this.sort, this.kind, this.isReversed);
    this.key = key;
    find("overview").hidden = data.size <= FEW;
    find("frame").classList.toggle("tall", data.size > FEW);
    this.overview.show(data, this.order, this.scale, ["mean", "undecided", "chance"].includes(this.sort));
    rows.show(data, this.order, this.scale);
    this.table.show(data, this.order, this.sort, this.isReversed);
    const none = find("no-arms");
    none.hidden = this.order.length > 0;
    say(none, this.kind === null ? "" : `No arm is ${this.kind === OUTLIER ? "an outlier" : MARKS[this.kind].name} at the moment.`);
    this.#showChips();
    this.#showOverlaps();
    this.sheet.update();
  }

  /** Say why decided arms may touch the band, where some do. */
  #showOverlaps() {
    const places = Array.from(this.data.verdict.keys()).filter((place) => this.data.overlap(place) > 0);
    find("overlaps").hidden = places.length === 0;
    if (!places.length) return;
    const most = places.reduce((a, b) => (this.data.overlap(b) > this.data.overlap(a) ? b : a));
    const rest = overlapWords(this.data, most).replace("Its interval", places.length === 1 ? "Its interval" : "Each interval");
    say(find("overlaps"), `${plural(places.length, "decided arm")} ${places.length === 1 ? "touches" : "touch"} the band. ${rest}`);
  }

  /** Items have arrived: draw them. */
  showItems() {
    this.rows.render();
    this.table.render();
    this.sheet.update();
  }

  /** Make an arm the chosen one; bring it into sight in its list, or on the page. */
  choose(place, scroll = "page") {
    if (place < 0) return;
    if (!this.order.includes(place)) {
      this.kind = null;
      this.show();
    }
    this.rows.active = place;
    this.table.turnTo(place);
    this.sheet.open(place);
    this.#placeSheet();
    if (scroll === "page") find("frame").scrollIntoView({ block: "nearest" });
    if (scroll) this.rows.reveal(this.order.indexOf(place));
    this.overview.choose(place);
  }

  #unchoose() {
    const place = this.rows.active;
    this.rows.active = null;
    this.overview.active = null;
    this.table.active = null;
    this.sheet.close();
    this.#placeSheet();
    this.overview.render();
    if (find("picture").hidden) this.table.rows.get(place)?.root.querySelector("button").focus();
    else find("rows").focus({ preventScroll: true });
  }

  /** Beside everything on a wide screen; else below the row, in the picture or in the table. */
  #placeSheet() {
    const { sheet } = this;
    const isBeside = WIDE.matches;
    const isTable = find("picture").hidden;
    document.body.classList.toggle("with-sheet", isBeside && sheet.isOpen);
    sheet.root.classList.toggle("beside", isBeside);
    // Next after the arms in the order of the keyboard, in any layout.
    if (isBeside && sheet.root.previousElementSibling !== find("arms-card")) find("arms-card").after(sheet.root);
    if (!isBeside && !isTable && sheet.root.parentElement !== find("frame")) find("frame").append(sheet.root);
    const inset = isBeside || !sheet.isOpen ? null : sheet.root;
    this.rows.open(isTable ? null : inset);
    this.table.open(isTable ? inset : null);
    if (!inset) sheet.root.style.top = "";
    sheet.draw();
  }

  #showTip(place, event) {
    const tip = find("tip");
    tip.hidden = place === null;
    if (place === null) return;
    tip.replaceChildren(name(this.data.names[place], { class: "tip-name" }), make("dl", {}, ...factPairs(this.data, place, 80)));
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

  #sortBy(key, isReversed) {
    this.sort = key;
    this.isReversed = isReversed;
    find("sort").value = key;
    find("frame").scrollTop = 0;
    this.table.page = 0;
    this.show();
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
    find("sort").addEventListener("change", (event) => this.#sortBy(event.target.value, false));
    searchBox(find("search"), find("matches"), this.data, (place) => this.choose(place));
    find("as-table").addEventListener("click", () => this.#showAs(true));
    find("as-picture").addEventListener("click", () => this.#showAs(false));
    find("rows").addEventListener("keydown", (event) => {
      if (event.key === "Escape" && this.sheet.isOpen) this.#unchoose();
      if (event.key !== "Enter" || !this.sheet.isOpen) return;
      event.preventDefault(); // Or it would press the button that it leads to.
      find("chosen-close").focus();
    });
    WIDE.addEventListener("change", () => this.#placeSheet());
  }

  #showAs(isTable) {
    find("table").hidden = !isTable;
    find("picture").hidden = isTable;
    find("as-table").setAttribute("aria-pressed", String(isTable));
    find("as-picture").setAttribute("aria-pressed", String(!isTable));
    this.#placeSheet();
    for (const part of [this.table, this.rows, this.overview]) part.render();
  }
}
