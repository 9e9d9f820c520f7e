// The signed order that the examples in the OpenAPI document show: a listing of one token. Its hash and signatures are valid.

import { EXAMPLE_COLLECTION, toExamplePrice } from '../../market/reads/http/example-collection.ts';
import { toExampleIdentity } from '../../market/reads/http/asset-identity.ts';

const NO_ADDRESS = '0x0000000000000000000000000000000000000000';
const NO_HASH = '0x0000000000000000000000000000000000000000000000000000000000000000';
const SEAPORT = '0x0000000000000068f116a894984e2db1123eb395';

const offerer = '0xaaf09ce07e75dc0fdeffc023feb24b852c6a93ed';
const tokenId = '118';
const createdAt = '2026-06-01T08:30:00.000Z';
const expiresAt = '2026-07-01T08:30:00.000Z';

/** The amounts for the offerer and for the receiver of the royalty, in thousandths of an ETH. */
const ASK = 475n;
const ROYALTY = 25n;

function toPayment(milliEth: bigint, recipient: string) {
  const { raw } = toExamplePrice(milliEth);
  const payment = { itemType: 0, token: NO_ADDRESS, identifierOrCriteria: '0', startAmount: raw, endAmount: raw };
  return { ...payment, recipient };
}

const SEAPORT_EXAMPLE = {
  parameters: {
    offerer,
    zone: NO_ADDRESS,
    offer: [
      {
        itemType: 2,
        token: EXAMPLE_COLLECTION.contractAddress,
        identifierOrCriteria: tokenId,
        startAmount: '1',
        endAmount: '1',
      },
    ],
    consideration: [toPayment(ASK, offerer), toPayment(ROYALTY, '0x220cb0e251f76e6fab40f1a4307ceb69ba9d3484')],
    orderType: 0,
    startTime: String(Date.parse(createdAt) / 1_000),
    endTime: String(Date.parse(expiresAt) / 1_000),
    zoneHash: NO_HASH,
    salt: '4281770152093',
    conduitKey: NO_HASH,
    counter: '0',
    totalOriginalConsiderationItems: 2,
  },
  signature:
    '0xd3eecb1203e8ef758de272d95b413c0caf9a746fda1b2b45e54330f3ee3ba01b3d1298aa61144644c24141e111848350726f3b2adb415035f295f33ee90907ae1c',
};

export const EXAMPLE_ORDER_ID = `${EXAMPLE_COLLECTION.id}_${tokenId}_${Date.parse(createdAt)}`;

export const ORDER_SUBMISSION_EXAMPLE = {
  chain: EXAMPLE_COLLECTION.chain,
  protocolAddress: SEAPORT,
  order: SEAPORT_EXAMPLE,
};

/** The offerer's signature for the cancellation. */
export const CANCEL_SIGNATURE_EXAMPLE =
  '0x5c8459b52d9b3fb4110bc1402d02f95da4575a8cac1a94433d61b0c0f7223c087a610d4a488dd866653ecfb4273db2eaf2fec8201051b1000aa6a206b9cdeec61c';

export const SIGNED_ORDER_EXAMPLE = {
  side: 'ask',
  orderHash: '0xb39ba10e62538d8fc85c6a1a86f1ed0daeea95275a3b50834838d4e7266e1f0f',
  protocolAddress: SEAPORT,
  standard: 'erc721',
  quantity: '1',
  filledQuantity: '0',
  proceeds: null,
  root: null,
  buyerTotal: toExamplePrice(ASK + ROYALTY),
  counter: '0',
  operator: SEAPORT,
  startsAt: createdAt,
  dormant: null,
  seaport: SEAPORT_EXAMPLE,
};

export const ORDER_RESPONSE_EXAMPLE = {
  data: {
    ...toExampleIdentity(tokenId),
    price: toExamplePrice(ASK),
    seller: offerer,
    buyer: null,
    marketplace: 'MERCAT',
    status: 'active',
    expiresAt,
    timestamp: createdAt,
    orderId: EXAMPLE_ORDER_ID,
    tx: null,
  },
  order: SIGNED_ORDER_EXAMPLE,
};

export const CANCELLED_ORDER_EXAMPLE = {
  ...ORDER_RESPONSE_EXAMPLE,
  data: { ...ORDER_RESPONSE_EXAMPLE.data, status: 'cancelled' },
};

/** The event that made the order dormant: the offerer transferred the token. */
export const CHAIN_EVENT_EXAMPLE = {
  kind: 'transfer',
  blockNumber: 25_218_406,
  blockTime: '2026-06-03T19:12:23.000Z',
  tx: '0x5f0c1be74a9d8263e1f7052bc94d3a86d07e91f4b2c65d38a0917fe4c3b8a215',
  logIndex: 92,
  part: 0,
  details: {
    contract: EXAMPLE_COLLECTION.contractAddress,
    tokenId,
    from: offerer,
    to: '0x92689952d9dba36f6202c79c1d2655ea78e8bfd3',
    quantity: '1',
  },
};

const dormant = 'no-balance';

export const EXPLANATION_EXAMPLE = {
  data: {
    order: { ...ORDER_RESPONSE_EXAMPLE, order: { ...SIGNED_ORDER_EXAMPLE, dormant } },
    status: 'active',
    dormant,
    checks: [
      { check: 'not_filled', ok: true, detail: '0 of 1 filled' },
      { check: 'balance', ok: false, detail: 'the offerer holds 0, a fill needs 1' },
    ],
    transitions: [
      { at: createdAt, to: 'active', because: 'stored', tx: null },
      { at: CHAIN_EVENT_EXAMPLE.blockTime, to: 'dormant', because: dormant, tx: CHAIN_EVENT_EXAMPLE.tx },
    ],
    cancel: null,
    events: [],
    tokenEvents: [CHAIN_EVENT_EXAMPLE],
    readTo: {
      blockNumber: 25_218_431,
      blockHash: '0x1c7a90e3d54bf286a70c3e18f952d4b6071ea8c94f2d3b650e9817a4c6f5d023',
      blockTime: '2026-06-03T19:17:23.000Z',
    },
    endedAt: null,
  },
};

/** The order as a record of an import. */
export const ORDER_RECORD_EXAMPLE = {
  kind: 'order',
  chain: EXAMPLE_COLLECTION.chain,
  contractAddress: EXAMPLE_COLLECTION.contractAddress,
  tokenId,
  priceRaw: toExamplePrice(ASK).raw,
  seller: offerer,
  createdAt,
  expiresAt,
  seaport: SEAPORT_EXAMPLE,
};
