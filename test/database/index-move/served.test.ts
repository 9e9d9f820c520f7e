// A move of the index under a running service: every record that an import has acknowledged is in the new database once, the public reads
// before and after the restart agree, and kill -9 at any time neither loses the index nor stops the service.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { readConfig } from '../../../src/config.ts';
import { createLog } from '../../../src/core/log.ts';
import type { Databases } from '../../../src/database/open.ts';
import { openDatabases } from '../../../src/database/open.ts';
import { describeError } from '../../../src/core/errors.ts';
import type { MoveJobState } from '../../../src/database/index-move/jobs.ts';
import { MoveJobs } from '../../../src/database/index-move/jobs.ts';
import { findMoveState } from '../../../src/database/index-move/state.ts';
import { SocketIntake } from '../../../src/intake/socket-client.ts';
import { startService } from '../../../src/service.ts';
import type { TestCollection } from '../../support/service/market.ts';
import { SOLANA_SELLER, START, mintOf, newCollection } from '../../support/service/market.ts';
import type { ServiceProcess } from '../../support/service/service-process.ts';
import { startServiceProcess } from '../../support/service/service-process.ts';
import type { TestService } from '../../support/service/service.ts';
import { startTestService } from '../../support/service/service.ts';
import { startTcpProxy } from '../../support/engines/tcp-proxy.ts';
import { until } from '../../support/until.ts';
import { insertHardRows, insertSales, mercat, startMercat } from '../backup/backups.ts';
import { assertSameIndex, forEachMove, writeRows } from './moves.ts';

const clock = () => START;
/** Longer than the lease of a seal, which makes the old database reject changes at the end of a move. */
const RECOVERY_MAX_MS = 120_000;
const SEALED = /the index (?:is being moved|has moved) to another database/;

/** The pause between two imports. Without it, the move would wait: the embedded engine runs imports and the move on one connection. */
const WRITE_PERIOD_MS = 100;

/** Records of one import: they create and change rows of all kinds. */
function recordsOf(subject: TestCollection, round: number): Record<string, unknown>[] {
  const isSolana = subject.chain === 'solana';
  const asset = isSolana ? mintOf(`${round}`) : `${round}`;
  const account = isSolana ? { buyer: SOLANA_SELLER } : {};
  return [
    subject.listing(asset, 1_000 + round),
    ...(round > 0 ? [subject.listing(isSolana ? mintOf(`${round - 1}`) : `${round - 1}`, 500 + round)] : []),
    subject.sale(asset, 10n ** 15n * BigInt(round + 1), account),
    subject.token(asset, { name: `Token ${round}` }),
    ...(isSolana ? [] : [subject.order(asset, 2_000 + round)]),
  ];
}

forEachMove('moves of the index of a service', ({ engine, settings, createTarget, open }) => {
  test('no acknowledged record is lost or doubled, and the reads before and after the restart agree', async () => {
    const old = await settings();
    let databases: Databases | null = null;
    const openObserved = async (...args: Parameters<typeof openDatabases>) =>
      (databases = await openDatabases(...args));
    let service = await startTestService({ settings: old, clock, open: openObserved });
    try {
      const subjects = ['ethereum', 'base', 'solana'].map((chain) => newCollection({ chain }));
      await service.load(subjects.map((subject) => subject.collection()));
      const writer = loadRounds(service, subjects);
      await until(() => writer.rounds() >= 3, RECOVERY_MAX_MS, 'nothing was imported');
      const to = await createTarget();
      const moved = await mercat(old, 'move-index', '--to', to, '--json');
      assert.equal(moved.code, 0, moved.stderr);
      const { sealedMs, tables } = JSON.parse(moved.stdout);
      assert.ok(sealedMs > 0 && tables.listing > 0);
      const rejection = await writer.untilRejected();
      assert.match(rejection, SEALED);
      assert.deepEqual(await requestChanges(service, subjects), [
        [503, 'The index is being moved to another database, try again soon'],
        [200, 'The index is being moved to another database, try again soon'],
      ]);
      const target = open(to);
      await assertSameIndex(target, (databases as Databases | null)?.indexer ?? target, 'after the move');
      const before = await readAll(service, subjects);
      await service.close();
      await assert.rejects(
        startService({ config: readConfig({ PORT: '0', ...old }), log: createLog('silent') }),
        /the index has moved to another database \(.+\): set INDEXER_DATABASE_URL to that database/,
      );

      service = await startTestService({ settings: { ...old, INDEXER_DATABASE_URL: to }, clock });
      assert.deepEqual(await readAll(service, subjects), before);
      // The sender of the rejected import would repeat it, so the test repeats it.
      const rounds = writer.rounds() + 1;
      for (const subject of subjects) await service.load(recordsOf(subject, rounds - 1));
      for (const subject of subjects) {
        assert.equal((await service.walk(`${subject.path}/sales?limit=100`)).length, rounds);
        assert.equal((await service.walk(`${subject.path}/listings?limit=100`)).length, rounds);
      }
      const [doubled] = await target.query(
        `select count(*)::int as rows from (select collection_id, asset from indexer.sale group by 1, 2 having count(*) > 1) as twice`,
      );
      assert.equal(doubled?.['rows'], 0);
    } finally {
      await service.close();
    }
  });

  test('the command says what it would move, and what is wrong with its arguments', async () => {
    const old = await settings();
    const to = await createTarget();
    const plan = await mercat(old, 'move-index', '--to', to, '--dry-run');
    assert.equal(plan.code, 0, plan.stderr);
    assert.match(plan.stdout, /^from .+ to .+ \(PostgreSQL .+\): about 0 rows would be copied\n/);
    assert.deepEqual(await mercat(old, 'move-index'), {
      code: 2,
      stdout: '',
      stderr: 'mercat: --to is missing: the URL of the new database\n',
    });
    assert.match((await mercat(old, 'move-index', '--to', 'mysql://x/y')).stderr, /the target has to be a URL/);
    assert.match((await mercat(old, 'move-index', '--abandon')).stdout, /no move of this index was in progress/);
    const gone = await mercat(old, 'move-index', '--to', 'postgres://127.0.0.1:1/none');
    assert.equal(gone.code, 1);
    assert.match(gone.stderr, /^mercat: the target cannot be used/, 'the command reported a stage before the error');
  });

  test(
    'a server or worker ends if it reaches the target before the move is complete',
    { timeout: 2 * RECOVERY_MAX_MS },
    async () => {
      const [old, to] = [await settings(), await createTarget()];
      const { databases, jobs } = await openJobs(old);
      const proxy = await startTcpProxy(to);
      await proxy.refuse();
      const commands =
        engine === 'embedded' ? ['serve --port 0'] : ['serve --port 0', 'serve --port 0 --workers 2', 'work'];
      const started = await Promise.all(
        commands.map(async (command) =>
          startMercat({ ...(await settings()), INDEXER_DATABASE_URL: proxy.url }, command.split(' ')),
        ),
      );
      try {
        await Promise.all(
          started.map(({ child }) => untilPrinted(child.stdout, /Mercat serves on|The workers are running/)),
        );
        await insertSales(databases.indexer, 1_000);
        await jobs.operations['move.start']?.({ to });
        await until(async () => (await findMoveState(open(to))) !== null, RECOVERY_MAX_MS, 'the move does not begin');
        await jobs.close();
        await proxy.heal();
        for (const { ended } of started) {
          const { code, stderr } = await ended;
          assert.equal(code, 1, stderr);
          assert.match(stderr, /^mercat: this database does not have the complete index yet: .+$/m);
        }
      } finally {
        for (const { child } of started) child.kill('SIGKILL');
        await proxy.close();
        await jobs.close();
        await databases.close();
      }
    },
  );

  test('a stop of the process does not wait for a statement on the target', async () => {
    const [old, to] = [await settings(), await createTarget()];
    const { databases, jobs } = await openJobs(old);
    const target = open(to);
    try {
      await target.transaction(async (tx) => {
        await tx.query(`select pg_advisory_xact_lock(hashtextextended('mercat migrations indexer', 0))`);
        await jobs.operations['move.start']?.({ to });
        const isWaiting = async () =>
          (await target.query(`select from pg_locks where locktype = 'advisory' and not granted`)).length > 0;
        await until(isWaiting, RECOVERY_MAX_MS, 'the move does not wait for the lock');
        await jobs.close();
        const state = (await jobs.operations['move.read']?.({})) as MoveJobState;
        assert.match(state.failure ?? '', /^the move was stopped: the service uses its present index/);
      });
    } finally {
      await databases.close();
    }
  });

  if (engine === 'postgresql') {
    const longRun = { skip: process.env['CRASHES'] === undefined ? 'runs in npm run test:long' : false };
    test(
      'after kill -9 of the command at any stage, the old database accepts changes, and the next command continues the move',
      longRun,
      async () => {
        const old = await settings();
        const [source, to] = [open(old['DATABASE_URL'] ?? ''), await createTarget()];
        await insertHardRows({ main: source, indexer: source });
        await insertSales(source, 2_000);
        const writer = writeRows(source);
        const killed: string[] = [];
        for (const stage of ['preparing', 'copying', 'indexing', 'following', 'comparing', 'sealed']) {
          const { child, ended } = startMercat(old, ['move-index', '--to', to]);
          child.stderr.on('data', (text) => String(text).includes(`${stage}:`) && child.kill('SIGKILL'));
          if ((await ended).code === 0) break;
          killed.push(stage);
          const writes = writer.writes();
          await until(
            () => writer.writes() > writes,
            RECOVERY_MAX_MS,
            `nothing can be written after kill -9 while ${stage}`,
          );
        }
        assert.ok(killed.length >= 3, `killed while ${killed.join(', ')}`);
        const last = await mercat(old, 'move-index', '--to', to);
        assert.equal(last.code, 0, last.stderr);
        await writer.stop();
        await assertSameIndex(open(to), source, 'after the last command');
      },
    );
  } else {
    test('kill -9 of the service that moves its embedded index loses nothing, and the next command continues', async () => {
      const old = await settings();
      const to = await createTarget();
      const subject = newCollection();
      let server = await startServiceProcess(old);
      try {
        await load(server, [
          subject.collection(),
          ...Array.from({ length: 60 }, (_, round) => recordsOf(subject, round)).flat(),
        ]);
        for (const stage of ['indexing', 'sealed']) {
          const { child, ended } = startMercat(old, ['move-index', '--to', to]);
          child.stderr.on('data', (text) => void (String(text).includes(`${stage}:`) && server.kill()));
          const { code } = await ended;
          if (code === 0) break;
          await server.kill();
          server = await startServiceProcess(old);
        }
        const last = await mercat(old, 'move-index', '--to', to);
        assert.equal(last.code, 0, last.stderr);
        await server.stop();
        server = await startServiceProcess({ ...old, INDEXER_DATABASE_URL: to });
        const sales = await (await fetch(`${server.url}${subject.path}/sales?limit=100`)).json();
        assert.equal((sales as { data: unknown[] }).data.length, 60);
      } finally {
        await server.kill();
      }
    });
  }
});

async function untilPrinted(output: Readable, pattern: RegExp): Promise<void> {
  let printed = '';
  while (!pattern.test(printed)) printed += String((await once(output, 'data'))[0]);
}

async function openJobs(settings: Record<string, string>): Promise<{ databases: Databases; jobs: MoveJobs }> {
  const [config, log] = [readConfig(settings), createLog('silent')];
  const databases = await openDatabases(config, log);
  return { databases, jobs: new MoveJobs({ databases, config, log }) };
}

/** Imports round after round. `untilRejected` resolves to the message of the first import that was rejected. */
function loadRounds(service: TestService, subjects: readonly TestCollection[]) {
  let rounds = 0;
  const rejected = (async () => {
    for (;;) {
      try {
        for (const subject of subjects) await service.load(recordsOf(subject, rounds));
        rounds += 1;
        await delay(WRITE_PERIOD_MS);
      } catch (error) {
        return describeError(error);
      }
    }
  })();
  return { rounds: () => rounds, untilRejected: () => rejected };
}

/**
 * Changes the index by an operation of the local socket and by an import with an API key. Returns the status and the message of each
 * failure.
 */
async function requestChanges(service: TestService, subjects: readonly TestCollection[]): Promise<[number, string][]> {
  const removal = await service.operate('sample.remove', {});
  await service.operate('shops.create', { name: 'Shop' });
  const created = await service.operate('keys.create', { shop: 'Shop', scopes: ['intake:write'] });
  const response = await fetch(`${service.url}/intake/v1/records`, {
    method: 'POST',
    headers: { authorization: `Bearer ${created.body.result.secret}`, 'content-type': 'application/x-ndjson' },
    body: `${JSON.stringify(subjects[0]?.listing('1', 1))}\n`,
  });
  const events = (await response.text()).trim().split('\n');
  return [
    [removal.status, removal.body.error?.message],
    [response.status, JSON.parse(events.at(-1) ?? '').reason],
  ];
}

async function readAll(service: TestService, subjects: readonly TestCollection[]): Promise<unknown[]> {
  const bodies: unknown[] = [await service.walk('/v1/collections?limit=100')];
  for (const { path, chain, address } of subjects) {
    bodies.push((await service.ok(path)).data, (await service.ok(`${path}/floor`)).data);
    bodies.push(await service.walk(`${path}/listings?limit=100`), await service.walk(`${path}/sales?limit=100`));
    const asset = chain === 'solana' ? mintOf('1') : '1';
    bodies.push((await service.ok(`/v1/tokens/${chain}/${address}/${asset}`)).data);
  }
  return bodies;
}

async function load(server: ServiceProcess, records: readonly Record<string, unknown>[]): Promise<void> {
  const refused: string[] = [];
  const lines = records.map((record) => `${JSON.stringify(record)}\n`).join('');
  await new SocketIntake(server.socketPath).import(toChunks(lines), { format: 'ndjson' }, (event) => {
    if (event.event === 'refused') refused.push(`${event.line}: ${event.reason}`);
  });
  assert.deepEqual(refused, []);
}

async function* toChunks(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}
