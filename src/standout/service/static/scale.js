// From values to pixels. Ranges of values and their ticks come with the data.

/** Of the ticks that the server sent, as many as there is room for; zero stays, if it is there. */
export function thinned(ticks, most) {
  const every = Math.ceil(ticks.length / Math.max(1, most));
  if (every <= 1) return ticks;
  const step = ticks[1].value - ticks[0].value;
  return ticks.filter((tick) => Math.round(tick.value / step) % every === 0);
}

/** Round whole numbers within [low, high], about `wanted` of them. */
export function countTicks(low, high, wanted) {
  const rough = Math.max(1, (high - low) / (1.4 * wanted));
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= rough);
  const found = [];
  for (let i = Math.ceil(low / step); i * step <= high; i++) found.push(i * step);
  return found;
}

/** Powers of ten (and 2, 5 times these where there is room) within [low, high]. */
export function logTicks(low, high) {
  const found = [];
  const factors = high / low < 200 ? [1, 2, 5] : [1];
  for (let power = 10 ** Math.floor(Math.log10(low)); power <= high; power *= 10) {
    for (const factor of factors) {
      const tick = factor * power;
      if (tick >= low && tick <= high) found.push(tick);
    }
  }
  return found;
}

/** A function from [low, high] to [from, to], with its ends; `isLog` for orders of magnitude. */
export function scale(low, high, from, to, isLog = false) {
  const bend = isLog ? Math.log : (x) => x;
  const begin = bend(low);
  const span = bend(high) - begin || 1;
  const at = (value) => from + ((bend(value) - begin) / span) * (to - from);
  return Object.assign(at, { low, high, from, to, isLog });
}

/** A value kept within [low, high]. */
export const clamp = (value, low, high) => Math.min(high, Math.max(low, value));

/** The old scale as long as it still fits, so that a live picture does not tremble. */
export function steady(old, wanted) {
  if (old === null) return wanted;
  const span = wanted.high - wanted.low;
  const isOff = Math.abs(wanted.low - old.low) > 0.06 * span || Math.abs(wanted.high - old.high) > 0.06 * span;
  return isOff || wanted.low < old.low - 0.02 * span || wanted.high > old.high + 0.02 * span ? wanted : old;
}
