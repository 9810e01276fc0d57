// Numbers and times as people read them.

const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const compact = new Intl.NumberFormat("en", { notation: "compact", maximumSignificantDigits: 3 });

export const isKnown = (value) => typeof value === "number" && Number.isFinite(value);

/** 1234567 as 1,234,567. */
export function count(value) {
  return isKnown(value) ? whole.format(value) : "–";
}

/** 1234567 as 1.23M. */
export function short(value) {
  return isKnown(value) ? (Math.abs(value) < 10000 ? whole.format(value) : compact.format(value)) : "–";
}

/** "1 arm", "2 arms". */
export function plural(value, one, many = one + "s") {
  return `${count(value)} ${value === 1 ? one : many}`;
}

/** With a real minus, and none before a zero. */
function signed(text) {
  return /^-[0.]*$/.test(text) ? text.slice(1) : text.replace(/-/g, "−");
}

/** A measured value with about four digits, or with this number of decimals. */
export function value(number, decimals = null) {
  if (!isKnown(number)) return "–";
  const size = Math.abs(number);
  if (decimals !== null && size < 1e15) return signed(number.toFixed(decimals));
  if (size !== 0 && (size >= 1e6 || size < 1e-4)) return signed(number.toExponential(2));
  const places = size >= 1000 ? 0 : size >= 100 ? 1 : size >= 10 ? 2 : size >= 1 ? 3 : 4;
  return signed(number.toFixed(places));
}

/** One number of decimals for a column: about a hundredth of a middling width. */
export function decimalsOf(widths) {
  const finite = Float64Array.from(widths.filter((width) => Number.isFinite(width) && width > 0)).sort();
  const middle = finite.length ? finite[finite.length >> 1] : 0.01;
  return Math.min(8, Math.max(0, 1 - Math.floor(Math.log10(middle))));
}

/** How many decimals tell values apart that differ by a hundredth of `span`. */
export function decimalsFor(span) {
  if (!isKnown(span) || span <= 0) return 3;
  return Math.min(8, Math.max(0, Math.ceil(-Math.log10(span)) + 2));
}

/** Both ends of an interval; an end that is not known is open. */
export function interval(lower, upper, decimals = null) {
  if (!isKnown(lower) && !isKnown(upper)) return "not known yet";
  if (!isKnown(upper)) return `above ${value(lower, decimals)}`;
  if (!isKnown(lower)) return `below ${value(upper, decimals)}`;
  const places = decimals ?? decimalsFor(upper - lower);
  return `${value(lower, places)} to ${value(upper, places)}`;
}

/** The ends of a threshold's interval; null in place of one that no mean can reach. */
export function reachable(lower, upper, noise) {
  const [family, numbers] = noise.split(":");
  if (family !== "bernoulli" && family !== "bounded") return [lower, upper];
  const [low, high] = family === "bernoulli" ? [0, 1] : numbers.split(",").map(Number);
  return [lower < low ? null : lower, upper > high ? null : upper];
}

/** Seconds since 1970 as a local date and time. */
export function time(seconds) {
  if (!isKnown(seconds)) return "–";
  return new Date(seconds * 1000).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" });
}

/** The same without the time of day. */
export function day(seconds) {
  return isKnown(seconds) ? new Date(seconds * 1000).toLocaleDateString(undefined, { dateStyle: "medium" }) : "–";
}

/** A chance in two digits, never as if it were certain. */
export function chance(value) {
  if (!isKnown(value)) return "–";
  if (value > 0.99) return ">0.99";
  return value < 0.01 ? "<0.01" : value.toFixed(2);
}

/** A share as a percentage without needless zeros. */
export function percent(share) {
  return `${Number((100 * share).toPrecision(3))} %`;
}

/** What a noise family means, in words. */
export function rewards(noise) {
  const [family, numbers] = noise.split(":");
  const [low, high] = (numbers ?? "").split(",").map(Number);
  if (family === "bernoulli") return "rewards of 0 or 1";
  if (family === "bounded") return `rewards between ${low} and ${high}`;
  if (family === "gaussian") return `Gaussian rewards${numbers ? ` with a standard deviation of ${low}` : ""}`;
  if (family === "heavy") return `rewards with a standard deviation of at most ${low}`;
  return `${noise} rewards`;
}
