// The Merkle proofs of a bid for a set of tokens, from the intake to the contract: Seaport accepts the proof that the service serves for each token of the set, and
// the service rejects a bid whose root is that of other tokens. PROOFS sets the number of tokens of the set.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Hex } from 'viem';
import { encodeFunctionData, keccak256, zeroAddress } from 'viem';
import { toTokenRoot } from '../../client/src/seaport.ts';
import { createRandom } from '../../devnet/random.ts';
import { heldTokens } from '../../devnet/listings.ts';
import type { SignedOrder } from '../../devnet/orders.ts';
import { buildBid, signOrder, toOrder, toWireComponents } from '../../devnet/orders.ts';
import { toSetProof } from '../../devnet/token-set.ts';
import type { LocalNetwork } from '../../devnet/devnet.ts';
import type { TestDevnet } from '../support/chain/devnet.ts';
import { startTestDevnet } from '../support/chain/devnet.ts';
import { forOneEngine } from '../support/engines/each-engine.ts';
import { until } from '../support/until.ts';
import { sendToSocket } from '../support/service/service-process.ts';
import type { TestService } from '../support/service/service.ts';
import { startTestService } from '../support/service/service.ts';

const PROOFS = Number(process.env['PROOFS'] ?? 20);
/** The tokens of the collection for each token of the set. */
const TOKENS_PER_PROOF = 1.6;
const PRICE = 10n ** 16n;
const HOUR_S = 3_600;
const PATIENCE_MS = 60_000;

forOneEngine('proofs of a bid', (engine) => {
  describe('proofs of a bid for a set of tokens', () => {
    let devnet: TestDevnet;
    let network: LocalNetwork;
    let service: TestService;
    before(async () => {
      const tokens = Math.ceil(PROOFS * TOKENS_PER_PROOF);
      devnet = await startTestDevnet({ size: { people: 4, collections: 1, tokens, editions: 0 } });
      network = devnet.networks[0] ?? assert.fail();
      const { chain, collections } = network.world;
      service = await startTestService({
        settings: { ...(await engine.settings()), RPC_URL_ETHEREUM: chain.url, CHAIN_POLL_MS: '50' },
      });
      for (const { address, name } of collections)
        await service.operate('collections.add', { chain: chain.id, address, name, fromBlock: 0 });
      await until(
        async () => (await service.operate('collections.list', {})).body.result[0]?.state === 'live',
        PATIENCE_MS,
        'the collection is not followed',
      );
    });
    after(async () => {
      await service.close();
      await devnet.stop();
    });

    /** A bid of the first person for the tokens. */
    const sign = (tokenIds: readonly bigint[]): Promise<SignedOrder> => {
      const { chain, people, collections, protocol } = network.world;
      const [bidder = assert.fail()] = people;
      const now = Math.floor(Date.now() / 1_000);
      const order = buildBid({
        offerer: bidder.address,
        contract: collections[0]?.address ?? zeroAddress,
        tokenId: null,
        root: toTokenRoot(tokenIds, keccak256),
        price: PRICE,
        currency: protocol.wrapped.address,
        shares: [network.world.fees.own],
        conduitKey: bidder.conduitKey,
        startTime: now - 60,
        endTime: now + HOUR_S,
        salt: BigInt(tokenIds.length),
        counter: 0n,
      });
      return signOrder(bidder.account, chain.chainId, order);
    };
    const submit = ({ components, signature }: SignedOrder, tokenIds: readonly bigint[]) =>
      sendToSocket(service.socketPath, 'POST', '/intake/v1/orders', {
        chain: 'ethereum',
        order: { parameters: toWireComponents(components), signature },
        criteria: { tokenIds: tokenIds.map(String) },
      });
    const readProof = async (orderId: string, tokenId: bigint): Promise<{ status: number; proof: Hex[] }> => {
      const deadline = performance.now() + PATIENCE_MS;
      for (;;) {
        const { status, body } = await service.get(`/explore/v1/orders/${orderId}?token=${tokenId}`);
        // On a busy machine, a read can exceed its deadline.
        if (status === 503 && performance.now() < deadline) continue;
        return { status, proof: body.data?.fulfilment.criteriaProof ?? [] };
      }
    };

    test('Seaport accepts the proof that is served for each token of the set, and no other proof', async (t) => {
      const { chain, protocol, people } = network.world;
      const [bidder] = people;
      const random = createRandom(1);
      // The bidder cannot sell to the own bid.
      const held = random.shuffle(heldTokens(network).filter(({ person }) => person !== bidder));
      const set = held.slice(0, PROOFS).map(({ token }) => token.tokenId);
      const bid = await sign(set);
      const { status, body } = await submit(bid, random.shuffle(set));
      assert.equal(status, 201, JSON.stringify(body));
      const { orderId } = body.data;
      /** Null if the simulated sale succeeds, otherwise the reason. */
      const sell = async (index: number, proof: readonly Hex[]): Promise<string | null> => {
        const { token, person } = held[index] ?? assert.fail();
        const order = { ...toOrder(bid), numerator: 1n, denominator: 1n, extraData: '0x' };
        const resolver = { orderIndex: 0n, side: 1, index: 0n, identifier: token.tokenId, criteriaProof: proof };
        const data = encodeFunctionData({
          abi: protocol.seaport.abi,
          functionName: 'fulfillAdvancedOrder',
          args: [order, [resolver], person.conduitKey, zeroAddress],
        });
        const call = { from: person.address, to: protocol.seaport.address, data };
        return chain.rpc.call('eth_call', call, 'latest').then(
          () => null,
          (error: unknown) => String(error),
        );
      };
      let accepted = 0;
      for (const [index, tokenId] of set.entries()) {
        const { status: found, proof } = await readProof(orderId, tokenId);
        assert.equal(found, 200);
        assert.deepEqual(proof, toSetProof(set, tokenId));
        assert.equal(await sell(index, proof), null, `the proof of ${tokenId}, the number ${index}`);
        accepted += 1;
        if (index % 20 === 0) assert.notEqual(await sell(index, proof.slice(1)), null, 'a shorter proof');
      }
      t.diagnostic(`${accepted} proofs of a set of ${set.length} tokens`);
      assert.equal(accepted, PROOFS);
      const outside = held[PROOFS] ?? assert.fail();
      assert.equal((await readProof(orderId, outside.token.tokenId)).status, 400);
      const { proof } = await readProof(orderId, set[0] ?? 0n);
      assert.notEqual(await sell(PROOFS, proof), null, 'a proof for a token outside of the set');
    });

    test('a bid whose root is that of other tokens is rejected with both roots', async () => {
      const bid = await sign([1n, 2n, 3n]);
      const { status, body } = await submit(bid, [1n, 2n, 4n]);
      assert.deepEqual([status, body.error.code], [422, 'criteria_not_valid']);
      assert.ok(
        body.error.message.includes(toTokenRoot([1n, 2n, 3n], keccak256)) &&
          body.error.message.includes(toTokenRoot([1n, 2n, 4n], keccak256)),
      );
    });
  });
});
