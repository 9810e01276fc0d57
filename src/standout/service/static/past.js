// Tables of past rewards, as a page sends them.

import { count } from "./format.js";

/** Bytes of a table that fit into one request. */
const LARGEST = 8e6;
export const SEPARATORS = [[",", "comma"], [";", "semicolon"], ["\t", "tab"]];
export const DECIMALS = [[".", "point: 0.5"], [",", "comma: 0,5"]];

/** A table as the service takes it; refuses a file that is too large before it is read. */
export async function readTable({ file, separator, decimal, arm = "", value = "" }) {
  if (!file?.size) throw new Error("choose a file that is not empty");
  if (file.size > LARGEST) throw new Error(`${file.name} has ${count(Math.round(file.size / 1e6))} MB, and a page can send ${LARGEST / 1e6} MB; use standout analyse FILE --to PATH`);
  return { text: await file.text(), label: file.name.slice(0, 200), separator, decimal, arm: arm.trim() || null, value: value.trim() || null };
}
