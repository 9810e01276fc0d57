// The page of one study.

import { Failure, get, nameFromAddress, studyPath } from "./api.js";
import { KINDS, NORMAL, OUTLIER, StudyData, UNDECIDED } from "./data.js";
import { find, make, name, say, seldom, shown } from "./dom.js";
import { count } from "./format.js";
import { Live } from "./live.js";
import { armFacts, mark } from "./marks.js";
import { Overview } from "./overview.js";
import { showAnswer, showFailures, showFigures, showNext, showTitle } from "./panels.js";
import { FEW, Rows } from "./rows.js";
import { steadyRange, valueRange } from "./scale.js";
import { searchBox } from "./search.js";
import { askForToken, begin } from "./session.js";
import { ArmTable } from "./table.js";
import { TracePictures, traceTable } from "./trace.js";

const study = nameFromAddress("/study/");
const data = new StudyData();
const view = { kind: null, sort: "mean", range: null, order: [], forecast: undefined, failures: 0, trace: null };

const overview = new Overview(find("overview"), { chosen: (place) => choose(place, "list"), hovered: showTip });
const rows = new Rows(find("frame"), find("rows"), find("axis"), {
  chosen: (place) => choose(place, null),
  moved: (first, last) => overview.follow(first, last),
});
const table = new ArmTable(find("table"));
const pictures = new TracePictures(find("threshold-picture"), find("undecided-picture"), find("trace-words"));

// What is shown ------------------------------------------------------------------

function showArms() {
  view.range = steadyRange(view.range, valueRange(data, data.bands(), data.support()));
  const isOldOrder = rows.isHeld && view.order.length && view.size === data.size && view.shown === `${view.sort} ${view.kind}`;
  if (!isOldOrder) view.order = data.order(view.sort, view.kind);
  view.shown = `${view.sort} ${view.kind}`;
  view.size = data.size;
  find("overview").hidden = data.size <= FEW;
  find("frame").classList.toggle("tall", data.size > FEW);
  overview.show(data, view.order, view.range);
  rows.show(data, view.order, view.range);
  table.show(data, view.order);
  const none = find("no-arms");
  none.hidden = view.order.length > 0;
  say(none, view.kind === null ? "" : `No arm is ${view.kind === OUTLIER ? "an outlier" : KINDS[view.kind]} at the moment.`);
  showChips();
  if (rows.active !== null) showChosen(rows.active);
}

function showChips() {
  const { counts } = data.head;
  const numbers = [counts.arms, counts.outliers, counts.undecided, counts.normal];
  [...find("kinds").children].forEach((chip, i) => {
    chip.setAttribute("aria-pressed", String(chip.dataset.kind === String(view.kind)));
    say(chip.querySelector(".number"), count(numbers[i]));
  });
}

function showAll() {
  showTitle(data);
  showAnswer(data);
  showFigures(data, view.forecast);
  showArms();
  showNext(data, choose);
}

function showChosen(place) {
  const facts = armFacts(data, place).flatMap(([term, text]) => [make("dt", { text: term }), make("dd", { text: shown(text) })]);
  const close = make("button", { type: "button", class: "plain", text: "Close", onclick: () => unchoose() });
  find("chosen").replaceChildren(make("h3", {}, mark(data.verdict[place], data.isLow(place)), name(data.names[place])), make("dl", {}, ...facts), close);
  find("chosen").hidden = false;
}

function unchoose() {
  rows.active = null;
  overview.active = null;
  find("chosen").hidden = true;
  rows.render();
  overview.render();
}

/** Make an arm the chosen one; bring it into sight in its list, or on the page. */
function choose(place, scroll = "page") {
  if (place < 0) return;
  if (!view.order.includes(place)) {
    view.kind = null;
    showArms();
  }
  rows.active = place;
  if (scroll === "page") find("frame").scrollIntoView({ block: "nearest" });
  if (scroll) rows.reveal(view.order.indexOf(place));
  rows.render();
  overview.choose(place);
  table.turnTo(place);
  showChosen(place);
}

function showTip(place, event) {
  const tip = find("tip");
  tip.hidden = place === null;
  if (place === null) return;
  const facts = armFacts(data, place).flatMap(([term, text]) => [make("dt", { text: term }), make("dd", { text: shown(text, 80) })]);
  tip.replaceChildren(name(data.names[place], { class: "tip-name" }), make("dl", {}, ...facts));
  const room = document.documentElement.clientWidth;
  const left = event.clientX + 16 + tip.offsetWidth > room ? event.clientX - tip.offsetWidth - 12 : event.clientX + 16;
  tip.style.left = `${Math.max(4, left)}px`;
  tip.style.top = `${Math.min(event.clientY + 12, window.innerHeight - tip.offsetHeight - 8)}px`;
}

// What is fetched ----------------------------------------------------------------

let running = null;
let wanted = 0;

/** Fetch what has changed; calls during one under way are met by one more. */
async function refresh(seq = null) {
  if (seq !== null && data.seq !== null && seq <= data.seq) return;
  wanted += 1;
  running ??= (async () => {
    try {
      for (let done = -1; done !== wanted; ) {
        done = wanted;
        const since = data.seq === null ? "" : `?since=${data.seq}`;
        if (!data.apply(await get(studyPath(study, `/view${since}`)))) {
          data.apply(await get(studyPath(study, "/view")));
        }
      }
    } finally {
      running = null;
    }
    showAll();
    refreshRest();
  })();
  return running;
}

const refreshTrace = seldom(3000, async () => {
  const trace = await get(studyPath(study, "/trace")).catch(() => null);
  if (trace === null) return;
  view.trace = trace;
  find("trace").hidden = trace.pulls.length === 0;
  find("no-trace").hidden = trace.pulls.length > 0;
  pictures.show(trace);
  if (find("trace-details").open && trace.pulls.length) find("trace-table").replaceChildren(traceTable(trace));
});

const refreshForecast = seldom(12000, async () => {
  if (data.head.stopped) return;
  view.forecast = await get(studyPath(study, "/forecast")).catch(() => view.forecast);
  showFigures(data, view.forecast);
});

const refreshFailures = seldom(3000, async () => {
  const found = await get(studyPath(study, "/failures?limit=20")).catch(() => null);
  if (found !== null) showFailures(data, found.failures);
});

let traced = null;

function refreshRest() {
  const { pulls } = data.head.counts;
  if (pulls !== traced || data.head.stopped) refreshTrace();
  if (pulls !== traced) refreshForecast();
  traced = pulls;
  const failed = [...data.failures.values()].reduce((a, b) => a + b, 0) + data.paused.size;
  if (failed !== view.failures) {
    view.failures = failed;
    refreshFailures();
  }
}

// Setting up ---------------------------------------------------------------------

function setUpTools() {
  const kinds = [["All", null], ["Outliers", OUTLIER], ["Undecided", UNDECIDED], ["Normal", NORMAL]];
  for (const [text, kind] of kinds) {
    const chip = make("button", { type: "button", class: "chip", "data-kind": String(kind) },
      kind === null ? null : mark(kind), text, make("span", { class: "number" }));
    chip.addEventListener("click", () => {
      view.kind = kind;
      showArms();
    });
    find("kinds").append(chip);
  }
  find("sort").addEventListener("change", (event) => {
    view.sort = event.target.value;
    find("frame").scrollTop = 0;
    showArms();
  });
  searchBox(find("search"), find("matches"), data, (place) => choose(place));
  const show = (isTable) => {
    find("table").hidden = !isTable;
    find("picture").hidden = isTable;
    find("as-table").setAttribute("aria-pressed", String(isTable));
    find("as-picture").setAttribute("aria-pressed", String(!isTable));
    table.render();
    rows.render();
    overview.render();
  };
  find("as-table").addEventListener("click", () => show(true));
  find("as-picture").addEventListener("click", () => show(false));
  find("trace-details").addEventListener("toggle", () => {
    if (view.trace) find("trace-table").replaceChildren(traceTable(view.trace));
  });
}

function setUpWords() {
  document.title = `${shown(study, 60)} · standout`;
  find("crumb").replaceChildren(name(study));
  find("name").textContent = shown(study);
  for (const form of ["csv", "json", "parquet"]) find(form).href = studyPath(study, `/export?form=${form}`);
  find("report").href = studyPath(study, "/report");
  for (const link of [find("rate"), find("begin-rate")]) link.href = `/rate/${encodeURIComponent(study)}`;
}

function setUpLegend() {
  const sides = data.head.problem.side;
  const item = (icon, text) => make("li", {}, icon, text);
  const marks = [item(mark(OUTLIER, sides === "low"), "outlier"), item(mark(UNDECIDED), "undecided"), item(mark(NORMAL), "normal")];
  if (sides === "both") marks.splice(1, 0, item(mark(OUTLIER, true), "low outlier"));
  const band = make("span", { class: "band-icon" });
  find("legend").replaceChildren(...marks, item(band, sides === "both" ? "the thresholds’ intervals" : "the threshold’s interval"));
}

function showConnection(state) {
  const words = { live: "live", polling: "live, every few seconds", lost: "connection lost, retrying" }[state];
  const place = find("connection");
  place.dataset.state = state;
  say(place, words);
}

function showProblem(failure) {
  find("loading").hidden = true;
  if (failure.status === 401) {
    askForToken("A token is needed to look at this study.");
    return;
  }
  const words = {
    403: "This token does not open this study.",
    404: "There is no study of this name here.",
  }[failure.status] ?? failure.message;
  const again = make("button", { type: "button", text: "Try again", onclick: () => location.reload() });
  find("problem").replaceChildren(
    make("div", { class: "card empty" }, make("h2", { text: words }), make("p", {}, make("a", { href: "/", text: "All studies" }), " "), failure.isPassing ? again : null),
  );
  find("problem").hidden = false;
}

async function main() {
  setUpWords();
  setUpTools();
  const session = begin();
  try {
    if (location.hash.startsWith("#token=")) await session;
    data.apply(await get(studyPath(study, "/view")));
  } catch (failure) {
    if (!(failure instanceof Failure)) throw failure;
    showProblem(failure);
    return;
  }
  find("loading").hidden = true;
  find("study").hidden = false;
  setUpLegend();
  showAll();
  showFailures(data, []);
  const asked = new URLSearchParams(location.search).get("arm");
  if (asked !== null) choose(data.names.indexOf(asked));
  refreshRest();
  performance.mark("usable");
  new Live(studyPath(study, "/events"), refresh, showConnection).start();
}

main();
