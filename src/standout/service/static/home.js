// The list of studies.

import { Failure, get, sleep } from "./api.js";
import { createForm } from "./create.js";
import { find, make, name, say } from "./dom.js";
import { count, day, plural } from "./format.js";
import { NORMAL, OUTLIER, UNDECIDED } from "./marks.js";
import { askForToken, begin } from "./session.js";
import { mark } from "./verdicts.js";

const EVERY = 4000;
const PAGE = 50;
const WORDS = { decided: "decided", budget: "budget spent", estimate: "estimate" };
let shownPages = 1;
let session = null;

function share(row) {
  const normal = row.arms - row.outliers - row.undecided;
  const part = (kind, amount) => {
    const bar = make("span", { class: `part ${kind}` });
    bar.style.flexGrow = amount;
    return amount && row.pulls ? bar : null;
  };
  return make(
    "span",
    { class: "share", "aria-hidden": "true" },
    part("outlier", row.outliers),
    part("undecided", row.undecided),
    part("normal", normal),
  );
}

function entry(row) {
  const state = row.stopped ? WORDS[row.reason] ?? row.reason : row.pulls ? "measuring" : "no pulls yet";
  const kind = row.stopped ? (row.reason === "decided" ? "decided" : "") : row.pulls ? "going" : "";
  const normal = row.arms - row.outliers - row.undecided;
  const number = (verdict, amount, word) => make("span", { class: "number" }, mark(verdict), `${count(amount)} ${word}`);
  return make(
    "li",
    { class: "card study-card" },
    make("h2", {}, make("a", { href: `/study/${encodeURIComponent(row.name)}` }, name(row.name)), make("span", { class: `pill ${kind}`, text: state })),
    share(row),
    make(
      "p",
      { class: "counts" },
      number(OUTLIER, row.outliers, row.outliers === 1 ? "outlier" : "outliers"),
      number(UNDECIDED, row.undecided, "undecided"),
      number(NORMAL, normal, "normal"),
    ),
    make("p", { class: "muted small number", text: `${plural(row.pulls, "pull")} of ${plural(row.arms, "arm")}${row.pending ? `, ${count(row.pending)} pending` : ""} · created ${day(row.created)}` }),
  );
}

function empty() {
  const isOwner = session?.role === "owner";
  return make(
    "li",
    { class: "card empty" },
    make("h2", { text: "No study yet" }),
    make("p", { text: isOwner ? "Create one here with New study, or in a terminal with standout study create." : "The owner has not created one yet." }),
  );
}

function show(rows, hasMore) {
  const list = find("studies");
  const text = JSON.stringify(rows);
  // An unchanged list is not redrawn, which keeps the keyboard focus.
  if (list.dataset.shown !== text) {
    const at = [...list.querySelectorAll("a")].indexOf(document.activeElement);
    list.replaceChildren(...(rows.length ? rows.map(entry) : [empty()]));
    if (at >= 0) list.querySelectorAll("a")[at]?.focus();
    list.dataset.shown = text;
  }
  list.hidden = false;
  find("loading").hidden = true;
  find("problem").hidden = true;
  find("more").hidden = !hasMore;
  find("compare").hidden = rows.length < 2;
}

async function load() {
  const rows = [];
  let next = null;
  for (let page = 0; page < shownPages; page++) {
    const after = next === null ? "" : `&after=${encodeURIComponent(next)}`;
    const found = await get(`/api/v1/studies?limit=${PAGE}${after}`);
    rows.push(...found.studies);
    next = found.next;
    if (next === null) break;
  }
  show(rows, next !== null);
}

function showProblem(failure) {
  find("loading").hidden = true;
  if (failure.status === 401) {
    askForToken("A token is needed to see the studies.");
    return false;
  }
  if (failure.status === 403) {
    const isRater = session?.role === "rater" && session.study;
    const link = isRater ? make("a", { class: "button main", href: `/rate/${encodeURIComponent(session.study)}`, text: "To the rating page" }) : null;
    find("problem").replaceChildren(make("div", { class: "card empty" }, make("h2", { text: "This token does not show the list of studies." }), link));
    find("problem").hidden = false;
    return false;
  }
  say(find("connection"), "connection lost, retrying");
  find("connection").dataset.state = "lost";
  return true;
}

function setUpCreate() {
  const button = find("new");
  const section = find("create");
  button.hidden = session?.role !== "owner";
  const toggle = (isOpen) => {
    section.hidden = !isOpen;
    button.setAttribute("aria-expanded", String(isOpen));
  };
  button.addEventListener("click", () => {
    if (!section.firstChild) section.append(createForm(() => toggle(false), session?.files && session.study === null));
    toggle(section.hidden);
    if (!section.hidden) section.querySelector("input, textarea").focus();
  });
}

async function main() {
  try {
    session = await begin();
  } catch (failure) {
    if (!(failure instanceof Failure)) throw failure;
  }
  setUpCreate();
  find("more").addEventListener("click", () => {
    shownPages += 1;
    load();
  });
  for (;;) {
    try {
      if (!document.hidden) await load();
      say(find("connection"), "");
      find("connection").dataset.state = "";
    } catch (failure) {
      if (!(failure instanceof Failure)) throw failure;
      if (!showProblem(failure)) return;
    }
    await sleep(EVERY);
  }
}

main();
