// The page of one study: what is fetched, when, and where it goes.

import { Failure, get, nameFromAddress, studyPath } from "./api.js";
import { Arms } from "./arms.js";
import { StudyData } from "./data.js";
import { find, make, name, say, seldom, shown } from "./dom.js";
import { Items } from "./items.js";
import { Controls, showChanges, showEndings } from "./controls.js";
import { setUp } from "./upkeep.js";
import { Live } from "./live.js";
import { showAnswer, showFailures, showFigures, showLegend, showNext, showOut, showTitle } from "./panels.js";
import { askForToken, begin, loadOnceMore } from "./session.js";
import { TracePictures, traceTable } from "./trace.js";

const study = nameFromAddress("/study/");
const data = new StudyData();
const items = new Items(study, () => {
  arms.showItems();
  showAnswer(data, items);
});
const arms = new Arms(study, data, items);
const pictures = new TracePictures(find("threshold-picture"), find("undecided-picture"), find("trace-words"));
let controls = null;
const seen = { endings: null, changes: null, forecast: undefined, trace: null, pulls: null, failures: 0 };
/** With more arms than this the chances would take seconds. */
const MOST_CHANCES = 20000;

function showAll() {
  showTitle(data);
  showAnswer(data, items);
  showFigures(data, seen.forecast);
  arms.show();
  showNext(data, (place) => arms.choose(place));
  showEndings(data, seen.endings, controls && ((tolerance) => controls.tolerance(tolerance)));
  controls?.show();
}

const refreshChanges = () => showChanges(study, () => controls?.tokens ?? []);

/** After a change by hand: show its result. */
function changed() {
  seen.pulls = null;
  refreshChanges();
  arms.sheet.seen = null;
  refresh();
}

let running = null;
let wanted = 0;

async function fetchView() {
  for (let done = -1; done !== wanted; ) {
    done = wanted;
    const since = data.seq === null ? "" : `?since=${data.seq}`;
    // Should the parts not fit together, the whole does.
    if (!data.apply(await get(studyPath(study, `/view${since}`)))) {
      data.apply(await get(studyPath(study, "/view")));
    }
  }
  showAll();
  refreshRest();
}

/** Fetch what has changed; calls during one under way are met by one more. */
function refresh(seq = null) {
  if (seq !== null && data.seq !== null && seq <= data.seq) return Promise.resolve();
  wanted += 1;
  running ??= fetchView().finally(() => (running = null));
  return running;
}

const refreshTrace = seldom(3000, async () => {
  const trace = await get(studyPath(study, "/trace")).catch(() => null);
  if (trace === null) return;
  seen.trace = trace;
  // A picture over pulls takes two moments.
  find("trace").hidden = trace.pulls.length < 2;
  find("no-trace").hidden = trace.pulls.length > 1;
  if (trace.pulls.length === 1) say(find("no-trace"), "Only the first round is complete: there is no history to draw yet.");
  pictures.show(trace);
  showTraceTable();
});

function showTraceTable() {
  if (find("trace-details").open && seen.trace) find("trace-table").replaceChildren(traceTable(seen.trace));
}

const refreshForecast = seldom(12000, async () => {
  if (data.head.stopped) return;
  seen.forecast = await get(studyPath(study, "/forecast")).catch(() => seen.forecast);
  showFigures(data, seen.forecast);
});

const refreshChances = seldom(3000, async () => {
  const found = data.size > MOST_CHANCES ? null : await get(studyPath(study, "/chances")).catch(() => null);
  if (found === null) data.chances ??= undefined;
  else data.takeChances(found);
  showAnswer(data, items);
  arms.show();
  // One after the other: a browser has few connections, and what takes long must not hold them all.
  refreshEndings();
});

const refreshEndings = seldom(15000, async () => {
  if (data.head.stopped || data.size > MOST_CHANCES) return;
  const found = await get(studyPath(study, "/endings")).catch(() => null);
  if (found === null) return;
  seen.endings = found.endings;
  showEndings(data, seen.endings, controls && ((tolerance) => controls.tolerance(tolerance)));
});

const refreshFailures = seldom(3000, async () => {
  const found = await get(studyPath(study, "/failures?limit=20")).catch(() => null);
  if (found !== null) showFailures(data, found.failures);
});

async function fetchOut() {
  if (!find("out-details").open) return;
  const found = await get(studyPath(study, "/pending")).catch(() => null);
  if (found !== null) showOut(found.pending, controls && ((row) => controls.release(row)));
}

const refreshOut = seldom(3000, fetchOut);

/** What goes with the view but costs more, or changes less often. */
function refreshRest() {
  const { pulls } = data.head.counts;
  refreshOut();
  if (pulls !== seen.pulls || data.head.stopped) refreshTrace();
  if (pulls !== seen.pulls && pulls > 0) refreshChances();
  if (pulls !== seen.pulls) refreshForecast();
  // What is changed by hand shows in the settings, or in what was told.
  const settings = JSON.stringify([data.head.budget, data.head.problem.tolerance, data.head.stopped, [...data.paused], pulls < seen.pulls]);
  if (settings !== seen.changes || pulls % 1000 === 0) refreshChanges();
  seen.changes = settings;
  seen.pulls = pulls;
  const failures = [...data.failures.values()].reduce((a, b) => a + b, 0) + data.paused.size;
  if (failures !== seen.failures) refreshFailures();
  seen.failures = failures;
}

function setUpWords() {
  document.title = `${shown(study, 60)} · standout`;
  find("crumb").replaceChildren(name(study));
  find("name").textContent = shown(study);
  for (const form of ["csv", "json", "parquet"]) find(form).href = studyPath(study, `/export?form=${form}`);
  find("chances").href = studyPath(study, "/chances?form=csv");
  find("report").href = studyPath(study, "/report");
  for (const link of [find("rate"), find("begin-rate")]) link.href = `/rate/${encodeURIComponent(study)}`;
  find("pilot").href = `/rate/${encodeURIComponent(study)}?pilot`;
  find("trace-details").addEventListener("toggle", showTraceTable);
  find("out-details").addEventListener("toggle", fetchOut);
  const menu = find("menu");
  for (const kind of ["click", "focusin"]) document.addEventListener(kind, (event) => menu.contains(event.target) || (menu.open = false));
  menu.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    menu.open = false;
    menu.firstElementChild.focus();
  });
  const quoted = /^[\w.-]+$/.test(study) ? study : `'${shown(study).replaceAll("'", `'\\''`)}'`;
  say(find("begin-run"), `standout run --server ${location.origin} --study ${quoted} --measure './program {arm}'`);
}

/** What a reward is, where pictures have an axis of rewards. */
function showAxis() {
  const { axis } = data.head;
  if (axis === null) return;
  say(find("axis-name"), shown(axis, 100));
  find("axis-name").hidden = false;
  for (const id of ["threshold-title", "chosen-picture-title"]) find(id).append(`; ${shown(axis, 100)}`);
}

function showConnection(state) {
  const words = { live: "live", polling: "live, every few seconds", lost: "connection lost, retrying" }[state];
  find("connection").dataset.state = state;
  say(find("connection"), words);
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
  }[failure.status] ?? `This did not work: ${failure.message}.`;
  const again = make("button", { type: "button", text: "Try again", onclick: () => location.reload() });
  const rest = failure.isPassing ? again : make("p", {}, make("a", { href: "/", text: "All studies" }));
  find("problem").replaceChildren(make("div", { class: "card empty", role: "alert" }, make("h1", { text: words }), rest));
  find("problem").hidden = false;
}

async function main() {
  setUpWords();
  // Who looks and what there is to see are asked at once, unless the link brings a token.
  const session = begin();
  session.catch(() => null);  // Reported below, unless something worse comes first.
  try {
    if (location.hash.startsWith("#token=")) await session;
    data.apply(await get(studyPath(study, "/view")));
    if ((await session) && loadOnceMore()) return;
    find("parquet").parentElement.hidden = !(await session)?.parquet;
    if ((await session)?.role === "owner") {
      controls = new Controls(study, data, await session, changed, refreshChanges);
      arms.sheet.controls = controls;
      setUp(study, data, changed);
    }
  } catch (failure) {
    if (!(failure instanceof Failure)) throw failure;
    showProblem(failure);
    return;
  }
  find("loading").hidden = true;
  find("study").hidden = false;
  showLegend(data);
  showAxis();
  showAll();
  showFailures(data, []);
  const asked = new URLSearchParams(location.search).get("arm");
  if (asked !== null) arms.choose(data.names.indexOf(asked));
  refreshRest();
  performance.mark("usable");
  new Live(studyPath(study, "/events"), refresh, showConnection).start();
}

main();
