// Finding an arm by its name: a box with suggestions, for mouse and keyboard.

import { make, name } from "./dom.js";
import { mark } from "./verdicts.js";

const MOST = 8;

/** `input` is the combobox, `list` its listbox; `go(place)` is called with the arm chosen. */
export function searchBox(input, list, data, go) {
  let found = [];
  let at = -1;

  const close = () => {
    list.hidden = true;
    input.setAttribute("aria-expanded", "false");
    input.removeAttribute("aria-activedescendant");
    at = -1;
  };
  const point = (to) => {
    at = to;
    [...list.children].forEach((item, i) => item.setAttribute("aria-selected", String(i === at)));
    if (at >= 0) input.setAttribute("aria-activedescendant", `match-${at}`);
  };
  const choose = (index) => {
    const place = found[index];
    close();
    if (place !== undefined) go(place);
  };
  const show = () => {
    found = data.search(input.value, MOST);
    const items = found.map((place, i) => {
      const item = make(
        "li",
        { role: "option", id: `match-${i}`, "aria-selected": "false" },
        mark(data.verdict[place], data.isLow(place)),
        name(data.names[place]),
      );
      item.addEventListener("pointerdown", (event) => {
        event.preventDefault();
        choose(i);
      });
      return item;
    });
    const none = make("li", { class: "muted", role: "option", "aria-disabled": "true", text: "No arm’s name contains this" });
    list.replaceChildren(...(items.length ? items : [none]));
    const isOpen = input.value.trim() !== "";
    list.hidden = !isOpen;
    input.setAttribute("aria-expanded", String(isOpen));
    point(found.length ? 0 : -1);
  };

  input.addEventListener("input", show);
  input.addEventListener("focus", () => input.value.trim() && show());
  input.addEventListener("blur", close);
  input.addEventListener("keydown", (event) => {
    if (event.key === "Enter") {
      event.preventDefault();
      if (list.hidden) show();
      choose(Math.max(0, at));
    } else if (event.key === "Escape") {
      close();
    } else if ((event.key === "ArrowDown" || event.key === "ArrowUp") && found.length) {
      event.preventDefault();
      if (list.hidden) show();
      else point((at + (event.key === "ArrowDown" ? 1 : found.length - 1)) % found.length);
    }
  });
}
