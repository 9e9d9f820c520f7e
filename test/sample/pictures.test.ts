// The pictures of the sample marketplace are small, well formed and mostly different from each other. They have no scripts or links.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { toServedImage } from '../../src/platform/core/image-url.ts';
import { generateSampleMarket } from '../../sample/market.ts';

const SIZE_MAX = 1_500;

const records = [...generateSampleMarket({ serviceName: 'mercat' })];
const pictures = records.flatMap((record) =>
  [record['image'], record['banner']].filter((picture) => typeof picture === 'string'),
);

test('Every collection has a picture and a banner, and at least 99% of the pictures are different', () => {
  for (const record of records) {
    if (record['kind'] === 'collection') assert.ok(record['image'] && record['banner']);
    if (record['kind'] === 'token') assert.ok(record['image']);
  }
  assert.ok(
    new Set(pictures).size >= pictures.length * 0.99,
    `only ${new Set(pictures).size} of ${pictures.length} pictures are different`,
  );
});

test('Every picture is a small, well-formed SVG without scripts and links', () => {
  for (const picture of pictures) {
    assert.ok(picture.length < SIZE_MAX, `${picture.length} bytes`);
    assert.equal(toServedImage(picture), picture);
    assert.match(picture, /^data:image\/svg\+xml,[\w%'()*+,\-./:;=&!~]+$/);
    checkSvg(decodeURIComponent(picture.slice('data:image/svg+xml,'.length)));
  }
});

test("This file's check of pictures rejects malformed SVG, scripts and links", () => {
  const rejects = (inside: string) =>
    assert.throws(() => checkSvg(`<svg xmlns='http://www.w3.org/2000/svg'>${inside}</svg>`), inside);
  rejects('<g>');
  rejects('<script></script>');
  rejects(`<path d='M0,NaN'/>`);
  rejects(`<path d='M0,0' onload='alert(1)'/>`);
  rejects(`<use href='#nothing'/>`);
  rejects(`<use href='https://example.com/a.svg'/>`);
  rejects('fish & chips');
});

const SVG_TAGS = /<(\/?)([a-zA-Z]+)((?: [a-zA-Z0-9:-]+='[^'<>&]*')*)(\/?)>|([^<>&]+)/gy;
const DRAWING_TAGS = new Set([
  'svg',
  'g',
  'defs',
  'use',
  'path',
  'circle',
  'ellipse',
  'rect',
  'text',
  'mask',
  'clipPath',
  'stop',
  'linearGradient',
  'radialGradient',
]);

/** Checks that all tags are closed, that only drawing elements appear, and that references stay inside the picture. */
function checkSvg(svg: string): void {
  const open: string[] = [];
  let end = 0;
  for (const [token, closing, name = '', attributes = '', empty] of svg.matchAll(SVG_TAGS)) {
    end += token.length;
    if (!name) continue;
    assert.ok(DRAWING_TAGS.has(name), `<${name}>`);
    assert.doesNotMatch(attributes, / on\w+=|NaN|undefined|--/);
    if (closing) assert.equal(open.pop(), name);
    else if (!empty) open.push(name);
  }
  assert.equal(end, svg.length, `not well formed at: ${svg.slice(end, end + 60)}`);
  assert.deepEqual(open, []);
  assert.ok(svg.startsWith(`<svg xmlns='http://www.w3.org/2000/svg'`));
  assert.equal(svg.split('://').length, 2, 'the picture names a URL other than the XML namespace');
  for (const [, id] of svg.matchAll(/(?:url\(|href=')#?([^')]*)/g)) assert.ok(svg.includes(` id='${id}'`), `#${id}`);
}
