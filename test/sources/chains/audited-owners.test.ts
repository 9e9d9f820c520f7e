// The only endpoint of a chain alters the logs that it serves, so that wrong owners are stored, and nothing contradicts it. When it tells the truth,
// the audit finds these tokens, and the blocks that explain them are read again.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { TestContext } from 'node:test';
import { callOf, mine } from '../../../devnet/chain.ts';
import { listRereadRanges } from '../../../src/market/chain-log/queries/reread-ranges.ts';
import { createAuditOperations } from '../../../src/sources/chains/audit/audit.ts';
import { findContradictions } from '../../../src/sources/chains/audit/wrong-blocks.ts';
import { ZERO_ADDRESS } from '../../../src/platform/core/evm.ts';
import type { Database } from '../../../src/platform/database/port.ts';
import type { LocalWorld } from '../../support/chain/followed-collection.ts';
import { follow, followWorld, startLocalWorld } from '../../support/chain/followed-collection.ts';
import type { Lie } from '../../support/chain/lying-endpoint.ts';
import { startLyingEndpoint } from '../../support/chain/lying-endpoint.ts';
import { forOneEngine } from '../../support/engines/each-engine.ts';
import { toContext } from '../../support/service/intake.ts';

test('the blocks of a token are wrong where its transfers contradict each other, and after the last one if the token has another owner', () => {
  const read = { from: 10, to: 99 };
  const transfers = [
    { block: 20, from: 'b', to: 'c' },
    { block: 30, from: 'c', to: 'x' },
    { block: 40, from: 'd', to: 'e' },
    { block: 50, from: 'e', to: ZERO_ADDRESS },
  ];
  const between = { from: 30, to: 40 };
  assert.deepEqual(findContradictions(transfers, read, 'nobody'), [between]);
  assert.deepEqual(findContradictions(transfers, read, 'f'), [between, { from: 50, to: 99 }]);
  assert.deepEqual(findContradictions(transfers.slice(0, 2), read, 'x'), []);
  assert.deepEqual(findContradictions([], read, 'nobody'), []);
  assert.deepEqual(findContradictions([], read, 'a'), [read]);
});

forOneEngine('tokens with a wrong owner', (engine) => {
  let world: LocalWorld;
  before(async () => {
    world = await startLocalWorld();
    await world.mint(world.people[0], 1n, 2n, 3n, 4n);
    await world.approve(world.people[0]);
  });
  after(() => world.chain.stop());

  const open = async (t: TestContext) => {
    const lying = await startLyingEndpoint(world.chain.url);
    const db = await engine.open();
    const following = followWorld({ main: db, indexer: db }, world, { urls: [lying.url] });
    const context = toContext(db, { settings: { RPC_URL_ETHEREUM: lying.url }, clock: Date.now });
    t.after(async () => {
      following.reader.close();
      context.followed.close();
      await lying.close();
    });
    const audit = (input = {}) => createAuditOperations(context, { pauseMs: 1 }).audit(input);
    await following.settle();
    await follow(db, world);
    await following.settle();
    return { ...following, db, lying, audit };
  };

  const storedOf = async (db: Database) => ({
    events: await db.query(
      `select block_number, log_index, part, tx, kind, contract, token_id, account, details from main.chain_event order by 1, 2, 3`,
    ),
    holdings: await db.query(`select token_id, holder, quantity from main.holding order by 1, 2`),
    tokens: await db.query(`select asset, owner, burned from indexer.token order by 1`),
    sales: await db.query(`select asset, tx, price_raw, seller, buyer from indexer.sale order by 1, 2`),
    figures: await db.query(`select tokens, chain_tokens, holders from indexer.collection_figures`),
  });

  const move = async (tokenId: bigint) => {
    const [seller, buyer, third] = world.people;
    const order = await world.sign(0, { tokenId, price: 1_000n });
    await world.act(world.fillCall(order, buyer));
    await world.act(callOf(buyer, world.nft, 'transferFrom', [buyer, third, tokenId]));
    await world.act(callOf(seller, world.nft, 'setApprovalForAll', [third, true]));
  };
  const burn = async (tokenId: bigint) => {
    await world.act(callOf(world.people[0], world.nft, 'burn', [tokenId]));
  };

  const histories: [what: string, lie: Lie, act: () => Promise<void>][] = [
    ['was sold and sent on, if the logs named other tokens', 'altered-logs', () => move(1n)],
    ['was sold and sent on, if logs were left out', 'omits-a-log', () => move(2n)],
    ['was burned, if no log said so', 'omits-logs', () => burn(3n)],
  ];
  for (const [what, lie, act] of histories) {
    test(`the audit finds a token that ${what}, and its owner and sales are corrected`, async (t) => {
      const { db, lying, settle, audit } = await open(t);
      await lying.tell(lie);
      await act();
      await settle();
      await lying.tell('none');
      await mine(world.chain);
      await settle();
      const honest = await engine.open();
      const { settle: settleHonest, reader } = followWorld({ main: honest, indexer: honest }, world);
      t.after(() => reader.close());
      await settleHonest();
      await follow(honest, world);
      await settleHonest();
      const expected = await storedOf(honest);
      assert.notDeepEqual(await storedOf(db), expected, 'the lie was not stored');
      assert.deepEqual(await listRereadRanges(db), []);
      const { rereads } = await audit();
      assert.ok(rereads > 0, 'the audit found nothing');
      await settle();
      assert.deepEqual(await storedOf(db), expected);
      assert.deepEqual(await listRereadRanges(db), []);
      assert.equal((await audit()).rereads, 0);
    });
  }

  test('the audit notes the blocks up to the head for a burned token, and none for a token of which only the served owner is wrong', async (t) => {
    const { db, lying, settle, audit } = await open(t);
    await db.query(`update indexer.token set owner = $1 where asset = '1'`, [world.people[0]]);
    const served = await audit();
    assert.deepEqual([served.drift, served.rereads, await listRereadRanges(db)], [1, 0, []]);
    await lying.tell('omits-logs');
    await burn(4n);
    await settle();
    await lying.tell('none');
    const report = await audit();
    const [range] = await listRereadRanges(db);
    assert.equal(report.rereads, 1);
    assert.equal(range?.to, report.chains[0]?.block);
  });

  test('a token that two accounts seem to hold is audited, whatever the sample is', async (t) => {
    const { db, audit } = await open(t);
    const [first, second] = world.people;
    for (const [holder, quantity] of [
      [first, 1],
      [second, 1],
    ] as const) {
      await db.query(
        `insert into main.holding select collection_id, '2', $1, $2 from main.follow on conflict do nothing`,
        [holder, quantity],
      );
    }
    for (const seed of ['a', 'b', 'c', 'd', 'e']) {
      const { differences } = await audit({ sample: 1, seed });
      assert.match(differences[0]?.subject ?? '', / 2$/);
    }
  });
});
