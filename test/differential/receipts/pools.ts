// Receipts of pools and vaults: Sudoswap and NFTX.

import type { Hex } from 'viem';
import { encodeAbiParameters, parseAbiParameters, toFunctionSelector } from 'viem';
import { AT, logOf } from '../../support/chain/encoded-logs.ts';
import type { Scenario } from './scenario.ts';
import {
  account,
  AGGREGATOR,
  BUYER,
  CREATOR,
  DOLLARS,
  ether,
  moved,
  movedUnits,
  paid,
  scenariosOf,
  SELLER,
  STRANGER,
  tokensOf,
  unitsOf,
  ZERO,
} from './scenario.ts';

// Sudoswap

const FACTORY_1: Hex = '0xb16c1342e617a5b6e4b631eb114483fdb289c0a4';
const FACTORY_2: Hex = '0xa020d57ab0448ef74115c112d18a9c231cc86000';
const TOKENS = tokensOf('sudoswap');
const UNITS = unitsOf('sudoswap');
const CURVE = account('curve');
/** A token id of 32 bytes. */
const UNITS_ID = ((9n << 250n) % 2n ** 256n) + 5n;

type Pool = { address: Hex; template: Hex; facts: string };
const GETTERS: readonly [Hex, string][] = [
  [FACTORY_1, 'enumerableETHTemplate()'],
  [FACTORY_1, 'missingEnumerableETHTemplate()'],
  [FACTORY_1, 'enumerableERC20Template()'],
  [FACTORY_1, 'missingEnumerableERC20Template()'],
  [FACTORY_2, 'erc721ETHTemplate()'],
  [FACTORY_2, 'erc721ERC20Template()'],
  [FACTORY_2, 'erc1155ETHTemplate()'],
  [FACTORY_2, 'erc1155ERC20Template()'],
];
const templateOf = (factory: Hex, getter: string) => account(`${factory} ${getter}`);
const pool = (name: string, factory: Hex, getter: string, ...facts: string[]): Pool => ({
  address: account(name),
  template: templateOf(factory, getter),
  facts: [factory, CURVE, ...facts].map((fact) => fact.replace('0x', '')).join(''),
});
const POOL_1 = pool('pool of version 1', FACTORY_1, 'missingEnumerableETHTemplate()', TOKENS, '02');
const POOL_2 = pool('pool of version 2', FACTORY_2, 'erc721ETHTemplate()', TOKENS, '02', ZERO);
const IN_DOLLARS = pool('pool in dollars', FACTORY_2, 'erc721ERC20Template()', TOKENS, '02', ZERO, DOLLARS);
const OF_UNITS = pool(
  'pool of units',
  FACTORY_2,
  'erc1155ETHTemplate()',
  UNITS,
  '02',
  UNITS_ID.toString(16).padStart(64, '0'),
);

/** The code of the pools: proxies that end with their parameters. */
export const POOL_CODES: ReadonlyMap<string, string> = new Map(
  [POOL_1, POOL_2, IN_DOLLARS, OF_UNITS].map(({ address, template, facts }) => {
    const size = (facts.length / 2).toString(16).padStart(2, '0');
    const proxy = `3d3d3d3d363d3d3760${size}603536393660${size}013d73${template.slice(2)}5af43d3d93803e603357fd5bf3`;
    return [address, `0x${proxy}${facts}`];
  }),
);

/** What the factories say about their templates. */
export const POOL_CALLS: ReadonlyMap<string, string> = new Map(
  GETTERS.map(([factory, getter]) => [
    `${factory} ${toFunctionSelector(`function ${getter}`)}`,
    encodeAbiParameters(parseAbiParameters('address'), [templateOf(factory, getter)]),
  ]),
);

const sudoswap = scenariosOf('sudoswap', 'sudoswap');

export const SUDOSWAP_SCENARIOS: readonly Scenario[] = [
  sudoswap(
    'version 1: a pool sells, and no log shows the price',
    { logs: [moved(TOKENS, POOL_1.address, BUYER, 7n), logOf('sudoswapV1', 'swapOut', {}, POOL_1.address)] },
    { price: 'unknown', seller: POOL_1.address },
  ),
  sudoswap(
    'version 1: a pool buys through a router',
    {
      from: SELLER,
      logs: [moved(TOKENS, SELLER, POOL_1.address, 8n), logOf('sudoswapV1', 'swapIn', {}, POOL_1.address)],
    },
    { id: 8n, price: 'unknown', buyer: POOL_1.address },
  ),
  sudoswap(
    'version 2: a pool sells',
    {
      logs: [
        moved(TOKENS, POOL_2.address, BUYER, 9n),
        logOf('sudoswapV2', 'swapERC721Out', { amountIn: ether(111), ids: [9n] }, POOL_2.address),
      ],
    },
    { id: 9n, price: ether(111), seller: POOL_2.address },
  ),
  sudoswap(
    'version 2: a pool sells to an aggregator',
    {
      logs: [
        moved(TOKENS, POOL_2.address, AGGREGATOR, 10n),
        logOf('sudoswapV2', 'swapERC721Out', { amountIn: ether(112), ids: [10n] }, POOL_2.address),
        moved(TOKENS, AGGREGATOR, BUYER, 10n),
      ],
    },
    { id: 10n, price: ether(112), seller: POOL_2.address },
  ),
  sudoswap(
    'version 2: a pool buys from an aggregator of the seller',
    {
      from: SELLER,
      logs: [
        moved(TOKENS, SELLER, AGGREGATOR, 11n),
        moved(TOKENS, AGGREGATOR, POOL_2.address, 11n),
        logOf('sudoswapV2', 'swapERC721In', { amountOut: ether(90), ids: [11n] }, POOL_2.address),
      ],
    },
    { id: 11n, price: ether(90), buyer: POOL_2.address },
  ),
  sudoswap(
    'version 2: a pool sells several tokens for one price',
    {
      logs: [
        moved(TOKENS, POOL_2.address, BUYER, 12n),
        moved(TOKENS, POOL_2.address, BUYER, 13n),
        logOf('sudoswapV2', 'swapERC721Out', { amountIn: ether(230), ids: [12n, 13n] }, POOL_2.address),
      ],
    },
    { id: null, units: 2n, price: ether(230), seller: POOL_2.address },
  ),
  sudoswap(
    'version 1: a pool sells several tokens, and another pool buys one of them',
    {
      logs: [
        moved(TOKENS, POOL_1.address, AGGREGATOR, 20n),
        moved(TOKENS, POOL_1.address, AGGREGATOR, 21n),
        logOf('sudoswapV1', 'swapOut', {}, POOL_1.address),
        moved(TOKENS, AGGREGATOR, POOL_2.address, 20n),
        logOf('sudoswapV2', 'swapERC721In', { amountOut: ether(80), ids: [20n] }, POOL_2.address),
        moved(TOKENS, AGGREGATOR, BUYER, 21n),
      ],
    },
    { id: null, units: 2n, price: 'unknown', seller: POOL_1.address, buyer: AGGREGATOR },
    { id: 20n, price: ether(80), seller: AGGREGATOR, buyer: POOL_2.address },
  ),
  sudoswap(
    'version 2: two pools sell to one account',
    {
      logs: [
        moved(TOKENS, POOL_2.address, BUYER, 22n),
        logOf('sudoswapV2', 'swapERC721Out', { amountIn: ether(70), ids: [22n] }, POOL_2.address),
        moved(TOKENS, IN_DOLLARS.address, BUYER, 23n),
        logOf('sudoswapV2', 'swapERC721Out', { amountIn: 71n, ids: [23n] }, IN_DOLLARS.address),
      ],
    },
    { id: 22n, price: ether(70), seller: POOL_2.address },
    { id: 23n, price: `71 of ${DOLLARS}`, seller: IN_DOLLARS.address },
  ),
  sudoswap(
    'version 1: a pool sells twice in one transaction',
    {
      logs: [24n, 25n].flatMap((id) => [
        moved(TOKENS, POOL_1.address, BUYER, id),
        logOf('sudoswapV1', 'swapOut', {}, POOL_1.address),
      ]),
    },
    { id: 24n, price: 'unknown', seller: POOL_1.address },
    { id: 25n, price: 'unknown', seller: POOL_1.address },
  ),
  sudoswap(
    'version 2: a pool in dollars',
    {
      logs: [
        paid(BUYER, IN_DOLLARS.address, 99n, DOLLARS),
        moved(TOKENS, IN_DOLLARS.address, BUYER, 14n),
        logOf('sudoswapV2', 'swapERC721Out', { amountIn: 99n, ids: [14n] }, IN_DOLLARS.address),
      ],
    },
    { id: 14n, price: `99 of ${DOLLARS}`, seller: IN_DOLLARS.address },
  ),
  sudoswap(
    'version 2: a pool of units sells and buys',
    {
      logs: [
        movedUnits(UNITS, OF_UNITS.address, BUYER, UNITS_ID, 3n),
        logOf('sudoswapV2', 'swapERC1155Out', { amountIn: ether(33), numNFTs: 3n }, OF_UNITS.address),
        movedUnits(UNITS, SELLER, OF_UNITS.address, UNITS_ID, 2n),
        logOf('sudoswapV2', 'swapERC1155In', { amountOut: ether(20), numNFTs: 2n }, OF_UNITS.address),
      ],
    },
    { contract: UNITS, id: UNITS_ID, units: 3n, price: ether(33), seller: OF_UNITS.address },
    { contract: UNITS, id: UNITS_ID, units: 2n, price: ether(20), buyer: OF_UNITS.address },
  ),
];

// NFTX

const NFTX = tokensOf('nftx');
const NFTX_UNITS = unitsOf('nftx');
const VAULT = account('vault of NFTX');
const ZAP_OF_ZEROEX = '0x941a6d105802cccaa06de58a13a6f49ebdcd481c';
const nftx = scenariosOf('nftx', 'nftx');
const buyV2 = (count: bigint, ethSpent: bigint, at: string = AT.nftxV2) =>
  logOf('nftxV2', 'buy', { count, ethSpent, to: BUYER }, at);

export const NFTX_SCENARIOS: readonly Scenario[] = [
  nftx(
    'version 2: a redemption',
    { value: ether(77), logs: [moved(NFTX, VAULT, BUYER, 7n), buyV2(1n, ether(76))] },
    { price: ether(76), seller: VAULT },
  ),
  nftx(
    'version 2: a redemption of several tokens',
    { logs: [moved(NFTX, VAULT, BUYER, 8n), moved(NFTX, VAULT, BUYER, 9n), buyV2(2n, ether(150))] },
    { id: null, units: 2n, price: ether(150), seller: VAULT },
  ),
  nftx(
    'version 2: a redemption through 0x',
    { logs: [moved(NFTX, VAULT, BUYER, 10n), buyV2(1n, ether(1_000), ZAP_OF_ZEROEX)] },
    { id: 10n, price: 'unknown', seller: VAULT },
  ),
  nftx(
    'version 2: a deposit',
    {
      from: SELLER,
      logs: [
        moved(NFTX, SELLER, VAULT, 11n),
        logOf('nftxV2', 'sell', { count: 1n, ethReceived: ether(70), to: SELLER }),
      ],
    },
    { id: 11n, price: ether(70), buyer: VAULT },
  ),
  nftx(
    'version 2: a deposit of units through the zap',
    {
      from: SELLER,
      logs: [
        movedUnits(NFTX_UNITS, SELLER, AT.nftxV2, 1n, 3n),
        movedUnits(NFTX_UNITS, AT.nftxV2, VAULT, 1n, 3n),
        logOf('nftxV2', 'sell', { count: 3n, ethReceived: ether(71), to: SELLER }),
      ],
    },
    { contract: NFTX_UNITS, id: 1n, units: 3n, price: ether(71), buyer: VAULT },
  ),
  nftx(
    'version 3: a redemption with royalties',
    {
      logs: [
        moved(NFTX, VAULT, BUYER, 12n),
        logOf('nftxV3', 'buy', {
          vaultId: 3n,
          nftIds: [12n],
          ethSpent: ether(72),
          to: BUYER,
          netRoyaltyAmount: ether(2),
        }),
      ],
    },
    { id: 12n, price: ether(72), seller: VAULT },
  ),
  nftx(
    'version 3: a deposit with royalties and fees',
    {
      from: SELLER,
      logs: [
        moved(NFTX, SELLER, VAULT, 13n),
        logOf('nftxV3', 'sell', {
          vaultId: 3n,
          count: 1n,
          ethReceived: ether(60),
          to: SELLER,
          netRoyaltyAmount: ether(3),
          wethFees: ether(2),
        }),
      ],
    },
    { id: 13n, price: ether(65), buyer: VAULT },
  ),
  nftx('a redemption whose tokens are not all in the logs', {
    logs: [moved(NFTX, STRANGER, BUYER, 14n), buyV2(2n, ether(10)), moved(NFTX, CREATOR, STRANGER, 15n)],
  }),
];
