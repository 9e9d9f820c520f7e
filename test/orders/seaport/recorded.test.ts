// Orders that real people signed, as OpenSea and Reservoir recorded them, where they are at hand.

import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import type { TestContext } from 'node:test';
import { test } from 'node:test';
import { inspect } from 'node:util';
import type { Address } from '../../../src/core/address.ts';
import { createChains } from '../../../src/core/chains.ts';
import { listProtocols } from '../../../src/orders/seaport/deployments.ts';
import type { SeaportOrder } from '../../../src/orders/seaport/order.ts';
import { hashOrder, parseSeaportOrder } from '../../../src/orders/seaport/order.ts';
import { toListingTerms } from '../../../src/orders/seaport/listing.ts';
import { checkSignature } from '../../../src/orders/seaport/signature.ts';
import type { Hex } from '../../../src/core/evm.ts';

const folder = new URL('../../../../shared/data/payloads/', import.meta.url);

function readData(t: TestContext, name: string): any {
  const file = new URL(name, folder);
  if (existsSync(file)) return JSON.parse(readFileSync(file, 'utf8'));
  t.diagnostic(`${name} is not at hand: nothing was tested`);
  return null;
}

function read(value: unknown): SeaportOrder {
  const parsed = parseSeaportOrder(value);
  assert.ok(parsed.order, inspect(parsed));
  return parsed.order;
}

test('every order that Reservoir recorded hashes to its id, and its signature is verified', async (t) => {
  const recorded = readData(t, 'reservoir/orders_asks_v4_v5.json')?.filter((o: any) => o.rawData?.offer) ?? [];
  const verified: string[] = [];
  for (const { id, rawData } of recorded) {
    const order = read(rawData);
    assert.equal(hashOrder(order), id);
    for (const chain of createChains().values()) {
      for (const protocol of listProtocols(chain, new Map())) {
        const signed = { protocol, orderHash: id as Hex, signature: rawData.signature as Hex };
        const check = await checkSignature(signed, order.offerer);
        if (check === 'ok') verified.push(`${id} ${chain.id} ${protocol.version} ${rawData.signature.length / 2 - 1}`);
      }
    }
  }
  t.diagnostic(`\n${verified.join('\n')}`);
  const orders = new Set(verified.map((line) => line.split(' ')[0]));
  assert.equal(orders.size, recorded.length, 'an order is verified by no deployment');
  assert.equal(verified.length, recorded.length, 'an order is verified by two deployments');
  if (recorded.length > 0)
    assert.ok(
      verified.some((line) => line.endsWith(' 1.4 131')),
      'there is a bulk order among them',
    );
});

test('every order that OpenSea recorded hashes to its id, and is a listing at its price', (t) => {
  for (const recorded of readData(t, 'opensea/orders_listings_v2.seaport15.json')?.orders ?? []) {
    const order = read(recorded.protocol_data.parameters);
    assert.equal(hashOrder(order), recorded.order_hash);
    const address = recorded.protocol_address as Address;
    const listed = toListingTerms(order, {
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

test('a bid that was recorded is not a listing', (t) => {
  const bids = readData(t, 'reservoir/orders_bids_v5.50.json')?.orders ?? [];
  for (const { rawData } of bids.filter((bid: any) => bid.rawData?.offer)) {
    const listed = toListingTerms(read(rawData), {
      protocol: { address: '0x00000000000000adc04c56bf30ac9d3c0aaf14dc' as Address },
      wrappedNative: null,
      now: 0,
    });
    assert.ok(listed.terms === null && /criteria_not_supported|not_a_listing/.test(listed.code), inspect(listed));
  }
});
