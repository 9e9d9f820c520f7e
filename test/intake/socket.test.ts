// Tests imports through the Unix socket of a running server. Such an import gives the same events and the same summary as an import without
// a server. An error of the client, the server or the input ends the import.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import http from 'node:http';
import net from 'node:net';
import path from 'node:path';
import { afterEach, before, beforeEach, describe, test } from 'node:test';
import type { FastifyInstance } from 'fastify';
import Fastify from 'fastify';
import type { Database } from '../../src/platform/database/port.ts';
import { LOCAL_ACCESS } from '../../src/intake/http/access.ts';
import { registerRecordRoutes } from '../../src/intake/http/records.ts';
import { IntakeErrorSchema } from '../../src/intake/http/schemas.ts';
import { SocketIntake } from '../../src/intake/socket-client.ts';
import { isServerListening } from '../../src/server/local-socket.ts';
import { parseColumnMap } from '../../src/intake/csv/column-map.ts';
import type { ConnectionImportOptions } from '../../src/intake/connection.ts';
import type { ImportContext, ImportEvent } from '../../src/intake/import.ts';
import { ImportFailure, importRecords } from '../../src/intake/import.ts';
import type { ImportSummary } from '../../src/intake/import-summary.ts';
import { forEachEngine } from '../support/engines/each-engine.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { until } from '../support/until.ts';
import { emptyTables, toChunks, toContext, token, toNdjson } from '../support/service/intake.ts';

const WAIT_MS = 60_000;
const tokens = (count: number) => Array.from({ length: count }, (_, i) => token({ tokenId: String(i), name: `#${i}` }));

forEachEngine('the socket', (engine) => {
  let db: Database;
  let context: ImportContext;
  let app: FastifyInstance;
  let socketPath: string;

  const listen = async () => {
    app = Fastify({ logger: false, forceCloseConnections: true });
    app.addSchema(IntakeErrorSchema);
    app.setValidatorCompiler(() => () => true);
    registerRecordRoutes(app, context, LOCAL_ACCESS);
    await app.listen({ path: socketPath });
  };
  before(async () => {
    db = await engine.open();
    context = toContext(db);
    socketPath = path.join(temporaryDirectory(), 'intake.sock');
  });
  // Closing the server ends its imports. Otherwise they could write during the next test.
  afterEach(() => app.close());
  beforeEach(async () => {
    await emptyTables(db);
    await listen();
  });

  const importOver = async (
    source: AsyncIterable<Uint8Array>,
    options: ConnectionImportOptions = { format: 'ndjson' },
    listener: (event: ImportEvent) => void = () => undefined,
  ): Promise<{ summary: ImportSummary; events: ImportEvent[] }> => {
    const events: ImportEvent[] = [];
    const summary = await new SocketIntake(socketPath).import(source, options, (event) => {
      events.push(event);
      listener(event);
    });
    return { summary, events };
  };
  const failureOf = async (work: Promise<unknown>): Promise<ImportFailure> => {
    const error = await work.catch((reason: unknown) => reason);
    assert.ok(error instanceof ImportFailure, String(error));
    return error;
  };
  const countTokens = async () =>
    (await db.query<{ count: number }>('select count(*)::int as count from indexer.token'))[0]?.count ?? 0;

  /** Waits until the number of stored tokens has stopped growing, and resolves to that number. */
  const settledCount = async () => {
    let seen = 0;
    let same = 0;
    const settled = async () => {
      const now = await countTokens();
      same = now === seen && now > 0 ? same + 1 : 0;
      seen = now;
      return same === 4;
    };
    await until(settled, WAIT_MS, 'the import did not stop after its client had disconnected');
    return seen;
  };

  test('an import over the socket gives the same events and summary as an import in process', async () => {
    const content = toNdjson([...tokens(700), 'nonsense', token({ tokenId: 'x' }), ...tokens(3)]);
    const local: ImportEvent[] = [];
    const summary = await importRecords(context, toChunks(content), {
      format: 'ndjson',
      dryRun: true,
      onEvent: (event) => void local.push(event),
    });
    assert.equal(await countTokens(), 0);
    const dry = await importOver(toChunks(content), { format: 'ndjson', dryRun: true });
    assert.equal(await countTokens(), 0);
    assert.deepEqual(dry.events, local);
    assert.deepEqual({ ...dry.summary, seconds: 0 }, { ...summary, seconds: 0 });
    const real = await importOver(toChunks(content));
    assert.deepEqual([real.summary.inserted, real.summary.refused, await countTokens()], [700, 2, 700]);
  });

  test('if a line of the response is too long, the import fails and its message gives this reason', async () => {
    const longPath = path.join(temporaryDirectory(), 'long.sock');
    const server = http.createServer((_request, response) => response.end(`${'x'.repeat(2 * 1024 * 1024)}\n`));
    server.listen(longPath);
    await once(server, 'listening');
    const { message } = await failureOf(
      new SocketIntake(longPath).import(toChunks(toNdjson(tokens(1))), { format: 'ndjson' }, () => undefined),
    );
    server.close();
    assert.match(message, /a line of the response cannot be read: longer than 1048576 bytes; mercat imports list/);
  });

  test('a CSV file is imported over the socket with a column map', async () => {
    const map = parseColumnMap({
      kind: { value: 'token' },
      chain: { value: 'base' },
      contractAddress: { value: '0x00000000000000000000000000000000000000aa' },
      tokenId: 'номер & ?=#',
      name: 'n',
    });
    const { summary } = await importOver(toChunks('номер & ?=#,n\n1,"a\nb"\n2,c\n'), { format: 'csv', map });
    assert.equal(summary.inserted, 2);
    const wrong = importOver(toChunks('id,n\n1,a\n'), { format: 'csv', map });
    assert.match(
      (await failureOf(wrong)).message,
      /before any row was stored: the column map takes tokenId from the column/,
    );
  });

  test('an import completes even if its response is longer than its request', async () => {
    const line = Buffer.from('{"kind":"nonsense"}\n'.repeat(4_000));
    async function* flood() {
      for (let i = 0; i < 25; i += 1) yield line;
    }
    const { summary, events } = await importOver(flood());
    assert.deepEqual([summary.read, summary.refused], [100_000, 100_000]);
    assert.equal(events.filter((event) => event.event === 'refused').length, 100_000);
  });

  test('when a client stops its import, the import ends and reports exactly what was stored', async () => {
    const stop = new AbortController();
    async function* endless() {
      for (let i = 0; ; i += 1) yield Buffer.from(toNdjson([token({ tokenId: String(i) })]));
    }
    const listener = (event: ImportEvent) => {
      if (event.event === 'progress') stop.abort(new Error('interrupted'));
    };
    const failure = await failureOf(importOver(endless(), { format: 'ndjson', signal: stop.signal }, listener));
    assert.match(failure.message, /^stopped after \d+ rows were stored: interrupted$/);
    assert.ok(failure.summary.inserted >= 500);
    assert.equal(await countTokens(), failure.summary.inserted);
    // The stopped import stores no more tokens: the next import adds exactly its one token.
    const seen = await settledCount();
    const { summary } = await importOver(toChunks(toNdjson([token({ tokenId: '999999999' })])));
    assert.equal(summary.inserted, 1);
    assert.equal(await countTokens(), seen + 1);
  });

  test('when a client disconnects after it has sent its complete request, its import ends before all rows are stored', async () => {
    const body = toNdjson(tokens(1_500));
    await db.transaction(async (tx) => {
      await tx.query('lock table indexer.token in exclusive mode');
      const request = http.request({ socketPath, path: '/intake/v1/records', method: 'POST', agent: false });
      request.on('error', () => undefined);
      request.end(body);
      await once(request, 'response');
      await until(
        () => request.socket?.bytesWritten !== undefined && request.writableFinished,
        WAIT_MS,
        'the request was not sent',
      );
      request.destroy();
    });
    const stored = await settledCount();
    assert.ok(stored >= 500 && stored < 1_500, `${stored} rows were stored`);
  });

  test('if reading the records fails, the import fails with the same error, and the records before the error are stored', async () => {
    async function* broken() {
      yield Buffer.from(toNdjson(tokens(10)));
      throw new Error('the disk is gone');
    }
    const { message, summary } = await failureOf(importOver(broken()));
    assert.equal(message, 'stopped after 10 rows were stored: the disk is gone');
    assert.deepEqual([summary.read, summary.inserted, await countTokens()], [10, 10, 10]);
  });

  test('a database error is reported while the client is still sending', async () => {
    await db.query('alter table indexer.sale add constraint no_sales check (false)');
    async function* endless() {
      yield Buffer.from(toNdjson(tokens(500)));
      const sale = { ...token(), kind: 'sale', source: 's', price: '1', timestamp: '2026-05-01T00:00:00Z' };
      for (;;) yield Buffer.from(toNdjson([sale]));
    }
    const failure = await failureOf(importOver(endless()));
    await db.query('alter table indexer.sale drop constraint no_sales');
    assert.match(failure.message, /^stopped after 500 rows were stored: .*no_sales/);
    assert.equal(failure.summary.inserted, 500);
  });

  test('when the server closes the connection, the import fails with the latest reported counts', async () => {
    async function* endless() {
      for (let i = 0; ; i += 1) yield Buffer.from(toNdjson([token({ tokenId: String(i) })]));
    }
    const die = (event: ImportEvent) => {
      if (event.event === 'progress') app.server.closeAllConnections();
    };
    const failure = await failureOf(importOver(endless(), undefined, die));
    assert.match(
      failure.message,
      /^stopped after \d+ rows were stored: the server closed the connection before its response was complete/,
    );
  });

  test('when the server stops, its imports end after their current batch', async () => {
    async function* endless() {
      for (let i = 0; ; i += 1) yield Buffer.from(toNdjson([token({ tokenId: String(i) })]));
    }
    const closing: Promise<void>[] = [];
    const close = (event: ImportEvent) => {
      if (event.event === 'progress' && closing.length === 0) closing.push(app.close());
    };
    const failure = await failureOf(importOver(endless(), undefined, close));
    const reportedAt = performance.now();
    await Promise.all(closing);
    assert.ok(performance.now() - reportedAt < 4_000, 'the server waited for a client that had disconnected');
    assert.match(failure.message, /rows were stored: the server is stopping$/);
    assert.equal(failure.summary.inserted, await countTokens());
  });

  describe('requests that do not come from the command line', () => {
    const post = async (target: string, headers: Record<string, string> = {}, body = ''): Promise<[number, string]> => {
      const request = http.request({ socketPath, path: target, method: 'POST', headers, agent: false });
      request.end(body);
      const [response] = (await once(request, 'response')) as [http.IncomingMessage];
      const chunks: Buffer[] = [];
      for await (const chunk of response) chunks.push(chunk as Buffer);
      return [response.statusCode ?? 0, Buffer.concat(chunks).toString()];
    };

    test('a wrong parameter is rejected with an error that names it', async () => {
      const target = '/intake/v1/records';
      for (const [query, reason] of [
        ['?format=xml', /format: must be one of/],
        ['?dryrun=true', /dryrun: there is no such parameter/],
        ['?dryRun=yes', /dryRun: must be true or false/],
        ['?replace=yes', /replace: must be true or false/],
        ['?completeUntil=2026-06-01', /completeUntil: must be an ISO 8601 time/],
        ['?format=csv', /map: a CSV file needs/],
        ['?format=csv&map=x', /map: must be JSON/],
        ['?format=csv&map={}', /map: bad column map: kind: is missing/],
      ] as const) {
        const [status, body] = await post(target + query);
        assert.notEqual(status, 200, query);
        assert.match(body, reason);
      }
    });

    test('any content type is accepted', async () => {
      const body = toNdjson(tokens(1));
      const types: Record<string, string>[] = [
        {},
        { 'content-type': 'text/plain' },
        { 'content-type': 'application/json' },
      ];
      for (const headers of types) {
        const [status, response] = await post('/intake/v1/records', headers, body);
        assert.equal(status, 200);
        assert.match(response, /"event":"done","read":1/);
      }
      const [status, response] = await post('/intake/v1/records');
      assert.equal(status, 200);
      assert.match(response, /"event":"done","read":0/);
    });
  });

  test('no server is found when the socket path names no file or an ordinary file', async () => {
    const dir = temporaryDirectory();
    const plain = path.join(dir, 'plain');
    writeFileSync(plain, '');
    assert.equal(await isServerListening(path.join(dir, 'none')), false);
    assert.equal(await isServerListening(plain), false);
    assert.equal(await isServerListening(socketPath), true);
    const failure = await failureOf(
      new SocketIntake(plain).import(toChunks('x'), { format: 'ndjson' }, () => undefined),
    );
    assert.match(failure.message, /before any row was stored: the server cannot be reached/);
  });

  test('a connection that closes before the response makes the import fail', async () => {
    const closingPath = path.join(temporaryDirectory(), 'closing.sock');
    const server = net.createServer((socket) => void socket.once('data', () => socket.destroy()));
    await new Promise<void>((resolve) => server.listen(closingPath, resolve));
    const failure = await failureOf(
      new SocketIntake(closingPath).import(toChunks('x'), { format: 'ndjson' }, () => undefined),
    );
    server.close();
    assert.match(failure.message, /the server cannot be reached|the server closed the connection/);
  });
});
