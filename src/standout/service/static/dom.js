// Making elements. Text goes in as text only: nothing here reads markup.

const SVG = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (key === "text") element.textContent = value;
    else if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else element.setAttribute(key, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

/** An element with attributes, listeners (`onclick`) and children; strings become text. */
export function make(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/** The same for a part of an SVG picture. */
export function draw(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

/** The element with this id. */
export function find(id) {
  return document.getElementById(id);
}

/** A name that others chose: kept apart from the direction of the text around it. */
export function name(text, attributes = {}) {
  return make("bdi", { ...attributes, text: shown(text) });
}

/** A name with its control characters made visible, and not without end. */
export function shown(text, most = 200) {
  const clean = text.replace(/[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/gu, "\ufffd");
  return clean.length > most ? clean.slice(0, most - 1) + "…" : clean;
}

/** A table of texts or elements; the columns in `numbers` are set right. */
export function table(titles, rows, numbers = []) {
  const cell = (tag, content, i, more = {}) => make(tag, { class: numbers.includes(titles[i]) ? "number right" : null, ...more }, content);
  const head = titles.map((text, i) => (text ? cell("th", text, i, { scope: "col" }) : make("td")));
  const body = rows.map((row) => make("tr", {}, ...row.map((content, i) => cell("td", content, i))));
  return make("table", {}, make("thead", {}, make("tr", {}, ...head)), make("tbody", {}, ...body));
}

/** What scrolls sideways by itself if it has to, also by keyboard. */
export function wide(label, content) {
  return make("div", { class: "wide", tabindex: 0, role: "region", "aria-label": label }, content);
}

/** Set the text of an element only when it differs, so that a reader is not told twice. */
export function say(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** Calls of the function, at most one per `wait` milliseconds; the last call is never lost. */
export function seldom(wait, call) {
  let timer = null;
  let last = -Infinity;
  return () => {
    if (timer !== null) return;
    const left = Math.max(0, last + wait - performance.now());
    timer = setTimeout(() => {
      timer = null;
      last = performance.now();
      call();
    }, left);
  };
}

/** Calls of the function at most once per frame. */
export function perFrame(call) {
  let asked = false;
  return () => {
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => {
      asked = false;
      call();
    });
  };
}
