// Tests how the sales of settlement protocols are decoded. viem encodes the logs according to the published interfaces of the contracts. A
// test that names the hash of a transaction uses the facts of this real transaction, but not its recorded logs.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { encodeAbiParameters, encodeFunctionData, parseAbi, toEventSelector, zeroAddress } from 'viem';
import { BLEND_TOPICS } from '../../../../src/sources/chains/protocols/blend.ts';
import { BLUR_V1_TOPICS } from '../../../../src/sources/chains/protocols/blur-v1.ts';
import { BLUR_V2_TOPICS } from '../../../../src/sources/chains/protocols/blur-v2.ts';
import { CRYPTOPUNKS_TOPICS } from '../../../../src/sources/chains/protocols/cryptopunks.ts';
import { ELEMENT_TOPICS } from '../../../../src/sources/chains/protocols/element.ts';
import { MANIFOLD_TOPICS } from '../../../../src/sources/chains/protocols/manifold.ts';
import { NFTX_V2_TOPICS, NFTX_V3_TOPICS } from '../../../../src/sources/chains/protocols/nftx.ts';
import { NOUNS_TOPICS } from '../../../../src/sources/chains/protocols/nouns.ts';
import { RARIBLE_V1_TOPICS } from '../../../../src/sources/chains/protocols/rarible-v1.ts';
import { SUPERRARE_TOPICS } from '../../../../src/sources/chains/protocols/superrare.ts';
import { ZORA_V1_TOPICS } from '../../../../src/sources/chains/protocols/zora-v1.ts';
import { FOUNDATION_TOPICS } from '../../../../src/sources/chains/protocols/foundation.ts';
import { LOOKSRARE_V1_TOPICS } from '../../../../src/sources/chains/protocols/looksrare-v1.ts';
import { LOOKSRARE_V2_TOPICS } from '../../../../src/sources/chains/protocols/looksrare-v2.ts';
import {
  PAYMENT_PROCESSOR_V1_TOPICS,
  PAYMENT_PROCESSOR_V2_TOPICS,
} from '../../../../src/sources/chains/protocols/payment-processor.ts';
import { RARIBLE_V2_TOPICS } from '../../../../src/sources/chains/protocols/rarible-v2.ts';
import { SEAPORT_TOPICS } from '../../../../src/sources/chains/protocols/seaport.ts';
import { parsePool } from '../../../../src/sources/chains/protocols/pool-events.ts';
import {
  SUDOSWAP_V1,
  SUDOSWAP_V1_TOPICS,
  SUDOSWAP_V2,
  SUDOSWAP_V2_TOPICS,
} from '../../../../src/sources/chains/protocols/sudoswap.ts';
import { WYVERN_TOPICS } from '../../../../src/sources/chains/protocols/wyvern.ts';
import { X2Y2_TOPICS } from '../../../../src/sources/chains/protocols/x2y2.ts';
import { ZEROEX_V4_TOPICS } from '../../../../src/sources/chains/protocols/zeroex-v4.ts';
import { ZORA_V3_TOPICS } from '../../../../src/sources/chains/protocols/zora-v3.ts';
import type { Address } from '../../../../src/platform/core/address.ts';
import type { Hex } from '../../../../src/platform/core/evm.ts';
import type { EncodedLog } from '../../../support/chain/encoded-logs.ts';
import { AT, EVENTS, encode, logOf, transferOf } from '../../../support/chain/encoded-logs.ts';
import type { TransactionOnChain } from '../../../support/chain/protocol-logs.ts';
import { decodeTransaction, salesOfTransaction } from '../../../support/chain/protocol-logs.ts';

const TOPICS: Record<keyof typeof EVENTS, Readonly<Record<string, Hex>>> = {
  seaport: SEAPORT_TOPICS,
  blurV1: BLUR_V1_TOPICS,
  blurV2: BLUR_V2_TOPICS,
  blend: BLEND_TOPICS,
  looksRareV1: LOOKSRARE_V1_TOPICS,
  looksRareV2: LOOKSRARE_V2_TOPICS,
  x2y2: X2Y2_TOPICS,
  cryptoPunks: CRYPTOPUNKS_TOPICS,
  wyvern: WYVERN_TOPICS,
  foundation: FOUNDATION_TOPICS,
  zoraV3: ZORA_V3_TOPICS,
  raribleV2: RARIBLE_V2_TOPICS,
  zeroExV4: ZEROEX_V4_TOPICS,
  paymentProcessorV1: PAYMENT_PROCESSOR_V1_TOPICS,
  paymentProcessorV2: PAYMENT_PROCESSOR_V2_TOPICS,
  sudoswapV1: SUDOSWAP_V1_TOPICS,
  sudoswapV2: SUDOSWAP_V2_TOPICS,
  element: ELEMENT_TOPICS,
  raribleV1: RARIBLE_V1_TOPICS,
  superRare: SUPERRARE_TOPICS,
  nftxV2: NFTX_V2_TOPICS,
  nftxV3: NFTX_V3_TOPICS,
  manifold: MANIFOLD_TOPICS,
  nouns: NOUNS_TOPICS,
  zoraV1: ZORA_V1_TOPICS,
};

test('every topic of a settlement protocol is the hash of its event signature', () => {
  for (const [protocol, events] of Object.entries(EVENTS)) {
    const topics = TOPICS[protocol as keyof typeof EVENTS];
    const computed = Object.entries(events).map(([name, signature]) => [name, toEventSelector(signature)]);
    assert.deepEqual({ ...topics }, Object.fromEntries(computed), protocol);
  }
});

const factsOf = (transaction: TransactionOnChain) => salesOfTransaction(transaction).map(({ facts }) => facts);
const address = (digit: string) => `0x${digit.repeat(40)}` as const;
const hash = (digits: string) => `0x${digits.repeat(32)}` as const;
const [SELLER, BUYER, NFT, DOLLARS, STRANGER] = ['a', 'b', 'd', '9', '8'].map(address) as [Hex, Hex, Hex, Hex, Hex];
const WRAPPED = '0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2';
const sold = (marketplace: string, price: string, asset = '7') => ({
  marketplace,
  contract: NFT,
  asset,
  price,
  seller: SELLER,
  buyer: BUYER,
});

describe('Blur', () => {
  const order = {
    trader: SELLER,
    side: 1,
    matchingPolicy: zeroAddress,
    collection: NFT,
    tokenId: 7n,
    amount: 1n,
    paymentToken: '0x0000000000a39bb272e79075ade125fd351887ac',
    price: 500n,
    listingTime: 2n,
    expirationTime: 9n,
    fees: [{ rate: 50, recipient: STRANGER }],
    salt: 1n,
    extraParams: '0x01',
  };
  const matched = (maker: string, taker: string) =>
    logOf('blurV1', 'ordersMatched', {
      maker,
      taker,
      sell: order,
      sellHash: hash('01'),
      buy: { ...order, trader: BUYER, side: 0 },
      buyHash: hash('02'),
    });

  test('version 1: a payment in the currency of Blur deposits is a price in native currency, and the sale of an accepted bid has the order hash of the bid', () => {
    const [bid] = salesOfTransaction({ logs: [matched(BUYER, SELLER)] });
    const [listing] = salesOfTransaction({ logs: [matched(SELLER, BUYER)] });
    assert.deepEqual(factsOf({ logs: [matched(BUYER, SELLER)] }), [sold('blur', '500')]);
    assert.deepEqual([bid?.fill.orderHash, listing?.fill.orderHash], [hash('02'), hash('01')]);
  });

  const executed = (orderType: number) =>
    logOf('blurV2', 'execution', {
      transfer: { trader: orderType === 0 ? SELLER : BUYER, id: 7n, amount: 2n, collection: NFT, assetType: 1 },
      orderHash: hash('03'),
      listingIndex: 4n,
      price: 10_000n,
      makerFee: { recipient: STRANGER, rate: 100 },
      fees: { protocolFee: { recipient: STRANGER, rate: 7 }, takerFee: { recipient: STRANGER, rate: 50 } },
      orderType,
    });
  const moved = encode(
    NFT,
    'event TransferSingle(address indexed operator, address indexed from, address indexed to, uint256 id, uint256 value)',
    { operator: STRANGER, from: SELLER, to: BUYER, id: 7n, value: 2n },
  );

  test('in version 2 the buyer pays a fee on top of the price: the taker fee for a listing, the maker fee for a bid', () => {
    assert.deepEqual(factsOf({ logs: [moved, executed(0)] }), [sold('blur', '10050')]);
    assert.deepEqual(factsOf({ logs: [moved, executed(1)] }), [sold('blur', '10100')]);
  });

  test('in version 2 one party of a sale is unknown without the transfer of the token', () => {
    assert.deepEqual(factsOf({ logs: [executed(0)] }), [{ ...sold('blur', '10050'), buyer: null }]);
    assert.deepEqual(factsOf({ logs: [executed(1)] }), [{ ...sold('blur', '10100'), seller: null }]);
  });
});

describe('Blend', () => {
  const LENDER = STRANGER;
  const lien =
    '(address lender, address borrower, address collection, uint256 tokenId, uint256 amount, uint256 startTime, uint256 rate, uint256 auctionStartBlock, uint256 auctionDuration) lien';
  const offer =
    '(address borrower, uint256 lienId, uint256 price, uint256 expirationTime, uint256 salt, address oracle, (uint16 rate, address recipient)[] fees) offer';
  const loan =
    '(address lender, address collection, uint256 totalAmount, uint256 minAmount, uint256 maxAmount, uint256 auctionDuration, uint256 salt, uint256 expirationTime, uint256 rate, address oracle) offer';
  const abi = parseAbi([
    `function buyLocked(${lien}, ${offer}, bytes signature)`,
    `function buyLockedETH(${lien}, ${offer}, bytes signature)`,
    `function buyToBorrowLocked(${lien}, (${offer}, bytes signature) sell, (${loan}, bytes signature) loan, uint256 amount)`,
    `function buyToBorrowLockedETH(${lien}, (${offer}, bytes signature) sell, (${loan}, bytes signature) loan, uint256 amount)`,
    `function execute(address target, bytes data)`,
  ] as readonly string[]);
  const call = (functionName: string, ...args: unknown[]) => encodeFunctionData({ abi, functionName, args });
  const lienOf = (tokenId: bigint) => ({
    lender: LENDER,
    borrower: SELLER,
    collection: NFT,
    tokenId,
    amount: 5n,
    startTime: 1n,
    rate: 2n,
    auctionStartBlock: 0n,
    auctionDuration: 9n,
  });
  const sellOffer = {
    borrower: SELLER,
    lienId: 3n,
    price: 4_900n,
    expirationTime: 9n,
    salt: 1n,
    oracle: STRANGER,
    fees: [{ rate: 50, recipient: STRANGER }],
  };
  const loanOffer = {
    lender: LENDER,
    collection: NFT,
    totalAmount: 9n,
    minAmount: 1n,
    maxAmount: 9n,
    auctionDuration: 9n,
    salt: 1n,
    expirationTime: 9n,
    rate: 1n,
    oracle: STRANGER,
  };
  const locked = (buyer: Hex) =>
    logOf('blend', 'buyLocked', { lienId: 3n, collection: NFT, buyer, seller: SELLER, tokenId: 7n });
  const packedWord = (...parts: [digits: number, value: string | bigint][]): Hex =>
    `0x${parts.map(([digits, value]) => (typeof value === 'bigint' ? value.toString(16) : value.slice(2)).padStart(digits, '0')).join('')}`;
  const packedBlur = (side: bigint, trader: string) =>
    logOf('blurV2', 'execution721Packed', {
      orderHash: hash('03'),
      tokenIdListingIndexTrader: BigInt(packedWord([22, 7n], [2, 0n], [40, trader])),
      collectionPriceSide: BigInt(packedWord([2, side], [22, 4_900n], [40, NFT])),
    });

  test('a locked token that is bought is a sale by its borrower, with the price of the offer, also through another contract', () => {
    const direct = [
      call('buyLocked', lienOf(7n), sellOffer, '0x12'),
      call('buyLockedETH', lienOf(7n), sellOffer, '0x'),
    ];
    const sent = transferOf(NFT, AT.blend, BUYER, 7n);
    for (const callData of [...direct, call('execute', AT.blend, direct[0])]) {
      assert.deepEqual(factsOf({ logs: [locked(BUYER), sent], callData }), [sold('blur', '4900')]);
    }
    const passedOn = [locked(STRANGER), transferOf(NFT, AT.blend, STRANGER, 7n), transferOf(NFT, STRANGER, BUYER, 7n)];
    const routed = { logs: passedOn, callData: direct[0] as Hex, sender: BUYER as Address };
    assert.deepEqual(factsOf(routed), [sold('blur', '4900')]);
  });

  test('a locked token that is bought for a new loan is a sale although no token moves', () => {
    const inputs = [{ offer: sellOffer, signature: '0x12' }, { offer: loanOffer, signature: '0x34' }, 5n];
    for (const name of ['buyToBorrowLocked', 'buyToBorrowLockedETH']) {
      const callData = call(name, lienOf(7n), ...inputs);
      assert.deepEqual(factsOf({ logs: [locked(BUYER)], callData }), [sold('blur', '4900')]);
    }
  });

  test('the price of a locked token is unknown without its offer in the call data', () => {
    const other = call('buyLocked', lienOf(8n), sellOffer, '0x');
    for (const callData of ['0x', other, other.slice(0, 400) as Hex] as const)
      assert.deepEqual(factsOf({ logs: [locked(BUYER)], callData }), [sold('blur', 'unknown')]);
  });

  test('a borrower who accepts a bid is the seller, and not the contract that held the token', () => {
    const logs = [transferOf(NFT, AT.blend, BUYER, 7n), packedBlur(1n, BUYER)];
    const takeBid = `0x619a309f${call('buyLocked', lienOf(7n), sellOffer, '0x').slice(10)}` as const;
    const nested = call('execute', AT.blend, takeBid);
    assert.deepEqual(factsOf({ logs, callData: takeBid, sender: SELLER as Address }), [sold('blur', '4900')]);
    assert.deepEqual(factsOf({ logs, callData: nested, sender: STRANGER as Address }), [sold('blur', '4900')]);
  });

  test('a borrower whose loan buys a token is the buyer', () => {
    const taken = logOf('blend', 'loanOfferTaken', {
      offerHash: hash('04'),
      lienId: 3n,
      collection: NFT,
      lender: LENDER,
      borrower: BUYER,
      loanAmount: 5n,
      rate: 1n,
      tokenId: 7n,
      auctionDuration: 9n,
    });
    const logs = [transferOf(NFT, SELLER, AT.blend, 7n), packedBlur(0n, SELLER), taken];
    assert.deepEqual(factsOf({ logs, sender: BUYER as Address }), [sold('blur', '4900')]);
    assert.deepEqual(factsOf({ logs: [transferOf(NFT, BUYER, AT.blend, 7n), taken] }), [], 'a loan is a sale');
  });
});

test('Seaport: an order for the lazy-mint adapter is a sale of the shared storefront', () => {
  const [adapter, storefront] = [
    '0xa604060890923ff400e8c6f5290461a83aedacec',
    '0x495f947276749ce646f68ac8c248420045cb7b5e',
  ];
  const fulfilled = logOf('seaport', 'orderFulfilled', {
    orderHash: hash('05'),
    offerer: SELLER,
    zone: zeroAddress,
    recipient: BUYER,
    offer: [{ itemType: 3, token: adapter, identifier: 7n, amount: 1n }],
    consideration: [{ itemType: 0, token: zeroAddress, identifier: 0n, amount: 5n, recipient: SELLER }],
  });
  assert.deepEqual(factsOf({ logs: [fulfilled] }), [{ ...sold('unknown', '5'), contract: storefront }]);
});

test('LooksRare: the bid in wrapped currency that Ethereum transaction 0x4b064cc0…6cd accepts is a sale', () => {
  const facts = {
    contract: '0x77dd30fd9471818aebba24bed6d4474190ecad9b',
    seller: '0xf8238a3dd9a67b8419412ede613a06d73ffc2d93',
    buyer: '0x7eccb4140751336f85dfc4846347f26b5a8cb84d',
  };
  const taken = logOf('looksRareV1', 'takerAsk', {
    orderHash: hash('0a'),
    orderNonce: 3n,
    taker: facts.seller,
    maker: facts.buyer,
    strategy: STRANGER,
    currency: WRAPPED,
    collection: facts.contract,
    tokenId: 7n,
    amount: 1n,
    price: 10_000_000_000_000_000n,
  });
  assert.deepEqual(factsOf({ logs: [taken] }), [
    { marketplace: 'looksrare', asset: '7', price: '10000000000000000', ...facts },
  ]);
});

test('LooksRare, 0x and Payment Processor: each cancelled nonce is decoded as an event with the nonce and the account that cancelled it', () => {
  const logs = [
    logOf('looksRareV1', 'cancelMultipleOrders', { user: SELLER, orderNonces: [3n, 5n] }),
    logOf('looksRareV2', 'orderNoncesCancelled', { user: SELLER, orderNonces: [8n] }),
    logOf('zeroExV4', 'erc721OrderCancelled', { maker: SELLER, nonce: 9n }),
    logOf('paymentProcessorV2', 'nonceInvalidated', { nonce: 10n, account: SELLER, wasCancellation: true }),
    logOf('paymentProcessorV2', 'nonceInvalidated', { nonce: 11n, account: SELLER, wasCancellation: false }),
  ];
  assert.deepEqual(
    decodeTransaction({ logs }).map((event) => event.kind === 'nonce-cancelled' && [event.offerer, event.nonce]),
    [3n, 5n, 8n, 9n, 10n].map((nonce) => [SELLER, nonce]),
  );
});

test('Blur, Wyvern and LooksRare: a raised nonce is decoded as a counter increment', () => {
  const logs = [
    logOf('blurV1', 'nonceIncremented', { trader: SELLER, newNonce: 2n }),
    logOf('wyvern', 'nonceIncremented', { maker: SELLER, newNonce: 3n }),
    logOf('looksRareV1', 'cancelAllOrders', { user: SELLER, newMinNonce: 4n }),
  ];
  assert.deepEqual(
    decodeTransaction({ logs }).map((event) => event.kind === 'counter-incremented' && [event.protocol, event.counter]),
    [
      [AT.blurV1, 2n],
      [AT.wyvern, 3n],
      [AT.looksRareV1, 4n],
    ],
  );
});

describe('X2Y2', () => {
  const pair = (tokenId: bigint) =>
    encodeAbiParameters([{ type: 'tuple[]', components: [{ type: 'address' }, { type: 'uint256' }] }], [
      [[NFT, tokenId]],
    ] as never);
  const inventory = (changes: Record<string, unknown>, detail: Record<string, unknown> = {}) =>
    logOf('x2y2', 'inventory', {
      itemHash: hash('0b'),
      maker: SELLER,
      taker: BUYER,
      orderSalt: 1n,
      settleSalt: 2n,
      intent: 1n,
      delegateType: 1n,
      deadline: 9n,
      currency: zeroAddress,
      dataMask: '0x',
      item: { price: 90n, data: pair(7n) },
      detail: {
        op: 1,
        orderIdx: 0n,
        itemIdx: 0n,
        price: 100n,
        itemHash: hash('0b'),
        executionDelegate: STRANGER,
        dataReplacement: '0x',
        bidIncentivePct: 0n,
        aucMinIncrementPct: 0n,
        aucIncDurationSecs: 0n,
        fees: [],
        ...detail,
      },
      ...changes,
    });

  test('an accepted bid for any token of a collection is a sale of the token in the replacement data', () => {
    const dataMask = `0x${'00'.repeat(96)}${'ff'.repeat(32)}`;
    const anyToken = { maker: BUYER, taker: SELLER, dataMask, item: { price: 100n, data: pair(0n) } };
    // Only the replacement bytes for which the mask is 0xff are used.
    const dataReplacement = `0x${'11'.repeat(96)}${'07'.padStart(64, '0')}`;
    const logs = [inventory(anyToken, { op: 2, dataReplacement })];
    assert.deepEqual(factsOf({ logs }), [sold('x2y2', '100')]);
  });

  test('a fee that the exchange pays back to the buyer is not part of the price', () => {
    const fees = [
      { percentage: 5_000n, to: STRANGER },
      { percentage: 53_300n, to: BUYER },
    ];
    const price = 60_000_000_000_000_000n;
    assert.deepEqual(factsOf({ logs: [inventory({}, { price, fees })] }), [sold('x2y2', '56802000000000000')]);
    const bid = inventory({ maker: BUYER, taker: SELLER }, { op: 2, price, fees: [{ percentage: 5n, to: SELLER }] });
    assert.deepEqual(factsOf({ logs: [bid] }), [sold('x2y2', price.toString())]);
  });

  test('the price is the amount of the settlement, and an event that is not a sale of ERC-721 or ERC-1155 tokens is ignored', () => {
    assert.deepEqual(factsOf({ logs: [inventory({})] }), [sold('x2y2', '100')]);
    assert.deepEqual(factsOf({ logs: [inventory({}, { op: 3 })] }), []);
    assert.deepEqual(factsOf({ logs: [inventory({ delegateType: 5n })] }), []);
  });
});

describe('CryptoPunks', () => {
  const punk = (name: keyof (typeof EVENTS)['cryptoPunks'], args: Record<string, unknown>) =>
    logOf('cryptoPunks', name, args);

  test('the purchase of a punk in Ethereum transaction 0x8065c3c4…6a0 is a sale and a transfer', () => {
    const parties = {
      seller: '0x2a193336b79d9462bb36215210d44e9d60878c65',
      buyer: '0xbbaec56b725a0b9501a655d7d1b48555af637b70',
    };
    const value = 90_000_000_000_000_000_000n;
    const names = { fromAddress: parties.seller, toAddress: parties.buyer };
    const logs = [punk('punkBought', { punkIndex: 7294n, value, ...names })];
    const facts = { marketplace: 'larvalabs', contract: AT.cryptoPunks, asset: '7294', price: value.toString() };
    assert.deepEqual(factsOf({ logs }), [{ ...facts, ...parties }]);
    assert.deepEqual(
      decodeTransaction({ logs }).map((event) => event.kind === 'transfer' && [event.tokenId, event.from, event.to]),
      [false, ['7294', parties.seller, parties.buyer]],
    );
  });

  test('the event of an accepted bid has neither buyer nor price, so the buyer is read from the transfer, and the price is unknown', () => {
    const [seller, buyer] = [
      '0x00d7c902fbbcd3c9db2da80a439c94486c50eb81',
      '0x382681f262e3ab062c89298609372b6ae9d8e52a',
    ];
    const nobody = { fromAddress: seller, toAddress: zeroAddress };
    const logs = [
      punk('transfer', { from: seller, to: buyer, value: 1n }),
      punk('punkBought', { punkIndex: 9354n, value: 0n, ...nobody }),
    ];
    const [sale] = salesOfTransaction({ logs });
    assert.deepEqual([sale?.facts.seller, sale?.facts.buyer, sale?.facts.asset], [seller, buyer, '9354']);
    assert.doesNotMatch(sale?.facts.price ?? '', /^\d+$/);
    const bids = decodeTransaction({
      logs: [punk('punkBidEntered', { punkIndex: 9354n, value: 3n, fromAddress: buyer })],
    });
    assert.deepEqual(
      bids.map((event) => event.kind === 'token-bid' && [event.tokenId, event.bidder, event.price]),
      [['9354', buyer, 3n]],
    );
  });

  test('a punk that is given away or bought for nothing is a transfer and not a sale', () => {
    const logs = [
      punk('assign', { to: SELLER, punkIndex: 1n }),
      punk('punkTransfer', { from: SELLER, to: BUYER, punkIndex: 1n }),
      punk('punkBought', { punkIndex: 1n, value: 0n, fromAddress: BUYER, toAddress: STRANGER }),
    ];
    assert.deepEqual(factsOf({ logs }), []);
    assert.deepEqual(
      decodeTransaction({ logs }).map((event) => event.kind === 'transfer' && [event.from, event.to]),
      [
        [zeroAddress, SELLER],
        [SELLER, BUYER],
        [BUYER, STRANGER],
      ],
    );
  });
});

describe('Wyvern', () => {
  // The parties and the price are those of recorded logs of Wyvern 2.2. The call data is encoded here.
  const [contract, seller, buyer] = [
    '0x5689b918d34c038901870105a6c7fc24744d31eb',
    '0x0a206d4d5ff79cb5069def7fe3598421cff09391',
    '0x6a016d7eec560549ffa0fbdb7f15c2b27302087f',
  ] as const;
  const word = (digits: string): Hex => `0x${digits.padStart(64, '0')}`;
  const exchange = '0x7be8076f4ea4a4ad08075c2508e481d6c946d12b';
  const match: EncodedLog = {
    address: exchange,
    topics: [WYVERN_TOPICS.ordersMatched, word(seller.slice(2)), word(buyer.slice(2)), word('0')],
    data: `${word('0')}69d3f0cc25f121f2aa96215f51ec4b4f1966f2d2ffbd3d8d8a45ad27b1c90323${word('8e1bc9bf040000').slice(2)}`,
  };
  const logs = [transferOf(contract, seller, buyer, 0x1396n), match];
  const abi = parseAbi(['function atomicMatch_(address[14] addrs, uint256[18] uints) payable']);
  const callDataIn = (currency: Hex, target: Hex = contract) => {
    const side = (maker: Hex) => [exchange, maker, zeroAddress, STRANGER, target, zeroAddress, currency];
    const args = [[...side(buyer), ...side(seller)], Array.from({ length: 18 }, () => 0n)];
    const call = encodeFunctionData({ abi, functionName: 'atomicMatch_', args: args as never });
    // This ABI has fewer arguments than the function of the contract, so `call` begins with a wrong selector. It is
    // replaced by the selector of an aggregator, followed by the selector of that function, 0xab834bab.
    return `0x12345678ab834bab${call.slice(10)}` as const;
  };
  const facts = { marketplace: 'opensea', contract, asset: '5014', seller, buyer };

  test('the token is read from the transfer of the match, and the currency from the call data, even if an aggregator called the exchange', () => {
    assert.deepEqual(factsOf({ logs, callData: callDataIn(zeroAddress) }), [{ ...facts, price: '40000000000000000' }]);
    assert.deepEqual(factsOf({ logs, callData: callDataIn(WRAPPED) }), [{ ...facts, price: '40000000000000000' }]);
    const inDollars = factsOf({ logs, callData: callDataIn(DOLLARS) });
    assert.deepEqual(inDollars, [{ ...facts, price: `40000000000000000 of ${DOLLARS}` }]);
  });

  test('without a currency in the call data, the price is not an amount in native currency', () => {
    for (const callData of ['0x', '0xab834bab', `0xab834bab${'00'.repeat(448)}`] as const) {
      const [sale] = factsOf({ logs, callData });
      assert.doesNotMatch(sale?.price ?? '', /^\d+$/);
    }
  });

  test('the price of a bundle is unknown unless all its tokens are known', () => {
    const atomicizer = '0xc99f70bfd82fb7c8f8191fdfbfb735606b15e5c5';
    const bundle = parseAbi(['function atomicize(address[] addrs, uint256[] values, uint256[] lengths, bytes data)']);
    const callDataOf = (contracts: Hex[]) => {
      const zeros = contracts.map(() => 0n);
      const transfers = encodeFunctionData({ abi: bundle, args: [contracts, zeros, zeros, '0x'] });
      return `${callDataIn(zeroAddress, atomicizer)}${transfers.slice(2)}` as const;
    };
    const priceOf = (contracts: Hex[], moved: EncodedLog[]) =>
      factsOf({ logs: moved, callData: callDataOf(contracts) })[0]?.price;
    assert.equal(priceOf([contract], logs), '40000000000000000');
    const both = [transferOf(contract, seller, buyer, 9n), ...logs];
    assert.equal(priceOf([contract, contract], both), '40000000000000000');
    assert.equal(priceOf([contract, NFT], logs), 'unknown', 'one token has the price of the bundle');
    assert.equal(factsOf({ logs, callData: callDataIn(zeroAddress, atomicizer) })[0]?.price, 'unknown');
  });

  test('a match through an aggregator is a sale, wherever the aggregator lets the token go', () => {
    const aggregator = address('7');
    const matchWith = (taker: string): EncodedLog => ({ ...match, topics: match.topics.with(2, word(taker.slice(2))) });
    const callData = callDataIn(zeroAddress).replaceAll(buyer.slice(2), aggregator.slice(2)) as Hex;
    const sale = { ...facts, price: '40000000000000000' };
    const toUser = [transferOf(contract, seller, buyer, 0x1396n), matchWith(aggregator)];
    assert.deepEqual(factsOf({ logs: toUser, callData, sender: buyer as Address }), [sale]);
    const passedOn = [transferOf(contract, seller, aggregator, 0x1396n), matchWith(aggregator)];
    passedOn.push(transferOf(contract, aggregator, buyer, 0x1396n));
    assert.deepEqual(factsOf({ logs: passedOn, callData, sender: buyer as Address }), [sale]);
    const second = [transferOf(contract, seller, buyer, 9n), matchWith(aggregator)];
    const both = factsOf({
      logs: [...passedOn, ...second],
      callData: `${callData}${callData.slice(2)}`,
      sender: buyer as Address,
    });
    assert.deepEqual(both, [sale, { ...sale, asset: '9' }]);
  });

  test('the seller of a token that its maker does not hold is the holder, and a token that the match mints is not sold', () => {
    const held = [transferOf(contract, STRANGER, buyer, 0x1396n), match];
    const [sale] = factsOf({ logs: held, callData: callDataIn(zeroAddress) });
    assert.deepEqual(sale, { ...facts, seller: STRANGER, price: '40000000000000000' });
    const minted = transferOf(contract, zeroAddress, buyer, 8n);
    assert.deepEqual(factsOf({ logs: [minted, match] }), []);
    const both = factsOf({ logs: [logs[0] as EncodedLog, minted, match], callData: callDataIn(zeroAddress) });
    assert.deepEqual(both, [{ ...facts, price: '40000000000000000' }]);
  });

  test('the currency is unknown if the calls of one account name several', () => {
    const aggregator = address('7');
    const callDataOf = (currency: Hex) => callDataIn(currency).replaceAll(buyer.slice(2), aggregator.slice(2));
    const [sale] = factsOf({ logs, callData: `${callDataOf(zeroAddress)}${callDataOf(DOLLARS).slice(2)}` as Hex });
    assert.equal(sale?.price, 'unknown');
  });

  test('each of two matches in one transaction is the sale of its own token, and a match without a transfer is no sale', () => {
    const second = [transferOf(contract, seller, buyer, 9n), match];
    const sales = factsOf({ logs: [...logs, ...second], callData: callDataIn(zeroAddress) });
    assert.deepEqual(
      sales.map(({ asset }) => asset),
      ['5014', '9'],
    );
    assert.deepEqual(factsOf({ logs: [match] }), []);
    assert.deepEqual(factsOf({ logs: [transferOf(contract, STRANGER, address('7'), 1n), match] }), []);
  });
});

describe('Foundation', () => {
  const shares = { totalFees: 5n, creatorRev: 10n, sellerRev: 85n };

  test('the price of a bought listing or an accepted offer is the sum of the fees and the revenues of creator and seller', () => {
    const token = { nftContract: NFT, tokenId: 7n };
    const bought = logOf('foundation', 'buyPriceAccepted', { ...token, seller: SELLER, buyer: BUYER, ...shares });
    const offered = logOf('foundation', 'offerAccepted', { ...token, seller: SELLER, buyer: BUYER, ...shares });
    assert.deepEqual(factsOf({ logs: [bought] }), [sold('foundation', '100')]);
    assert.deepEqual(factsOf({ logs: [offered] }), [sold('foundation', '100')]);
  });

  test('the token of an auction is the token that the market sends to the bidder', () => {
    const ended = logOf('foundation', 'reserveAuctionFinalized', {
      auctionId: 3n,
      seller: SELLER,
      bidder: BUYER,
      ...shares,
    });
    assert.deepEqual(factsOf({ logs: [transferOf(NFT, AT.foundation, BUYER, 7n), ended] }), [
      sold('foundation', '100'),
    ]);
    assert.deepEqual(factsOf({ logs: [ended] }), []);
  });

  test('each of two auctions that end in one transaction is the sale of its own token', () => {
    const parties = { seller: SELLER, bidder: BUYER, ...shares };
    const logs = [7n, 8n].flatMap((token) => [
      transferOf(NFT, AT.foundation, BUYER, token),
      logOf('foundation', 'reserveAuctionFinalized', { auctionId: token, ...parties }),
    ]);
    assert.deepEqual(factsOf({ logs }), [sold('foundation', '100'), sold('foundation', '100', '8')]);
    assert.deepEqual(factsOf({ logs: logs.toSpliced(2, 1) }), [sold('foundation', '100')]);
  });
});

test('Zora: the ask that Ethereum transaction 0x2a6c1a89…1932 fills is a sale', () => {
  const facts = {
    contract: '0x1e988ba4692e52bc50b375bcc8585b95c48aad77',
    seller: '0xdd47d3db30809a107c1dd59417a61230458d278e',
    buyer: '0xb1e8897458e06bc542af612ac440b9edff4363b8',
  };
  const filled = logOf('zoraV3', 'askFilled', {
    tokenContract: facts.contract,
    tokenId: 8488n,
    buyer: facts.buyer,
    finder: zeroAddress,
    ask: {
      seller: facts.seller,
      sellerFundsRecipient: facts.seller,
      askCurrency: zeroAddress,
      findersFeeBps: 0,
      askPrice: 150_000_000_000_000_000n,
    },
  });
  assert.deepEqual(factsOf({ logs: [filled] }), [
    { marketplace: 'zora', asset: '8488', price: '150000000000000000', ...facts },
  ]);
});

describe('Rarible', () => {
  const assetOf = (assetClass: Hex, ...values: (Hex | bigint)[]) => ({
    assetClass,
    data: encodeAbiParameters(
      values.map((value) => ({ type: typeof value === 'bigint' ? 'uint256' : 'address' })),
      values,
    ),
  });
  const token = assetOf('0x973bb640', NFT, 7n);
  const matchOf = (leftAsset: unknown, rightAsset: unknown, makers: [Hex, Hex], fills: [bigint, bigint]) =>
    logOf('raribleV2', 'match', {
      leftHash: hash('0c'),
      rightHash: hash('0d'),
      leftMaker: makers[0],
      rightMaker: makers[1],
      newLeftFill: fills[0],
      newRightFill: fills[1],
      leftAsset,
      rightAsset,
    });

  test('a match is a sale with the hash of its left order, and the price is the amount that the order of the seller received', () => {
    const native = assetOf('0xaaaebeba');
    const listing = matchOf(token, native, [SELLER, BUYER], [600n, 2n]);
    const bid = matchOf(assetOf('0x8ae85d84', WRAPPED), token, [BUYER, SELLER], [2n, 600n]);
    assert.deepEqual(factsOf({ logs: [listing] }), [sold('rarible', '600')]);
    assert.deepEqual(factsOf({ logs: [bid] }), [sold('rarible', '600')]);
    const [sale] = salesOfTransaction({ logs: [listing] });
    assert.deepEqual([sale?.fill.orderHash, sale?.fill.offer[0]?.amount], [hash('0c'), 2n]);
  });

  test('a match of a token that is not minted yet, or of two tokens, is ignored', () => {
    const lazy = assetOf('0xd8f960c1', NFT, 7n);
    assert.deepEqual(factsOf({ logs: [matchOf(lazy, assetOf('0xaaaebeba'), [SELLER, BUYER], [6n, 1n])] }), []);
    assert.deepEqual(factsOf({ logs: [matchOf(token, token, [SELLER, BUYER], [1n, 1n])] }), []);
  });
});

describe('0x', () => {
  const filled = (direction: number, changes: Record<string, unknown>) =>
    logOf('zeroExV4', 'erc721OrderFilled', {
      direction,
      maker: SELLER,
      taker: BUYER,
      nonce: 1n,
      erc20Token: '0xeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee',
      erc20TokenAmount: 70n,
      erc721Token: NFT,
      erc721TokenId: 7n,
      matcher: zeroAddress,
      ...changes,
    });

  test('a listing and an accepted bid are sales of an unknown marketplace', () => {
    const bid = { maker: BUYER, taker: SELLER, erc20Token: WRAPPED };
    assert.deepEqual(factsOf({ logs: [filled(0, {})] }), [sold('unknown', '70')]);
    assert.deepEqual(factsOf({ logs: [filled(1, bid)] }), [sold('unknown', '70')]);
  });

  test('two orders that a third account matched are one sale', () => {
    const matcher = STRANGER;
    const logs = [filled(0, { matcher }), filled(1, { maker: BUYER, taker: SELLER, matcher, erc20TokenAmount: 80n })];
    assert.deepEqual(factsOf({ logs }), [sold('unknown', '80')], 'the price is not what the bidder paid');
  });

  test('a sale of several units of an ERC-1155 token has their quantity', () => {
    const { erc721Token, erc721TokenId, erc20TokenAmount, ...rest } = {
      direction: 0,
      maker: SELLER,
      taker: BUYER,
      nonce: 1n,
      erc20Token: DOLLARS,
      erc20TokenAmount: 70n,
      erc721Token: NFT,
      erc721TokenId: 7n,
      matcher: zeroAddress,
    };
    const units = { erc1155Token: erc721Token, erc1155TokenId: erc721TokenId, erc1155FillAmount: 5n };
    const log = logOf('zeroExV4', 'erc1155OrderFilled', { ...rest, ...units, erc20FillAmount: erc20TokenAmount });
    const [sale] = salesOfTransaction({ logs: [log] });
    assert.equal(sale?.facts.price, `70 of ${DOLLARS}`);
    assert.equal(sale?.fill.offer[0]?.amount, 5n);
  });
});

describe('Payment Processor', () => {
  const base = { marketplace: STRANGER, tokenAddress: NFT, paymentCoin: zeroAddress, buyer: BUYER };

  test('version 1: a bought listing is a sale, and so is each filled listing of a sweep', () => {
    const single = { ...base, seller: SELLER, tokenId: 7n, amount: 1n, salePrice: 50n };
    assert.deepEqual(factsOf({ logs: [logOf('paymentProcessorV1', 'buySingleListing', single)] }), [
      sold('unknown', '50'),
    ]);
    const swept = {
      ...base,
      unsuccessfulFills: [false, true, false],
      sellers: [SELLER, STRANGER, SELLER],
      tokenIds: [7n, 8n, 9n],
      salePrices: [10n, 20n, 30n],
    };
    assert.deepEqual(factsOf({ logs: [logOf('paymentProcessorV1', 'sweepCollectionERC721', swept)] }), [
      sold('unknown', '10'),
      sold('unknown', '30', '9'),
    ]);
  });

  test('version 1: each filled token of a bundle is a sale with its own price', () => {
    const lists = { unsuccessfulFills: [false, true, false], tokenIds: [7n, 8n, 9n], salePrices: [10n, 20n, 30n] };
    const bundle = { ...base, seller: SELLER, ...lists };
    const sales = [sold('unknown', '10'), sold('unknown', '30', '9')];
    assert.deepEqual(factsOf({ logs: [logOf('paymentProcessorV1', 'buyBundledListingERC721', bundle)] }), sales);
    const units = { ...bundle, amounts: [2n, 3n, 4n] };
    assert.deepEqual(factsOf({ logs: [logOf('paymentProcessorV1', 'buyBundledListingERC1155', units)] }), sales);
  });

  test('version 2: bought listings and accepted offers are sales whose buyer is the beneficiary', () => {
    const sides = { seller: SELLER, buyer: STRANGER, beneficiary: BUYER };
    const trade = { ...sides, tokenAddress: NFT, paymentCoin: WRAPPED, tokenId: 7n, salePrice: 50n };
    const bought = logOf('paymentProcessorV2', 'buyListingERC721', trade);
    const accepted = logOf('paymentProcessorV2', 'acceptOfferERC1155', { ...trade, amount: 3n });
    assert.deepEqual(factsOf({ logs: [bought] }), [sold('unknown', '50')]);
    assert.deepEqual(factsOf({ logs: [accepted] }), [sold('unknown', '50')]);
  });
});

describe('Sudoswap', () => {
  const FACTORY = '0xa020d57ab0448ef74115c112d18a9c231cc86000';
  const pool = { address: AT.sudoswapV2, factory: FACTORY, contract: NFT, tokenId: null, currency: zeroAddress };
  const pools = [pool] as unknown as TransactionOnChain['pools'] & object;
  const unitsMoved = (from: string, to: string) =>
    encode(
      NFT,
      'event TransferSingle(address indexed operator, address indexed from, address indexed to, uint256 id, uint256 value)',
      { operator: STRANGER, from, to, id: 7n, value: 3n },
    );
  const swap = (name: keyof (typeof EVENTS)['sudoswapV2'], args: Record<string, unknown>) =>
    logOf('sudoswapV2', name, args);

  test('version 2: a pool sells for the amount that the buyer paid, and buys for the amount that the seller received', () => {
    const bought = [
      transferOf(NFT, AT.sudoswapV2, BUYER, 7n),
      swap('swapERC721Out', { amountIn: 110n, ids: [7n] }),
      transferOf(NFT, SELLER, AT.sudoswapV2, 8n),
      swap('swapERC721In', { amountOut: 90n, ids: [8n] }),
    ];
    assert.deepEqual(factsOf({ logs: bought, pools }), [
      { ...sold('sudoswap', '110'), seller: AT.sudoswapV2 },
      { ...sold('sudoswap', '90', '8'), buyer: AT.sudoswapV2 },
    ]);
  });

  test('when a pool buys, buyer and seller are those of the last transfer of the token, even if the pool does not receive the token', () => {
    const logs = [
      transferOf(NFT, SELLER, STRANGER, 7n),
      transferOf(NFT, STRANGER, BUYER, 7n),
      swap('swapERC721In', { amountOut: 90n, ids: [7n] }),
    ];
    assert.deepEqual(factsOf({ logs, pools }), [{ ...sold('sudoswap', '90'), seller: STRANGER }]);
  });

  test('the seller to a pool is the account from which a router received the token in the same transaction', () => {
    const logs = [
      transferOf(NFT, SELLER, STRANGER, 7n),
      transferOf(NFT, STRANGER, AT.sudoswapV2, 7n),
      swap('swapERC721In', { amountOut: 90n, ids: [7n] }),
    ];
    const sale = { ...sold('sudoswap', '90'), buyer: AT.sudoswapV2 };
    assert.deepEqual(factsOf({ logs, pools, sender: SELLER as Address }), [sale]);
  });

  test('version 2: a swap of several tokens is one sale that names no token, and a swap of ERC-1155 units is a sale with their quantity', () => {
    const several = [7n, 8n].map((token) => transferOf(NFT, AT.sudoswapV2, BUYER, token));
    const [bundle] = factsOf({ logs: [...several, swap('swapERC721Out', { amountIn: 200n, ids: [7n, 8n] })], pools });
    assert.deepEqual([bundle?.asset, bundle?.price], [null, '200']);
    const ofUnits = [{ ...pool, tokenId: 7n, currency: DOLLARS }] as unknown as typeof pools;
    const logs = [unitsMoved(AT.sudoswapV2, BUYER), swap('swapERC1155Out', { amountIn: 60n, numNFTs: 3n })];
    const [units] = salesOfTransaction({ logs, pools: ofUnits });
    assert.equal(units?.facts.price, `60 of ${DOLLARS}`);
    assert.equal(units?.fill.offer[0]?.amount, 3n);
  });

  test('a swap is ignored if it has no transfer, if its token is not of the collection of the pool, or if its contract is not a pool', () => {
    const out = swap('swapERC721Out', { amountIn: 110n, ids: [7n] });
    assert.deepEqual(factsOf({ logs: [out], pools }), []);
    assert.deepEqual(factsOf({ logs: [transferOf(STRANGER, AT.sudoswapV2, BUYER, 7n), out], pools }), []);
    assert.deepEqual(factsOf({ logs: [transferOf(NFT, AT.sudoswapV2, BUYER, 7n), out] }), []);
    const earlier: EncodedLog = { ...out, topics: [SUDOSWAP_V1_TOPICS.swapOut] };
    assert.deepEqual(factsOf({ logs: [transferOf(NFT, AT.sudoswapV2, BUYER, 7n), earlier], pools }), []);
  });

  test('a contract is a pool only if its code is a proxy: the code names a factory, and forwards calls to a template of this factory', () => {
    const [v1, v2] = [SUDOSWAP_V1, SUDOSWAP_V2].map(({ pools: events }) => events?.templates ?? assert.fail());
    const template = address('7');
    const templatesOf = (factory: string, templates: typeof v1, getter: string) => ({
      factory: factory as Address,
      byAddress: new Map([[template as Address, templates?.find((one) => one.getter === getter) ?? assert.fail()]]),
    });
    const codeOf = (facts: string, size = facts.length / 2, delegate = template.slice(2)): Hex => {
      const digits = size.toString(16).padStart(2, '0');
      return `0x3d3d3d3d363d3d3760${digits}603536393660${digits}013d73${delegate}5af43d3d93803e603357fd5bf3${facts}`;
    };
    const start = [FACTORY, STRANGER, NFT].map((one) => one.slice(2)).join('') + '02';
    const word = 7n.toString(16).padStart(64, '0');
    const native = templatesOf(FACTORY, v1, 'enumerableETHTemplate()');
    const found = { factory: FACTORY, contract: NFT, tokenId: null, currency: zeroAddress };
    assert.deepEqual(parsePool(codeOf(start), [native]), found);
    const inDollars = templatesOf(FACTORY, v2, 'erc1155ERC20Template()');
    assert.deepEqual(parsePool(codeOf(start + word + DOLLARS.slice(2)), [inDollars]), {
      ...found,
      tokenId: 7n,
      currency: DOLLARS,
    });
    const others: Hex[] = [
      '0x',
      codeOf(start, 81),
      codeOf(`${start}00`),
      codeOf(start, 61, STRANGER.slice(2)),
      codeOf(start.replace(FACTORY.slice(2), STRANGER.slice(2))),
      `${codeOf(start)}00`,
    ];
    for (const code of others) assert.equal(parsePool(code, [native]), null, code);
  });
});
