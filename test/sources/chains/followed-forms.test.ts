// Contracts that do not support ERC-165 are followed by what their logs are: tokens in the form of a standard, tokens of before the standards, and
// tokens of a protocol of its own. The chain is a loopback endpoint with encoded logs.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encodeFunctionData, parseAbi, zeroAddress } from 'viem';
import type { Hex } from '../../../src/platform/core/evm.ts';
import type { EncodedLog } from '../../support/chain/encoded-logs.ts';
import { AT, encode, logOf, transferOf } from '../../support/chain/encoded-logs.ts';
import { START } from '../../support/service/market.ts';
import { until } from '../../support/until.ts';
import { forFollowedReceipts } from '../../support/chain/followed-receipts.ts';
import type { ReceiptTransaction } from '../../support/chain/receipts-endpoint.ts';

const LIMIT_MS = 60_000;

const account = (digit: string) => `0x${digit.repeat(40)}` as const;
const [ALICE, BOB, CAROL] = [account('a'), account('b'), account('c')];

const AT_CONTRACT = {
  /** All arguments indexed, as ERC-721 prescribes. */
  indexed: account('1'),
  /** No argument indexed, as in CryptoKitties. */
  unindexed: account('2'),
  /** The token id not indexed, as in the ERC-721 of OpenZeppelin before its version 1.12. */
  partly: account('3'),
  editions: account('4'),
  punks: AT.cryptoPunks,
  /** Without a log. */
  silent: account('5'),
  currency: account('6'),
  /** An ERC-20 contract without decimals. */
  shares: account('7'),
  /** Emits the transfers of both standards. */
  both: account('8'),
  supporting: account('9'),
} as const;

const UNINDEXED = 'event Transfer(address from, address to, uint256 tokenId)';
const PARTLY = 'event Transfer(address indexed from, address indexed to, uint256 tokenId)';
const EDITION =
  'event TransferSingle(address indexed operator, address indexed from, address indexed to, uint256 id, uint256 value)';

const abi = parseAbi([
  'function ownerOf(uint256 tokenId)',
  'function decimals()',
  'function supportsInterface(bytes4 interfaceId)',
]);
const word = (value: string | bigint): Hex =>
  `0x${(typeof value === 'bigint' ? value.toString(16) : value.slice(2)).padStart(64, '0')}`;
const ownerOf = (contract: string, tokenId: bigint, owner: Hex): [string, string] => [
  `${contract} ${encodeFunctionData({ abi, functionName: 'ownerOf', args: [tokenId] })}`,
  word(owner),
];
const decimalsOf = (contract: string, decimals: bigint): [string, string] => [
  `${contract} ${encodeFunctionData({ abi, functionName: 'decimals' })}`,
  word(decimals),
];
const supports = (contract: string, interfaceId: Hex, isSupported: boolean): [string, string] => [
  `${contract} ${encodeFunctionData({ abi, functionName: 'supportsInterface', args: [interfaceId] })}`,
  word(isSupported ? 1n : 0n),
];

const calls = new Map([
  ownerOf(AT_CONTRACT.partly, 7n, BOB),
  decimalsOf(AT_CONTRACT.currency, 18n),
  // As the real contract: it has decimals, but no fraction of a punk can be owned.
  decimalsOf(AT_CONTRACT.punks, 0n),
  supports(AT_CONTRACT.supporting, '0xffffffff', false),
  supports(AT_CONTRACT.supporting, '0x80ac58cd', true),
  supports(AT_CONTRACT.supporting, '0xd9b67a26', false),
]);

const punk = (name: 'assign' | 'transfer' | 'punkTransfer' | 'punkBidEntered' | 'punkBought', args: object) =>
  logOf('cryptoPunks', name, { ...args });

/** A sale for 40 wei at the exchange Wyvern. Its event does not name the token. */
function wyvernSale(contract: Hex, moved: EncodedLog): Omit<ReceiptTransaction, 'hash'> {
  const exchange = '0x7be8076f4ea4a4ad08075c2508e481d6c946d12b';
  const side = (maker: Hex): Hex[] => [exchange, maker, zeroAddress, CAROL, contract, zeroAddress, zeroAddress];
  const words = [...side(BOB), ...side(ALICE)].map((one) => word(one).slice(2)).join('');
  const match = logOf(
    'wyvern',
    'ordersMatched',
    { buyHash: word(1n), sellHash: word(2n), maker: ALICE, taker: BOB, price: 40n, metadata: word(0n) },
    exchange,
  );
  return { from: BOB, to: exchange, input: `0xab834bab${words}${'00'.repeat(18 * 32)}`, logs: [moved, match] };
}

let transactions = 0;
const transaction = (fields: Partial<ReceiptTransaction> & Pick<ReceiptTransaction, 'logs'>): ReceiptTransaction => ({
  hash: word(BigInt((transactions += 1))),
  from: ALICE,
  to: null,
  input: '0x',
  ...fields,
});

const move = (signature: string, contract: Hex, from: Hex, to: Hex, tokenId: bigint) =>
  encode(contract, signature, { from, to, tokenId });
const edition = (contract: Hex) =>
  encode(contract, EDITION, { operator: ALICE, from: zeroAddress, to: ALICE, id: 7n, value: 5n });

const blocks = [
  [
    transaction({
      logs: [
        transferOf(AT_CONTRACT.indexed, zeroAddress, ALICE, 7n),
        transferOf(AT_CONTRACT.supporting, zeroAddress, ALICE, 7n),
        move(UNINDEXED, AT_CONTRACT.unindexed, zeroAddress, ALICE, 7n),
        move(PARTLY, AT_CONTRACT.partly, zeroAddress, ALICE, 7n),
        move(PARTLY, AT_CONTRACT.partly, zeroAddress, ALICE, 8n),
        edition(AT_CONTRACT.editions),
        move(PARTLY, AT_CONTRACT.currency, zeroAddress, ALICE, 10n ** 18n),
        move(PARTLY, AT_CONTRACT.shares, zeroAddress, ALICE, 500n),
        edition(AT_CONTRACT.both),
        transferOf(AT_CONTRACT.both, zeroAddress, ALICE, 8n),
        ...[1n, 2n, 3n, 4n].map((punkIndex) => punk('assign', { to: ALICE, punkIndex })),
      ],
    }),
  ],
  [
    transaction({ logs: [transferOf(AT_CONTRACT.indexed, ALICE, BOB, 7n)] }),
    transaction(wyvernSale(AT_CONTRACT.unindexed, move(UNINDEXED, AT_CONTRACT.unindexed, ALICE, BOB, 7n))),
    transaction(wyvernSale(AT_CONTRACT.partly, move(PARTLY, AT_CONTRACT.partly, ALICE, BOB, 7n))),
    transaction({ logs: [move(PARTLY, AT_CONTRACT.partly, ALICE, zeroAddress, 8n)] }),
    // Punk 2 is bought, punk 3 given away, punk 4 sold to a bid. The event of an accepted bid has neither price nor buyer.
    transaction({
      logs: [
        punk('transfer', { from: ALICE, to: BOB, value: 1n }),
        punk('punkBought', { punkIndex: 2n, value: 90n, fromAddress: ALICE, toAddress: BOB }),
      ],
    }),
    transaction({
      logs: [
        punk('transfer', { from: ALICE, to: CAROL, value: 1n }),
        punk('punkTransfer', { from: ALICE, to: CAROL, punkIndex: 3n }),
      ],
    }),
    transaction({ from: CAROL, logs: [punk('punkBidEntered', { punkIndex: 4n, value: 70n, fromAddress: CAROL })] }),
  ],
  [
    transaction({
      logs: [
        punk('transfer', { from: ALICE, to: CAROL, value: 1n }),
        punk('punkBought', { punkIndex: 4n, value: 0n, fromAddress: ALICE, toAddress: zeroAddress }),
      ],
    }),
  ],
];

const FOLLOWED = [
  AT_CONTRACT.indexed,
  AT_CONTRACT.unindexed,
  AT_CONTRACT.partly,
  AT_CONTRACT.editions,
  AT_CONTRACT.punks,
  AT_CONTRACT.supporting,
];
const codes = new Map(Object.values(AT_CONTRACT).map((address) => [address, '0x60']));
const contracts = new Map(FOLLOWED.map((address) => [address, 'added' as const]));

const startsAtS = Math.floor(START / 1_000) - 60;
forFollowedReceipts(
  'contracts without ERC-165',
  { blocks, codes, calls, contracts, startsAtS },
  (market, readSales) => {
    const add = (input: Record<string, unknown>) =>
      market.operate('collections.add', { chain: 'ethereum', fromBlock: 0, ...input });
    const standardOf = async (address: string) => {
      const { body } = await market.operate('collections.list', {});
      const [found] = body.result.filter((one: { contractAddress: string }) => one.contractAddress === address);
      return found?.standard;
    };
    const ownersOf = async (address: string) => {
      const { data } = await market.ok(`/explore/v1/collections/ethereum_${address}/tokens?limit=100`);
      return data
        .map(({ tokenId, owner }: { tokenId: string; owner: { address: string } | null }) => [tokenId, owner?.address])
        .toSorted();
    };
    const salesOf = async (address: string) =>
      (await readSales(address))
        .map(({ tokenId, price, seller, buyer, marketplace }) => [tokenId, price.raw, seller, buyer, marketplace])
        .toSorted((a, b) => Number(a[0]) - Number(b[0]));

    test('the standard is what the contract states, otherwise what its logs show; CryptoPunks has neither standard', async () => {
      const found = await Promise.all(FOLLOWED.map(standardOf));
      assert.deepEqual(found, ['erc721', 'erc721', 'erc721', 'erc1155', null, 'erc721']);
    });

    test('transfers give owners and sales, whether all, some or none of their arguments are indexed', async () => {
      assert.deepEqual(await ownersOf(AT_CONTRACT.indexed), [['7', BOB]]);
      assert.deepEqual(await ownersOf(AT_CONTRACT.supporting), [['7', ALICE]]);
      assert.deepEqual(await ownersOf(AT_CONTRACT.unindexed), [['7', BOB]]);
      assert.deepEqual(await ownersOf(AT_CONTRACT.partly), [['7', BOB]]);
      const sale = ['7', '40', ALICE, BOB, 'opensea'];
      assert.deepEqual(await salesOf(AT_CONTRACT.unindexed), [sale]);
      assert.deepEqual(await salesOf(AT_CONTRACT.partly), [sale]);
    });

    test('CryptoPunks has the owners and sales of its own events; the price of an accepted bid is that of the bid', async () => {
      assert.deepEqual(await ownersOf(AT_CONTRACT.punks), [
        ['1', ALICE],
        ['2', BOB],
        ['3', CAROL],
        ['4', CAROL],
      ]);
      assert.deepEqual(await salesOf(AT_CONTRACT.punks), [
        ['2', '90', ALICE, BOB, 'larvalabs'],
        ['4', '70', ALICE, CAROL, 'larvalabs'],
      ]);
      const isCounted = async () => {
        const { data } = await market.ok(`/v1/collections/ethereum_${AT_CONTRACT.punks}`);
        return data.stats.supply === 4 && data.stats.owners === 3;
      };
      await until(isCounted, LIMIT_MS, 'supply and owners of the punks are not those of their chain');
    });

    test('a currency, and what the chain does not show, is followed only with --standard', async () => {
      for (const address of [AT_CONTRACT.currency, AT_CONTRACT.shares, AT_CONTRACT.both, AT_CONTRACT.silent]) {
        const { status, body } = await add({ address });
        assert.equal(status, 400, JSON.stringify(body));
        assert.match(JSON.stringify(body), /--standard erc721 or --standard erc1155/);
        assert.equal(await standardOf(address), undefined);
      }
      assert.equal((await add({ address: AT_CONTRACT.silent, standard: 'erc721' })).status, 200);
      assert.equal((await add({ address: AT_CONTRACT.both, standard: 'erc1155' })).status, 200);
      // To add it again, for example with another name, the standard need not be repeated.
      assert.equal((await add({ address: AT_CONTRACT.silent, name: 'Quiet' })).status, 200);
      assert.deepEqual(await Promise.all([AT_CONTRACT.silent, AT_CONTRACT.both].map(standardOf)), [
        'erc721',
        'erc1155',
      ]);
    });

    test('a standard that the chain contradicts is rejected', async () => {
      for (const [address, standard] of [
        [AT_CONTRACT.indexed, 'erc1155'],
        [AT_CONTRACT.editions, 'erc721'],
        [AT_CONTRACT.punks, 'erc721'],
        [AT_CONTRACT.indexed, 'erc20'],
      ] as const) {
        assert.equal((await add({ address, standard })).status, 400, `${address} ${standard}`);
      }
      assert.deepEqual(await standardOf(AT_CONTRACT.indexed), 'erc721');
    });

    test('the amounts of a currency are no tokens, also if it is followed', async () => {
      assert.equal((await add({ address: AT_CONTRACT.currency, standard: 'erc721' })).status, 200);
      const isRead = async () => {
        const { body } = await market.operate('collections.list', {});
        return body.result.every(({ state }: { state: string }) => state === 'live');
      };
      await until(isRead, LIMIT_MS, 'the currency did not catch up with its chain');
      const id = `ethereum_${AT_CONTRACT.currency}`;
      assert.deepEqual(await market.main().query(`select * from main.holding where collection_id = $1`, [id]), []);
    });
  },
);
