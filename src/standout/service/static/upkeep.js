// What an owner does with a study as a whole: past rewards, more arms, another name, a copy, its end.

import { post, studyPath } from "./api.js";
import { ask, REASON } from "./controls.js";
import { find, shown } from "./dom.js";
import { count, plural } from "./format.js";
import { DECIMALS, readTable, SEPARATORS } from "./past.js";

/** The buttons of the card Controls; `data` has the study, `changed` shows the result. */
export function setUp(study, data, changed) {
  const act = (id, options) => find(id).addEventListener("click", () => ask(options()));
  act("upload", () => ({
    title: "Add past rewards",
    text: "A CSV with a row per reward. All of its rewards count or, with one bad row, none; the same table counts once. The guarantee holds if the table has every reward that was measured of its arms, and none was left out for its value.",
    fields: [
      { key: "file", label: "Table", type: "file", accept: ".csv,.tsv,.txt,text/csv", required: true },
      { key: "separator", label: "Between fields", options: SEPARATORS },
      { key: "decimal", label: "Decimal sign", options: DECIMALS },
      { key: "arm", label: "Column of the arms", hint: "Empty: the column arm." },
      { key: "value", label: "Column of the rewards", hint: "Empty: the column value or reward." },
    ],
    button: "Add them",
    act: async (given) => {
      await post(studyPath(study, "/table"), await readTable(given));
      changed();
    },
  }));
  act("add-arms", () => ({
    title: "Add arms",
    text: `There is room for ${plural(data.head.room - data.size, "more arm")}. From then on the question is about all arms: the threshold moves, and verdicts are computed again. δ was shared by ${count(data.head.room)} arms from the beginning, so that the guarantee holds, however the new ones are chosen. Tell only rewards that are measured from now on.`,
    fields: [{ key: "arms", label: "Arms, one per line", rows: 5, required: true }, REASON],
    button: "Add them",
    act: async ({ arms, reason }) => {
      const names = arms.split("\n").map((one) => one.trim()).filter(Boolean);
      await post(studyPath(study, "/arms"), { arms: names, reason });
      location.reload();
    },
  }));
  act("rename", () => ({
    title: "Rename this study",
    text: "Links to the old name end; tokens for this study alone stay valid.",
    fields: [{ key: "name", label: "New name", required: true, maxlength: 200, pattern: "[^\\/]+", value: study }, { ...REASON, required: false }],
    button: "Rename it",
    act: async ({ name, reason }) => {
      await post(studyPath(study, "/rename"), { name, reason });
      location.assign(`/study/${encodeURIComponent(name)}`);
    },
  }));
  act("copy", () => ({
    title: "Copy this study",
    fields: [
      { key: "name", label: "Name of the copy", required: true, maxlength: 200, pattern: "[^\\/]+" },
      { key: "rewards", label: "Copy", options: [["", "the question, without rewards"], ["yes", "all, with its rewards"]] },
    ],
    button: "Copy it",
    act: async ({ name, rewards }) => {
      await post(studyPath(study, "/copy"), { name, rewards: rewards === "yes" });
      location.assign(`/study/${encodeURIComponent(name)}`);
    },
  }));
  act("delete", () => ({
    title: "Delete this study?",
    text: `${shown(study, 80)} with ${plural(data.head.counts.pulls, "reward")} is removed for good. Its name, who deleted it and why are kept.`,
    fields: [{ key: "confirm", label: "Its name once more", required: true, hint: shown(study, 200) }, { ...REASON, required: false }],
    button: "Delete it",
    act: async (given) => {
      await post(studyPath(study, `?${new URLSearchParams(given)}`), {}, "DELETE");
      location.assign("/");
    },
  }));
  find("add-arms").hidden = data.head.room === null || data.head.room <= data.size;
}
