// Tests the audit on a real local chain after a long simulation. In unchanged data the audit must find no difference. If a test
// changes rows, the audit must find these rows. A replay of the stored chain log must result in the served state.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { defineAudit } from '../../../src/cli/audit.ts';
import { readConfig } from '../../../src/service/config.ts';
import type { Database } from '../../../src/platform/database/port.ts';
import { openDatabases } from '../../../src/platform/database/open.ts';
import { createLog } from '../../../src/platform/core/log.ts';
import { FollowedChains } from '../../../src/sources/chains/followed-chains.ts';
import { createAuditOperations } from '../../../src/sources/chains/audit/audit.ts';
import type { AuditReport } from '../../../src/sources/chains/audit/report.ts';
import type { AuditedBook } from '../../../src/sources/chains/audit/signed-orders.ts';
import { readAuditedBook } from '../../../src/sources/chains/audit/signed-orders.ts';
import type { ChainReader } from '../../../src/sources/chains/rpc/chain-reader.ts';
import { RpcFailure } from '../../../src/sources/chains/rpc/rpc-failure.ts';
import { copyCatalog } from '../../../src/market/index/catalog.ts';
import { sweepExpired } from '../../../src/service/workers/expiry.ts';
import { replayLog } from '../../../src/sources/chains/audit/replay.ts';
import { runCommand } from '../../cli/run-command.ts';
import { forOneEngine } from '../../support/engines/each-engine.ts';
import { until } from '../../support/until.ts';
import type { FollowedLife } from './followed-devnet.ts';
import { startFollowedLife } from './followed-devnet.ts';
import { createTestReader } from '../../support/chain/reader.ts';
import { startTestService } from '../../support/service/service.ts';

const STEPS = 120;
const SEED = 11;

forOneEngine('audit', (engine) => {
  let followed: FollowedLife;
  let db: Database;
  before(async () => {
    followed = await startFollowedLife(engine.open, SEED);
    db = followed.operations.main;
    for (let step = 0; step < STEPS; step += 1) {
      await followed.simulation.step();
      if (step % 4 === 0) await followed.settle();
    }
    await followed.simulation.reorganise(7);
    await followed.settle();
  });
  after(() => followed.stop());

  /** `pauseMs` is short by default, because in most tests nothing changes while the audit pauses before it compares again. */
  const audit = (input: Record<string, unknown> = { sample: 0 }, pace: { pauseMs?: number } = { pauseMs: 1 }) =>
    createAuditOperations(followed.operations, pace).audit(input);
  const auditBy = (reader: ChainReader) => {
    class ReadBy extends FollowedChains {
      override readerOf(id: string) {
        return id === 'ethereum' ? reader : null;
      }
    }
    const { operations } = followed;
    return createAuditOperations({ ...operations, followed: new ReadBy(operations) }, { pauseMs: 1 }).audit({
      sample: 10,
    });
  };
  /**
   * Marks the orders and listings that have expired while the tests ran. Returns operations whose clock stands still, so that no order
   * expires before the replay ends.
   */
  const sweep = async () => {
    const at = followed.operations.clock();
    const operations = { ...followed.operations, clock: () => at };
    await sweepExpired(operations);
    await copyCatalog(operations, { timeoutMs: 30_000, batchesMax: 100 });
    return operations;
  };
  const replay = async (swept?: Awaited<ReturnType<typeof sweep>>) =>
    replayLog(swept ?? (await sweep()), {
      chains: ['ethereum'],
      figuresOf: null,
      pauseMs: 0,
      into: await engine.openLocal(),
    });
  const first = async (sql: string, params: readonly unknown[] = []) => {
    const [row] = await db.query(sql, params);
    assert.ok(row, `no row from: ${sql}`);
    return row;
  };

  test('after a simulation with reorganisations, the audit finds no difference', async (t) => {
    const counts = await db.query(
      `select concat_ws(' ', status, dormant) as state, count(*)::int as count from main.book_order group by 1 order by 1`,
    );
    t.diagnostic(counts.map(({ state, count }) => `${count} ${state}`).join(', '));
    for (const state of ['active', 'filled', 'cancelled', 'expired', 'active no-balance']) {
      assert.ok(
        counts.some((row) => row['state'] === state),
        `the simulation has no order in the state ${state}`,
      );
    }
    const report = await audit();
    assert.deepEqual(report.differences, []);
    const { orders, tokens } = await first(
      `select (select count(*)::int from main.book_order) as orders, (select count(*)::int from indexer.token) as tokens`,
    );
    assert.deepEqual([report.drift, report.unreadable, report.orders, report.tokens], [0, 0, orders, tokens]);
    assert.equal(
      report.chains[0]?.block,
      Number((await first(`select block_number from main.chain_cursor`))['block_number']),
    );
  });

  /** Changes rows of a table, or deletes them if `changes` is null. Then runs `work` and restores the table. */
  const whileBroken = async <T>(
    { table, where, changes }: { table: string; where: string; changes: string | null },
    work: () => Promise<T>,
  ): Promise<T> => {
    const copy = await db.query<{ row: string }>(`select to_jsonb(stored)::text as row from ${table} as stored`);
    const breaking =
      changes === null ? `delete from ${table} where ${where}` : `update ${table} set ${changes} where ${where}`;
    const broken = await db.query(`${breaking} returning 1`);
    assert.ok(broken.length > 0, `no row to change in ${table} where ${where}`);
    try {
      return await work();
    } finally {
      await db.query(`delete from ${table}`);
      await db.query(`insert into ${table} select * from jsonb_populate_recordset(null::${table}, $1)`, [
        `[${copy.map(({ row }) => row).join(',')}]`,
      ]);
    }
  };
  const both = async () => [await audit(), await replay()] as const;
  /** The differences that the audit or the replay found, without the figures that differ from their counts. */
  const findings = ({ differences }: AuditReport) =>
    differences.filter(({ field }) => field !== 'counted').map(({ subject, field }) => `${subject}, ${field}`);

  test('the same seed selects the same sample of the requested size', async () => {
    const order = await first(`select id from main.book_order order by md5('a' || id), id limit 1`);
    const broken = { table: 'main.book_order', where: `id = '${order['id']}'`, changes: `filled_quantity = 77` };
    const reports = await whileBroken(broken, async () => [
      await audit({ sample: 1, seed: 'a' }),
      await audit({ sample: 1, seed: 'a', chain: 'ethereum' }),
    ]);
    for (const report of reports) {
      assert.deepEqual([report.orders, report.tokens, report.drift, report.seed], [1, 1, 1, 'a']);
    }
  });

  type Breakage = Parameters<typeof whileBroken>[0];
  /** Runs the audit and the replay while all the given changes are in place. */
  const findBroken = ([breakage, ...others]: readonly Breakage[]): ReturnType<typeof both> =>
    breakage ? whileBroken(breakage, () => findBroken(others)) : both();

  test('the audit and the replay report exactly the changed orders', async () => {
    const broken: readonly (readonly [which: string, changes: string, field: string])[] = [
      [`status = 'active' and dormant is null and quantity = 1`, `status = 'filled'`, 'status'],
      [`status = 'filled' and quantity = 1`, `status = 'cancelled'`, 'status'],
      [`status = 'cancelled' and expires_at > now() + interval '1 day'`, `status = 'active'`, 'status'],
      [`status = 'expired'`, `status = 'cancelled'`, 'status'],
      [`status = 'active' and quantity > 1`, `filled_quantity = filled_quantity + 1`, 'filled'],
      [`status = 'active' and dormant is null and quantity = 1`, `dormant = 'not-approved'`, 'dormant'],
      [`status = 'active' and dormant = 'no-balance'`, `dormant = null`, 'dormant'],
    ];
    const breakages: Breakage[] = [];
    const found: string[] = [];
    const ids: string[] = [];
    for (const [which, changes, field] of broken) {
      const chosen = ids.map((id) => `'${id}'`).join(', ') || 'null';
      const isFree = `coalesce(id not in (${chosen}), true)`;
      // The order that expires last, so that none expires while the test runs.
      const { id } = await first(
        `select id from main.book_order where ${which} and ${isFree} order by expires_at desc, id limit 1`,
      );
      breakages.push({ table: 'main.book_order', where: `id = '${id}'`, changes });
      ids.push(id as string);
      found.push(`order ${id}, ${field}`);
    }
    const [audited, replayed] = await findBroken(breakages);
    assert.deepEqual(findings(audited).toSorted(), found.toSorted());
    assert.ok(audited.differences.every(({ block }) => block === audited.chains[0]?.block));
    const subjects = found.map((finding) => finding.replace(/, \w+$/, ', replayed'));
    assert.deepEqual(findings(replayed).toSorted(), subjects.toSorted());
  });

  const THIEF = `0x${'9'.repeat(40)}`;

  test('the audit and the replay report exactly the changed owners', async () => {
    const tokens = await db.query(
      `select collection_id as collection, token_id as id, holder from main.holding join main.follow using (collection_id)
       where standard = 'erc721' order by exists (select from main.book_order as listed
         where listed.collection_id = holding.collection_id and listed.token_id = holding.token_id), 1, 2 limit 4`,
    );
    // The first token is not listed. Otherwise its order would be reported too.
    const [held, owned, burned, forgotten] = tokens;
    assert.ok(held && owned && burned && forgotten);
    const subjectOf = ({ collection, id }: typeof held) => `token ${collection} ${id}`;
    const served = ({ collection, id }: typeof held) => ({
      table: 'indexer.token',
      where: `collection_id = '${collection}' and asset = '${id}'`,
    });
    const holding = `collection_id = '${held['collection']}' and token_id = '${held['id']}'`;
    const [audited, replayed] = await findBroken([
      { table: 'main.holding', where: holding, changes: `holder = '${THIEF}'` },
      { ...served(owned), changes: `owner = '${THIEF}'` },
      { ...served(burned), changes: `owner = null, burned = true` },
      { ...served(forgotten), changes: null },
    ]);
    const expected = [
      `${subjectOf(held)}, holders`,
      `${subjectOf(owned)}, served owner`,
      `${subjectOf(burned)}, served owner`,
      `${subjectOf(burned)}, burned`,
      `${subjectOf(forgotten)}, served owner`,
    ];
    assert.deepEqual(findings(audited).toSorted(), expected.toSorted());
    const [finding] = audited.differences.filter(({ field }) => field === 'holders');
    assert.deepEqual([finding?.ours, finding?.theirs], [THIEF, held['holder']]);
    const again = [
      ...[THIEF, held['holder']].map((who) => `holding ${held['collection']} ${held['id']} ${who}, replayed`),
      ...[owned, burned, forgotten].map((token) => `${subjectOf(token)}, replayed`),
    ];
    assert.deepEqual(findings(replayed).toSorted(), again.toSorted());
  });

  test('the audit and the replay report a changed balance and a deleted balance of an ERC-1155 token', async () => {
    const editions = await db.query(
      `select holding.* from main.holding join main.follow using (collection_id)
       where standard = 'erc1155' order by 1, 2, 3 limit 2`,
    );
    const [audited, replayed] = await findBroken(
      editions.map(({ collection_id: collection, token_id: id, holder }, index) => ({
        table: 'main.holding',
        where: `collection_id = '${collection}' and token_id = '${id}' and holder = '${holder}'`,
        changes: index === 0 ? 'quantity = quantity + 1' : null,
      })),
    );
    for (const { collection_id: collection, token_id: id, holder } of editions) {
      assert.ok(findings(audited).includes(`token ${collection} ${id}, balance of ${holder}`));
      assert.ok(findings(replayed).includes(`holding ${collection} ${id} ${holder}, replayed`));
    }
    assert.equal(findings(replayed).length, 2);
  });

  test('the audit and the replay report a deleted approval and a changed counter', async () => {
    const {
      collection_id: collection,
      owner,
      operator,
    } = await first(
      `select approval.* from main.operator_approval as approval join main.book_order as listed
         on listed.collection_id = approval.collection_id and seller = owner and listed.operator = approval.operator
       order by 1, 2, 3 limit 1`,
    );
    const { offerer, protocol } = await first(`select offerer, protocol from main.offerer_counter order by 1 limit 1`);
    const where = `collection_id = '${collection}' and owner = '${owner}' and operator = '${operator}'`;
    const [audited, replayed] = await findBroken([
      { table: 'main.operator_approval', where, changes: null },
      { table: 'main.offerer_counter', where: `offerer = '${offerer}'`, changes: 'counter = counter + 1' },
    ]);
    assert.deepEqual(new Set(audited.differences.map(({ field }) => field)), new Set(['approved', 'counter']));
    for (const { field, ours, theirs } of audited.differences) {
      if (field === 'approved') assert.deepEqual([ours, theirs], ['false', 'true']);
    }
    assert.deepEqual(findings(replayed), [
      `operator approval ${collection} ${owner} ${operator}, replayed`,
      `counter ${protocol} ${offerer}, replayed`,
    ]);
  });

  test('when an event and its effects on the token are missing, only the audit finds the difference', async () => {
    const missed = await first(
      `select event.*, follow.collection_id, holder from main.chain_event as event
       join main.follow on contract = contract_address
       join main.holding on holding.collection_id = follow.collection_id and holding.token_id = event.token_id
       where kind = 'transfer' and standard = 'erc721' and account <> '0x${'0'.repeat(40)}' and holder = details ->> 'to'
         and not exists (select from main.chain_event as later where later.contract = event.contract
           and later.token_id = event.token_id and later.kind in ('transfer', 'token-approval')
           and (later.block_number, later.log_index) > (event.block_number, event.log_index))
         and not exists (select from main.book_order as listed where listed.collection_id = follow.collection_id
           and listed.token_id = event.token_id and listed.status = 'active')
       order by block_number, log_index limit 1`,
    );
    const { collection_id: collection, token_id: id, account: from, seq } = missed;
    const token = `collection_id = '${collection}' and token_id = '${id}'`;
    const served = `collection_id = '${collection}' and asset = '${id}'`;
    const [audited, replayed] = await whileBroken(
      { table: 'main.chain_event', where: `seq = ${seq}`, changes: null },
      () =>
        whileBroken({ table: 'main.holding', where: token, changes: `holder = '${from}'` }, () =>
          whileBroken({ table: 'indexer.token', where: served, changes: `owner = '${from}'` }, both),
        ),
    );
    const ofToken = audited.differences.filter(({ subject }) => subject === `token ${collection} ${id}`);
    assert.deepEqual(
      ofToken.map(({ field }) => field),
      ['holders', 'served owner'],
    );
    // The event has also changed how many tokens each of its two holders has. The test does not undo this, so the replay may report the
    // two holders.
    const effects = [missed['holder'], from].map((holder) => `holder ${collection} ${String(holder)}, replayed`);
    assert.deepEqual(
      findings(replayed).filter((finding) => !effects.includes(finding)),
      [],
    );
  });

  test('the replay reports each maintained figure that differs from its count', async () => {
    const swept = await sweep();
    const collection = await first(
      `select collection_id as id, tokens::int, holders::int from indexer.collection_figures join main.follow using (collection_id)
       where standard = 'erc721'`,
    );
    const id = String(collection['id']);
    const [tokens, holders] = [Number(collection['tokens']), Number(collection['holders'])];
    const where = `collection_id = '${id}'`;
    const broken = {
      table: 'indexer.collection_figures',
      where,
      changes: 'tokens = tokens + 1, holders = holders + 1',
    };
    const { listed } = await first(`select listed_assets::int as listed from main.collection_book where ${where}`);
    const report = await whileBroken(broken, () =>
      whileBroken({ table: 'main.collection_book', where, changes: 'listed_assets = listed_assets + 1' }, () =>
        replay(swept),
      ),
    );
    assert.deepEqual(
      report.differences.map(({ subject, field, ours, theirs }) => [subject, field, ours, theirs]),
      [
        [`own listed assets of ${id}`, 'counted', String(Number(listed) + 1), String(listed)],
        [`holders of ${id}`, 'counted', String(holders + 1), String(holders)],
        [`tokens of ${id}`, 'counted', String(tokens + 1), String(tokens)],
      ],
    );
    assert.equal(report.drift, 3);
    assert.ok(report.collections > 0);
  });

  test('a replay of the chain log results in the served state', async () => {
    const swept = await sweep();
    const report = await replay(swept);
    assert.deepEqual(report.differences, []);
    assert.deepEqual(
      [report.drift, report.orders],
      [0, (await first(`select count(*)::int as count from main.book_order`))['count']],
    );
    assert.ok(report.tokens > 0);
    const alone = await createAuditOperations(swept)['audit.replay']({});
    assert.deepEqual(alone, report);
  });

  test("when a fill is missing in the chain log, the replay reports the order, the sale, the sum of the sale's hour and the sum of all sales", async () => {
    const { id, order_hash: hash } = await first(
      `select id, order_hash from main.book_order join indexer.sale on listing_id = id
       where book_order.status = 'filled' and book_order.quantity = 1 and sale.price_raw > 0 order by id limit 1`,
    );
    const where = `order_hash = '${hash}' and kind = 'order-fulfilled'`;
    const report = await whileBroken({ table: 'main.chain_event', where, changes: null }, () => replay());
    const kinds = new Set(report.differences.map(({ subject }) => subject.replace(/ (ethereum_|[0-9a-f]{8}-).*/, '')));
    assert.deepEqual([...kinds].toSorted(), ['hour of sales', 'order', 'sale', 'sum of sales']);
    assert.ok(findings(report).includes(`order ${id}, replayed`));
  });

  test('the audit and the replay find no difference while the chain advances, is reorganised and is followed', async () => {
    const audits = new AbortController();
    const audited = Promise.all([audit({ sample: 0 }, {}), replay(), audit({ sample: 0 }, {})]).finally(() => {
      audits.abort();
    });
    const { simulation, settle } = followed;
    for (let steps = 0; !audits.signal.aborted && steps < 60; steps += 1) {
      await (steps % 10 === 5 ? simulation.reorganise(3) : simulation.step());
      await settle();
    }
    const reports = await audited;
    // `findings` leaves out the figures, because they may be counted between a commit and its copy to the indexer.
    assert.deepEqual(reports.flatMap(findings), []);
    await settle();
    assert.deepEqual((await replay()).differences, []);
    assert.deepEqual(
      reports.map(({ unreadable }) => unreadable),
      [0, 0, 0],
    );
  });

  test('the audit compares nothing while the cursor is at an orphaned block', async () => {
    const { simulation, settle } = followed;
    await settle();
    await simulation.reorganise(2);
    const alone = await audit({ sample: 20 });
    assert.deepEqual([alone.drift, alone.unreadable, alone.orders, alone.tokens], [0, 40, 0, 0]);
    await simulation.reorganise(2);
    const audited = audit({ sample: 20 }, {});
    await settle();
    const report = await audited;
    assert.deepEqual([report.drift, report.unreadable, report.orders, report.tokens], [0, 0, 20, 20]);
  });

  test('while the indexer has not processed the complete chain log, orders and tokens are counted as unreadable', async () => {
    const behind = { table: 'indexer.chain_cursor', where: `chain = 'ethereum'`, changes: 'seq = seq - 1' };
    const report = await whileBroken(behind, () => audit({ sample: 10 }));
    assert.deepEqual([report.drift, report.unreadable], [0, 20]);
  });

  test('when the chain cannot be read, orders and tokens are counted as unreadable', async () => {
    const { chain } = followed.operations.followed.readerOf('ethereum') ?? assert.fail();
    const silent = createTestReader({ chain, urls: ['http://127.0.0.1:9'], patienceMs: 100, openMs: 10 });
    const report = await auditBy(silent);
    silent.close();
    assert.deepEqual([report.drift, report.orders, report.tokens, report.unreadable], [0, 0, 0, 20]);
  });

  test('if the endpoint has the blocks but no state of contracts, the report of the audit has no block number', async () => {
    const reader = followed.operations.followed.readerOf('ethereum') ?? assert.fail();
    const contracts = new Proxy(reader.contracts, {
      get: () => () => Promise.reject(new RpcFailure('no-state')),
    });
    const pruned: ChainReader = Object.create(reader, { contracts: { value: contracts } });
    const { chains, unreadable } = await auditBy(pruned);
    assert.deepEqual([chains[0]?.block, unreadable], [null, 20]);
  });

  test('if a collection has more orders or listings than the limit, its book is reported as incomplete', async () => {
    const { collection_id: id } = await first(
      `select collection_id from main.book_order where order_hash is not null and expires_at > now() + interval '1 day'
       group by 1 having count(*) > 1 limit 1`,
    );
    const read = (ordersMax: number) => readAuditedBook(followed.operations, String(id), { ordersMax });
    const own = ({ orders }: AuditedBook) => orders.filter(({ source }) => source === null).length;
    const complete = await read(1_000);
    const count = Math.max(own(complete), complete.orders.length - own(complete));
    assert.deepEqual([complete.isComplete, (await read(count)).isComplete], [true, true]);
    const cut = await read(count - 1);
    assert.deepEqual([cut.isComplete, cut.orders.length < complete.orders.length], [false, true]);
  });

  test('invalid input of the audit and the replay is rejected with the reason', async () => {
    await assert.rejects(audit({ chain: 'solana' }), /"solana" is not an EVM chain/);
    await assert.rejects(audit({ chain: 'base' }), /no chain is followed/);
    await assert.rejects(audit({ sample: -1 }), /the sample must be/);
    await assert.rejects(audit({ seed: "' or" }), /the seed must be/);
    await assert.rejects(
      replayLog(followed.operations, { chains: ['base'], figuresOf: 'base', into: db }),
      /no log to replay/,
    );
  });

  test('the command audit runs with and without a running server, and exits with 1 on a difference', async () => {
    const settings = { ...(await engine.settings()), RPC_URL_ETHEREUM: followed.simulation.world.chain.url, PORT: '0' };
    const mercat = async (...args: string[]) => {
      const { code, stdout, stderr } = await runCommand(defineAudit, ['audit', ...args], { env: settings });
      return { code, printed: stdout + stderr };
    };
    const nothing = await mercat();
    assert.deepEqual(
      [nothing.code, nothing.printed.includes('no chain is followed, or none has been read yet')],
      [1, true],
    );
    const service = await startTestService({ settings });
    try {
      await until(
        async () => (await mercat('--json')).code === 0,
        20_000,
        'the follower did not begin to read the chain',
      );
      const audited = await mercat('--seed', 'a');
      assert.match(
        audited.printed,
        /^CHAIN +BLOCK +ORDERS +TOKENS +UNREADABLE +DRIFT\nethereum +- +0 +0 +0 +0\n\ndrawn with --seed a\ndigest of ethereum at block \d+ \(0x[0-9a-f]{64}\): [0-9a-f]{64} over 0 listings, 0 owners, 0 sales, 0 sums\ndrift 0 over 0 orders and 0 tokens on 1 chains\n$/,
      );
      const replayed = await mercat('--replay', '--json');
      assert.equal(JSON.parse(replayed.printed).drift, 0);
    } finally {
      await service.close();
    }
    const { main, close } = await openDatabases(readConfig(settings), createLog('silent'));
    try {
      const [row] = await db.query<{ row: string }>(
        `select (to_jsonb(stored) - 'seaport')::text as row from main.book_order as stored where status = 'filled' limit 1`,
      );
      await main.query(`insert into main.book_order select * from jsonb_populate_record(null::main.book_order, $1)`, [
        row?.row.replace('"filled"', '"active"'),
      ]);
    } finally {
      await close();
    }
    const drifted = await mercat('--chain', 'ethereum');
    assert.equal(drifted.code, 1);
    assert.match(drifted.printed, /order ethereum_\S+, status\n {2}served {2}active\n {2}chain {3}filled\n/);
    assert.match(drifted.printed, /\ndrift [12] over 1 orders and 0 tokens on 1 chains\n$/);
    const wrong = [
      await mercat('--replay', '--sample', '3'),
      await mercat('--sample', 'x'),
      await mercat('--chain', 'x'),
    ];
    assert.deepEqual(
      wrong.map(({ code }) => code),
      [2, 2, 2],
    );
  });
});
