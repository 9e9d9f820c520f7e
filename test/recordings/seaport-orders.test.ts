// Checks the hashes, signatures and terms of orders that real accounts signed, as OpenSea and Reservoir published these orders.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { needsPayloads, readPayload } from '../support/recordings/payloads.ts';
import { inspect } from 'node:util';
import type { Address } from '../../src/platform/core/address.ts';
import { createChains } from '../../src/platform/core/chains.ts';
import { listProtocols } from '../../src/market/orders/seaport/deployments.ts';
import type { SeaportOrder } from '../../src/market/orders/seaport/order.ts';
import { hashOrder, parseSeaportOrder } from '../../src/market/orders/seaport/order.ts';
import { parseListingTerms } from '../../src/market/orders/seaport/parse-terms.ts';
import { checkSignature } from '../../src/market/orders/seaport/signature.ts';
import type { Hex } from '../../src/platform/core/evm.ts';

function read(value: unknown): SeaportOrder {
  const parsed = parseSeaportOrder(value);
  assert.ok(parsed.order, inspect(parsed));
  return parsed.order;
}

const ASKS = 'reservoir/orders_asks_v4_v5.json';
const LISTINGS = 'opensea/orders_listings_v2.seaport15.json';

test('each order from Reservoir is verified by exactly one Seaport deployment', needsPayloads(ASKS), async (t) => {
  const recorded = JSON.parse(readPayload(ASKS)).filter((order: any) => order.rawData?.offer);
  assert.equal(recorded.length, 11);
  const verified: string[] = [];
  for (const { id, rawData } of recorded) {
    const order = read(rawData);
    assert.equal(hashOrder(order), id);
    for (const chain of createChains().values()) {
      for (const protocol of listProtocols(chain, new Map())) {
        const signed = { protocol, orderHash: id as Hex, signature: rawData.signature as Hex };
        const check = checkSignature(signed, order.offerer);
        if (check === 'ok') verified.push(`${id} ${chain.id} ${protocol.version} ${rawData.signature.length / 2 - 1}`);
      }
    }
  }
  t.diagnostic(`\n${verified.join('\n')}`);
  const orders = new Set(verified.map((line) => line.split(' ')[0]));
  assert.equal(orders.size, recorded.length, 'an order is verified by no deployment');
  assert.equal(verified.length, recorded.length, 'an order is verified by two deployments');
  assert.ok(
    verified.some((line) => line.endsWith(' 1.4 131')),
    'none of the orders is a bulk order',
  );
});

test('the hash of every order from OpenSea is its id', needsPayloads(LISTINGS), () => {
  const { orders } = JSON.parse(readPayload(LISTINGS));
  assert.equal(orders.length, 4);
  for (const recorded of orders) {
    const order = read(recorded.protocol_data.parameters);
    assert.equal(hashOrder(order), recorded.order_hash);
    const address = recorded.protocol_address as Address;
    const listed = parseListingTerms(order, {
      protocol: { address },
      wrappedNative: null,
      now: recorded.listing_time * 1_000,
    });
    assert.ok(listed.terms, inspect(listed));
    assert.equal(String(listed.terms.buyerTotalRaw), recorded.current_price);
    assert.equal(listed.terms.operator, '0x1e0049783f008a0085193e00003d00cd54003c71');
    assert.equal(listed.terms.expiresAt, recorded.expiration_time * 1_000);
  }
});
