// The form that begins a study. What is valid is for the server to say; its words are shown.

import { post, studyPath } from "./api.js";
import { make, say } from "./dom.js";
import { plural } from "./format.js";
import { DECIMALS, readTable, SEPARATORS } from "./past.js";

const NOISES = [
  ["bernoulli", "yes or no (0 or 1)", []],
  ["bounded", "a number between two bounds", [["low", "Lowest", "0"], ["high", "Highest", "10"]]],
  ["gaussian", "a number with a known standard deviation", [["sigma", "Standard deviation", "1"]]],
  ["gaussian-unknown", "a number, bell-shaped around the mean, spread unknown", []],
  ["heavy", "a skewed number, standard deviation at most", [["sigma", "Standard deviation, at most", "1"]]],
];
/** Bytes of a picture that fit into one request. */
const LARGEST = 7e6;
const SIDES = [["high", "high means"], ["low", "low means"], ["both", "both"]];

function field(id, text, input, hint = null) {
  input.id = `new-${id}`;
  const help = hint === null ? null : make("p", { class: "hint", id: `new-${id}-hint`, text: hint });
  if (help) input.setAttribute("aria-describedby", help.id);
  return make("div", { class: `field-${id}` }, make("label", { for: input.id, text }), input, help);
}

const number = (value, attributes = {}) => make("input", { type: "number", step: "any", inputmode: "decimal", value, ...attributes });
const choice = (pairs) => make("select", {}, ...pairs.map(([value, text]) => make("option", { value, text })));

function noiseFields() {
  const select = choice(NOISES.map(([key, text]) => [key, text]));
  const room = make("div", { class: "grid parameters" });
  const inputs = {};
  const show = () => {
    const [, , wanted] = NOISES.find(([key]) => key === select.value);
    for (const key of Object.keys(inputs)) delete inputs[key];
    room.replaceChildren(...wanted.map(([key, text, value]) => {
      inputs[key] = number(value, { required: true });
      return field(key, text, inputs[key]);
    }));
    room.hidden = wanted.length === 0;
  };
  select.addEventListener("change", show);
  show();
  const read = () => {
    const key = select.value;
    if (key === "bernoulli") return key;
    if (key === "gaussian-unknown") return "gaussian";
    if (key === "bounded") return `bounded:${inputs.low.value},${inputs.high.value}`;
    return `${key}:${inputs.sigma.value}`;
  };
  return { node: make("div", { class: "whole" }, field("noise", "One measurement is", select), room), read };
}

/** The bytes of a file in base64. */
function base64(file) {
  return new Promise((done, failed) => {
    const reader = new FileReader();
    reader.onload = () => done(reader.result.slice(reader.result.indexOf(",") + 1));
    reader.onerror = () => failed(new Error(`${file.name} cannot be read`));
    reader.readAsDataURL(file);
  });
}

/** Pictures from this machine: each becomes an arm, named as its file. */
function picturesField(text) {
  const input = make("input", { type: "file", accept: "image/png,image/jpeg,image/gif,image/webp,image/avif", multiple: true });
  const status = make("p", { class: "hint", role: "status" });
  const quoted = (word) => `"${word.replaceAll('"', '""')}"`;
  input.addEventListener("change", async () => {
    const lines = [];
    const problems = [];
    for (const file of input.files) {
      say(status, `Sending ${file.name} …`);
      try {
        if (file.size > LARGEST) throw new Error(`larger than ${LARGEST / 1e6} MB`);
        const { image } = await post("/files", { name: file.name, data: await base64(file) });
        lines.push(`${quoted(file.name.replace(/\.[^.]+$/, ""))},${quoted(image)}`);
      } catch (failure) {
        problems.push(`Not sent: ${file.name} (${failure.message}).`);
      }
    }
    if (lines.length) text.value = ["arm,image", ...lines].join("\n");
    const sent = lines.length ? [`${plural(lines.length, "picture")} sent; add a column text if you like.`] : [];
    say(status, [...sent, ...problems].join(" "));
  });
  const node = field("pictures", "or from pictures", input, "Each picture becomes an arm with the name of its file.");
  node.append(status);
  return node;
}

function armsField(hasFiles) {
  const text = make("textarea", { required: true, spellcheck: "false", rows: 8, placeholder: "arm\nbag 1\nbag 2\nbag 3" });
  const file = make("input", { type: "file", accept: ".csv,.txt,text/csv,text/plain" });
  file.addEventListener("change", async () => {
    if (file.files.length) text.value = await file.files[0].text();
  });
  const node = make(
    "div",
    { class: "whole" },
    field("arms", "Arms", text, "One per line, or a CSV with a column arm; raters see the columns text, image and html."),
    field("file", "or from a file", file),
    hasFiles ? picturesField(text) : null,
  );
  return { node, text };
}

/** A table of past rewards to begin with, if one is chosen. */
function tableFields() {
  const file = make("input", { type: "file", accept: ".csv,.tsv,.txt,text/csv" });
  const parts = { separator: choice(SEPARATORS), decimal: choice(DECIMALS), arm: make("input", { autocomplete: "off" }), value: make("input", { autocomplete: "off" }) };
  const node = make(
    "details",
    { class: "whole" },
    make("summary", { text: "Past rewards: begin with a table" }),
    make("p", { class: "hint", text: "The guarantee holds if the table has every reward that was measured of its arms, and none was left out for its value. Without a list above, its arms are the study’s." }),
    make("div", { class: "grid" },
      field("table", "Table, a CSV with a row per reward", file),
      field("separator", "Between fields", parts.separator),
      field("decimal", "Decimal sign", parts.decimal),
      field("arm-column", "Column of the arms", parts.arm, "Empty: the column arm."),
      field("value-column", "Column of the rewards", parts.value, "Empty: the column value or reward.")),
  );
  const given = () => Object.fromEntries(Object.entries(parts).map(([key, input]) => [key, input.value]));
  return { node, file, read: async () => (file.files.length ? readTable({ file: file.files[0], ...given() }) : null) };
}

/** "Yes = 1" per line. */
function readButtons(text) {
  return text.split("\n").filter((line) => line.trim()).map((line, i) => {
    const cut = line.lastIndexOf("=");
    const value = cut < 0 ? NaN : Number(line.slice(cut + 1));
    if (cut < 1 || line.slice(cut + 1).trim() === "" || Number.isNaN(value)) {
      throw new Error(`answers, line ${i + 1}: write a label, = and a number, as in “Yes = 1”`);
    }
    return { label: line.slice(0, cut).trim(), value };
  });
}

function pageFields() {
  const question = make("input", { placeholder: "Does this look ripe to you?" });
  const buttons = make("textarea", { rows: 3, placeholder: "No = 0\nYes = 1" });
  const consent = make("textarea", { rows: 3 });
  const end = make("textarea", { rows: 2 });
  const after = number("", { min: 1, step: 1, placeholder: "never" });
  const url = make("input", { type: "url" });
  const code = make("input", { autocomplete: "off" });
  const node = make(
    "details",
    { class: "whole" },
    make("summary", { text: "Rating page, if people rate the arms" }),
    make("div", { class: "grid" },
      field("question", "Question", question),
      field("buttons", "Answers", buttons, "One per line: label = value. By default no and yes, or a scale."),
      field("consent", "Consent text", consent, "Shown first; the questions begin when the rater agrees."),
      field("end", "Text at the end", end),
      field("after", "Complete after this many answers", after, "For members of a panel; they may continue."),
      field("url", "Link back to the panel", url),
      field("code", "or a completion code", code)),
  );
  const read = () => {
    const page = {};
    for (const [key, input] of Object.entries({ question, consent, end })) if (input.value.trim()) page[key] = input.value;
    if (buttons.value.trim()) page.buttons = readButtons(buttons.value);
    if (after.value) page.completion = { after: Number(after.value), url: url.value.trim() || null, code: code.value.trim() || null };
    return Object.keys(page).length ? page : null;
  };
  return { node, read };
}

function moreFields() {
  const tolerance = number("0", { min: 0 });
  const budget = number("", { min: 1, step: 1, placeholder: "none" });
  const errors = number("", { min: 0.01, step: "any", placeholder: "only when all is certain" });
  const lease = number("24", { min: 0.01 });
  const pause = number("", { min: 1, step: 1, placeholder: "never" });
  const room = number("", { min: 3, step: 1, placeholder: "none" });
  const axis = make("input", { maxlength: 100, placeholder: "Delay in minutes", autocomplete: "off" });
  const ordered = make("input", { type: "checkbox", id: "new-ordered", checked: true });
  const node = make(
    "details",
    { class: "whole" },
    make("summary", { text: "More settings" }),
    make("div", { class: "grid" },
      field("tolerance", "Tolerance", tolerance, "Within this distance of the threshold, either verdict counts as right."),
      field("budget", "Budget", budget, "The largest number of pulls."),
      field("errors", "Stop when at most this many wrong arms are expected", errors, "The answer is then probable, not proved. 0.5 is usual."),
      field("lease", "Lease in hours", lease, "A ticket without an answer is handed out again after this."),
      field("axis", "A reward is", axis, "With its unit, for the axes of pictures."),
      field("room", "Room for arms", room, "Arms may be added up to this number. All of them share δ from the beginning, so the study needs slightly more pulls."),
      field("pause", "Pause an arm after failures in a row", pause),
      make("div", { class: "check whole" }, ordered, make("label", { for: "new-ordered", text: "Count an arm’s rewards in the order of asking: a quick reward waits for earlier pulls of its arm. Otherwise rewards count in the order of arrival, which is right only if the duration of a measurement does not depend on its value." }))),
  );
  const read = () => ({
    tolerance: Number(tolerance.value || 0),
    budget: budget.value ? Number(budget.value) : null,
    until: errors.value ? `errors=${Number(errors.value)}` : null,
    lease: lease.value ? Number(lease.value) * 3600 : null,
    room: room.value ? Number(room.value) : null,
    axis: axis.value.trim() || null,
    pause_after: pause.value ? Number(pause.value) : null,
    ordered: ordered.checked,
  });
  return { node, read };
}

/** The form; `close` hides it. */
export function createForm(close, hasFiles = false) {
  const title = make("input", { required: true, maxlength: 200, pattern: "[^\\/]+", autocomplete: "off", title: "any name without a slash" });
  const arms = armsField(hasFiles);
  const noise = noiseFields();
  const k = number("3", { min: 1, required: true });
  const delta = number("0.05", { min: 0, max: 1, required: true });
  const side = choice(SIDES);
  const table = tableFields();
  table.file.addEventListener("change", () => (arms.text.required = !table.file.files.length));
  const page = pageFields();
  const more = moreFields();
  const error = make("div", { class: "message bad whole", role: "alert", hidden: true }, make("p"));
  const submit = make("button", { type: "submit", class: "main", text: "Create the study" });
  const status = make("span", { class: "muted", role: "status" });
  const form = make(
    "form",
    { class: "grid create-form" },
    make("h2", { id: "create-title", class: "whole", text: "New study" }),
    field("name", "Name", title),
    field("side", "Look for", side),
    arms.node,
    noise.node,
    field("k", "k", k, "Distance of the threshold from the median, in scaled MADs (1.4826 × MAD); 2 or 3 are usual."),
    field("delta", "δ", delta, "Accepted probability that any verdict is wrong."),
    table.node,
    page.node,
    more.node,
    error,
    make("p", { class: "whole form-actions" }, submit, make("button", { type: "button", text: "Cancel", onclick: close }), status),
  );
  const send = async () => {
    const past = await table.read();
    const read = arms.text.value.trim() || past === null ? await post("/arms", { text: arms.text.value }) : await post("/arms/table", past);
    say(status, `${plural(read.arms.length, "arm")} …`);
    const items = Object.keys(read.items).length ? read.items : null;
    const body = {
      name: title.value, arms: read.arms, items, noise: noise.read(), side: side.value,
      k: Number(k.value), delta: Number(delta.value), page: page.read(), ...more.read(),
    };
    const made = await post("/api/v1/studies", body);
    if (past !== null) await post(studyPath(made.name, "/table"), past).catch((failure) => {
      throw new Error(`the study has begun, without the table: ${failure.message}`);
    });
    location.assign(`/study/${encodeURIComponent(made.name)}`);
  };
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    submit.disabled = true;
    error.hidden = true;
    try {
      await send();
    } catch (failure) {
      say(status, "");
      say(error.firstElementChild, failure.message);
      error.hidden = false;
      error.scrollIntoView({ block: "nearest" });
    } finally {
      submit.disabled = false;
    }
  });
  return form;
}
