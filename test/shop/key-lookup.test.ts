// The look-up of an API key depends on the SHA-256 hash of the presented key only. So its time reveals no part of a stored key. The
// command `npm run bench key-timing` measures the times.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { before, test } from 'node:test';
import { createLog } from '../../src/platform/core/log.ts';
import { SecretKeys } from '../../src/platform/core/secret-keys.ts';
import type { Database, Statements } from '../../src/platform/database/port.ts';
import { createApiKey, hashApiKey } from '../../src/shop/keys/api-key.ts';
import { KeyVerifier } from '../../src/shop/keys/key-verifier.ts';
import { issueKey } from '../../src/shop/keys/keys.ts';
import { forEachEngine } from '../support/engines/each-engine.ts';

const NOW = Date.UTC(2026, 5, 1);
const SERVICE = 'mercat';

/** A well-formed key whose random part begins like that of `secret`. */
function createSimilarKey(secret: string, sameCharacters: number): string {
  const characters = secret.slice(`${SERVICE}_live_`.length).slice(0, sameCharacters);
  const sameBytes = Array.from(characters, (character) => ALPHABET.indexOf(character));
  let isFirst = true;
  return createApiKey(SERVICE, (size) => {
    const bytes = randomBytes(size);
    if (isFirst) bytes.set(sameBytes);
    isFirst = false;
    return bytes;
  });
}

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** Returns `main`, which runs statements on `db` and adds each statement to `sent`. */
function recordStatements(db: Database) {
  const sent: { sql: string; params: readonly unknown[] }[] = [];
  const record = (statements: Statements): Statements => ({
    ...statements,
    query: (sql, params = []) => {
      sent.push({ sql, params });
      return statements.query(sql, params);
    },
    queryPrepared: (sql, params) => {
      sent.push({ sql, params });
      return statements.queryPrepared(sql, params);
    },
  });
  const main: Database = {
    ...db,
    ...record(db),
    within: (timeoutMs, lane) => record(db.within(timeoutMs, lane)),
  };
  return { sent, main };
}

forEachEngine('the look-up of an API key', (engine) => {
  let db: Database;
  before(async () => {
    db = await engine.open();
  });

  test('the look-up of a key sends the same statement for every key, and only the hash of the presented key as its parameter', async () => {
    const { sent, main } = recordStatements(db);
    const log = createLog('silent');
    const context = { main: db, clock: () => NOW, log, serviceName: SERVICE, secretKeys: new SecretKeys([]) };
    const options = { shop: null, name: null, scopes: ['intake:write'] };
    const { secret } = await issueKey(context, { ...options, expiresAt: null });
    const expired = await issueKey(context, { ...options, expiresAt: NOW - 1 });
    const verifier = new KeyVerifier({ ...context, main });
    const presented = [createSimilarKey(secret, 0), createSimilarKey(secret, 29), expired.secret, secret];
    const found: boolean[] = [];
    for (const key of presented) found.push((await verifier.verify(key)) !== null);
    assert.deepEqual(found, [false, false, false, true]);
    assert.equal(presented[1]?.slice(0, 35 + SERVICE.length), secret.slice(0, 35 + SERVICE.length));
    assert.equal(new Set(sent.map(({ sql }) => sql)).size, 1);
    assert.deepEqual(
      sent.map(({ params }) => params),
      presented.map((key) => [[Buffer.from(hashApiKey(key), 'hex')]]),
    );
  });

  test('a look-up that finds no key is not repeated within one second after its end, however long it took', async () => {
    const { sent, main } = recordStatements(db);
    let now = NOW;
    const slow: Database = {
      ...main,
      within: (timeoutMs, lane) => {
        now += 1_500;
        return main.within(timeoutMs, lane);
      },
    };
    const log = createLog('silent');
    const verifier = new KeyVerifier({
      main: slow,
      clock: () => now,
      log,
      serviceName: SERVICE,
      secretKeys: new SecretKeys([]),
    });
    const wrong = createApiKey(SERVICE, randomBytes);
    assert.equal(await verifier.verify(wrong), null);
    now += 999;
    assert.equal(await verifier.verify(wrong), null);
    assert.equal(sent.length, 1);
    now += 1;
    assert.equal(await verifier.verify(wrong), null);
    assert.equal(sent.length, 2);
  });

  test('look-ups of many keys share statements, and each valid key is found among many wrong keys', async () => {
    const { sent, main } = recordStatements(db);
    const log = createLog('silent');
    const context = { main: db, clock: () => NOW, log, serviceName: SERVICE, secretKeys: new SecretKeys([]) };
    const options = { shop: null, name: null, scopes: ['intake:write'], expiresAt: null };
    const issued = [await issueKey(context, options), await issueKey(context, options)];
    const verifier = new KeyVerifier({ ...context, main });
    const wrong = Array.from({ length: 198 }, () => createApiKey(SERVICE, randomBytes));
    const callers = await Promise.all(
      [...wrong, ...issued.map(({ secret }) => secret)].map((key) => verifier.verify(key)),
    );
    assert.deepEqual(
      callers.map((caller) => caller?.keyId ?? null),
      [...wrong.map(() => null), ...issued.map(({ key }) => key.id)],
    );
    assert.equal(sent.length, 2, 'the look-ups of 200 keys did not share two statements');
  });
});
