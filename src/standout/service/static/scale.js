// From values to pixels, and where the ticks go.

/** Round numbers within [low, high], about `wanted` of them. */
export function ticks(low, high, wanted = 5) {
  const span = high - low;
  if (!(span > 0)) return [low];
  const rough = span / (1.4 * Math.max(1, wanted));
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= rough);
  const found = [];
  for (let i = Math.ceil(low / step); i * step <= high + step * 1e-9; i++) found.push(i * step);
  return found;
}

/** Decimals that a series of ticks needs. */
export function tickDecimals(found) {
  if (found.length < 2) return 2;
  return Math.min(8, Math.max(0, Math.ceil(-Math.log10(found[1] - found[0]) - 1e-9)));
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

function quantile(sorted, share) {
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))];
}

/**
 * The range of values to show: all means and thresholds, and the ends of nearly all
 * intervals as far as these do not squeeze the means. What lies beyond is cut off, with
 * an arrow. `support` is what values are possible at all.
 */
export function valueRange(data, bands, support) {
  let low = Infinity;
  let high = -Infinity;
  const see = (value) => {
    if (!Number.isFinite(value)) return;
    if (value < low) low = value;
    if (value > high) high = value;
  };
  data.estimate.forEach(see);
  bands.forEach((band) => [band.lower, band.upper].forEach(see));
  if (low > high) [low, high] = support.every(Number.isFinite) ? support : [0, 1];
  const core = high - low || Math.max(1e-9, Math.abs(high) * 0.1, 0.1);
  const lowers = data.lower.filter(Number.isFinite).sort();
  const uppers = data.upper.filter(Number.isFinite).sort();
  if (lowers.length) {
    const last = uppers.length - 1;
    low = Math.min(low, Math.max(low - core, quantile(lowers, 0.02)), Math.max(low - core / 3, lowers[0]));
    high = Math.max(high, Math.min(high + core, quantile(uppers, 0.98)), Math.min(high + core / 3, uppers[last]));
  }
  const pad = 0.04 * (high - low || core);
  const edge = 0.01 * (high - low || core);
  return [Math.max(low - pad, support[0] - edge), Math.min(high + pad, support[1] + edge)];
}

/** The old range as long as it still fits, so that a live picture does not tremble. */
export function steadyRange(old, wanted) {
  if (old === null) return wanted;
  const span = wanted[1] - wanted[0];
  const isOff = wanted.some((end, i) => Math.abs(end - old[i]) > 0.06 * span);
  return isOff || wanted[0] < old[0] - 0.02 * span || wanted[1] > old[1] + 0.02 * span ? wanted : old;
}
