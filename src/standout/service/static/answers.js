// The ways to answer: buttons, points of a scale, a slider, a number.

import { make } from "./dom.js";
import { value } from "./format.js";

/** The node to show and the keys that answer, for a question of any kind. */
export function answersFor(asked, answer) {
  return { buttons, points, slider, number }[asked.kind](asked, answer);
}

function labelled(attributes) {
  return { ...attributes, "aria-labelledby": "asked" };
}

function pressable(choice, answer, keys) {
  const key = choice.key?.toLowerCase() ?? null;
  const send = (event) => answer(choice.value, event);
  if (key) keys.set(key, send);
  return make(
    "button",
    { type: "button", class: "answer", onclick: send, "aria-keyshortcuts": choice.key },
    make("span", { dir: "auto", text: choice.label }),
    choice.key && choice.key !== choice.label ? make("kbd", { "aria-hidden": "true", text: choice.key.toUpperCase() }) : null,
  );
}

function buttons(asked, answer) {
  const keys = new Map();
  const all = asked.buttons.map((choice) => pressable(choice, answer, keys));
  return { node: make("div", labelled({ class: "answers", role: "group" }), ...all), keys };
}

function ends(asked) {
  if (!asked.low_label && !asked.high_label) return null;
  return make("p", { class: "ends muted small" }, make("span", { dir: "auto", text: asked.low_label ?? "" }), make("span", { dir: "auto", text: asked.high_label ?? "" }));
}

function points(asked, answer) {
  const keys = new Map();
  const all = asked.buttons.map((choice) => pressable(choice, answer, keys));
  const row = make("div", labelled({ class: "points", role: "group" }), ...all);
  // A way of its own for each number of points, which a style sheet cannot count.
  row.style.gridTemplateColumns = `repeat(${all.length}, minmax(0, 1fr))`;
  const isPlain = asked.buttons.every((choice) => choice.key === null || choice.key === choice.label);
  const hint = isPlain ? make("p", { class: "hint for-keys" }, "or press ", make("kbd", { text: all[0].textContent }), " to ", make("kbd", { text: asked.buttons.findLast((choice) => choice.key).key })) : null;
  return { node: make("div", { class: "scale" }, row, ends(asked), hint), keys };
}

/** The answer after some steps, exactly as the server works it out. */
function valueAt({ min, max, steps }, number) {
  return number === steps ? max : min + ((max - min) * number) / steps;
}

/** As many decimals as the steps of a scale have, six at most. */
function decimalsOf({ min, max, steps }) {
  const step = (max - min) / steps;
  for (let places = 0; places < 6; places++) {
    const fits = (number) => Math.abs(number * 10 ** places - Math.round(number * 10 ** places)) < 1e-6;
    if (fits(step) && fits(min)) return places;
  }
  return Math.min(6, Math.max(0, Math.ceil(1 - Math.log10(step))));
}

function slider(asked, answer) {
  // The slider counts steps, so that both ends can be reached with any step.
  const input = make("input", labelled({ type: "range", min: 0, max: asked.steps, step: 1, value: Math.round(asked.steps / 2) }));
  const chosen = () => valueAt(asked, input.valueAsNumber);
  const decimals = decimalsOf(asked);
  const output = make("output", { class: "number", text: "–" });
  const send = make("button", { type: "button", class: "main answer", disabled: true }, "Answer", make("kbd", { "aria-hidden": "true", text: "Enter" }));
  const touch = () => {
    output.textContent = value(chosen(), decimals);
    input.setAttribute("aria-valuetext", output.textContent);
    send.disabled = false;
  };
  // Nothing is chosen until the slider was touched: its middle is no answer.
  for (const kind of ["input", "pointerup"]) input.addEventListener(kind, touch);
  const go = (event) => {
    if (!send.disabled) answer(chosen(), event);
  };
  send.addEventListener("click", go);
  input.classList.add("untouched");
  input.addEventListener("input", () => input.classList.remove("untouched"));
  const node = make("div", { class: "scale" }, output, input, ends(asked), make("p", { class: "hint", text: "Move the slider, or use the arrow keys." }), send);
  const nudge = (step) => () => {
    input.focus();
    input.valueAsNumber += step;
    input.dispatchEvent(new Event("input"));
  };
  return { node, keys: new Map([["enter", go], ["arrowright", nudge(1)], ["arrowleft", nudge(-1)]]) };
}

function number(asked, answer) {
  const input = make("input", labelled({ type: "number", step: "any", inputmode: "decimal", required: true }));
  const send = make("button", { type: "submit", class: "main answer" }, "Answer", make("kbd", { "aria-hidden": "true", text: "Enter" }));
  const form = make("form", { class: "answers number-form" }, input, send);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (Number.isFinite(input.valueAsNumber)) answer(input.valueAsNumber, event);
  });
  return { node: form, keys: new Map() };
}
