// The words around the picture: title, figures, what comes next, failures.

import { find, make, name, say, seldom, shown, table, wide } from "./dom.js";
import { chance, count, decimalsFor, interval, isKnown, percent, plural, reachable, rewards, short, time, value } from "./format.js";
import { brief, thumb } from "./items.js";
import { MARKS, NORMAL, OUTLIER, UNDECIDED } from "./marks.js";
import { mark } from "./verdicts.js";

const MOST_NAMES = 6;
const MOST_LEADERS = 10;
const MOST_OUT = 50;
/** An arm with a lower chance is not named, unless none has a higher one. */
const LEAST_CHANCE = 0.05;
const REASONS = {
  decided: "decided",
  budget: "budget spent",
  estimate: "an estimate",
};
const WHY = {
  "first pulls": "First pulls: every arm needs some before it has an interval.",
  undecided: "Undecided: the interval still touches the threshold’s.",
  "moves the threshold": "Moves the threshold: decided, but measuring it narrows the threshold’s interval.",
  overdue: "Handed out before without an answer: it goes to the next worker.",
};

/** Arms in a sentence with what they show, the first few of many. */
function listed(data, items, places) {
  const few = places.slice(0, MOST_NAMES);
  const more = places.length - few.length;
  items.want(few);
  const parts = [];
  few.forEach((place, i) => {
    if (i > 0) parts.push(i === few.length - 1 && more <= 0 ? " and " : ", ");
    parts.push(name(data.names[place]), itemWords(items.of(place)));
  });
  if (more > 0) parts.push(` and ${count(more)} more`);
  return parts;
}

/** An item behind its arm's name: a name alone may mean nothing to a reader. */
function itemWords(item) {
  const parts = [];
  if (item?.image) parts.push(" ", thumb(item));
  const text = brief(item, 60).replace(/^[“"](.*)[”"]$/u, "$1");
  if (text) parts.push(" (", make("bdi", { class: "quoted", text: `“${text}”` }), ")");
  return make("span", {}, ...parts);
}

let spoken = "";
/** For screen readers: not more often than one can listen. */
const announce = seldom(8000, () => say(find("summary"), spoken));

/** The answer so far, in a sentence. */
export function showAnswer(data, items) {
  const { head } = data;
  const { arms, outliers, undecided } = head.counts;
  find("begin").hidden = head.counts.pulls > 0;
  if (head.counts.pulls === 0) {
    find("answer").replaceChildren("Nothing has been measured yet.");
    return;
  }
  const names = listed(data, items, data.order("mean", OUTLIER));
  const verb = outliers === 1 ? "stands" : "stand";
  const rest = head.stopped
    ? undecided ? [`; ${plural(undecided, "arm")} stayed undecided.`] : ["."]
    : [`; ${undecided === 0 ? "none is" : undecided === arms ? "all are" : count(undecided) + (undecided === 1 ? " is" : " are")} undecided.`];
  const all = outliers === 0
    ? [undecided === 0 ? `None of the ${count(arms)} arms stands out` : `None of the ${count(arms)} arms stands out for certain${head.stopped ? "" : " yet"}`]
    : [`${count(outliers)} of ${count(arms)} arms ${verb} out${head.stopped ? "" : " so far"}: `, ...names];
  find("answer").replaceChildren(...all, ...rest);
  showLikely(data, items);
  showLegend(data);
  spoken = `${plural(outliers, "outlier")}, ${count(undecided)} undecided, ${count(head.counts.normal)} normal. ${head.stopped ? "The study has stopped." : ""}`;
  announce();
}

/** The leaders among the undecided with their chances: an estimate, in words that no verdict has. */
function showLikely(data, items) {
  const found = data.chances;
  const isOpen = data.head.counts.undecided > 0;
  find("provisional").hidden = !isOpen || found === undefined;
  if (!isOpen || !found?.pulls) return;
  const leaders = data.leaders(MOST_LEADERS).filter((place, i) => i === 0 || data.chance[place] >= LEAST_CHANCE);
  items.want(leaders);
  const guessed = found.probable.length;
  const wrong = found.expected_wrong < 0.05 ? "fewer than 0.1" : value(found.expected_wrong, 1);
  const certain = data.head.counts.outliers ? ` (${count(data.head.counts.outliers)} for certain)` : "";
  say(find("likely"), `Best guess: ${guessed === 0 ? "no arm stands" : plural(guessed, "arm") + (guessed === 1 ? " stands" : " stand")} out${certain}. Taken as the answer, ${wrong} arms are expected to be on the wrong side.`);
  const rows = leaders.map((place) => {
    const bar = make("span", { class: "likely-bar" });
    bar.style.setProperty("--chance", data.chance[place]);
    const link = make("a", { href: `#arm-${place}`, "data-arm": place }, name(data.names[place]));
    return make("li", {}, make("span", {}, link, itemWords(items.of(place))), bar, make("span", { class: "chance number", text: `chance ${chance(data.chance[place])}` }));
  });
  find("likely-arms").replaceChildren(...rows);
  const ended = data.head.reason === "estimate" ? `The study ended on this estimate (until ${data.head.until}), not on the certificate. ` : "";
  say(find("likely-note"), ended + (found.note === null ? "" : `Caution: ${found.note}.`));
  const likely = [found.likely_threshold_low, found.likely_threshold].filter(Boolean).map((one) => `between ${interval(one.lower, one.upper).replace(" to ", " and ")}`);
  say(find("likely-threshold"), likely.length ? `With a chance of ${found.level} the ${likely.length === 1 ? "threshold lies" : "thresholds lie"} ${likely.join(" and ")}.` : "");
}

/** What the marks mean. */
export function showLegend(data) {
  const { side } = data.head.problem;
  const item = (icon, text) => make("li", {}, icon, text);
  const marks = [item(mark(OUTLIER, side === "low"), side === "both" ? "high outlier" : "outlier")];
  if (side === "both") marks.push(item(mark(OUTLIER, true), "low outlier"));
  marks.push(item(mark(UNDECIDED), "undecided"), item(mark(NORMAL), "normal"));
  const band = item(make("span", { class: "band-icon" }), side === "both" ? "the thresholds’ intervals" : "the threshold’s interval");
  const guess = item(make("span", { class: "guess-icon" }), side === "both" ? "their estimates" : "its estimate");
  const likely = data.likely().length ? [item(make("span", { class: "likely-icon" }), "likely threshold, an estimate")] : [];
  find("legend").replaceChildren(...marks, band, guess, ...likely);
}

/** What is asked, and how it stands. */
export function showTitle(data) {
  const { head } = data;
  const state = find("state");
  const isGoing = !head.stopped && head.counts.pulls > 0;
  say(state, head.stopped ? `stopped: ${REASONS[head.reason] ?? head.reason}` : isGoing ? "measuring" : "no pulls yet");
  state.className = `pill ${isGoing ? "going" : head.reason === "decided" ? "decided" : ""}`;
  say(find("question"), question(head));
  const note = find("note");
  note.hidden = head.note === null;
  say(note.firstElementChild, head.note === null ? "" : `This may never be decided: ${head.note}.`);
}

/** What is asked, in words. */
function question(head) {
  const { k, k_low, mad_scale, delta, side, tolerance, noise } = head.problem;
  const at = (times) => `${times} × ${mad_scale === 1 ? "" : `${mad_scale} × `}MAD`;
  const low = k_low ?? k;
  const where = {
    high: `above median + ${at(k)}`,
    low: `below median − ${at(k)}`,
    both: `above median + ${at(k)} or below median − ${at(low)}`,
  }[side];
  const near = tolerance > 0 ? ` Within ${Number(tolerance.toPrecision(4))} of the threshold, either verdict counts as right.` : "";
  return `An arm stands out if its mean lies ${where}. Wrong with probability at most ${percent(delta)}, for ${rewards(noise)}.${near} Created ${time(head.created)}.`;
}

function figure(term, body, extra = null, kind = null) {
  const icon = kind === null ? null : mark(kind);
  const style = kind !== null ? MARKS[kind].name : body.includes(" ") ? "interval" : "";
  return make(
    "div",
    { class: `figure ${style}` },
    make("dt", {}, icon, term),
    make("dd", { class: "number", text: body }),
    extra === null ? null : make("dd", { class: "small muted number", text: extra }),
  );
}

/** The figures; `forecast` is undefined until it is known, null when it cannot be. */
export function showFigures(data, forecast) {
  const { head } = data;
  const { counts, budget } = head;
  const pulls = [];
  if (budget !== null) pulls.push(`of ${count(budget)}`);
  if (counts.pending) pulls.push(`${count(counts.pending)} pending`);
  if (counts.expired) pulls.push(`${count(counts.expired)} to hand out again`);
  if (counts.surplus) pulls.push(`${count(counts.surplus)} beyond the budget`);
  const titles = data.thresholds.length > 1 ? ["High threshold", "Low threshold"] : ["Threshold"];
  find("figures").replaceChildren(
    figure("Outliers", count(counts.outliers), null, OUTLIER),
    figure("Undecided", count(counts.undecided), null, UNDECIDED),
    figure("Normal", count(counts.normal), null, NORMAL),
    figure("Pulls", count(counts.pulls), pulls.join(", ") || null),
    ...data.thresholds.map((one, place) => thresholdFigure(titles[place], one, head.problem.noise)),
    leftFigure(head, forecast),
  );
}

function thresholdFigure(term, { lower, upper, estimate }, noise) {
  const span = upper - lower;
  const places = lower !== null && upper !== null && isKnown(span) ? decimalsFor(span) : null;
  return figure(term, interval(...reachable(lower, upper, noise)), isKnown(estimate) ? `about ${value(estimate, places)}` : null);
}

function leftFigure(head, forecast) {
  if (head.stopped) return figure("Pulls left", "0", isKnown(head.stopped_at) ? `stopped ${time(head.stopped_at)}` : null);
  if (forecast === undefined) return figure("Pulls left", "…", "computing");
  if (forecast === null) return figure("Pulls left", "–", "not known yet");
  if (head.budget !== null && forecast.lower >= head.budget - head.counts.pulls) {
    return figure("Pulls left", count(head.budget - head.counts.pulls), "the rest of the budget");
  }
  const range = forecast.upper === null ? `${short(forecast.lower)} or more` : `${short(forecast.lower)} to ${short(forecast.upper)}`;
  return figure("Pulls left", `≈\u2009${short(forecast.pulls_left)}`, `probably ${range}`);
}

function nextArm(data, row, go) {
  const times = row.pulls > 1 ? make("span", { class: "number", text: `${count(row.pulls)} ×` }) : null;
  const open = make("button", { type: "button", class: "chip" }, times, name(row.arm));
  open.addEventListener("click", () => go(data.names.indexOf(row.arm)));
  return open;
}

/** What would be asked next, and why. */
export function showNext(data, go) {
  const { head } = data;
  const list = find("next");
  const words = head.stopped
    ? "Nothing: the study has stopped."
    : head.next.length === 0
      ? "Nothing at the moment: the method waits for pending pulls."
      : "The next pulls to hand out:";
  say(find("next-words"), words);
  const groups = new Map();
  for (const row of head.next) groups.set(row.why, [...(groups.get(row.why) ?? []), row]);
  const items = [...groups].map(([why, rows]) =>
    make("li", {}, make("p", { class: "small", text: WHY[why] ?? why }), make("p", { class: "next-arms" }, ...rows.map((row) => nextArm(data, row, go)))),
  );
  // An update must not take the keyboard focus from one of these.
  if (!list.contains(document.activeElement)) list.replaceChildren(...items);
}

/** The tickets that are out, oldest first; `release` ends the lease of one, for owners. */
export function showOut(rows, release) {
  const shownRows = rows.slice(0, MOST_OUT);
  const now = Date.now() / 1000;
  const body = shownRows.map((row) => {
    const end = row.expires <= now
      ? make("span", { class: "muted", text: "free again" })
      : release && make("button", { type: "button", class: "plain small", text: "Release", "aria-label": `Release ticket ${row.ticket}`, onclick: () => release(row) });
    const ticket = make("span", { class: "muted small", text: ` ticket ${row.ticket}` });
    return [make("span", {}, name(row.arm), ticket), name(row.worker), time(row.expires), end ?? ""];
  });
  const more = rows.length > shownRows.length ? make("p", { class: "muted small", text: `and ${count(rows.length - shownRows.length)} more` }) : "";
  const empty = make("p", { class: "muted", text: "No ticket is out." });
  const room = find("out");
  const isThere = room.contains(document.activeElement);
  room.replaceChildren(rows.length ? wide("Tickets that are out", table(["Arm", "With", "Until", ""], body)) : empty, more);
  if (isThere) find("out-title").focus();
}

/** Failures, newest first, and the arms that are handed out no more. */
export function showFailures(data, rows) {
  const root = find("failures");
  const parts = [];
  if (data.paused.size) {
    const items = [...data.paused].slice(0, 50).map(([arm, why]) => make("li", {}, name(arm), make("span", { class: "muted", text: ` – ${shown(why)}` })));
    parts.push(make("h3", { text: `${plural(data.paused.size, "paused arm")}: not handed out` }), make("ul", { class: "plain-list" }, ...items));
  }
  if (rows.length) {
    const total = [...data.failures.values()].reduce((a, b) => a + b, 0);
    const body = rows.map((row) => [time(row.time), name(row.arm), name(row.worker), shown(row.reason || "no reason given", 500)]);
    parts.push(
      make("h3", { text: `${plural(total, "failure")}${total > rows.length ? `, the last ${rows.length}` : ""}` }),
      wide("Failures", table(["When", "Arm", "Who", "Why"], body)),
    );
  }
  if (!parts.length) parts.push(make("p", { class: "muted", text: "None: every ticket has a reward or is still out." }));
  root.replaceChildren(...parts);
}
