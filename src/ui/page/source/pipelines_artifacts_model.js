// The pure parts of how artifacts are shown: curves, matrices, first rows, and Markdown as a tree.
const listOf = (value) => (Array.isArray(value) ? value : Array.isArray(value?.list) ? value.list : []);
const number = (value) => (typeof value === 'number' && Number.isFinite(value) ? value : null);

// The points of a ROC curve, by false positive rate: [{x, y, threshold}].
export function curveOf(metadata) {
  return listOf(metadata?.confidenceMetrics)
    .map((one) => ({ x: number(one?.falsePositiveRate), y: number(one?.recall), threshold: one?.confidenceThreshold }))
    .filter(({ x, y }) => x !== null && y !== null && x >= 0 && x <= 1 && y >= 0 && y <= 1)
    .sort((a, b) => a.x - b.x || a.y - b.y);
}

// The area below it, by trapezoids.
export function areaOf(points) {
  let area = 0;
  for (let at = 1; at < points.length; at++) area += ((points[at].x - points[at - 1].x) * (points[at].y + points[at - 1].y)) / 2;
  return area;
}

// {names, rows, most}; null where there is no matrix.
export function matrixOf(metadata) {
  const given = metadata?.confusionMatrix?.struct || metadata?.confusionMatrix;
  const names = listOf(given?.annotationSpecs).map((one) => String(one?.displayName ?? '')), rows = listOf(given?.rows).map((one) => listOf(one?.row ?? one).map((cell) => number(cell) ?? 0));
  if (!names.length || rows.length !== names.length || names.length > 100) return null;
  return { names, rows, most: Math.max(1, ...rows.flat()) };
}

// Six digits of a number are enough for people.
export const shortOf = (value) => (typeof value === 'string' ? value : typeof value === 'number' && !Number.isInteger(value) ? String(Number(value.toPrecision(6))) : JSON.stringify(value));

export const sizeOf = (bytes) => (bytes < 1024 ? `${bytes} B` : bytes < 1 << 20 ? `${(bytes / 1024).toFixed(1)} KiB` : bytes < 1 << 30 ? `${(bytes / (1 << 20)).toFixed(1)} MiB` : `${(bytes / (1 << 30)).toFixed(1)} GiB`);

// The text of the bytes; null for what is not text. The last character of a head may be cut.
export function textOf(bytes, whole) {
  if (bytes.includes(0)) return null;
  for (let cut = 0; cut < (whole ? 1 : 4); cut++) {
    try {
      return new TextDecoder('utf-8', { fatal: true }).decode(bytes.subarray(0, bytes.length - cut));
    } catch {
      // One byte less may be text.
    }
  }
  return null;
}

function cellsOf(line, mark) {
  const cells = [];
  let cell = '', quoted = false;
  for (let at = 0; at < line.length; at++) {
    const c = line[at];
    if (c === '"' && quoted && line[at + 1] === '"') (cell += '"', at++);
    else if (c === '"') quoted = !quoted;
    else if (c === mark && !quoted) (cells.push(cell), (cell = ''));
    else cell += c;
  }
  return [...cells, cell];
}

// The first rows of a table in commas or tabs: {head, rows}; null where the text is none.
export function tableOf(text, whole, rowsMax = 20) {
  const lines = text.split(/\r?\n/);
  if (!whole) lines.pop();
  const used = lines.filter((line) => line !== '').slice(0, rowsMax + 1);
  for (const mark of [',', '\t']) {
    const cells = used.map((line) => cellsOf(line, mark));
    if (cells.length > 1 && cells[0].length > 1 && cells[0].length <= 50 && cells.every((row) => row.length === cells[0].length)) return { head: cells[0], rows: cells.slice(1) };
  }
  return null;
}

// Markdown as a tree of [tag, attributes, children] and texts. HTML in it stays text.
const kSpans = [
  [/^`([^`]+)`/, (found) => ['code', {}, [found[1]]]],
  [/^\*\*([^*]+)\*\*/, (found, depth) => ['strong', {}, spans(found[1], depth)]],
  [/^\*([^*\s][^*]*)\*/, (found, depth) => ['em', {}, spans(found[1], depth)]],
  [/^\[([^\]]{1,150})\]\((https?:\/\/[^\s)]{1,400})\)/, (found, depth) => ['a', { href: found[2], rel: 'noopener noreferrer nofollow', target: '_blank' }, spans(found[1], depth)]],
];
function spans(text, depth = 0) {
  const out = [];
  let plainText = '';
  for (let at = 0; at < text.length; ) {
    let found = null, make = null;
    if (depth < 4 && '`*['.includes(text[at])) {
      for (const [pattern, one] of kSpans) {
        found = pattern.exec(text.slice(at, at + 600));
        if (found) {
          make = one;
          break;
        }
      }
    }
    if (found) {
      if (plainText) out.push(plainText);
      plainText = '';
      out.push(make(found, depth + 1));
      at += found[0].length;
    } else plainText += text[at++];
  }
  if (plainText) out.push(plainText);
  return out;
}
const rowOf = (line) => line.trim().replace(/^\||\|$/g, '').split('|').map((cell) => cell.trim());

export function markdown(text, linesMax = 2000) {
  const lines = text.split(/\r?\n/).slice(0, linesMax), out = [];
  for (let at = 0; at < lines.length; ) {
    const line = lines[at], heading = /^(#{1,6})\s+(.*)$/.exec(line);
    const take = (pattern) => {
      const taken = [];
      while (at < lines.length && pattern.test(lines[at])) taken.push(lines[at++].replace(pattern, ''));
      return taken;
    };
    if (/^```/.test(line)) {
      const code = [];
      for (at++; at < lines.length && !/^```/.test(lines[at]); at++) code.push(lines[at]);
      at++;
      out.push(['pre', { class: 'code', tabindex: '0' }, [code.join('\n')]]);
    } else if (heading) {
      // The page has its own headings above.
      out.push([`h${Math.min(6, heading[1].length + 4)}`, {}, spans(heading[2])]);
      at++;
    } else if (/^\s*([-*_])(\s*\1){2,}\s*$/.test(line)) {
      out.push(['hr', {}, []]);
      at++;
    } else if (/^\s*[-*+]\s+/.test(line)) out.push(['ul', {}, take(/^\s*[-*+]\s+/).map((one) => ['li', {}, spans(one)])]);
    else if (/^\s*\d+[.)]\s+/.test(line)) out.push(['ol', {}, take(/^\s*\d+[.)]\s+/).map((one) => ['li', {}, spans(one)])]);
    else if (/^>\s?/.test(line)) out.push(['blockquote', {}, spans(take(/^>\s?/).join(' '))]);
    else if (line.includes('|') && /^\s*\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*$/.test(lines[at + 1] || '')) {
      const head = rowOf(line), rows = [];
      for (at += 2; at < lines.length && lines[at].includes('|'); at++) rows.push(rowOf(lines[at]));
      out.push(['table', { class: 'plain-table' }, [['thead', {}, [['tr', {}, head.map((one) => ['th', { scope: 'col' }, spans(one)])]]], ['tbody', {}, rows.map((row) => ['tr', {}, head.map((_, cell) => ['td', {}, spans(row[cell] || '')])])]]]);
    } else if (line.trim() === '') at++;
    else {
      const words = [line];
      for (at++; at < lines.length && lines[at].trim() !== '' && !/^(#{1,6}\s|```|>|\s*[-*+]\s|\s*\d+[.)]\s)/.test(lines[at]); at++) words.push(lines[at]);
      out.push(['p', {}, spans(words.join(' '))]);
    }
  }
  return out;
}
