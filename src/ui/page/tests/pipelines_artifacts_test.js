// The pure parts of how artifacts are shown.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { areaOf, curveOf, markdown, matrixOf, shortOf, sizeOf, tableOf, textOf } from '../source/pipelines_artifacts_model.js';

test('a curve is sorted, and points that are none are left out', () => {
  const points = curveOf({ confidenceMetrics: [{ falsePositiveRate: 1, recall: 1 }, { falsePositiveRate: 0, recall: 0 }, { falsePositiveRate: 0.5, recall: 0.9 }, { falsePositiveRate: 'x', recall: 1 }, null, { falsePositiveRate: 2, recall: 1 }] });
  assert.deepEqual(points.map(({ x, y }) => [x, y]), [[0, 0], [0.5, 0.9], [1, 1]]);
  assert.equal(areaOf(points).toFixed(3), '0.700');
  for (const none of [undefined, {}, { confidenceMetrics: 'x' }, { confidenceMetrics: [1] }]) assert.deepEqual(curveOf(none), []);
});

test('a matrix has as many rows as names', () => {
  assert.deepEqual(matrixOf({ confusionMatrix: { annotationSpecs: [{ displayName: 'a' }, { displayName: 'b' }], rows: [{ row: [1, 2] }, { row: [3, 4] }] } }), { names: ['a', 'b'], rows: [[1, 2], [3, 4]], most: 4 });
  for (const none of [undefined, {}, { confusionMatrix: 1 }, { confusionMatrix: { annotationSpecs: [{ displayName: 'a' }], rows: [] } }]) assert.equal(matrixOf(none), null);
});

test('the head of a file is text with its last character cut, or none', () => {
  const bytes = new TextEncoder().encode('größe');
  assert.equal(textOf(bytes, true), 'größe');
  assert.equal(textOf(bytes.subarray(0, 3), false), 'gr');
  assert.equal(textOf(bytes.subarray(0, 3), true), null);
  assert.equal(textOf(new Uint8Array([1, 0, 2]), true), null);
});

test('first rows are a table where all have as many cells', () => {
  assert.deepEqual(tableOf('a,b\n1,"x, ""y"""\n2,z', true), { head: ['a', 'b'], rows: [['1', 'x, "y"'], ['2', 'z']] });
  assert.deepEqual(tableOf('a\tb\n1\t2\n3\t', false), { head: ['a', 'b'], rows: [['1', '2']] });
  assert.equal(tableOf('a,b\n1', true), null);
  assert.equal(tableOf('one line', true), null);
});

test('Markdown is a tree without HTML and without links that run code', () => {
  const tree = markdown('# A **b**\n\n<img onerror=x> [l](https://e.org/a) [n](javascript:x)\n- one\n- `two`\n\n```\n<b>\n```\n| a | b |\n|--|--|\n| 1 | 2 |\n> said');
  assert.deepEqual(tree[0], ['h5', {}, ['A ', ['strong', {}, ['b']]]]);
  assert.deepEqual(tree[1][2], ['<img onerror=x> ', ['a', { href: 'https://e.org/a', rel: 'noopener noreferrer nofollow', target: '_blank' }, ['l']], ' [n](javascript:x)']);
  assert.deepEqual(tree[2], ['ul', {}, [['li', {}, ['one']], ['li', {}, [['code', {}, ['two']]]]]]);
  assert.deepEqual(tree[3][2], ['<b>']);
  assert.equal(tree[4][0], 'table');
  assert.equal(tree[5][0], 'blockquote');
  const kTags = new Set(['h5', 'h6', 'p', 'ul', 'ol', 'li', 'pre', 'code', 'strong', 'em', 'a', 'hr', 'blockquote', 'table', 'thead', 'tbody', 'tr', 'th', 'td']);
  const walk = (nodes) => nodes.forEach((node) => typeof node === 'string' || (assert.ok(kTags.has(node[0]), node[0]), walk(node[2])));
  walk(tree);
});

test('Markdown of a stranger takes no long time', () => {
  const began = Date.now();
  for (const text of ['['.repeat(60000), '*a '.repeat(20000), '`'.repeat(60000), '|'.repeat(60000), '> '.repeat(30000)]) markdown(text);
  assert.ok(Date.now() - began < 5000, `${Date.now() - began} ms`);
});

test('numbers have six digits', () => assert.deepEqual([0.1 + 0.2, 3, 'x', [1]].map(shortOf), ['0.3', '3', 'x', '[1]']));

test('sizes are read by people', () => assert.deepEqual([5, 2048, 3 << 20].map(sizeOf), ['5 B', '2.0 KiB', '3.0 MiB']));
