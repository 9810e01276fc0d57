// What arms show to people: text and picture. Those in sight are fetched, once.

import { get, studyPath } from "./api.js";
import { make, shown } from "./dom.js";

/** Items asked for at once. */
const MOST = 50;

export class Items {
  /** `changed` is called when items have come. */
  constructor(study, changed) {
    Object.assign(this, { study, changed, total: null, isBusy: false });
    this.known = new Map();
    this.wanted = new Set();
  }

  /** The item of an arm; null if it has none, or while it is not known. */
  of(place) {
    return this.known.get(place) ?? null;
  }

  /** Whether any arm of the study has one, as far as is known. */
  get areThere() {
    return (this.total ?? 0) > 0;
  }

  /** Say that these arms are looked at. */
  want(places) {
    if (this.total === 0) return;
    for (const place of places) if (!this.known.has(place)) this.wanted.add(place);
    this.#fetch();
  }

  async #fetch() {
    if (this.isBusy || this.wanted.size === 0) return;
    this.isBusy = true;
    // What was asked for last is what is in sight now.
    const some = [...this.wanted].slice(-MOST);
    try {
      const found = await get(studyPath(this.study, `/items?${some.map((place) => `positions=${place}`).join("&")}`));
      this.#take(some, found);
    } catch {
      // The page works without them; the next view requests them again.
      this.wanted.clear();
    }
    this.isBusy = false;
    this.#fetch();
  }

  #take(asked, found) {
    this.total = found.total;
    const left = new Set(found.left);
    for (const item of found.items) this.known.set(item.position, item);
    for (const place of asked) {
      if (left.has(place)) continue;
      if (!this.known.has(place)) this.known.set(place, null);
      this.wanted.delete(place);
    }
    if (this.total === 0) this.wanted.clear();
    this.changed();
  }
}

/** The words of an item on one line; empty if it has none. */
export function brief(item, most = 120) {
  const text = item?.text ?? item?.html ?? "";
  return shown(text.replace(/\s+/g, " ").trim(), most);
}

/** A picture of an item that asks other hosts for nothing but itself. */
export function pictureOf(item, attributes = {}) {
  return make("img", { alt: item.text ? "" : "The picture of this item", referrerpolicy: "no-referrer", ...attributes, src: item.image });
}

/** A small picture of an item; it goes away if it cannot be loaded. */
export function thumb(item) {
  const image = pictureOf(item, { class: "thumb", alt: "", loading: "lazy", decoding: "async" });
  image.addEventListener("error", () => image.remove());
  return image;
}

/** All of an item: picture, text, markup as it is written. `failed` stands for a picture that did not load. */
export function itemParts(item, failed) {
  const parts = [];
  if (item.image) {
    const image = pictureOf(item);
    image.addEventListener("error", () => image.replaceWith(make("p", { class: "failed", text: failed })));
    parts.push(image);
  }
  if (item.text) parts.push(make("p", { class: "text", dir: "auto", text: item.text }));
  if (item.html) parts.push(make("pre", { class: "text", dir: "auto", text: item.html }));
  return parts;
}
