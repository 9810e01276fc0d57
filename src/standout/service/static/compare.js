// Studies of one store side by side, arm by arm. What is compared are the verdicts and the
// intervals of each, as its stopping rule has them.

import { Failure, get, studyPath } from "./api.js";
import { StudyData } from "./data.js";
import { draw, find, make, name, say } from "./dom.js";
import { count, interval, percent, plural, rewards, value } from "./format.js";
import { brief, Items, thumb } from "./items.js";
import { MARKS, NORMAL, OUTLIER } from "./marks.js";
import { clamp, scale } from "./scale.js";
import { askForToken, begin } from "./session.js";
import { mark, markClass, markPath, verdictWords } from "./verdicts.js";

const PAGE = 100;
const MOST = 6;
/** Of an arm's picture, in pixels. */
const WIDTH = 150;
const HEIGHT = 26;

async function read(study) {
  const data = new StudyData();
  data.apply(await get(studyPath(study, "/view")));
  return data;
}

/** Arms that all studies have: where their intervals lie, and how far their verdicts agree. */
function shared(studies) {
  const others = studies.slice(1).map((data) => new Map(data.names.map((arm, place) => [arm, place])));
  return studies[0].names.flatMap((arm, place) => {
    const places = [place, ...others.map((index) => index.get(arm))];
    return places.includes(undefined) ? [] : [compareArm(studies, places)];
  });
}

function compareArm(studies, places) {
  const kinds = studies.map((data, i) => data.verdict[places[i]]);
  const isAgainst = kinds.includes(OUTLIER) && kinds.includes(NORMAL);
  const isApart = Math.max(...studies.map((data, i) => data.lower[places[i]])) > Math.min(...studies.map((data, i) => data.upper[places[i]]));
  const isAll = kinds.every((kind) => kind === OUTLIER);
  // What differs first, then what stands out in any.
  const rank = isAgainst ? 0 : isApart ? 1 : isAll ? 2 : kinds.includes(OUTLIER) ? 3 : 4;
  return { places, isAgainst, isApart, isAll, rank };
}

function words(studies, rows) {
  const [one] = studies;
  const all = studies.length === 2 ? "both" : `all ${count(studies.length)}`;
  const named = (found) => found.slice(0, 6).map((row) => one.names[row.places[0]]).join(", ") + (found.length > 6 ? ` and ${count(found.length - 6)} more` : "");
  const said = (found, none, some) => (found.length ? `${some} ${named(found)}.` : none);
  const [stand, against, apart] = ["isAll", "isAgainst", "isApart"].map((key) => rows.filter((row) => row[key]));
  const delta = studies.reduce((sum, data) => sum + data.head.problem.delta, 0);
  const only = studies.filter((data) => data.size > rows.length).map((data) => `; ${data.head.name} has ${plural(data.size - rows.length, "other arm")}`).join("");
  const lines = [
    `${plural(rows.length, "arm")} in ${all}${only}.`,
    said(stand, `No arm is known to stand out in ${all}.`, `${plural(stand.length, "arm")} ${stand.length === 1 ? "stands" : "stand"} out in ${all}:`),
    said(against, "No arm stands out for certain in one and certainly not in another.", "For certain in one and certainly not in another:"),
    said(apart, "No arm has disjoint intervals.", "Disjoint intervals, so the means differ:"),
    `All of this holds together with probability at least ${percent(1 - Math.min(1, delta))}. An arm is judged against its own study’s threshold.`,
  ];
  const units = new Set(studies.map((data) => `${rewards(data.head.problem.noise)}${data.head.axis ? `, ${data.head.axis}` : ""}`));
  if (rows.length === 0) lines.splice(1, 4, `There is nothing to compare: arms are matched by name, and none is in ${all}.`);
  else if (units.size > 1) lines.splice(1, 0, `Caution: the means may have different units (${[...units].join("; ")}).`);
  return lines.map((text) => make("li", { text }));
}

/** One range for the pictures of all studies, so that they can be compared by eye. */
function rangeOf(studies) {
  const ends = studies.map((data) => data.head.scale).filter(Boolean);
  return scale(Math.min(...ends.map((one) => one.low)), Math.max(...ends.map((one) => one.high)), 8, WIDTH - 8);
}

/** An arm's interval against its own study's threshold. */
function picture(data, place, x) {
  const at = (value) => x(clamp(value, x.low, x.high));
  const bands = data.bands().filter((band) => band.isKnown).map((band) => draw("rect", { class: "band", x: at(band.lower), y: 0, width: Math.max(1, at(band.upper) - at(band.lower)), height: HEIGHT }));
  const kind = data.verdict[place];
  const isMeasured = !Number.isNaN(data.estimate[place]);
  const line = isMeasured ? draw("path", { class: "line", d: `M${at(data.lower[place])} ${HEIGHT / 2}H${at(data.upper[place])}` }) : null;
  const shape = isMeasured ? draw("path", { class: markClass(kind), d: markPath(kind, data.isLow(place), at(data.estimate[place]), HEIGHT / 2, 5) }) : null;
  return draw("svg", { class: `picture ${MARKS[kind].name}`, viewBox: `0 0 ${WIDTH} ${HEIGHT}`, width: WIDTH, height: HEIGHT, "aria-hidden": "true" }, ...[...bands, line, shape].filter(Boolean));
}

/** An arm as people saw it; pictures of other hosts are for the study's own page. */
function armCell(arm, item) {
  const picture = item?.image?.startsWith("/") ? thumb(item) : null;
  return make("th", { scope: "row" }, picture, picture ? " " : null, name(arm), make("span", { class: "item-words", dir: "auto", text: brief(item) }));
}

function cells(data, place, x) {
  return [
    make("td", { class: "whole first" }, mark(data.verdict[place], data.isLow(place)), " ", verdictWords(data, place)),
    make("td", { class: "drawn" }, picture(data, place, x)),
    make("td", { class: "number right", text: value(data.estimate[place], data.decimals) }),
    make("td", { class: "number right whole", text: interval(data.lower[place], data.upper[place], data.decimals) }),
  ];
}

function showTable(studies, items, all, most) {
  const head = (text, attributes = {}) => make("th", { scope: "col", ...attributes, text });
  const titles = ["Verdict", "Against its threshold", "Mean", "Interval"];
  const side = () => titles.map((text, i) => head(text, { class: i > 1 ? "right" : i ? "" : "first" }));
  const shown = all.slice(0, most);
  const x = rangeOf(studies);
  const rows = shown.map(({ places, isAgainst, isApart }) =>
    make("tr", {}, armCell(studies[0].names[places[0]], items.of(places[0])), ...studies.flatMap((data, i) => cells(data, places[i], x)),
      make("td", { class: "whole", text: isAgainst ? "verdicts differ" : isApart ? "means differ" : "" })));
  find("found-table").replaceChildren(
    make("caption", { class: "only-read", text: "Arms of all studies, those that differ first" }),
    make("thead", {},
      make("tr", {}, head("Arm", { rowspan: 2 }), ...studies.map((data) => head(data.head.axis ? `${data.head.name} (${data.head.axis})` : data.head.name, { colspan: titles.length, scope: "colgroup", class: "first" })), head("Difference", { rowspan: 2 })),
      make("tr", {}, ...studies.flatMap(side))),
    make("tbody", {}, ...rows));
  const more = find("more");
  more.hidden = all.length <= most;
  more.onclick = () => showTable(studies, items, all, most + PAGE);
  items.changed = () => showTable(studies, items, all, most);
  items.want(shown.map((row) => row.places[0]));
}

async function compare(names) {
  const studies = await Promise.all(names.map(read));
  const all = shared(studies).sort((a, b) => a.rank - b.rank || a.places[0] - b.places[0]);
  find("found-title").replaceChildren(...names.flatMap((one, i) => [i === 0 ? "" : i === names.length - 1 ? " and " : ", ", name(one)]));
  find("found-words").replaceChildren(...words(studies, all));
  if (all.length) showTable(studies, new Items(names[0]), all, PAGE);
  find("found-room").hidden = all.length === 0;
  find("found").hidden = false;
}

function showProblem(failure) {
  if (!(failure instanceof Failure)) throw failure;
  if (failure.status === 401) askForToken("A token is needed to compare studies.");
  else find("problem").replaceChildren(make("p", { class: "message bad", text: `This did not work: ${failure.message}.` }));
}

/** One more study to choose; `chosen` is its name, if it is known. */
function addChoice(names, chosen) {
  const room = find("choices");
  const number = room.children.length + 1;
  const select = make("select", { id: `study-${number}`, name: "study" }, ...names.map((one) => make("option", { value: one, text: one })));
  if (chosen !== undefined) select.value = chosen;
  room.append(make("div", {}, make("label", { for: select.id, text: `Study ${number}` }), select));
  find("add").hidden = number >= Math.min(MOST, names.length);
}

async function main() {
  try {
    await begin();
    const names = (await get("/api/v1/studies?limit=1000")).studies.map((row) => row.name);
    const asked = new URLSearchParams(location.search).getAll("study").slice(0, MOST);
    for (const one of asked.length > 1 ? asked : names.slice(0, 2)) addChoice(names, one);
    find("add").addEventListener("click", () => addChoice(names, names[find("choices").children.length]));
    if (asked.length > 1) await compare(asked);
    else if (names.length < 2) say(find("problem"), "There are fewer than two studies to compare.");
  } catch (failure) {
    showProblem(failure);
  }
}

main();
