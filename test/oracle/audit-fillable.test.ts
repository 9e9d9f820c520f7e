// `mercat audit --fillable` beside a service that follows a local chain. The audit finds listings that the chain cannot fill. It
// also finds fillable orders that the service does not list.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { startSimulation } from '../../devnet/devnet.ts';
import { signBids } from '../../devnet/bids.ts';
import { createRandom } from '../../devnet/random.ts';
import { createIntakeClient } from '../../devnet/intake-client.ts';
import { readHeight } from '../../devnet/chain.ts';
import type { Simulation } from '../../devnet/simulation.ts';
import { defineAudit } from '../../src/cli/audit.ts';
import { readConfig } from '../../src/service/config.ts';
import { createLog } from '../../src/platform/core/log.ts';
import type { Database } from '../../src/platform/database/port.ts';
import { openDatabases } from '../../src/platform/database/open.ts';
import { runCommand } from '../cli/run-command.ts';
import type { TestDevnet } from '../support/chain/devnet.ts';
import { startTestDevnet } from '../support/chain/devnet.ts';
import { forOneEngine } from '../support/engines/each-engine.ts';
import { freePort } from '../support/free-port.ts';
import { until } from '../support/until.ts';
import type { TestService } from '../support/service/service.ts';
import { startTestService } from '../support/service/service.ts';

const ORDERS = 30;
const STEPS = 25;
const BIDS = 24;
const BIDS_AT_ONCE = 4;
const PATIENCE_MS = 60_000;
const nowS = () => Math.floor(Date.now() / 1_000);

forOneEngine('audit --fillable', (engine) => {
  // The inner suite stops its service before the database is removed.
  describe('audit --fillable beside a service', () => {
    let devnet: TestDevnet;
    let simulation: Simulation;
    let settings: Record<string, string>;
    let service: TestService | null = null;
    before(async () => {
      devnet = await startTestDevnet();
      const [network] = devnet.networks;
      assert.ok(network);
      const { chain, collections } = network.world;
      const port = String(await freePort());
      settings = { ...(await engine.settings()), RPC_URL_ETHEREUM: chain.url, CHAIN_POLL_MS: '50', PORT: port };
      const { operate, socketPath } = await start();
      for (const { address, name } of collections)
        await operate('collections.add', { chain: chain.id, address, name, fromBlock: 0 });
      const marketplace = createIntakeClient({ socketPath });
      const options = { seed: 3, orders: ORDERS, marketplace, reorgShare: 0 };
      const started = await startSimulation(network, options);
      simulation = started.simulation;
      await simulation.post(started.book);
      assert.deepEqual(simulation.rejected, []);
      const signing = { world: network.world, state: simulation.state(), random: createRandom(3), now: nowS() };
      const height = await readHeight(chain);
      for (let signed = 0; signed < BIDS; signed += BIDS_AT_ONCE)
        await simulation.postBids(await signBids({ ...signing, height, reorgDepthMax: 0 }, BIDS_AT_ONCE));
      for (let step = 0; step < STEPS; step += 1) await simulation.step();
      await settle();
    });
    after(async () => {
      await service?.close();
      await devnet.stop();
    });

    const start = async () => {
      service = await startTestService({ settings });
      return service;
    };
    const settle = async () => {
      const height = await readHeight(simulation.world.chain);
      await until(
        async () => (await service?.operate('status', {}))?.body.result.chains[0]?.block >= height,
        PATIENCE_MS,
        `block ${height} was not read`,
      );
    };
    const audit = async (...args: string[]) => {
      const env = { LOG_LEVEL: 'error', ...settings };
      const { code, stdout, stderr } = await runCommand(defineAudit, ['audit', '--fillable', '--json', ...args], {
        env,
      });
      return { code, printed: stdout + stderr, chains: stdout.startsWith('{') ? JSON.parse(stdout).chains : [] };
    };
    /** Changes rows while the service is stopped. */
    const change = async (work: (main: Database) => Promise<void>) => {
      await service?.close();
      const { main, close } = await openDatabases(readConfig(settings), createLog('silent'));
      try {
        await work(main);
      } finally {
        await close();
      }
      await start();
      await settle();
    };

    test('the audit finds no difference when the service lists exactly the orders that the chain can fill', async () => {
      const { code, printed, chains } = await audit();
      assert.equal(code, 0, printed);
      const [{ collections, listings, bids, findings, uncompared, undecided, rightlyAbsent }] = chains;
      assert.deepEqual(
        [collections, findings, uncompared, undecided],
        [simulation.world.collections.length, [], [], 0],
      );
      assert.ok(listings > 0 && bids > 0 && rightlyAbsent > 0, printed);
    });

    test('the audit reports a filled listing, an asset whose fillable order is not listed, and a bid that is hidden', async () => {
      const changed: string[] = [];
      await change(async (main) => {
        for (const [set, order, where] of [
          [
            `status = 'active', filled_quantity = 0, dormant = null, tx = null, ended_at = null`,
            'asc',
            `side = 'ask' and status = 'filled' and quantity = 1 and expires_at > now() + interval '1 day'
            and not exists (select from main.book_order as other where other.collection_id = book_order.collection_id
              and other.token_id = book_order.token_id and other.id <> book_order.id)`,
          ],
          [
            `dormant = 'no-balance'`,
            'desc',
            `side = 'ask' and status = 'active' and dormant is null and quantity = 1 and expires_at > now() + interval '1 day'
            and not exists (select from main.book_order as other where other.collection_id = book_order.collection_id
              and other.token_id = book_order.token_id and other.id <> book_order.id)`,
          ],
        ] as const) {
          const rows = await main.query(
            `update main.book_order set ${set} where id = (select id from main.book_order where ${where} order by id ${order} limit 1)
           returning collection_id, token_id`,
          );
          assert.equal(rows.length, 1, where);
          changed.push(`${rows[0]?.['collection_id']} ${rows[0]?.['token_id']}`);
        }
        const [bid] = await main.query(
          `update main.book_order set dormant = 'no-balance' where id = (
             select id from main.book_order where side = 'bid' and status = 'active' and dormant is null
               and expires_at > now() + interval '1 day' order by root is null, id limit 1)
           returning collection_id, order_hash`,
        );
        changed.push(`${bid?.['collection_id']} bid ${bid?.['order_hash']}`);
      });
      const { code, printed, chains } = await audit('--sample', '0');
      assert.equal(code, 1, printed);
      const found = chains[0].findings.map((one: Record<string, string>) => [
        one['kind'],
        `${one['collectionId']} ${one['asset']}`,
      ]);
      const [phantom, ...hidden] = changed;
      assert.deepEqual(
        new Set(found.map((one: string[]) => one.join(' '))),
        new Set([`phantom ${phantom}`, ...hidden.map((asset) => `hidden ${asset}`)]),
      );
    });

    test('the audit does not compare a collection when the endpoint serves another chain', async () => {
      const other = await startTestDevnet({ seed: 2, size: { people: 2, collections: 1, tokens: 2, editions: 0 } });
      try {
        const url = other.networks[0]?.world.chain.url ?? '';
        const { code, printed, chains } = await audit('--chain', 'ethereum', '--sample', '1', '--endpoint', url);
        assert.equal(code, 1, printed);
        assert.deepEqual([chains[0].listings, chains[0].uncompared.length], [0, 1]);
      } finally {
        await other.stop();
      }
    });

    test('options that contradict each other, and an invalid URL, are rejected', async () => {
      for (const args of [['--replay'], ['--endpoint', 'http://127.0.0.1:1'], ['--url', 'nowhere']])
        assert.equal((await audit(...args)).code, 2, args.join(' '));
    });
  });
});
