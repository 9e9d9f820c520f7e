// Receipts of Seaport and of its copies.

import type { Hex } from 'viem';
import type { EncodedLog } from '../../support/chain/encoded-logs.ts';
import { AT, logOf } from '../../support/chain/encoded-logs.ts';
import type { Scenario } from './scenario.ts';
import {
  account,
  AGGREGATOR,
  BUYER,
  CREATOR,
  DOLLARS,
  ether,
  hashOf,
  moved,
  movedUnits,
  OPENSEA_FEES,
  paid,
  scenariosOf,
  SELLER,
  STRANGER,
  tagOf,
  tokensOf,
  unitsOf,
  WRAPPED,
  ZERO,
} from './scenario.ts';

type Item = { itemType: number; token: Hex; identifier: bigint; amount: bigint; recipient?: Hex };

const [TOKENS, UNITS] = [tokensOf('seaport'), unitsOf('seaport')];
const VERSION_1_1 = '0x00000000006c3852cbef3e08e8df289169ede581';
const VERSION_1_4 = '0x00000000000001ad428e4906ae43d8f9852d0dd6';
const VERSION_1_5 = '0x00000000000000adc04c56bf30ac9d3c0aaf14dc';
const STOREFRONT = '0x495f947276749ce646f68ac8c248420045cb7b5e';
const ADAPTER = '0xa604060890923ff400e8c6f5290461a83aedacec';

const nft = (identifier: bigint, token = TOKENS): Item => ({ itemType: 2, token, identifier, amount: 1n });
const units = (identifier: bigint, amount: bigint, token = UNITS): Item => ({ itemType: 3, token, identifier, amount });
const native = (amount: bigint): Item => ({ itemType: 0, token: ZERO, identifier: 0n, amount });
const erc20 = (amount: bigint, token = WRAPPED): Item => ({ itemType: 1, token, identifier: 0n, amount });
const to = (recipient: Hex, item: Item): Item => ({ ...item, recipient });

type Fill = { hash?: string; offerer?: Hex; recipient?: Hex; offer: Item[]; consideration: Item[]; at?: string };

function filled({
  hash = 'order',
  offerer = SELLER,
  recipient = BUYER,
  offer,
  consideration,
  at = AT.seaport,
}: Fill): EncodedLog {
  const fields = { orderHash: hashOf(hash), offerer, zone: ZERO, recipient, offer, consideration };
  return logOf('seaport', 'orderFulfilled', fields, at);
}

const matched = (hashes: string[], at: string = AT.seaport) =>
  logOf('seaport', 'ordersMatched', { orderHashes: hashes.map(hashOf) }, at);

const scenario = scenariosOf('seaport', 'opensea');
const OPENSEA = `0xfb0f3ee1${tagOf('opensea.io')}`;
/** A listing of 1 ETH: of which 0.025 are the fee of the marketplace, and 0.05 the royalty. */
const shares = (asset: (amount: bigint) => Item = native) => [
  to(SELLER, asset(ether(925))),
  to(OPENSEA_FEES, asset(ether(25))),
  to(CREATOR, asset(ether(50))),
];

/** A bid of 1 WETH. The seller receives what is left after the fees. */
const bidOf = (hash: string, token: Item, at?: string): EncodedLog =>
  filled({
    hash,
    offerer: BUYER,
    recipient: at === VERSION_1_1 ? ZERO : SELLER,
    offer: [erc20(ether(1_000))],
    consideration: [to(BUYER, token), to(OPENSEA_FEES, erc20(ether(25))), to(CREATOR, erc20(ether(50)))],
    ...(at && { at }),
  });
const mirrorOf = (hash: string, token: Item, at?: string): EncodedLog =>
  filled({
    hash,
    recipient: at === VERSION_1_1 ? ZERO : SELLER,
    offer: [token],
    consideration: [to(SELLER, erc20(ether(925)))],
    ...(at && { at }),
  });

export const SEAPORT_SCENARIOS: readonly Scenario[] = [
  scenario(
    'a listing with fees, marked in the call data',
    {
      input: OPENSEA,
      value: ether(1_000),
      logs: [filled({ offer: [nft(7n)], consideration: shares() }), moved(TOKENS, SELLER, BUYER, 7n)],
    },
    { price: ether(1_000) },
  ),
  scenario(
    'a listing of 1.4 whose marketplace is that of the fee account',
    {
      logs: [moved(TOKENS, SELLER, BUYER, 8n), filled({ offer: [nft(8n)], consideration: shares(), at: VERSION_1_4 })],
    },
    { id: 8n, price: ether(1_000) },
  ),
  scenario(
    'a listing of 1.5 without a mark',
    {
      logs: [
        moved(TOKENS, SELLER, BUYER, 9n),
        filled({ offer: [nft(9n)], consideration: [to(SELLER, native(ether(700)))], at: VERSION_1_5 }),
      ],
    },
    { id: 9n, price: ether(700), marketplace: 'unknown' },
  ),
  scenario(
    'two listings bought through an aggregator',
    {
      input: `0x9a2b8115${tagOf('gem.xyz')}`,
      value: ether(2_000),
      logs: [10n, 11n].flatMap((id) => [
        filled({ hash: `swept ${id}`, recipient: AGGREGATOR, offer: [nft(id)], consideration: shares() }),
        moved(TOKENS, SELLER, AGGREGATOR, id),
        moved(TOKENS, AGGREGATOR, BUYER, id),
      ]),
    },
    { id: 10n, price: ether(1_000), marketplace: 'gem' },
    { id: 11n, price: ether(1_000), marketplace: 'gem' },
  ),
  scenario(
    'a bid that the seller fulfils',
    {
      from: SELLER,
      input: OPENSEA,
      logs: [
        bidOf('bid', nft(12n)),
        paid(BUYER, SELLER, ether(1_000)),
        moved(TOKENS, SELLER, BUYER, 12n),
        paid(SELLER, OPENSEA_FEES, ether(25)),
        paid(SELLER, CREATOR, ether(50)),
      ],
    },
    { id: 12n, price: ether(1_000) },
  ),
  scenario(
    'a bid that an aggregator fulfils for the seller',
    {
      from: SELLER,
      logs: [
        moved(TOKENS, SELLER, AGGREGATOR, 13n),
        filled({
          offerer: BUYER,
          recipient: AGGREGATOR,
          offer: [erc20(ether(400))],
          consideration: [to(BUYER, nft(13n)), to(OPENSEA_FEES, erc20(ether(10)))],
        }),
        moved(TOKENS, AGGREGATOR, BUYER, 13n),
      ],
    },
    { id: 13n, price: ether(400) },
  ),
  ...[VERSION_1_4, VERSION_1_5, AT.seaport].map((at, index) =>
    scenario(
      `matched orders cost what the bidder paid, at ${at}`,
      {
        from: SELLER,
        logs: [
          matched([`bid ${at}`, `mirror ${at}`], at),
          bidOf(`bid ${at}`, nft(20n + BigInt(index)), at),
          mirrorOf(`mirror ${at}`, nft(20n + BigInt(index)), at),
          moved(TOKENS, SELLER, BUYER, 20n + BigInt(index)),
          paid(BUYER, SELLER, ether(925)),
        ],
      },
      { id: 20n + BigInt(index), price: ether(1_000) },
    ),
  ),
  scenario(
    'a bid that an aggregator matches with an order of its own, for the seller',
    {
      from: SELLER,
      logs: [
        moved(TOKENS, SELLER, AGGREGATOR, 24n),
        matched(['bid for 24', 'order of the aggregator']),
        bidOf('bid for 24', nft(24n)),
        filled({
          hash: 'order of the aggregator',
          offerer: AGGREGATOR,
          recipient: AGGREGATOR,
          offer: [nft(24n)],
          consideration: [to(AGGREGATOR, erc20(ether(925)))],
        }),
        moved(TOKENS, AGGREGATOR, BUYER, 24n),
      ],
    },
    { id: 24n, price: ether(1_000) },
  ),
  scenario(
    'matched orders of 1.1, whose events name no recipient',
    {
      from: STRANGER,
      logs: [
        mirrorOf('mirror 1.1', nft(25n), VERSION_1_1),
        bidOf('bid 1.1', nft(25n), VERSION_1_1),
        moved(TOKENS, SELLER, BUYER, 25n),
      ],
    },
    { id: 25n, price: ether(1_000) },
  ),
  scenario(
    'a private listing of 1.5',
    {
      logs: [
        matched(['private', 'payment'], VERSION_1_5),
        filled({
          hash: 'private',
          offer: [nft(26n)],
          consideration: [...shares(), to(BUYER, nft(26n))],
          at: VERSION_1_5,
        }),
        filled({ hash: 'payment', offerer: BUYER, offer: [native(ether(1_000))], consideration: [], at: VERSION_1_5 }),
        moved(TOKENS, SELLER, BUYER, 26n),
      ],
    },
    { id: 26n, price: ether(1_000) },
  ),
  scenario(
    'a private listing of 1.1',
    {
      logs: [
        filled({
          hash: 'private 1.1',
          recipient: ZERO,
          offer: [nft(27n)],
          consideration: [...shares(), to(BUYER, nft(27n))],
          at: VERSION_1_1,
        }),
        moved(TOKENS, SELLER, BUYER, 27n),
      ],
    },
    { id: 27n, price: ether(1_000) },
  ),
  scenario(
    'a bundle',
    {
      logs: [
        filled({ offer: [nft(30n), nft(31n)], consideration: shares() }),
        moved(TOKENS, SELLER, BUYER, 30n),
        moved(TOKENS, SELLER, BUYER, 31n),
      ],
    },
    { id: null, units: 2n, price: ether(1_000) },
  ),
  scenario(
    'tokens of two contracts for one price',
    {
      logs: [
        filled({ offer: [nft(32n), units(1n, 2n)], consideration: shares() }),
        moved(TOKENS, SELLER, BUYER, 32n),
        movedUnits(UNITS, SELLER, BUYER, 1n, 2n),
      ],
    },
    { id: null, price: 'undivided' },
    { id: null, price: 'undivided', contract: UNITS, units: 2n },
  ),
  scenario(
    'a part of an order for units',
    {
      logs: [
        filled({ offer: [units(2n, 3n)], consideration: [to(SELLER, native(ether(300)))] }),
        movedUnits(UNITS, SELLER, BUYER, 2n, 3n),
      ],
    },
    { contract: UNITS, id: 2n, units: 3n, price: ether(300), marketplace: 'unknown' },
  ),
  scenario(
    'units of one token from two sellers',
    {
      input: OPENSEA,
      logs: [
        filled({ hash: 'first', offer: [units(3n, 1n)], consideration: [to(SELLER, native(ether(10)))] }),
        movedUnits(UNITS, SELLER, BUYER, 3n, 1n),
        filled({
          hash: 'second',
          offerer: STRANGER,
          offer: [units(3n, 2n)],
          consideration: [to(STRANGER, native(ether(22)))],
        }),
        movedUnits(UNITS, STRANGER, BUYER, 3n, 2n),
      ],
    },
    { contract: UNITS, id: 3n, units: 1n, price: ether(10) },
    { contract: UNITS, id: 3n, units: 2n, price: ether(22), seller: STRANGER },
  ),
  scenario(
    'an account that buys its own listing',
    {
      from: SELLER,
      logs: [
        filled({ recipient: SELLER, offer: [nft(33n)], consideration: shares() }),
        moved(TOKENS, SELLER, SELLER, 33n),
      ],
    },
    { id: 33n, price: ether(1_000), buyer: SELLER },
  ),
  scenario(
    'a listing in dollars',
    {
      logs: [
        filled({
          offer: [nft(34n)],
          consideration: [to(SELLER, erc20(900n, DOLLARS)), to(CREATOR, erc20(100n, DOLLARS))],
        }),
        moved(TOKENS, SELLER, BUYER, 34n),
      ],
    },
    { id: 34n, price: `1000 of ${DOLLARS}`, marketplace: 'unknown' },
  ),
  scenario(
    'a token that is resold in the transaction',
    {
      from: STRANGER,
      logs: [
        filled({
          hash: 'bought',
          recipient: AGGREGATOR,
          offer: [nft(35n)],
          consideration: [to(SELLER, native(ether(500)))],
        }),
        moved(TOKENS, SELLER, AGGREGATOR, 35n),
        filled({
          hash: 'sold',
          offerer: BUYER,
          recipient: AGGREGATOR,
          offer: [erc20(ether(600))],
          consideration: [to(BUYER, nft(35n)), to(OPENSEA_FEES, erc20(ether(15)))],
        }),
        moved(TOKENS, AGGREGATOR, BUYER, 35n),
      ],
    },
    { id: 35n, price: ether(500), buyer: AGGREGATOR, marketplace: 'unknown' },
    { id: 35n, price: ether(600), seller: AGGREGATOR },
  ),
  scenario(
    'a buyer that sends the token to a vault in the same transaction',
    {
      logs: [
        filled({ offer: [nft(36n)], consideration: shares() }),
        moved(TOKENS, SELLER, BUYER, 36n),
        moved(TOKENS, BUYER, account('vault'), 36n),
      ],
    },
    { id: 36n, price: ether(1_000) },
  ),
  scenario(
    'a token of the shared storefront, under its adapter',
    {
      input: OPENSEA,
      logs: [
        filled({ offer: [units(5n, 1n, ADAPTER)], consideration: shares() }),
        movedUnits(STOREFRONT, SELLER, BUYER, 5n, 1n),
      ],
    },
    { contract: STOREFRONT, id: 5n, price: ether(1_000) },
  ),
  scenario(
    'a bid for units that two sellers fill together',
    {
      from: STRANGER,
      logs: [
        matched(['bid for three', 'one of three', 'two of three']),
        filled({
          hash: 'bid for three',
          offerer: BUYER,
          offer: [erc20(ether(990))],
          consideration: [to(BUYER, units(6n, 3n)), to(OPENSEA_FEES, erc20(ether(90)))],
        }),
        filled({ hash: 'one of three', offer: [units(6n, 1n)], consideration: [to(SELLER, erc20(ether(300)))] }),
        filled({
          hash: 'two of three',
          offerer: CREATOR,
          offer: [units(6n, 2n)],
          consideration: [to(CREATOR, erc20(ether(600)))],
        }),
        movedUnits(UNITS, SELLER, BUYER, 6n, 1n),
        movedUnits(UNITS, CREATOR, BUYER, 6n, 2n),
      ],
    },
    { contract: UNITS, id: 6n, units: 3n, price: ether(990) },
  ),
  scenario(
    'a listing of units that two bids fill together',
    {
      from: STRANGER,
      logs: [
        matched(['listing of three', 'bid for one', 'bid for two']),
        filled({ hash: 'listing of three', offer: [units(7n, 3n)], consideration: [to(SELLER, erc20(ether(900)))] }),
        filled({
          hash: 'bid for one',
          offerer: BUYER,
          offer: [erc20(ether(310))],
          consideration: [to(BUYER, units(7n, 1n)), to(OPENSEA_FEES, erc20(ether(10)))],
        }),
        filled({
          hash: 'bid for two',
          offerer: CREATOR,
          offer: [erc20(ether(620))],
          consideration: [to(CREATOR, units(7n, 2n)), to(OPENSEA_FEES, erc20(ether(20)))],
        }),
        movedUnits(UNITS, SELLER, BUYER, 7n, 1n),
        movedUnits(UNITS, SELLER, CREATOR, 7n, 2n),
      ],
    },
    { contract: UNITS, id: 7n, units: 1n, price: ether(310) },
    { contract: UNITS, id: 7n, units: 2n, price: ether(620), buyer: CREATOR },
  ),
  scenario(
    'units of two sellers that an aggregator passes on together',
    {
      logs: [
        filled({
          hash: 'first of two',
          recipient: AGGREGATOR,
          offer: [units(8n, 1n)],
          consideration: [to(SELLER, native(ether(10)))],
        }),
        movedUnits(UNITS, SELLER, AGGREGATOR, 8n, 1n),
        filled({
          hash: 'second of two',
          offerer: STRANGER,
          recipient: AGGREGATOR,
          offer: [units(8n, 2n)],
          consideration: [to(STRANGER, native(ether(22)))],
        }),
        movedUnits(UNITS, STRANGER, AGGREGATOR, 8n, 2n),
        movedUnits(UNITS, AGGREGATOR, BUYER, 8n, 3n),
      ],
    },
    { contract: UNITS, id: 8n, units: 1n, price: ether(10), marketplace: 'unknown' },
    { contract: UNITS, id: 8n, units: 2n, price: ether(22), seller: STRANGER, marketplace: 'unknown' },
  ),
  scenario(
    'units that an aggregator takes together and gives to two bids',
    {
      from: SELLER,
      logs: [
        movedUnits(UNITS, SELLER, AGGREGATOR, 9n, 3n),
        filled({
          hash: 'to the first',
          offerer: BUYER,
          recipient: AGGREGATOR,
          offer: [erc20(ether(11))],
          consideration: [to(BUYER, units(9n, 1n))],
        }),
        movedUnits(UNITS, AGGREGATOR, BUYER, 9n, 1n),
        filled({
          hash: 'to the second',
          offerer: CREATOR,
          recipient: AGGREGATOR,
          offer: [erc20(ether(21))],
          consideration: [to(CREATOR, units(9n, 2n))],
        }),
        movedUnits(UNITS, AGGREGATOR, CREATOR, 9n, 2n),
      ],
    },
    { contract: UNITS, id: 9n, units: 1n, price: ether(11), marketplace: 'unknown' },
    { contract: UNITS, id: 9n, units: 2n, price: ether(21), buyer: CREATOR, marketplace: 'unknown' },
  ),
  scenario(
    'a token that two aggregators pass on',
    {
      logs: [
        filled({ recipient: AGGREGATOR, offer: [nft(50n)], consideration: shares() }),
        moved(TOKENS, SELLER, AGGREGATOR, 50n),
        moved(TOKENS, AGGREGATOR, account('another aggregator'), 50n),
        moved(TOKENS, account('another aggregator'), BUYER, 50n),
      ],
    },
    { id: 50n, price: ether(1_000) },
  ),
  scenario(
    'a wallet that is a contract, for which another account signs',
    {
      from: STRANGER,
      logs: [
        filled({ recipient: AGGREGATOR, offer: [nft(51n)], consideration: shares() }),
        moved(TOKENS, SELLER, AGGREGATOR, 51n),
        moved(TOKENS, AGGREGATOR, BUYER, 51n),
      ],
    },
    { id: 51n, price: ether(1_000) },
  ),
  scenario('a gift, an exchange of tokens, and what is no fill', {
    from: SELLER,
    logs: [
      filled({ hash: 'gift', offer: [nft(40n)], consideration: [] }),
      moved(TOKENS, SELLER, BUYER, 40n),
      filled({ hash: 'swap', offer: [nft(41n)], consideration: [to(SELLER, nft(42n))] }),
      moved(TOKENS, SELLER, BUYER, 41n),
      moved(TOKENS, BUYER, SELLER, 42n),
      logOf('seaport', 'orderCancelled', { orderHash: hashOf('cancelled'), offerer: SELLER, zone: ZERO }),
      logOf('seaport', 'counterIncremented', { newCounter: 2n, offerer: SELLER }),
    ],
  }),
];

const FORKS: readonly [string, Hex][] = [
  ['alienswap', '0x83746de31fc8de985ffe46c1c20ea6d7d8f4ed3a'],
  ['mooar', '0xaaaaaaaa33d3520a2266ce508bc079fcfe82c8e3'],
];

const fork = scenariosOf('seaport-forks', 'alienswap');
export const FORK_SCENARIOS: readonly Scenario[] = FORKS.flatMap(([marketplace, at], index) => {
  const [tokens, id] = [tokensOf('seaport-forks'), BigInt(index)];
  return [
    fork(
      `a listing on ${marketplace}`,
      {
        logs: [filled({ offer: [nft(id, tokens)], consideration: shares(), at }), moved(tokens, SELLER, BUYER, id)],
      },
      { id, price: ether(1_000), marketplace },
    ),
    fork(
      `a bid on ${marketplace}`,
      {
        from: SELLER,
        logs: [bidOf('bid', nft(10n + id, tokens), at), moved(tokens, SELLER, BUYER, 10n + id)],
      },
      { id: 10n + id, price: ether(1_000), marketplace },
    ),
  ];
});
