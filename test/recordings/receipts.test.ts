// Serves the sales of real transactions of 2017 to 2025 through /v1, and compares them with what another decoder found in their logs and with
// the money that moved. A loopback endpoint serves the transactions, with all their logs.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import type { FollowedReceipts, ServedSale } from '../support/chain/followed-receipts.ts';
import { forFollowedReceipts } from '../support/chain/followed-receipts.ts';
import type { ReceiptLog, ReceiptTransaction } from '../support/chain/receipts-endpoint.ts';
import { needsRecordings, readCompressed } from '../support/recordings/recordings.ts';

const BLOCKS = 'receipts/blocks.json.gz';
const EXPECTED = 'receipts/expected.json.gz';
const NEEDS = needsRecordings(BLOCKS, EXPECTED);

type RecordedTransaction = { hash: string; frm: string; to: string | null; input: string; logs: ReceiptLog[] };
type RecordedBlock = { number: number; txs: RecordedTransaction[] };
type Token = { c: string; id: string; q: string };
/** What the other decoder found in one log. A decoder of an unusual protocol leaves the tokens and the price open. */
type RecordedEvent = {
  tx: string;
  signer: string;
  p: string;
  side: string;
  matched?: boolean;
  nfts: Token[];
  price: string | null;
  currency: string | null;
  maker?: string;
  taker?: string | null;
};
type Flows = Record<string, Record<string, string>>;

const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
const TRANSFER_SINGLE = '0xc3d58168c5ae7397731d063d5bbf3d657854427343f4c083240f7aacaa2d0f62';
const TRANSFER_BATCH = '0x4a39dc06d4c0dbc64b70af90fd698a233a518aa5d07e595d983b8c0526c8f7fb';

type Moved = { c: string; id: string; from: string; to: string; standard: 'erc721' | 'erc1155' };

const wordsOf = (data: string) => data.slice(2).match(/.{64}/g) ?? [];
const accountOf = (word: string) => `0x${word.slice(-40)}`;

function transfersIn({ address, topics, data }: ReceiptLog): Moved[] {
  const [kind, ...indexed] = topics;
  const words = [...indexed.map((topic) => topic.slice(2)), ...wordsOf(data)];
  const c = address.toLowerCase();
  const moved = (from = '', to = '', id = '0', standard: Moved['standard'] = 'erc721') => {
    return { c, id: BigInt(`0x${id}`).toString(), from: accountOf(from), to: accountOf(to), standard };
  };
  if (kind === TRANSFER && words.length === 3 && indexed.length !== 2)
    return [moved(...(words as [string, string, string]))];
  if (kind === TRANSFER_SINGLE) return [moved(words[1], words[2], words[3], 'erc1155')];
  if (kind !== TRANSFER_BATCH) return [];
  const [, from, to, ...body] = words;
  const ids = body.slice(3, 3 + Number(`0x${body[2] ?? '0'}`));
  return ids.map((id) => moved(from, to, id, 'erc1155'));
}

/** The paragraphs of docs/protocols.md that say why an event is no row of /sales, or is one with another price. */
const DOCUMENTED = {
  bundle: 'Several tokens of one contract that are sold for one price are one sale',
  currency: 'A sale in a currency that is neither native nor wrapped native is stored with its price as text',
  gift: 'a fill without a token, or without a payment',
  rarible: 'fees that a side pays on top',
  computed: 'If a contract computes this call',
  sudoswap: 'the events have no fields, and native payments leave no logs',
} as const;

/** Transactions whose events are on the documented list for a reason that the events themselves do not show. */
const EXCEPTIONS: ReadonlyMap<string, keyof typeof DOCUMENTED> = new Map([
  ['0xf834d35114f37155a47fd4982a192447b43f0a04730bb1955a831c81b3266d97', 'computed'],
  ['0x8fe390642006b5ad3b9c2533ab015e42d20157fe7b9ae76e05ed24a2608112f3', 'sudoswap'],
]);

/** Contracts without ERC-165: CryptoCrystal, whose `Transfer` has no indexed argument, and CryptoPunks, which has events of its own. */
const OLD_CONTRACTS = ['0xda9f43015749056182352e9dc6d3ee0b6293d80a', '0xb47e3cd837ddf8e4c57f05d70ab865de6e193bbb'];

const MARKETPLACES: Readonly<Record<string, string>> = {
  wyvern: 'opensea',
  looksrare1: 'looksrare',
  punks: 'larvalabs',
  x2y2: 'x2y2',
  blur1: 'blur',
  blur2: 'blur',
  rarible: 'rarible',
  foundationAuction: 'foundation',
  zeroex1155: 'unknown',
  pp2: 'magic-eden',
};

/** What marketplaces write at the end of the call data of Seaport. */
const TAGS: Readonly<Record<string, string>> = { '360c6ebe': 'opensea', '332d1229': 'blur' };

/** The accounts that receive OpenSea's fees. */
const OPENSEA_FEES = [
  '0x0000a26b00c1f0df003000390027140000faa719',
  '0x8de9c5a032463c561423387a9648c5c7bcc5bc90',
  '0x5b3256965e7c3cf26e11fcaf296dfc8807c01073',
];

const ALIASES = new Map([['0xa604060890923ff400e8c6f5290461a83aedacec', '0x495f947276749ce646f68ac8c248420045cb7b5e']]);
const BLEND = '0x29469395eaf6f95920e59f858042f0e28d98a20b';

type Sale = { tx: string; c: string; id: string; price: string; seller: string; buyer: string; marketplace: string };
type Truth = { sales: Sale[]; documented: Map<string, keyof typeof DOCUMENTED> };

type TransactionFacts = { moved: readonly Moved[]; input: string; flows: Record<string, string> | undefined };

/** What has to be served of the events of one transaction. */
function salesOf(events: readonly RecordedEvent[], { moved, input, flows = {} }: TransactionFacts): Truth {
  const tagged = TAGS[input.slice(-8)];
  const documented: Truth['documented'] = new Map();
  // Two matched orders are one sale, at the price of the bid.
  const isMirror = (event: RecordedEvent) =>
    event.matched === true &&
    event.side === 'ask' &&
    events.some((other) => other.matched && other.side === 'bid' && keyOf(other) === keyOf(event));
  const trades = events.filter((event) => !isMirror(event));
  const paid = -Object.values(flows).reduce((sum, flow) => (BigInt(flow) < 0n ? sum + BigInt(flow) : sum), 0n);
  const sales = trades.flatMap((event): Sale[] => {
    const { tx, p, nfts, currency, signer } = event;
    const except = (reason: keyof typeof DOCUMENTED) => {
      documented.set(`${tx} ${p}`, reason);
      return [];
    };
    const exception = EXCEPTIONS.get(tx);
    if (exception) return except(exception);
    if (nfts.length > 1) return except('bundle');
    if (currency === 'none') return except('gift');
    if (currency !== 'ETH' && currency !== null) return except('currency');
    // The other decoder left the token of an unusual protocol open: it is the one that moved, and the price is what was paid.
    const [token] = nfts.length > 0 ? nfts : moved.map(({ c, id }) => ({ c, id, q: '1' }));
    assert.ok(token, `${tx} has no token`);
    const c = ALIASES.get(token.c) ?? token.c;
    // If one trade is all that the transaction does, then the money that moved is the truth.
    const isAlone = trades.length === 1 && paid > 0n;
    const price = isAlone || event.price === null ? paid.toString() : event.price;
    if (p === 'rarible') except('rarible');
    const ofToken = moved.filter((transfer) => transfer.c === c && transfer.id === token.id);
    const isRepeated = trades.filter((other) => keyOf(other) === keyOf(event)).length > 1;
    const mine = isRepeated ? ofToken.filter(({ from }) => from === event.maker) : ofToken;
    const first = mine[0]?.from ?? event.maker;
    return [
      {
        tx,
        c,
        id: token.id,
        // The exchange does not show the fees on top.
        price: p === 'rarible' ? ((paid * 1_000n) / 1_025n).toString() : price,
        seller: (p === 'foundationAuction' ? payeeOf(flows) : first === BLEND ? signer : first) ?? '',
        buyer: mine.at(-1)?.to ?? event.taker ?? '',
        marketplace: MARKETPLACES[p] ?? tagged ?? (OPENSEA_FEES.some((account) => account in flows) ? 'opensea' : ''),
      },
    ];
  });
  return { sales, documented };
}

/** The account that received most. The market of an auction holds its token, so the first transfer is not from the seller. */
function payeeOf(flows: Record<string, string>): string | undefined {
  return Object.keys(flows).reduce(
    (most, account) => (BigInt(flows[account] ?? 0) > BigInt(flows[most] ?? 0) ? account : most),
    '',
  );
}

function keyOf({ nfts }: RecordedEvent): string {
  return nfts.map(({ c, id }) => `${c} ${id}`).join();
}

const toText = ({ tx, c, id, price, seller, buyer }: Sale) => [tx, c, id, price, seller, buyer].join(' ');

if (NEEDS.skip === undefined) {
  const blocks = readCompressed(BLOCKS) as RecordedBlock[];
  const { exp, flows } = readCompressed(EXPECTED) as { exp: RecordedEvent[]; flows: Flows };
  const transactions = blocks.flatMap(({ txs }) => txs);
  const transfers = new Map(transactions.map(({ hash, logs }) => [hash, logs.flatMap(transfersIn)]));
  const inputs = new Map(transactions.map(({ hash, input }) => [hash, input]));
  const contracts = new Map<string, Moved['standard'] | 'added'>();
  for (const { tx, nfts } of exp) {
    for (const { c } of nfts) contracts.set(ALIASES.get(c) ?? c, 'erc721');
    for (const { c, standard } of transfers.get(tx) ?? []) contracts.set(c, standard);
  }
  for (const contract of OLD_CONTRACTS) contracts.set(contract, 'added');
  const codes = new Map(OLD_CONTRACTS.map((contract) => [contract, '0x60']));
  const chain: FollowedReceipts['blocks'] = blocks.map(({ txs }) =>
    txs.map(({ hash, frm, to, input, logs }): ReceiptTransaction => ({ hash, from: frm, to, input, logs })),
  );
  forFollowedReceipts('real transactions', { blocks: chain, contracts, codes }, (market, readSales) => {
    test('every market event is served as the other decoder found it, or is documented, and no other sale is served', async () => {
      const expected: Sale[] = [];
      const documented = new Map<string, keyof typeof DOCUMENTED>();
      for (const [tx, events = []] of Map.groupBy(exp, (event) => event.tx)) {
        const facts = { moved: transfers.get(tx) ?? [], input: inputs.get(tx) ?? '', flows: flows[tx] };
        const truth = salesOf(events, facts);
        expected.push(...truth.sales);
        for (const [key, reason] of truth.documented) documented.set(key, reason);
      }
      const served: Sale[] = [];
      for (const c of contracts.keys()) {
        for (const sale of await readSales(c)) served.push(toSale(c, sale));
      }
      const [rows, truth] = [served, expected].map((sales) => new Set(sales.map(toText)));
      assert.deepEqual(
        { missing: truth?.difference(rows ?? new Set()), extra: rows?.difference(truth ?? new Set()) },
        {
          missing: new Set(),
          extra: new Set(),
        },
      );
      assert.equal(served.length, expected.length, 'a sale is served twice');
      const marketplaces = new Map(served.map((sale) => [toText(sale), sale.marketplace]));
      for (const sale of expected) {
        if (sale.marketplace !== '') assert.equal(marketplaces.get(toText(sale)), sale.marketplace, toText(sale));
      }
      const docs = readFileSync(new URL('../../docs/protocols.md', import.meta.url), 'utf8').replaceAll(/\s+/g, ' ');
      for (const [key, reason] of documented) assert.ok(docs.includes(DOCUMENTED[reason]), `${key}: ${reason}`);
      assert.equal(exp.length, 436);
    });

    test('no log of a settlement contract was seen and could not be read', async () => {
      const [status] = (await market.operate('status', {})).body.result.chains;
      assert.deepEqual(status.unread, []);
    });
  });
}

function toSale(c: string, { tx, tokenId, price, seller, buyer, marketplace }: ServedSale): Sale {
  return { tx, c, id: tokenId, price: price.raw, seller: seller ?? '', buyer: buyer ?? '', marketplace };
}
