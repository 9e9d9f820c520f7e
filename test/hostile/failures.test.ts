// Tests what a failure inside the service reveals. Responses contain no host, password or SQL. The log has the reason, and no log line has
// the query of a URL.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Database, Statements } from '../../src/platform/database/port.ts';
import { openDatabases } from '../../src/platform/database/open.ts';
import { cleanUp } from '../support/engines/cleanup.ts';
import { directoryWithDatabase } from '../support/engines/embedded-template.ts';
import { toNdjson, token } from '../support/service/intake.ts';
import type { TestService } from '../support/service/service.ts';
import { startTestService } from '../support/service/service.ts';

const SECRET = 'insert into main.product at 10.1.2.3:5432 as postgres:hunter2';

let service: TestService;
let isBroken = false;
const refuse = (): void => {
  if (isBroken) throw new Error(SECRET);
};

/** Statements that fail while `isBroken`. The look-up of API keys does not fail. */
const toBreakable = (statements: Statements): Statements => ({
  query: async (sql, params) => {
    if (!sql.includes('main.api_key')) refuse();
    return statements.query(sql, params);
  },
  queryPrepared: async (sql, params) => {
    if (!sql.includes('main.api_key')) refuse();
    return statements.queryPrepared(sql, params);
  },
  transaction: async (work) => {
    refuse();
    return statements.transaction(work);
  },
});

before(async () => {
  service = await startTestService({
    settings: { DATA_DIR: await directoryWithDatabase(), ACCESS_LOG: 'true' },
    open: async (config, log) => {
      const databases = await openDatabases(config, log);
      const wrap = (database: Database): Database => ({
        ...database,
        ...toBreakable(database),
        within: (timeoutMs, lane) => toBreakable(database.within(timeoutMs, lane)),
      });
      return {
        ...databases,
        main: wrap(databases.main),
        store: wrap(databases.store),
        indexer: wrap(databases.indexer),
      };
    },
  });
});
after(async () => {
  isBroken = false;
  await service.close();
  await cleanUp();
});

test('no response names the reason of a failure inside the service, but the log does', async () => {
  await service.operate('shops.create', { name: 'shop' });
  const scopes = ['products:read', 'intake:write'];
  const { body } = await service.operate('keys.create', { shop: 'shop', scopes });
  const authorization = `Bearer ${body.result.secret}`;
  const isLogged = (text: string) => service.logged.some((line) => line.includes(text));
  isBroken = true;
  const requests: [path: string, init?: RequestInit][] = [
    ['/api/v1/products?collection=in-the-query'],
    ['/api/v1/products/prod_019e1c7f862000008c1f0a77d2b94e36'],
    ['/v1/collections?limit=3&key=in-the-query'],
    ['/intake/v1/records?dryRun=false', { method: 'POST', body: toNdjson([token({ tokenId: '1' })]) }],
    ['/readyz'],
    ['/status'],
  ];
  for (const [path, init] of requests) {
    const headers = { authorization, 'content-type': 'application/x-ndjson' };
    const text = await (await fetch(`${service.url}${path}`, { ...init, headers })).text();
    for (const part of ['10.1.2.3', 'hunter2', 'main.product']) assert.ok(!text.includes(part), `${path}: ${text}`);
    if (path.startsWith('/intake')) {
      assert.match(text, /"message":"stopped before any row was stored: the service failed; its log has the reason"/);
    }
  }
  assert.ok(isLogged('10.1.2.3'));
  assert.ok(!isLogged('in-the-query'), service.logged.join('\n'));
});
