// What an owner may change: each change is confirmed with a reason, and kept with it.

import { alone, get, post, studyPath } from "./api.js";
import { draw, find, make, name, say, shown, table, wide } from "./dom.js";
import { count, time, value } from "./format.js";

/** Ask in a dialog; what was entered, by the names of the fields, or null. `act` may refuse it. */
export function ask({ title, text, fields = [], button, act }) {
  const inputs = fields.map(({ key, label, hint, ...rest }) => {
    const control = rest.options
      ? make("select", { id: `ask-${key}`, name: key }, ...rest.options.map(([at, words]) => make("option", { value: at, text: words })))
      : make(rest.rows ? "textarea" : "input", { id: `ask-${key}`, name: key, autocomplete: "off", "aria-describedby": hint ? `ask-${key}-hint` : null, ...rest });
    return make("div", {}, make("label", { for: `ask-${key}`, text: label }), control, hint ? make("p", { class: "hint", id: `ask-${key}-hint`, text: hint }) : null);
  });
  const error = make("p", { class: "small bad-words", role: "alert" });
  const yes = make("button", { type: "submit", class: "main", text: button });
  const no = make("button", { type: "button", text: "Cancel" });
  const form = make("form", {}, make("h2", { id: "ask-title", text: title }), text ? make("p", { text }) : null, ...inputs, error, make("p", { class: "form-actions" }, yes, no));
  const dialog = make("dialog", { class: "ask", "aria-labelledby": "ask-title" }, form);
  const end = () => dialog.remove();
  const back = document.activeElement;
  no.addEventListener("click", () => dialog.close());
  dialog.addEventListener("close", () => {
    end();
    back?.focus?.();
  });
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    yes.disabled = true;
    say(error, "");
    try {
      await act(Object.fromEntries(new FormData(form)), dialog);
      if (dialog.dataset.stays !== "yes") dialog.close();
    } catch (failure) {
      say(error, `${failure.message}.`.replace(/\.\.$/, "."));
    } finally {
      yes.disabled = false;
    }
  });
  document.body.append(dialog);
  dialog.showModal();
}

const MOST_CHANGES = 100;
const DAY = 86400;
export const REASON = { key: "reason", label: "Why?", required: true, maxlength: 2000, hint: "It is kept with the change and shown in the history." };

export class Controls {
  /** `changed` is called after a change, to show it; `retell` shows the new history. */
  constructor(study, data, session, changed, retell) {
    Object.assign(this, { study, data, session, changed, retell, tokens: [] });
    find("controls-card").hidden = false;
    find("change-stop").addEventListener("click", () => this.#stop());
    find("change-budget").addEventListener("click", () => this.#budget());
    find("change-tolerance").addEventListener("click", () => this.tolerance());
    find("add-note").addEventListener("click", () => this.#note());
    find("new-token").addEventListener("click", () => this.#token());
    this.showTokens();
  }

  show() {
    const { stopped, reason } = this.data.head;
    const isByHand = stopped && reason === "stopped";
    say(find("change-stop"), isByHand ? "Continue" : "Stop the study");
    find("change-stop").disabled = stopped && !isByHand;
  }

  #set(values, reason) {
    return post(studyPath(this.study), { ...values, reason }, "PATCH").then(() => this.changed());
  }

  #stop() {
    const isStopped = this.data.head.stopped;
    ask({
      title: isStopped ? "Restart this study?" : "Stop this study?",
      text: isStopped ? "It hands out pulls again." : "No more pulls are handed out. Verdicts stay certain, undecided arms stay undecided; you can restart the study later.",
      fields: [REASON],
      button: isStopped ? "Continue" : "Stop it",
      act: ({ reason }) => this.#set({ stopped: !isStopped }, reason),
    });
  }

  #note() {
    ask({
      title: "Add a note",
      text: "It is shown in the history and in the report, and cannot be removed.",
      fields: [{ key: "reason", label: "Note", required: true, maxlength: 2000 }],
      button: "Add it",
      act: ({ reason }) => this.#set({ key: crypto.randomUUID?.() ?? String(Math.random()) }, reason),
    });
  }

  #budget() {
    const { budget, counts, until } = this.data.head;
    const errors = /^errors=([\d.e+-]+)$/.exec(until ?? "")?.[1] ?? "";
    ask({
      title: "Change the budget",
      text: `Now: ${budget === null ? "none" : `${count(budget)} pulls`}; ${count(counts.pulls)} are used. Stopping earlier or later harms no verdict.`,
      fields: [
        { key: "budget", label: "Pulls in all", type: "number", min: 1, step: 1, value: budget, hint: "Leave it empty for no limit." },
        { key: "errors", label: "Stop when at most this many wrong arms are expected", type: "number", min: 0.01, step: "any", value: errors, hint: "The answer is then probable, not proved. Leave it empty to continue until every arm is decided." },
        REASON],
      button: "Change it",
      act: (given) => this.#set({
        budget: given.budget === "" ? null : Number(given.budget),
        ...(String(given.errors) === errors ? {} : { until: given.errors === "" ? null : `errors=${Number(given.errors)}` }),
      }, given.reason),
    });
  }

  /** `wanted` is filled in, if given. */
  tolerance(wanted = null) {
    const { tolerance } = this.data.head.problem;
    ask({
      title: "Change the tolerance",
      text: `Now: ${Number(tolerance.toPrecision(4))}. Within this distance of the threshold, either verdict counts as right. Each verdict is right for its tolerance; a smaller tolerance withdraws the verdicts that rested on a larger one.`,
      fields: [{ key: "tolerance", label: "Tolerance, in the unit of the rewards", type: "number", min: 0, step: "any", required: true, value: wanted ?? tolerance }, REASON],
      button: "Change it",
      act: (given) => this.#set({ tolerance: Number(given.tolerance) }, given.reason),
    });
  }

  /** Hand an arm out no more, or again. */
  pause(arm) {
    const isPaused = this.data.paused.has(arm);
    ask({
      title: isPaused ? "Resume this arm?" : "Pause this arm?",
      text: isPaused ? "It is handed out again." : "Its pulls are not handed out until it is resumed. An undecided arm stays undecided; no verdict is harmed.",
      fields: [REASON],
      button: isPaused ? "Resume" : "Pause",
      act: async ({ reason }) => {
        await post(studyPath(this.study, isPaused ? "/resume" : "/pause"), { arm, reason });
        this.changed();
      },
    });
  }

  /** End the lease of a ticket that is out: its pull goes to the next worker. */
  release({ ticket, arm, worker }) {
    ask({
      title: `Release ticket ${ticket}?`,
      text: `${shown(arm, 80)} is out with ${shown(worker, 80)}. Its pull goes to the next worker. A late answer counts if it comes first.`,
      button: "Release it",
      act: async () => {
        await post(studyPath(this.study, "/release"), { tickets: [ticket] });
        this.changed();
      },
    });
  }

  /** Take a mistaken reward back, or mend it. */
  void(reward) {
    ask({
      title: "Take this reward back?",
      text: `${value(reward.reward)}, told by ${reward.worker} on ${time(reward.time)}. It stays in the log, marked as void. Void a reward only if the recorded value is not what was measured: without rewards that look odd, the guarantee does not hold.`,
      fields: [{ key: "value", label: "The measured value", type: "number", step: "any", hint: "Leave it empty if it is unknown." }, REASON],
      button: "Take it back",
      act: async (given) => {
        const instead = given.value === "" ? {} : { value: Number(given.value) };
        await post(studyPath(this.study, "/void"), { place: reward.seq, reason: given.reason, ...instead });
        this.changed();
      },
    });
  }

  // Tokens ------------------------------------------------------------------------

  async showTokens() {
    const found = await get("/api/v1/tokens").catch(() => null);
    if (found === null) return;
    const mine = this.tokens = found.tokens.filter((one) => one.study === this.study || one.study === null);
    this.retell();
    const rows = mine.map((one) => {
      const end = make("button", { type: "button", class: "plain small", text: "Revoke", "aria-label": `Revoke the ${one.role}’s token ${one.label || one.id}` });
      end.addEventListener("click", () => this.#revoke(one));
      return [
        one.role,
        one.label ? name(one.label) : make("span", { class: "muted", text: "no label" }),
        one.study === null ? "every study" : "this study",
        time(one.created),
        one.expires === null ? "no end" : time(one.expires),
        one.revoked === null ? end : make("span", { class: "muted", text: `revoked ${time(one.revoked)}` }),
      ];
    });
    find("tokens").replaceChildren(rows.length ? wide("Tokens", table(["Role", "For", "Opens", "Made", "Until", ""], rows)) : make("p", { class: "muted", text: "None yet." }));
  }

  #token() {
    const roles = [["rater", "rater: answers on the rating page"], ["worker", "worker: asks and tells"], ["viewer", "viewer: looks only"], ["owner", "owner: everything"]];
    ask({
      title: "New token",
      text: this.session.token ? "It is shown once: only a hash of it is kept." : "Once a token exists, one is required. The first is an owner’s token for every study; this browser signs in with it.",
      fields: [
        ...(this.session.token ? [{ key: "role", label: "For", options: roles }] : []),
        { key: "label", label: "Label", maxlength: 200, hint: "The user or purpose of the token." },
        ...(this.session.token ? [{ key: "lasts", label: "Valid", options: [["", "until it is revoked"], [DAY, "for a day"], [7 * DAY, "for a week"], [30 * DAY, "for 30 days"], [365 * DAY, "for a year"]] }] : []),
      ],
      button: "Make it",
      act: async ({ role, label, lasts }, dialog) => {
        const isFirst = !this.session.token;
        // The answer to the first signs in; what was asked between the two would be refused.
        const made = await (isFirst ? alone : post)("/api/v1/tokens", { role: role ?? "owner", study: isFirst ? null : this.study, label, lasts: lasts ? Number(lasts) : null, origin: location.origin });
        this.session.token = true;
        this.showTokens();
        dialog.dataset.stays = "yes";
        showMade(dialog, made);
      },
    });
  }

  #revoke(token) {
    ask({
      title: "Revoke this token?",
      text: `The ${token.role}’s token ${token.label || token.id} stops working. This cannot be undone.`,
      button: "Revoke it",
      act: async () => {
        await post(`/api/v1/tokens/${token.id}/revoke`);
        this.showTokens();
      },
    });
  }
}

/** The link of a new token, to copy and to scan. */
function showMade(dialog, made) {
  const field = make("input", { id: "made-link", readonly: true, value: made.link });
  const copy = make("button", { type: "button", class: "main", text: "Copy the link" });
  copy.addEventListener("click", async () => {
    field.select();
    await navigator.clipboard?.writeText(made.link).catch(() => null);
    say(copy, "Copied");
  });
  const done = make("button", { type: "button", text: "Done", onclick: () => dialog.close() });
  const parts = [
    make("h2", { id: "ask-title", text: `${made.made.role === "owner" ? "An" : "A"} ${made.made.role}’s token` }),
    make("p", { class: "muted", text: "Copy this link now. It is not shown again." }),
    make("div", {}, make("label", { for: "made-link", text: "Link" }), field),
  ];
  if (made.code.length) parts.push(code(made.code));
  dialog.replaceChildren(make("div", { class: "made" }, ...parts, make("p", { class: "form-actions" }, copy, done)));
  copy.focus();
}

/** A QR code, dark on light in both themes, with the border that readers need. */
function code(rows) {
  const size = rows.length + 8;
  const d = rows.map((row, y) => [...row].map((bit, x) => (bit === "1" ? `M${x + 4} ${y + 4}h1v1h-1z` : "")).join("")).join("");
  return draw("svg", { viewBox: `0 0 ${size} ${size}`, class: "code", role: "img", "aria-label": "The link as a QR code" },
    draw("rect", { width: size, height: size, fill: "#fff" }), draw("path", { d, fill: "#000" }));
}

/** The history of a token, in the form of changes. */
function tokenChanges(token) {
  const words = `${token.role}’s token for ${token.study === null ? "every study" : "this study"}: ${shown(token.label || token.id, 80)}`;
  const made = { time: token.created, words: `made ${token.role === "owner" ? "an" : "a"} ${words}`, worker: token.made_by, reason: "" };
  const ended = { time: token.revoked, words: `revoked the ${words}`, worker: token.revoked_by, reason: "" };
  return token.revoked === null ? [made] : [made, ended];
}

/** Notes and what was changed by hand, newest first; for owners with what was done with tokens. */
export async function showChanges(study, tokensNow) {
  const found = await get(studyPath(study, "/changes")).catch(() => null);
  if (found === null) return;
  const tokens = tokensNow();
  // A user with a token is shown by the token's label.
  const labels = new Map(tokens.map((one) => [one.id, one.label]));
  const who = (worker) => {
    const [, role, id] = /^(\w+):([0-9a-f]{12})/.exec(worker) ?? [];
    return name(labels.get(id) ? `${labels.get(id)} (${role})` : worker || "unknown");
  };
  const all = [...found.changes, ...tokens.flatMap(tokenChanges)].sort((a, b) => b.time - a.time);
  const rows = all.slice(0, MOST_CHANGES).map((one) =>
    make("li", {}, make("p", {}, make("span", { class: "number muted", text: `${time(one.time)} ` }), one.kind === "note" ? shown(one.reason, 2000) : one.words),
      make("p", { class: "small muted" }, who(one.worker), one.reason && one.kind !== "note" ? `: ${shown(one.reason, 500)}` : "")));
  if (all.length > rows.length) rows.push(make("li", { class: "small muted", text: `and ${count(all.length - rows.length)} older` }));
  find("changes-card").hidden = rows.length === 0;
  find("changes").replaceChildren(...rows);
}

/** Tolerances that would end the study; `use` is for an owner, to take one. */
export function showEndings(data, endings, use) {
  const room = find("endings");
  const lines = data.head.stopped ? [] : (endings ?? []).map((one, i) => {
    const words = one.pulls === 0 ? "would decide every arm now (proved)" : one.pulls === null ? "longer than simulated" : `about ${count(Number(one.pulls.toPrecision(2)))} more pulls`;
    const shown = Number(one.tolerance.toPrecision(4));
    const take = use && one.pulls !== null ? make("button", { type: "button", class: "chip", text: `Use ${shown}`, onclick: () => use(one.tolerance) }) : null;
    return make("li", {}, make("span", {}, i === 0 ? "A tolerance of " : "of ", make("b", { class: "number", text: String(shown) }), `: ${words}`), take);
  });
  room.hidden = lines.length === 0;
  if (!room.contains(document.activeElement)) find("endings-list").replaceChildren(...lines);
}
