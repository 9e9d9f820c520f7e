// Tests how the sales of Element, Rarible v1, SuperRare, NFTX, Manifold, Nouns, Zora and the copies of Seaport are decoded. viem encodes the logs and the
// call data according to the published interfaces of the contracts, with invented facts.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { encodeAbiParameters, encodeFunctionData, parseAbi, parseAbiParameters, zeroAddress } from 'viem';
import { listProtocolContracts, toMarketplace } from '../../../../src/sources/chains/protocols/registry.ts';
import type { Chain } from '../../../../src/platform/core/chains.ts';
import { createChains, parseExtraChain } from '../../../../src/platform/core/chains.ts';
import type { Hex } from '../../../../src/platform/core/evm.ts';
import type { EncodedLog } from '../../../support/chain/encoded-logs.ts';
import { AT, EVENTS, encode, logOf, transferOf } from '../../../support/chain/encoded-logs.ts';
import type { TransactionOnChain } from '../../../support/chain/protocol-logs.ts';
import { decodeTransaction, listUnread, salesOfTransaction } from '../../../support/chain/protocol-logs.ts';

const address = (digit: string) => `0x${digit.repeat(40)}` as const;
const hash = (digits: string) => `0x${digits.repeat(32)}` as const;
const [SELLER, BUYER, NFT, DOLLARS, STRANGER, VAULT] = ['a', 'b', 'd', '9', '8', '5'].map(address) as [
  Hex,
  Hex,
  Hex,
  Hex,
  Hex,
  Hex,
];
const ETHEREUM = createChains().get('ethereum') as Chain;
const WRAPPED = '0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2';
const factsOf = (transaction: TransactionOnChain) => salesOfTransaction(transaction).map(({ facts }) => facts);
const quantityOf = (transaction: TransactionOnChain) =>
  salesOfTransaction(transaction).map(({ fill }) =>
    [...fill.offer, ...fill.consideration].filter(({ token }) => token === NFT).map(({ amount }) => amount),
  );
/** The account that made the order of each fill. */
const makersOf = (logs: EncodedLog[]) => salesOfTransaction({ logs }).map(({ fill }) => fill.offerer);
const sold = (marketplace: string, price: string, changes: Record<string, unknown> = {}) => ({
  marketplace,
  contract: NFT,
  asset: '7',
  price,
  seller: SELLER,
  buyer: BUYER,
  ...changes,
});
const unitsOf = (from: string, to: string, id: bigint, value: bigint) =>
  encode(
    NFT,
    'event TransferSingle(address indexed operator, address indexed from, address indexed to, uint256 id, uint256 value)',
    { operator: STRANGER, from, to, id, value },
  );

describe('Element', () => {
  const NATIVE = '0xeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee';
  const order = (changes: Record<string, unknown> = {}) => ({
    orderHash: hash('01'),
    maker: SELLER,
    taker: BUYER,
    nonce: 4n,
    erc20Token: NATIVE,
    erc20TokenAmount: 100n,
    erc20FillAmount: 100n,
    fees: [{ recipient: STRANGER, amount: 3n }],
    erc721Token: NFT,
    erc721TokenId: 7n,
    erc1155Token: NFT,
    erc1155TokenId: 7n,
    erc1155FillAmount: 5n,
    ...changes,
  });
  const bid = { maker: BUYER, taker: SELLER, erc20Token: WRAPPED };

  test('a listing and an accepted bid are sales, in both forms of the events, and the later form includes the fees', () => {
    for (const form of ['', 'First'] as const) {
      for (const standard of ['erc721', 'erc1155'] as const) {
        const listing = { logs: [logOf('element', `${standard}SellOrderFilled${form}`, order())] };
        const accepted = { logs: [logOf('element', `${standard}BuyOrderFilled${form}`, order(bid))] };
        assert.deepEqual(factsOf(listing), [sold('element', '100')]);
        assert.deepEqual(factsOf(accepted), [sold('element', '100')]);
        assert.deepEqual(quantityOf(listing), [[standard === 'erc721' ? 1n : 5n]]);
        assert.deepEqual(quantityOf(accepted), [[standard === 'erc721' ? 1n : 5n]]);
      }
    }
  });

  test('only the first form has a hash that no other order has', () => {
    const hashOf = (log: EncodedLog) => salesOfTransaction({ logs: [log] })[0]?.fill.orderHash;
    assert.equal(hashOf(logOf('element', 'erc721SellOrderFilledFirst', order())), hash('01'));
    assert.equal(hashOf(logOf('element', 'erc1155SellOrderFilledFirst', order())), hash('01'));
    assert.notEqual(hashOf(logOf('element', 'erc721SellOrderFilled', order())), hash('01'));
  });

  const SIGNED = parseAbiParameters(
    '(address maker, address taker, uint256 expiry, uint256 nonce, address erc20Token, uint256 erc20TokenAmount, (address recipient, uint256 amount, bytes feeData)[] fees, address nft, uint256 nftId)',
  );
  const callDataOf = (changes: Record<string, unknown> = {}): Hex => {
    const fees = [2n, 9n].map((amount) => ({ recipient: STRANGER, amount, feeData: '0x1234' as const }));
    const signed = { taker: zeroAddress, expiry: 9n, nonce: 4n, fees, nft: NFT, nftId: 7n };
    const values = { maker: SELLER, erc20Token: NATIVE, erc20TokenAmount: 100n, ...signed, ...changes };
    // The selector and the arguments of an aggregator are before the order.
    return `0x12345678abcd${encodeAbiParameters(SIGNED, [values] as never).slice(2)}`;
  };

  test('the fees of an order in the first form are read from the call data, even of an aggregator', () => {
    const logs = [logOf('element', 'erc721SellOrderFilledFirst', order())];
    assert.deepEqual(factsOf({ logs, callData: callDataOf() }), [sold('element', '111')]);
    const accepted = [logOf('element', 'erc721BuyOrderFilledFirst', order(bid))];
    const bidCall = callDataOf({ maker: BUYER, erc20Token: WRAPPED, nftId: 0n });
    assert.deepEqual(factsOf({ logs: accepted, callData: bidCall }), [sold('element', '111')]);
  });

  test('fees of another order are not added, nor those that the later form includes', () => {
    const logs = [logOf('element', 'erc721SellOrderFilledFirst', order())];
    for (const other of [{ maker: STRANGER }, { nft: DOLLARS }, { nftId: 8n }, { erc20TokenAmount: 99n }]) {
      assert.deepEqual(factsOf({ logs, callData: callDataOf(other) }), [sold('element', '100')]);
    }
    const later = [logOf('element', 'erc721SellOrderFilled', order({ erc20TokenAmount: 111n }))];
    assert.deepEqual(factsOf({ logs: later, callData: callDataOf() }), [sold('element', '111')]);
    assert.deepEqual(factsOf({ logs, callData: callDataOf().slice(0, 700) as Hex }), [sold('element', '100')]);
  });

  test('two orders that were matched with each other are one sale, for what the bidder paid', () => {
    for (const form of ['', 'First'] as const) {
      for (const standard of ['erc721', 'erc1155'] as const) {
        const matched = [
          logOf('element', `${standard}SellOrderFilled${form}`, order({ erc20TokenAmount: 90n, erc20FillAmount: 90n })),
          logOf('element', `${standard}BuyOrderFilled${form}`, order(bid)),
        ];
        assert.deepEqual(factsOf({ logs: matched }), [sold('element', '100')]);
        const [ask = assert.fail(), accepted = assert.fail()] = matched;
        // The buyer sold the token back to the seller, and the seller accepted the bid of the buyer.
        const others = [ask, transferOf(NFT, BUYER, SELLER, 7n), accepted];
        assert.equal(factsOf({ logs: others }).length, 2);
      }
    }
    const other = logOf('element', 'erc721BuyOrderFilled', order({ ...bid, erc721TokenId: 8n }));
    assert.equal(factsOf({ logs: [logOf('element', 'erc721SellOrderFilled', order()), other] }).length, 2);
  });

  test('a cancelled order is decoded as a cancelled nonce', () => {
    const logs = [
      logOf('element', 'erc721OrderCancelled', { maker: SELLER, nonce: 3n }),
      logOf('element', 'erc1155OrderCancelled', { maker: SELLER, nonce: 5n }),
    ];
    assert.deepEqual(
      decodeTransaction({ logs }).map((event) => event.kind === 'nonce-cancelled' && [event.offerer, event.nonce]),
      [3n, 5n].map((nonce) => [SELLER, nonce]),
    );
  });

  test('the exchange of each chain is read, also on a chain of EXTRA_CHAIN, with its marketplace', () => {
    const optimism = parseExtraChain('optimism:evm:ETH:18:10');
    assert.ok(optimism);
    const contracts = listProtocolContracts(optimism, new Map());
    const [exchange] = [...contracts].find(([, { name }]) => name === 'element') ?? [];
    assert.equal(exchange, '0x2317d8b224328644759319dffa2a5da77c72e0e9');
    const base = {
      chain: 'base',
      logs: [logOf('element', 'erc721SellOrderFilled', order(), '0xa39a5f160a1952ddf38781bd76e402b0006912a9')],
    };
    const [sale] = salesOfTransaction(base);
    assert.ok(sale && exchange);
    assert.equal(sale.facts.marketplace, 'element');
    assert.equal(toMarketplace([{ ...sale.fill, protocol: exchange }]), 'element');
  });
});

describe('Rarible v1', () => {
  const bought = (changes: Record<string, unknown> = {}) =>
    logOf('raribleV1', 'buy', {
      sellToken: NFT,
      sellTokenId: 7n,
      sellValue: 10n,
      owner: SELLER,
      buyToken: zeroAddress,
      buyTokenId: 0n,
      buyValue: 1_000n,
      buyer: BUYER,
      amount: 2n,
      salt: 5n,
      ...changes,
    });
  const bid = { sellToken: WRAPPED, sellTokenId: 0n, sellValue: 1_000n, buyToken: NFT, buyTokenId: 7n, buyValue: 10n };
  const accepted = bought({ ...bid, owner: BUYER, buyer: SELLER, amount: 200n });
  const moved = unitsOf(SELLER, BUYER, 7n, 2n);
  const abi = parseAbi([
    'struct Asset { address token; uint256 tokenId; uint8 assetType; }',
    'struct OrderKey { address owner; uint256 salt; Asset sellAsset; Asset buyAsset; }',
    'struct Order { OrderKey key; uint256 selling; uint256 buying; uint256 sellerFee; }',
    'struct Sig { uint8 v; bytes32 r; bytes32 s; }',
    'function exchange(Order order, Sig sig, uint256 buyerFee, Sig buyerFeeSig, uint256 amount, address buyer) payable',
  ]);
  const sig = { v: 27, r: hash('01'), s: hash('02') };
  const asset = (token: Hex, tokenId: bigint, assetType: number) => ({ token, tokenId, assetType });
  const callOf = (owner: Hex, isBid: boolean, amount: bigint): Hex => {
    const [nft, money] = [asset(NFT, 7n, 2), isBid ? asset(WRAPPED, 0n, 1) : asset(zeroAddress, 0n, 0)];
    const key = { owner, salt: 5n, sellAsset: isBid ? money : nft, buyAsset: isBid ? nft : money };
    const [selling, buying] = isBid ? [1_000n, 10n] : [10n, 1_000n];
    const args = [{ key, selling, buying, sellerFee: 1_000n }, sig, 250n, sig, amount, zeroAddress] as const;
    return `0x12345678${encodeFunctionData({ abi, functionName: 'exchange', args }).slice(2)}`;
  };

  test('the price is the part of the order that was exchanged, and the token of a bid is the one that moved', () => {
    assert.deepEqual(factsOf({ logs: [moved, bought()] }), [sold('rarible', '200')]);
    assert.deepEqual(factsOf({ logs: [moved, accepted] }), [sold('rarible', '200')]);
    for (const log of [bought(), accepted]) assert.deepEqual(quantityOf({ logs: [moved, log] }), [[2n]]);
    const inDollars = bought({ buyToken: DOLLARS });
    assert.deepEqual(factsOf({ logs: [moved, inDollars] }), [sold('rarible', `200 of ${DOLLARS}`)]);
  });

  test('the fee of the buyer is read from the call data, even of an aggregator: of the taker of a listing, of the maker of a bid', () => {
    assert.deepEqual(factsOf({ logs: [moved, bought()], callData: callOf(SELLER, false, 2n) }), [
      sold('rarible', '205'),
    ]);
    assert.deepEqual(factsOf({ logs: [moved, accepted], callData: callOf(BUYER, true, 200n) }), [
      sold('rarible', '220'),
    ]);
    for (const other of [
      callOf(STRANGER, false, 2n),
      callOf(SELLER, false, 3n),
      callOf(SELLER, false, 2n).slice(0, 900),
    ]) {
      assert.deepEqual(factsOf({ logs: [moved, bought()], callData: other as Hex }), [sold('rarible', '200')]);
    }
  });

  test('an exchange of two tokens is no sale, and an exchange whose token is not in the logs is counted', () => {
    const swap = bought({ buyToken: DOLLARS, buyTokenId: 3n });
    const logs = [moved, transferOf(DOLLARS, BUYER, SELLER, 3n), swap];
    assert.deepEqual([factsOf({ logs }), listUnread({ logs })], [[], []]);
    assert.deepEqual(listUnread({ logs: [bought({ buyToken: DOLLARS })] }), ['an exchange without a token']);
  });
});

describe('SuperRare', () => {
  const [TOKEN, MARKET, FIRST_MARKET, AUCTION_HOUSE] = [
    '0x41a322b28d0ff354040e2cbc676f0320d8c8850d',
    '0x65b49f7aee40347f5a90b714be4ef086f3fe5e2c',
    '0x2947f98c42597966a0ec25e92843c09ac17fbaa7',
    '0x8c9f364bf7a56ed058fc63ef81c6cf09c833e656',
  ];
  const sale = (changes: Record<string, unknown> = {}) => ({
    _originContract: NFT,
    _contractAddress: NFT,
    _buyer: BUYER,
    _bidder: BUYER,
    _seller: SELLER,
    _currencyAddress: zeroAddress,
    _amount: 100n,
    _tokenId: 7n,
    _splitAddresses: [SELLER],
    _splitRatios: [100],
    ...changes,
  });

  test('listings, bids and auctions of each contract are sales', () => {
    const logs = {
      market: logOf('superRare', 'sold', sale(), MARKET),
      firstMarket: logOf('superRare', 'bidAccepted', sale(), FIRST_MARKET),
      auctionHouse: logOf('superRare', 'auctionSettled', sale(), AUCTION_HOUSE),
      bazaar: logOf('superRare', 'bazaarSold', sale()),
      offer: logOf('superRare', 'bazaarOfferAccepted', sale()),
      auction: logOf('superRare', 'bazaarAuctionSettled', sale()),
    };
    for (const [name, log] of Object.entries(logs)) {
      assert.deepEqual(factsOf({ logs: [log] }), [sold('superrare', '100')], name);
    }
    assert.deepEqual(
      Object.values(logs).flatMap((log) => makersOf([log])),
      [SELLER, BUYER, SELLER, SELLER, BUYER, SELLER],
    );
  });

  test('the bazaar names the currency', () => {
    const inDollars = sale({ _currencyAddress: DOLLARS });
    for (const name of ['bazaarSold', 'bazaarOfferAccepted', 'bazaarAuctionSettled'] as const) {
      const logs = [logOf('superRare', name, inDollars)];
      assert.deepEqual(factsOf({ logs }), [sold('superrare', `100 of ${DOLLARS}`)], name);
    }
  });

  test('an auction without a bid is no sale', () => {
    const nobody = sale({ _bidder: zeroAddress, _amount: 0n });
    const logs = [
      logOf('superRare', 'auctionSettled', nobody, AUCTION_HOUSE),
      logOf('superRare', 'bazaarAuctionSettled', nobody),
    ];
    assert.deepEqual([factsOf({ logs }), listUnread({ logs })], [[], []]);
  });

  test('the first token contract is its own market, and its transfers have the token id in their data', () => {
    const moved = logOf('superRare', 'tokenTransfer', { _from: SELLER, _to: BUYER, _tokenId: 7n }, TOKEN);
    for (const name of ['tokenSold', 'tokenBidAccepted'] as const) {
      const logs = [moved, logOf('superRare', name, sale(), TOKEN)];
      assert.deepEqual(factsOf({ logs }), [sold('superrare', '100', { contract: TOKEN })], name);
      assert.deepEqual(
        decodeTransaction({ logs }).flatMap((event) =>
          event.kind === 'transfer' ? [[event.tokenId, event.from, event.to]] : [],
        ),
        [['7', SELLER, BUYER]],
      );
    }
  });
});

describe('NFTX', () => {
  const ZAP_OF_ZEROEX = '0x941a6d105802cccaa06de58a13a6f49ebdcd481c';
  const redeemed = [transferOf(NFT, VAULT, BUYER, 7n), transferOf(NFT, VAULT, BUYER, 8n)];
  const buyV2 = (count: bigint, at: string = AT.nftxV2) =>
    logOf('nftxV2', 'buy', { count, ethSpent: 100n, to: BUYER }, at);
  const buyV3 = (nftIds: bigint[]) =>
    logOf('nftxV3', 'buy', { vaultId: 3n, nftIds, ethSpent: 100n, to: BUYER, netRoyaltyAmount: 5n });
  const sellV2 = (count: bigint, ethReceived = 100n, at: string = AT.nftxV2) =>
    logOf('nftxV2', 'sell', { count, ethReceived, to: SELLER }, at);
  const sellV3 = (count: bigint) =>
    logOf('nftxV3', 'sell', { vaultId: 3n, count, ethReceived: 90n, to: SELLER, netRoyaltyAmount: 7n, wethFees: 3n });
  const fromVault = { seller: VAULT };
  const toVault = { buyer: VAULT };

  test('a redemption for native currency is a sale of the vault, and of several tokens one sale', () => {
    for (const buy of [buyV2(1n), buyV3([7n])]) {
      assert.deepEqual(factsOf({ logs: [redeemed[0] as EncodedLog, buy] }), [sold('nftx', '100', fromVault)]);
      assert.deepEqual(makersOf([redeemed[0] as EncodedLog, buy]), [VAULT]);
    }
    for (const buy of [buyV2(2n), buyV3([8n, 7n])]) {
      assert.deepEqual(factsOf({ logs: [...redeemed, buy] }), [sold('nftx', '100', { ...fromVault, asset: null })]);
    }
  });

  test('a redemption of many tokens is one sale', () => {
    const moved = Array.from({ length: 20 }, (_, index) => transferOf(NFT, VAULT, BUYER, BigInt(index)));
    assert.deepEqual(factsOf({ logs: [...moved, buyV2(20n)] }), [sold('nftx', '100', { ...fromVault, asset: null })]);
  });

  test('units of ERC-1155 have their quantity', () => {
    const logs = [unitsOf(VAULT, BUYER, 7n, 1n), unitsOf(VAULT, BUYER, 7n, 1n)];
    for (const buy of [buyV2(2n), buyV3([7n, 7n])]) {
      assert.deepEqual(factsOf({ logs: [...logs, buy] }), [sold('nftx', '100', fromVault)]);
      assert.deepEqual(quantityOf({ logs: [...logs, buy] }), [[1n, 1n]]);
    }
    const through = [unitsOf(SELLER, AT.nftxV2, 7n, 3n), unitsOf(AT.nftxV2, VAULT, 7n, 3n), sellV2(3n)];
    assert.deepEqual(factsOf({ logs: through }), [sold('nftx', '100', toVault)]);
    assert.deepEqual(quantityOf({ logs: through }), [[3n]]);
  });

  test('a deposit for native currency is a sale to the vault, in version 3 for the price with royalties and fees', () => {
    const deposited = transferOf(NFT, SELLER, VAULT, 7n);
    for (const sell of [sellV2(1n), sellV3(1n)]) {
      assert.deepEqual(factsOf({ logs: [deposited, sell] }), [sold('nftx', '100', toVault)]);
      assert.deepEqual(makersOf([deposited, sell]), [VAULT]);
    }
    const both = [deposited, transferOf(NFT, SELLER, VAULT, 8n), sellV3(2n)];
    assert.deepEqual(factsOf({ logs: both }), [sold('nftx', '100', { ...toVault, asset: null })]);
  });

  test('the price is unknown where a zap reports another amount: of vault tokens, or of units', () => {
    const [redemption, deposit] = [redeemed[0] as EncodedLog, transferOf(NFT, SELLER, VAULT, 7n)];
    const unknown = [{ price: 'unknown' }];
    const priceOf = (logs: EncodedLog[]) => factsOf({ logs }).map(({ price }) => ({ price }));
    assert.deepEqual(priceOf([redemption, buyV2(1n, ZAP_OF_ZEROEX)]), unknown);
    assert.deepEqual(priceOf([deposit, sellV2(1n, 1n)]), unknown);
    assert.deepEqual(priceOf([deposit, sellV2(1n, 100n, ZAP_OF_ZEROEX)]), [{ price: '100' }]);
  });

  test('each of two redemptions in one transaction is the sale of its own token', () => {
    const logs = [redeemed[0] as EncodedLog, buyV2(1n), redeemed[1] as EncodedLog, buyV2(1n)];
    assert.deepEqual(
      factsOf({ logs }).map(({ asset }) => asset),
      ['7', '8'],
    );
  });

  test('a sale whose tokens are not all in the logs is counted', () => {
    const other = transferOf(NFT, STRANGER, BUYER, 9n);
    const far = Array.from({ length: 7 }, () => transferOf(NFT, STRANGER, STRANGER, 1n));
    for (const logs of [
      [redeemed[0] as EncodedLog, buyV2(2n)],
      [other, buyV3([7n])],
      [other, ...far, buyV2(1n)],
      [transferOf(NFT, STRANGER, SELLER, 9n), sellV3(1n)],
      [transferOf(NFT, SELLER, VAULT, 7n), sellV2(2n)],
    ]) {
      assert.deepEqual(factsOf({ logs }), []);
      assert.deepEqual(listUnread({ logs }), ['the tokens of a vault are not all in the logs']);
    }
  });

  test('events of the vaults and swaps are not requested, because they have no price', () => {
    const topics = [...listProtocolContracts(ETHEREUM, new Map()).values()].flatMap(({ name, decoders }) =>
      name.startsWith('nftx') ? [...decoders.keys()] : [],
    );
    assert.equal(new Set(topics).size, Object.keys(EVENTS.nftxV2).length + Object.keys(EVENTS.nftxV3).length);
  });
});

describe('Manifold', () => {
  const purchased = (changes: Record<string, unknown> = {}) =>
    logOf('manifold', 'purchase', {
      listingId: 3,
      referrer: STRANGER,
      buyer: BUYER,
      count: 1,
      amount: 100n,
      ...changes,
    });
  const held = transferOf(NFT, AT.manifold, BUYER, 7n);
  const unnamed = { seller: null };

  test('a purchase is a sale in native currency if the transaction carries its price', () => {
    const logs = [held, purchased()];
    assert.deepEqual(factsOf({ logs, callData: '0x', value: '100' }), [sold('manifold', '100', unnamed)]);
    assert.deepEqual(factsOf({ logs, callData: '0x', value: '130' }), [sold('manifold', '100', unnamed)]);
    for (const value of ['99', '0', null]) {
      assert.deepEqual(factsOf({ logs, callData: '0x', value }), [sold('manifold', 'unknown', unnamed)]);
    }
  });

  test('the marketplace, which held the token, and the zero address, which minted it, are no sellers', () => {
    const minted = transferOf(NFT, zeroAddress, BUYER, 7n);
    for (const moved of [held, minted]) {
      assert.deepEqual(factsOf({ logs: [moved, purchased()], callData: '0x', value: '100' }), [
        sold('manifold', '100', unnamed),
      ]);
    }
  });

  test('the last receiver is the buyer, and units have their quantity', () => {
    const logs = [unitsOf(AT.manifold, STRANGER, 7n, 4n), purchased({ buyer: STRANGER, count: 2 })];
    const sentOn = [...logs, unitsOf(STRANGER, BUYER, 7n, 4n)];
    const transaction = { logs: sentOn, sender: BUYER as never, callData: '0x' as const, value: '100' };
    assert.deepEqual(factsOf(transaction), [sold('manifold', '100', unnamed)]);
    assert.deepEqual(quantityOf(transaction), [[4n]]);
  });

  test('an accepted offer is a sale whose price is not known', () => {
    const accepted = logOf('manifold', 'offerAccepted', { listingId: 3, oferrer: BUYER, amount: 100n });
    assert.deepEqual(factsOf({ logs: [held, accepted], callData: '0x', value: '0' }), [
      sold('manifold', 'unknown', unnamed),
    ]);
  });

  test('a finalized auction, and a purchase without a token, are counted', () => {
    const finalized = logOf('manifold', 'listingFinalized', { listingId: 3 });
    assert.deepEqual(listUnread({ logs: [held, finalized] }), ['an auction without its bid']);
    assert.deepEqual(listUnread({ logs: [transferOf(NFT, STRANGER, BUYER, 7n), purchased()] }), [
      'a listing without a token',
    ]);
  });
});

describe('Nouns', () => {
  const settled = (winner: string, nounId = 7n) => logOf('nouns', 'auctionSettled', { nounId, winner, amount: 100n });
  const sent = transferOf(NFT, AT.nouns, BUYER, 7n);

  test('a settled auction is a sale by the auction house, of the token that it sends', () => {
    const next = transferOf(NFT, zeroAddress, AT.nouns, 8n);
    const logs = [sent, settled(BUYER), next];
    assert.deepEqual(factsOf({ logs }), [sold('nouns', '100', { seller: AT.nouns })]);
    assert.deepEqual(makersOf(logs), [AT.nouns]);
  });

  test('an auction without a bid is no sale, and an auction without its token is counted', () => {
    const burnt = { logs: [transferOf(NFT, AT.nouns, zeroAddress, 7n), settled(zeroAddress)] };
    assert.deepEqual([factsOf(burnt), listUnread(burnt)], [[], []]);
    for (const logs of [[settled(BUYER)], [sent, settled(BUYER, 8n)], [sent, settled(STRANGER)]]) {
      assert.deepEqual([factsOf({ logs }), listUnread({ logs })], [[], ['an auction without a token']]);
    }
  });
});

describe('Zora', () => {
  const MEDIA = '0xabefbc9fd2f806065b4f3c237d4b59d9a97bcac7';
  const AUCTION_HOUSE = '0xe468ce99444174bd3bbbed09209577d25d1ad673';
  const finalized = (changes: Record<string, unknown>) => {
    const bid = { amount: 100n, currency: WRAPPED, bidder: BUYER, recipient: BUYER, sellOnShare: { value: 5n } };
    return logOf('zoraV1', 'bidFinalized', { tokenId: 7n, bid: { ...bid, ...changes } });
  };
  const ended = (tokenContract: string, changes: Record<string, unknown> = {}) =>
    logOf(
      'zoraV1',
      'auctionEnded',
      {
        auctionId: 3n,
        tokenId: 7n,
        tokenContract,
        tokenOwner: SELLER,
        curator: STRANGER,
        winner: BUYER,
        amount: 70n,
        curatorFee: 10n,
        auctionCurrency: WRAPPED,
        ...changes,
      },
      AUCTION_HOUSE,
    );
  const ofMedia = { contract: MEDIA };

  test('version 1: a finalized bid is a sale by the sender of the token to the recipient of the bid', () => {
    const logs = [transferOf(MEDIA, SELLER, BUYER, 7n), finalized({ bidder: STRANGER })];
    assert.deepEqual(factsOf({ logs }), [sold('zora', '100', ofMedia)]);
    assert.deepEqual(factsOf({ logs: [logs[0] as EncodedLog, finalized({ currency: DOLLARS })] }), [
      sold('zora', `100 of ${DOLLARS}`, ofMedia),
    ]);
  });

  test('version 2: the price of an auction is what the seller and the curator receive', () => {
    const logs = [transferOf(NFT, AUCTION_HOUSE, BUYER, 7n), ended(NFT)];
    assert.deepEqual(factsOf({ logs }), [sold('zora', '80')]);
    assert.deepEqual(makersOf(logs), [SELLER]);
  });

  test('version 2: an auction that the market of version 1 settles is one sale, with the full price of its bid', () => {
    const moved = transferOf(MEDIA, AUCTION_HOUSE, BUYER, 7n);
    const bid = finalized({ bidder: AUCTION_HOUSE });
    assert.deepEqual(factsOf({ logs: [moved, bid, ended(MEDIA)] }), [sold('zora', '100', ofMedia)]);
    assert.deepEqual(factsOf({ logs: [moved, bid, ended(NFT)] }), [sold('zora', '80')], 'a bid for another token');
  });

  const token = { tokenContract: NFT, tokenId: 7n };

  test('version 3: asks, private asks and offers are sales', () => {
    const offer = { maker: BUYER, currency: DOLLARS, findersFeeBps: 5, amount: 100n };
    const sale = { ...token, buyer: BUYER, seller: SELLER, price: 100n };
    const logs = {
      ask: logOf('zoraV3', 'nativeAskFilled', sale),
      privateAsk: logOf('zoraV3', 'privateAskFilled', { ...token, ask: sale }),
    };
    for (const [name, log] of Object.entries(logs)) {
      assert.deepEqual(factsOf({ logs: [log] }), [sold('zora', '100')], name);
    }
    const terms = { askCurrency: DOLLARS, findersFeeBps: 5, askPrice: 100n };
    const ask = { seller: SELLER, sellerFundsRecipient: STRANGER, ...terms };
    const filled = logOf('zoraV3', 'askFilled', { ...token, buyer: BUYER, finder: STRANGER, ask });
    assert.deepEqual(factsOf({ logs: [filled] }), [sold('zora', `100 of ${DOLLARS}`)]);
    const accepted = logOf('zoraV3', 'offerFilled', { ...token, id: 1n, taker: SELLER, finder: STRANGER, offer });
    assert.deepEqual(factsOf({ logs: [accepted] }), [sold('zora', `100 of ${DOLLARS}`)]);
    assert.deepEqual(
      [filled, accepted].flatMap((log) => makersOf([log])),
      [SELLER, BUYER],
    );
  });

  test('version 3: the highest bid is the price of an auction, in each form of the event', () => {
    const auction = {
      seller: SELLER,
      reservePrice: 1n,
      sellerFundsRecipient: STRANGER,
      highestBid: 100n,
      highestBidder: BUYER,
      duration: 2n,
      startTime: 3n,
      firstBidTime: 4n,
      finder: STRANGER,
      findersFeeBps: 6,
      currency: DOLLARS,
    };
    const forms = { auctionEnded: '100', auctionWithFeeEnded: '100' };
    const erc20 = { erc20AuctionEnded: `100 of ${DOLLARS}`, erc20AuctionWithFeeEnded: `100 of ${DOLLARS}` };
    for (const [name, price] of Object.entries({ ...forms, ...erc20 })) {
      const log = logOf('zoraV3', name as keyof typeof EVENTS.zoraV3, { ...token, auction });
      assert.deepEqual(factsOf({ logs: [log] }), [sold('zora', price)], name);
    }
  });
});

describe('the copies of Seaport', () => {
  const fillAt = (contract: string) =>
    logOf(
      'seaport',
      'orderFulfilled',
      {
        orderHash: hash('03'),
        offerer: SELLER,
        zone: zeroAddress,
        recipient: BUYER,
        offer: [{ itemType: 2, token: NFT, identifier: 7n, amount: 1n }],
        consideration: [95n, 5n].map((amount) => ({
          itemType: 0,
          token: zeroAddress,
          identifier: 0n,
          amount,
          recipient: STRANGER,
        })),
      },
      contract,
    );

  test('a fill is a sale of the marketplace that runs the copy', () => {
    const copies = [
      ['ethereum', '0x83746de31fc8de985ffe46c1c20ea6d7d8f4ed3a', 'alienswap'],
      ['base', '0x878dd5e0c3dedfebff67046bb218fb03c26e3e47', 'alienswap'],
      ['polygon', '0xaaaaaaaa33d3520a2266ce508bc079fcfe82c8e3', 'mooar'],
      ['polygon', '0xcbbecf690e030d096794f7685a1bf4a58378a575', 'oneplanet'],
    ] as const;
    for (const [chain, contract, marketplace] of copies) {
      assert.deepEqual(factsOf({ chain, logs: [fillAt(contract)] }), [sold(marketplace, '100')], contract);
    }
  });

  test('a log that cannot be decoded is left out, because own orders cannot be signed for a copy', () => {
    for (const { name, settlesOwnOrders } of listProtocolContracts(ETHEREUM, new Map()).values()) {
      assert.equal(settlesOwnOrders, name === 'seaport', name);
    }
  });
});
