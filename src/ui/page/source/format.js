// Pure texts and numbers: quantities, ages, natural order, hashes of names to colours.

const kSuffixes = { n: 1e-9, u: 1e-6, m: 1e-3, '': 1, k: 1e3, M: 1e6, G: 1e9, T: 1e12, P: 1e15, E: 1e18 };
const kBinary = { Ki: 2 ** 10, Mi: 2 ** 20, Gi: 2 ** 30, Ti: 2 ** 40, Pi: 2 ** 50, Ei: 2 ** 60 };

// "1500m" -> 1.5; NaN for a text that is not a quantity.
export function quantity(text) {
  if (text === undefined || text === null) return 0;
  const match = /^([+-]?[0-9.]+(?:[eE][+-]?[0-9]+)?)([A-Za-z]*)$/.exec(String(text));
  if (!match) return NaN;
  const factor = match[2] in kSuffixes ? kSuffixes[match[2]] : kBinary[match[2]];
  return factor === undefined ? NaN : Number(match[1]) * factor;
}

export function bytes(value) {
  if (!Number.isFinite(value)) return '';
  for (const [unit, size] of [['Ti', 2 ** 40], ['Gi', 2 ** 30], ['Mi', 2 ** 20], ['Ki', 2 ** 10]])
    if (value >= size) return `${trim(value / size)} ${unit}B`;
  return `${Math.round(value)} B`;
}

export const trim = (value) => String(Math.round(value * 10) / 10);

// An amount of a resource as people say it.
export const amount = (resource, value) =>
  resource === 'memory' || resource.startsWith('hugepages-') || resource.includes('storage') ? bytes(value) : trim(value);

// As kubectl shows ages: 45s, 3m, 5h, 2d.
export function age(from, now) {
  const seconds = Math.max(0, Math.floor((now - from) / 1000));
  if (!Number.isFinite(seconds)) return '';
  if (seconds < 120) return `${seconds}s`;
  if (seconds < 7200) return `${Math.floor(seconds / 60)}m`;
  if (seconds < 172800) return `${Math.floor(seconds / 3600)}h`;
  return `${Math.floor(seconds / 86400)}d`;
}

const collator = new Intl.Collator('en', { numeric: true, sensitivity: 'variant' });
// lr-2 before lr-10.
export const natural = (a, b) => collator.compare(String(a ?? ''), String(b ?? ''));

// One of eight hues for a name, the same on each machine. Colours are never the only sign of a fact.
export function hue(name) {
  let hash = 2166136261;
  for (let i = 0; i < name.length; i++) hash = Math.imul(hash ^ name.charCodeAt(i), 16777619);
  return (hash >>> 0) % 8;
}

// Names and texts of strangers: marks that turn the direction of writing, and control characters, are shown as such.
export function plain(text) {
  return String(text ?? '').replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g, (mark) =>
    `\\u${mark.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

// A log line without the escape sequences of terminals.
export const logLine = (text) => plain(text.replace(/\u001b\[[0-9;?]*[A-Za-z]/g, '').replace(/\r$/, ''));
