// Property tests: slugs, API keys, product fields, ids, and the JSON parser that keeps number literals.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { createApiKey, isWellFormedKey, toKeyPrefix } from '../../src/shop/keys/api-key.ts';
import { JsonNumber, parseJsonText } from '../../src/platform/core/json-text.ts';
import type { ProductFields } from '../../src/shop/products/product.ts';
import { PRODUCT_TYPES, changedFields, mergeProduct } from '../../src/shop/products/product.ts';
import { parseNewProduct, parseProductInput } from '../../src/shop/products/product-input.ts';
import { SLUG_LENGTH_MAX, toFreeSlug, toSlug } from '../../src/shop/products/slug.ts';
import { createId, isId } from '../../src/platform/core/time-ordered-id.ts';

const anyText = fc.oneof(fc.string({ unit: 'binary' }), fc.string({ unit: 'grapheme', maxLength: 200 }));

describe('slugs', () => {
  test('the slug of any name consists of lower-case ASCII words joined by single hyphens, and is short enough to append a number', () => {
    fc.assert(
      fc.property(anyText, (name) => {
        const slug = toSlug(name);
        assert.match(slug, /^[a-z0-9]+(-[a-z0-9]+)*$/);
        assert.ok(slug.length <= SLUG_LENGTH_MAX - '-999999999'.length);
        assert.equal(toSlug(slug), slug);
      }),
    );
  });

  test('a slug that is already in use gets the smallest free number as a suffix', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.integer({ min: 1, max: 30 })), (numbers) => {
        const used = new Set(numbers.map((number) => (number === 1 ? 'mug' : `mug-${number}`)));
        const free = toFreeSlug('mug', used);
        assert.ok(!used.has(free));
        const number = free === 'mug' ? 1 : Number(free.slice(4));
        for (let smaller = 1; smaller < number; smaller += 1) assert.ok(numbers.includes(smaller));
      }),
    );
  });
});

describe('keys', () => {
  const serviceName = fc.stringMatching(/^[a-z0-9]{2,16}$/);

  test('a key is well formed for its own service and for no other service', () => {
    fc.assert(
      fc.property(serviceName, serviceName, (name, other) => {
        const key = createApiKey(name, randomBytes);
        assert.match(key, new RegExp(`^${name}_live_[0-9A-Za-z]{36}$`));
        assert.ok(isWellFormedKey(name, key));
        assert.equal(isWellFormedKey(other, key), other === name);
        assert.equal(key.length - toKeyPrefix(key).length, 30);
      }),
    );
  });

  test('a key is malformed when one character is replaced, or when two neighbouring characters are swapped', () => {
    const printable = fc.stringMatching(/^[0-9A-Za-z_]$/);
    fc.assert(
      fc.property(fc.nat(), printable, (number, character) => {
        const key = createApiKey('mercat', randomBytes);
        const index = number % key.length;
        const changed = key.slice(0, index) + character + key.slice(index + 1);
        assert.equal(isWellFormedKey('mercat', changed), changed === key);
        const swapped = key.slice(0, index) + (key[index + 1] ?? '') + (key[index] ?? '') + key.slice(index + 2);
        assert.equal(isWellFormedKey('mercat', swapped), swapped === key);
      }),
      { numRuns: 2_000 },
    );
  });

  test('keys use all characters of the alphabet equally often', () => {
    const counts = new Map<string, number>();
    for (let made = 0; made < 2_000; made += 1) {
      for (const character of createApiKey('mercat', randomBytes).slice(12, 42)) {
        counts.set(character, (counts.get(character) ?? 0) + 1);
      }
    }
    assert.equal(counts.size, 62);
    // Each character is expected 968 times, with a standard deviation of 31. If keys were made of random bytes modulo 62, each of the first
    // eight characters would occur about 1,170 times, which is above the limit of this test.
    for (const count of counts.values()) assert.ok(count > 790 && count < 1_140, String(count));
  });
});

describe('JSON with its number literals', () => {
  test('JSON is parsed to the values of JSON.parse, except that each number is kept as its literal', () => {
    const plain = (value: unknown): unknown => {
      if (value instanceof JsonNumber) return Number(value.text);
      if (Array.isArray(value)) return value.map(plain);
      if (typeof value !== 'object' || value === null) return value;
      return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, plain(one)]));
    };
    fc.assert(
      fc.property(fc.json(), (text) => {
        assert.deepEqual(plain(parseJsonText(text)), JSON.parse(text));
      }),
    );
  });

  test('the parser keeps every digit of a number', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^-?(0|[1-9]\d{0,50})(\.\d{1,50})?([eE][+-]?\d{1,4})?$/), (literal) => {
        const parsed = parseJsonText(` {"a":[ ${literal} ],"${literal}":1}`) as { a: JsonNumber[] };
        assert.equal(parsed.a[0]?.text, literal);
      }),
    );
  });

  test('the parser reads a field named __proto__ as an ordinary field', () => {
    const parsed = parseJsonText('{"__proto__":{"price":1}}') as Record<string, unknown>;
    assert.equal(parsed['price'], undefined);
    assert.deepEqual(Object.keys(parsed), ['__proto__']);
  });
});

describe('product fields', () => {
  const text = (min: number, max: number) =>
    fc.string({ unit: 'grapheme', maxLength: max }).filter((one) => {
      const { length } = Array.from(one);
      return length >= min && length <= max && !one.includes('\0');
    });
  const imageUrl = fc
    .tuple(fc.constantFrom('https://', 'ipfs://', 'data:image/'), text(0, 50))
    .map((parts) => parts.join(''));
  const validBody = fc.record(
    {
      name: text(1, 160),
      price: fc.stringMatching(/^\d{1,40}(\.\d{1,18})?$/),
      slug: text(1, 180),
      description: fc.option(text(0, 500)),
      image: fc.option(imageUrl),
      moreImages: fc.array(imageUrl, { maxLength: 20 }),
      type: fc.constantFrom(...PRODUCT_TYPES),
      inventory: fc.nat().map((number) => new JsonNumber(String(number))),
      trackInventory: fc.boolean(),
      requiresShipping: fc.boolean(),
      weightGrams: fc.nat().map((number) => new JsonNumber(String(number))),
      collection: text(1, 120),
      collections: fc.array(text(1, 120), { maxLength: 24 }),
    },
    { requiredKeys: ['name', 'price'] },
  );
  const fieldsOf = (body: object): ProductFields => {
    const parsed = parseNewProduct(body);
    assert.ok(parsed.ok);
    return { ...parsed.value, slug: parsed.value.slug ?? 'slug' };
  };

  test('valid product fields are accepted', () => {
    fc.assert(
      fc.property(validBody, (body) => {
        const fields = fieldsOf(body);
        assert.deepEqual([fields.name, fields.price], [body.name, body.price]);
        const input = parseProductInput(body);
        assert.ok(input.ok);
        const merged = mergeProduct(fields, input.value);
        assert.ok(merged.ok);
        assert.deepEqual(changedFields(fields, merged.value), []);
      }),
    );
  });

  test('the product fields that an update omits keep their values', () => {
    fc.assert(
      fc.property(validBody, validBody, (one, two) => {
        const before = fieldsOf(one);
        const input = parseProductInput(two);
        assert.ok(input.ok);
        const merged = mergeProduct(before, input.value);
        if (!merged.ok) return;
        const sent = new Set(Object.keys(two).map((name) => (name === 'collection' ? 'collections' : name)));
        for (const name of Object.keys(before) as (keyof ProductFields)[]) {
          if (!sent.has(name)) assert.deepEqual(merged.value[name], before[name]);
          const isChanged = changedFields(before, merged.value).includes(name);
          assert.equal(isChanged, JSON.stringify(merged.value[name]) !== JSON.stringify(before[name]));
        }
      }),
    );
  });

  test('the product fields in any JSON value are either all accepted, or rejected with at least one reason', () => {
    fc.assert(
      fc.property(fc.json(), (body) => {
        const parsed = parseNewProduct(parseJsonText(body));
        assert.ok(parsed.ok || parsed.details.every(({ path, message }) => typeof path === 'string' && message !== ''));
        assert.ok(parsed.ok || parsed.details.length > 0);
      }),
    );
  });
});

test('ids sort in the order of their creation, even when the clock is set back', () => {
  const ids: string[] = [];
  for (const now of [5_000, 5_000, 4_000, 5_001, 0]) {
    for (let made = 0; made < 30_000; made += 1) ids.push(createId('prod', Date.UTC(2030, 0) + now));
  }
  for (const [index, id] of ids.entries()) assert.ok(index === 0 || id > (ids[index - 1] ?? ''));
  assert.ok(ids.every((id) => isId('prod', id)));
  assert.ok(!isId('evt', ids[0] ?? ''));
});
