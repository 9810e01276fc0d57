// The rating page: consent, then one item after another.

import { Failure, nameFromAddress, post, sleep } from "./api.js";
import { answersFor } from "./answers.js";
import { find, make, say, shown } from "./dom.js";
import { plural } from "./format.js";
import { itemParts, pictureOf } from "./items.js";
import { askForToken, begin, loadOnceMore } from "./session.js";

/** Milliseconds in which an answer to a new item can only be meant for the one before. */
const TOO_SOON = 250;
const DOUBLE_CLICK = 600;
const LOOK_AGAIN = 5000;

const study = nameFromAddress("/rate/");
const address = `/rate/${encodeURIComponent(study)}`;
/** Nothing that is answered here counts: for trying the page out. */
const isPilot = new URLSearchParams(location.search).has("pilot");
const now = { last: null, isDone: false, change: null, item: null, ticket: null, held: null, shownAt: 0, isBusy: false, answered: 0, again: false, keys: new Map(), turn: 0, strange: 0 };

function card(...parts) {
  const place = find("card");
  find("loading").hidden = true;
  place.hidden = false;
  place.replaceChildren(...parts.filter((part) => part !== null));
  return place;
}

function showProgress() {
  const given = now.answered ? `${plural(now.answered, "answer")} given` : "";
  say(find("progress"), isPilot ? "pilot: nothing counts" : given);
}

/** Words under the card, for those who see and those who listen. */
function notice(text) {
  say(find("notice"), text);
}

// What is sent -------------------------------------------------------------------

/** Send until the server has it. The ticket makes sure that it counts once. */
async function send(path, body) {
  for (let tries = 0; ; tries++) {
    try {
      const found = await post(address + path, isPilot ? {} : { ...body, again: now.again });
      if (tries) notice("");
      return found;
    } catch (failure) {
      if (!(failure instanceof Failure) || !failure.isPassing) throw failure;
      notice(failure.status === 429 ? "A little slower, please: your answer is kept and sent in a moment." : "Connection lost, retrying. Your answer is kept.");
      await sleep(1000 * Math.max(failure.wait, Math.min(10, 2 ** tries)));
    }
  }
}

/** Do one thing at a time, and show what comes of it. */
async function act(path, body) {
  if (now.isBusy) return;
  now.isBusy = true;
  now.turn += 1;
  find("card").setAttribute("aria-busy", "true");
  for (const button of find("card").querySelectorAll("button, input")) button.disabled = true;
  try {
    show(await send(isPilot ? "/pilot" : path, body), body);
  } catch (failure) {
    if (!(failure instanceof Failure)) throw failure;
    await handle(failure);
  } finally {
    now.isBusy = false;
    find("card").removeAttribute("aria-busy");
  }
}

async function handle(failure) {
  if (now.change !== null && ["too_late", "study", "not_yours"].includes(failure.code)) {
    now.change = null;
    notice("That answer can no longer be changed. Here is the next item.");
    show(await send("/next", {}));
    return;
  }
  if (failure.code === "not_yours" && now.strange++ > 0) {
    message("This page needs cookies", "Your browser blocks them, so your answers cannot be distinguished from those of others. Allow cookies for this page and load it again.");
  } else if (failure.code === "not_yours") {
    notice("That item went to another rater; here is a new one.");
    show(await send("/next", {}));
  } else if (failure.status === 401) {
    find("loading").hidden = true;
    askForToken("A token is needed to rate: open the link that you were given, or enter it here.");
  } else if (failure.status === 404) {
    message("There is nothing to rate here", "The address may be wrong, or the study was removed.");
  } else if (failure.status === 403) {
    message("This token is not for this page", "Ask the person who gave it to you.");
  } else {
    message("That did not work", failure.message, make("button", { type: "button", class: "main", text: "Continue", onclick: () => act("/next", {}) }));
  }
}

function answer(value, event) {
  const age = performance.now() - now.shownAt;
  const isDouble = event?.type === "click" && event.detail > 1 && age < DOUBLE_CLICK;
  if ((now.ticket === null && now.change === null) || age < TOO_SOON || isDouble) return;
  notice("");
  if (now.change !== null) act("/change", { ticket: now.change, value });
  else act("/answer", { ticket: now.ticket, value });
}

/** Show the previous item again, to change its answer. */
function changeLast() {
  const { last } = now;
  if (last === null || now.isBusy) return;
  now.last = null;
  const { held } = now;
  showItem({ ...last, isChange: true });
  now.ticket = null;
  now.held = held;
  now.change = last.ticket;
}

function skip() {
  if (now.ticket === null || performance.now() - now.shownAt < TOO_SOON) return;
  const reason = find("card").querySelector(".item .failed") ? "the picture did not load" : "";
  act("/skip", { ticket: now.ticket, reason });
}

// What is shown ------------------------------------------------------------------

function show(found, sent = {}) {
  // The last answer may be changed while its item is in memory.
  now.last = found.counted && now.item?.ticket === sent.ticket ? { ...now.item, given: sent.value } : null;
  now.ticket = now.held = now.change = null;
  now.keys = new Map();
  if (found.answered !== undefined) now.answered = found.answered;
  if (found.counted) now.strange = 0;
  showProgress();
  if (found.completion && !now.isDone && found.state === "item") {
    now.isDone = true;
    showComplete(found);
    return;
  }
  const states = { item: showItem, consent: showConsent, wait: showWait, skipped: showSkipped, done: showDone, end: showEnd, left: showLeft };
  states[found.state](found);
}

function message(title, text, ...actions) {
  const head = make("h1", { tabindex: -1, text: title });
  card(head, text ? make("p", { class: "text", text }) : null, actions.length ? make("p", { class: "actions" }, ...actions) : null);
  head.focus();
}

function itemNode(item) {
  const parts = itemParts(item, "The picture could not be loaded. Skip this item, or load the page again.");
  if (item.image) parts[0] = zoomable(parts[0], item);
  return make("div", { class: "item", tabindex: -1, role: "group", "aria-label": "Item to rate" }, ...parts);
}

/** A picture in a button that opens it as large as the screen. */
function zoomable(image, item) {
  const button = make("button", { type: "button", class: "zoom", "aria-label": "Enlarge the picture" }, image);
  image.addEventListener("error", () => button.replaceWith(...button.childNodes));
  button.addEventListener("click", () => {
    const close = make("button", { type: "button", text: "Close" });
    const room = make("div", { class: "large-room", tabindex: 0, role: "region", "aria-label": "Picture" }, pictureOf(item));
    const dialog = make("dialog", { class: "large", "aria-label": "The picture, enlarged" }, room, close);
    close.addEventListener("click", () => dialog.close());
    dialog.addEventListener("close", () => dialog.remove());
    document.body.append(dialog);
    dialog.showModal();
    close.focus();
  });
  return button;
}

/** A panel's own people are done: how they say so, and that they may go on. */
function showComplete(found) {
  const on = make("button", { type: "button", text: "Continue rating", onclick: () => show(found) });
  message("You are done", thanks() ?? "", ...completionParts(found.completion), on);
}

function completionParts(completion) {
  const parts = [];
  if (completion?.code) parts.push(make("span", { class: "completion" }, "Your completion code: ", make("code", { text: completion.code })));
  if (completion?.url) parts.push(make("a", { class: "button main", href: completion.url, rel: "noreferrer", text: "Complete and return" }));
  return parts;
}

/** What was answered, as it was labelled. */
function answerWords(asked, given) {
  const label = asked.buttons?.find((choice) => choice.value === given)?.label;
  return label ? `“${label}”` : String(Number(given.toPrecision(6)));
}

function showItem({ ticket, item, asked, given, isChange = false }) {
  const answers = answersFor(asked, answer);
  const item_node = itemNode(item);
  const skipKey = ["s", "x", null].find((key) => key === null || !answers.keys.has(key));
  const later = make("button", { type: "button", class: "plain", id: "skip", onclick: skip }, "Skip", skipKey ? make("kbd", { text: skipKey.toUpperCase() }) : null);
  const stop = make("button", { type: "button", class: "plain", id: "leave", text: "Stop for now", onclick: () => act("/leave", { ticket }) });
  const undo = now.last === null ? null : make("button", { type: "button", class: "plain", id: "undo", text: "Change my last answer", onclick: changeLast });
  const keep = make("button", { type: "button", class: "plain", id: "keep", text: "Keep my answer", onclick: () => act("/next", {}) });
  document.title = `${shown(asked.question, 60)} · rating`;
  const ways = isChange ? [keep] : isPilot ? [later] : [later, undo, stop].filter(Boolean);
  card(
    isChange ? make("p", { class: "muted", text: `You answered ${answerWords(asked, given)}. Your new choice replaces it.` }) : null,
    make("h1", { id: "asked", dir: "auto", text: asked.question }),
    item_node,
    answers.node,
    make("p", { class: "later" }, ...ways),
  );
  now.ticket = now.held = ticket;
  now.item = { ticket, item, asked };
  now.keys = answers.keys;
  if (skipKey && !isChange) now.keys.set(skipKey, skip);
  now.shownAt = performance.now();
  item_node.focus({ preventScroll: true });
  window.scrollTo(0, 0);
}

function showConsent({ consent }) {
  const yes = make("button", { type: "button", class: "main", id: "agree", text: "I agree", onclick: () => act("/next", { consent: true }) });
  const no = make("button", { type: "button", id: "decline", text: "I do not agree", onclick: decline });
  message("Before you begin", consent, yes, no);
}

function decline() {
  const back = make("button", { type: "button", text: "Read it again", onclick: () => act("/next", {}) });
  message("Thank you anyway", "You will not be asked anything, and nothing about you was stored.", back);
}

function showWait() {
  message("Nothing to rate at the moment", "Other raters are answering the remaining items. This page updates automatically; you may leave it open.");
  lookLater();
}

/** One answer to an item is all that one person can give: more would not be independent. */
function showDone({ completion }) {
  message("Thank you", "You have answered everything for now. This page updates automatically; you may close it.", ...completionParts(completion));
  lookLater();
}

function showSkipped() {
  const again = make("button", {
    type: "button", class: "main", text: "Show them again",
    onclick: () => {
      now.again = true;
      act("/next", {});
    },
  });
  message("Only items that you skipped are left", "There may be more later: this page updates automatically.", again);
  lookLater();
}

/** Ask again after a while, or as soon as the rater comes back to this page. */
function lookLater() {
  const { turn } = now;
  const look = () => {
    if (turn === now.turn && !document.hidden) act("/next", {});
  };
  setTimeout(() => {
    document.removeEventListener("visibilitychange", look);
    if (document.hidden && turn === now.turn) lookLater();
    else look();
  }, LOOK_AGAIN);
  document.addEventListener("visibilitychange", look, { once: true });
}

function thanks() {
  return now.answered ? `You gave ${plural(now.answered, "answer")}.` : null;
}

function showEnd({ end, completion }) {
  message("Thank you", end ?? "This study is finished: there is nothing left to rate.", ...completionParts(completion));
  const given = thanks();
  if (given) find("card").append(make("p", { class: "muted", text: given }));
}

function showLeft({ end }) {
  const on = make("button", { type: "button", text: "Continue rating", onclick: () => act("/next", {}) });
  message("Thank you", [thanks(), end].filter(Boolean).join("\n\n") || "You may close this page.", on);
}

// Setting up ---------------------------------------------------------------------

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || now.isBusy) return;
  if (event.target.closest("dialog") || (event.target.matches("input") && event.target.type !== "range")) return;
  const call = now.keys.get(event.key.toLowerCase());
  if (!call) return;
  event.preventDefault();
  call(event);
});

// The page goes: its item is soon for others, not only when its lease has ended.
window.addEventListener("pagehide", () => {
  if (now.held === null || now.isBusy || isPilot) return;
  const body = new Blob([JSON.stringify({ ticket: now.held, closes: true })], { type: "application/json" });
  navigator.sendBeacon(`${address}/leave`, body);
});

// Back to a page that the browser had put aside: its ticket may be long answered.
window.addEventListener("pageshow", (event) => {
  if (event.persisted) act("/next", {});
});

async function main() {
  try {
    const session = await begin();
    if (session && loadOnceMore()) return;
  } catch (failure) {
    if (!(failure instanceof Failure)) throw failure;
  }
  await act("/next", {});
}

main();
