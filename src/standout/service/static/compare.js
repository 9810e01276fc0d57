// Two studies of one store side by side, arm by arm. What is compared are the verdicts and the
// intervals of each, as its stop rule has them.

import { Failure, get, studyPath } from "./api.js";
import { StudyData } from "./data.js";
import { find, make, name, say } from "./dom.js";
import { count, interval, percent, plural, rewards, value } from "./format.js";
import { brief, Items, thumb } from "./items.js";
import { NORMAL, OUTLIER } from "./marks.js";
import { askForToken, begin } from "./session.js";
import { mark, verdictWords } from "./verdicts.js";

const PAGE = 100;

async function read(study) {
  const data = new StudyData();
  data.apply(await get(studyPath(study, "/view")));
  return data;
}

/** Arms that both have: where their intervals lie, and how far their verdicts agree. */
function pairs(one, two) {
  const index = new Map(two.names.map((arm, place) => [arm, place]));
  return one.names.flatMap((arm, a) => (index.has(arm) ? [pair(one, two, a, index.get(arm))] : []));
}

function pair(one, two, a, b) {
  const kinds = [one.verdict[a], two.verdict[b]];
  const isAgainst = kinds.includes(OUTLIER) && kinds.includes(NORMAL);
  const isApart = one.lower[a] > two.upper[b] || two.lower[b] > one.upper[a];
  const isBoth = kinds[0] === OUTLIER && kinds[1] === OUTLIER;
  // What differs first, then what stands out in either.
  const rank = isAgainst ? 0 : isApart ? 1 : isBoth ? 2 : kinds.includes(OUTLIER) ? 3 : 4;
  return { a, b, isAgainst, isApart, isBoth, rank };
}

function words(one, two, all) {
  const only = (data) => plural(data.size - all.length, "arm");
  const named = (rows) => rows.slice(0, 6).map((row) => one.names[row.a]).join(", ") + (rows.length > 6 ? ` and ${count(rows.length - 6)} more` : "");
  const said = (rows, none, some) => (rows.length ? `${some} ${named(rows)}.` : none);
  const [both, against, apart] = ["isBoth", "isAgainst", "isApart"].map((key) => all.filter((row) => row[key]));
  const delta = one.head.problem.delta + two.head.problem.delta;
  const lines = [
    `${plural(all.length, "arm")} in both; ${only(one)} only in the first, ${only(two)} only in the second.`,
    said(both, "No arm is known to stand out in both.", `${plural(both.length, "arm")} ${both.length === 1 ? "stands" : "stand"} out in both:`),
    said(against, "No arm stands out for certain in one and certainly not in the other.", `For certain in one and certainly not in the other:`),
    said(apart, "Nowhere are the intervals of an arm apart.", `Intervals apart, so that the means differ:`),
    `All of this holds together with probability at least ${percent(1 - Math.min(1, delta))}. An arm is judged against its own study’s threshold.`,
  ];
  if (all.length === 0) lines.splice(1, 4, "There is nothing to compare: arms go by their names, and none is in both.");
  else if (one.head.problem.noise !== two.head.problem.noise) lines.splice(1, 0, `Caution: the first has ${rewards(one.head.problem.noise)}, the second ${rewards(two.head.problem.noise)}; means may not be in one unit.`);
  return lines.map((text) => make("li", { text }));
}

/** An arm as people saw it; pictures of other hosts are for the study's own page. */
function armCell(arm, item) {
  const picture = item?.image?.startsWith("/") ? thumb(item) : null;
  return make("th", { scope: "row" }, picture, picture ? " " : null, name(arm), make("span", { class: "item-words", dir: "auto", text: brief(item) }));
}

function cells(data, place) {
  return [
    make("td", { class: "whole first" }, mark(data.verdict[place], data.isLow(place)), " ", verdictWords(data, place)),
    make("td", { class: "number right", text: value(data.estimate[place], data.decimals) }),
    make("td", { class: "number right whole", text: interval(data.lower[place], data.upper[place], data.decimals) }),
  ];
}

function showTable(one, two, items, all, most) {
  const head = (text, attributes = {}) => make("th", { scope: "col", ...attributes, text });
  const titles = ["Verdict", "Mean", "Interval"];
  const side = titles.map((text, i) => head(text, { class: i ? "right" : "first" }));
  const shown = all.slice(0, most);
  const rows = shown.map((row) =>
    make("tr", {}, armCell(one.names[row.a], items.of(row.a)), ...cells(one, row.a), ...cells(two, row.b),
      make("td", { class: "whole", text: row.isAgainst ? "verdicts differ" : row.isApart ? "means differ" : "" })));
  find("found-table").replaceChildren(
    make("caption", { class: "only-read", text: "Arms of both studies, those that differ first" }),
    make("thead", {},
      make("tr", {}, head("Arm", { rowspan: 2 }), head(one.head.name, { colspan: 3, scope: "colgroup", class: "first" }), head(two.head.name, { colspan: 3, scope: "colgroup", class: "first" }), head("Difference", { rowspan: 2 })),
      make("tr", {}, ...side, ...side.map((each) => each.cloneNode(true)))),
    make("tbody", {}, ...rows));
  const more = find("more");
  more.hidden = all.length <= most;
  more.onclick = () => showTable(one, two, items, all, most + PAGE);
  items.changed = () => showTable(one, two, items, all, most);
  items.want(shown.map((row) => row.a));
}

async function compare(first, second) {
  const [one, two] = await Promise.all([read(first), read(second)]);
  const all = pairs(one, two).sort((x, y) => x.rank - y.rank || x.a - y.a);
  find("found-title").replaceChildren(name(first), " and ", name(second));
  find("found-words").replaceChildren(...words(one, two, all));
  showTable(one, two, new Items(first), all, PAGE);
  find("found-room").hidden = all.length === 0;
  find("found").hidden = false;
}

function showProblem(failure) {
  if (!(failure instanceof Failure)) throw failure;
  if (failure.status === 401) askForToken("A token is needed to compare studies.");
  else find("problem").replaceChildren(make("p", { class: "message bad", text: `This did not work: ${failure.message}.` }));
}

async function main() {
  try {
    await begin();
    const { studies } = await get("/api/v1/studies?limit=1000");
    const asked = new URLSearchParams(location.search);
    for (const key of ["one", "two"]) {
      find(key).append(...studies.map((row) => make("option", { value: row.name, text: row.name })));
      if (asked.get(key) !== null) find(key).value = asked.get(key);
    }
    if (asked.get("two") === null && studies.length > 1) find("two").selectedIndex = 1;
    if (asked.get("one") !== null && asked.get("two") !== null) await compare(asked.get("one"), asked.get("two"));
    else if (studies.length < 2) say(find("problem"), "There are fewer than two studies to compare.");
  } catch (failure) {
    showProblem(failure);
  }
}

main();
