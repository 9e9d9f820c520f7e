// The steps of a run, drawn by fast-check: imports of random records, repetitions, undos, removals, and steps of the clock. A step is plain data, so that
// fast-check can shrink a failing run and print it. Times are written as distances, and become absolute when the step is taken.

import { base58 } from '@scure/base';
import fc from 'fast-check';
import type { MarketRecord } from './rules/records.ts';
import { toCollectionId } from './rules/records.ts';

const MINUTE = 60_000;
const DAY_MINUTES = 24 * 60;

/** The clock of a run begins here. */
export const START = Date.UTC(2026, 5, 1, 12);

/** Few collections, tokens, wallets and identities, so that records meet each other. Two collections have one address on two chains. */
export const COLLECTIONS: readonly { chain: string; contractAddress: string }[] = [
  { chain: 'ethereum', contractAddress: '0x00000000000000000000000000000000000000a1' },
  { chain: 'base', contractAddress: '0x00000000000000000000000000000000000000a1' },
  { chain: 'polygon', contractAddress: '0x00000000000000000000000000000000000000Bc' },
  { chain: 'solana', contractAddress: '6XxjKYFbcndh2gDcsUrmZgVEsoDxXMnfsaGY6fpTJzNr' },
];
export const COLLECTION_IDS = COLLECTIONS.map(toCollectionId);
export const EVM_TOKENS = [
  '1',
  '2',
  '3',
  '115792089237316195423570985008687907853269984665640564039457584007913129639935',
] as const;
export const MINTS = [
  '3kxh9JnBdktEyJDopKFnwzg3yaFQT1kbR8BoyvvPuAAy',
  'So11111111111111111111111111111111111111112',
  '9ZNTfG4NyQgxy2SWjSiQoUyBPEvXT2xo7fKc5hPYYJ7b',
  'GThUX1Atko4tqhN2NaiTazWSeFWMuiUvfFnyJyUghFMJ',
] as const;
export const EVM_WALLETS = [
  '0x00000000000000000000000000000000000000e1',
  '0x00000000000000000000000000000000000000e2',
  '0x00000000000000000000000000000000000000E3',
  '0x0000000000000000000000000000000000000000',
] as const;
export const SOLANA_WALLETS = [
  'GDfnEsia2WLAW5t8yx2X5j2mkfA74i5kwGdDuZHt7XmG',
  '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU',
  '2ojv9BAiHUrvsm9gxDe7fJSzbNZSJcxZvf8dqmWGHG8S',
  '11111111111111111111111111111111',
] as const;
const ASK_PRICES = [
  '1500000000000000000',
  '1000000000000000000',
  '99',
  '2500000000000000001',
  '1',
  '0',
  '115792089237316195423570985008687907853269984665640564039457584007913129639935',
] as const;
const SALE_PRICES = [...ASK_PRICES, '7000000 USDC', '0.5', '3 (unknown currency)'] as const;
const SLUGS = ['moths', 'clocks', 'Moths'] as const;
/** The last one is too large for a row of the explore interface. */
const IMAGES = [
  'https://example.com/1.png',
  'ipfs://bafy/1.png',
  'javascript:alert(1)',
  `data:image/png;base64,${'A'.repeat(2_100)}`,
] as const;

export type ImportStep = {
  do: 'import';
  through: 'http' | 'socket' | 'csv';
  replace: boolean;
  createCollections: boolean;
  records: RecordDraft[];
};
/** `of`: which of the products that the run has created. `by`: the field that names the product. */
export type ProductRef = { of: number; by: 'product_id' | 'sku' | 'externalId' };
type Fields = Record<string, unknown>;
/** A request to the store. `reservation`: which of the reservations that the run has made. `isCurrent`: whether `If-Match` names the present version. */
export type ShopCall =
  | { request: 'create'; body: Fields }
  | { request: 'update'; of: number; body: Fields; isCurrent?: boolean | undefined }
  | ({ request: 'adjust'; body: Fields } & ProductRef)
  | { request: 'delete'; of: number; isCurrent?: boolean | undefined }
  | { request: 'products'; rows: { of: number | null; body: Fields }[]; atomic: boolean }
  | { request: 'changes'; rows: ({ body: Fields } & ProductRef)[]; atomic: boolean }
  | { request: 'reserve'; items: ({ quantity: number } & ProductRef)[]; body: Fields }
  | { request: 'consume'; reservation: number; items: ({ quantity: number } & ProductRef)[] | null; body: Fields }
  | { request: 'release' | 'extend'; reservation: number }
  | { request: 'import'; rows: Fields[]; isUndone: boolean };
/** `key`: the number of an Idempotency-Key. `together`: requests that are sent at the same time. */
export type ShopStep = { do: 'shop'; call: ShopCall; key: number | undefined; together: ShopCall[] };
/** A signed order. `again`: an accepted order is submitted again. `expiresIn`: minutes. */
export type SignStep = {
  do: 'sign';
  place: number;
  tokenId: string;
  /** The number of an account. */
  offerer: number;
  /** Of all units. */
  price: string;
  /** More than one for units of an ERC-1155 token. */
  units: number;
  fee: 'none' | 'small' | 'large';
  expiresIn: number;
  isForged: boolean;
  again: number | null;
};
/** A signed bid. `price` is that of one unit. `fault`: what is wrong with the bid. A set of tokens without a token that has the trait is a list of tokens. */
export type BidStep = Omit<SignStep, 'do'> & {
  do: 'bid';
  wants: 'item' | 'collection' | 'traits' | 'tokens';
  trait: { name: string; value: string };
  fault: 'quantity' | 'currency' | 'root' | null;
};
/** `of`: which of the accepted orders. */
export type CancelStep = { do: 'cancel'; of: number; by: 'operator' | 'offerer' | 'stranger' | 'nobody' };
/** Another marketplace reports an accepted order. */
export type MirrorStep = { do: 'mirror'; of: number; source: string; status: 'filled' | 'cancelled' | undefined };
/** What changes at two marketplaces (`ask` and `unask`: at the second one), and how the list of listings of the first one then fails from its second page on. */
export type VendorStep = {
  do: 'vendor';
  changes: { kind: 'list' | 'end' | 'sell' | 'ask' | 'unask'; token: number; price: string }[];
  fault: 'server-error' | 'truncated' | 'repeated-page' | 'nulls' | 'looping-cursor' | 'late' | null;
};
/** `report`: a marketplace reports the newest sale of the chain, or a sale of another token in the same transaction. */
export type ChainStep = { do: 'chain'; blocks: number; depth: number; report: 'same' | 'other' | null };
/**
 * All processes are stopped and started. `restore`: on the data of a backup that was made meanwhile. `keep`: a backup is made and kept. `older`: on the data of the
 * backup that was kept last, so that everything since then is lost.
 */
export type RestartStep = { do: 'restart'; data: 'same' | 'restore' | 'keep' | 'older' };
/**
 * A transaction of an account on the simulated chain, or a request about an order of the followed collection: `ask` and `bid` submit one, `close` cancels one off-chain. `of`: which
 * of these orders. `price` is that of one unit, or an amount of money. `depth`: as many of the newest blocks are replaced first.
 */
export type TradeStep = {
  do: 'trade';
  kind:
    | 'mint'
    | 'transfer'
    | 'burn'
    | 'approve'
    | 'revoke'
    | 'deposit'
    | 'withdraw'
    | 'allow'
    | 'cancel'
    | 'counter'
    | 'fill'
    | 'ask'
    | 'bid'
    | 'close';
  account: number;
  token: number;
  of: number;
  price: string;
  units: number;
  wants: 'item' | 'collection' | 'tokens';
  hasFee: boolean;
  expiresIn: number;
  depth: number;
};
export type Step =
  | SignStep
  | TradeStep
  | BidStep
  | CancelStep
  | MirrorStep
  | ImportStep
  | { do: 'repeat'; of: number }
  | { do: 'undo'; of: number }
  | { do: 'purge'; place: number }
  | { do: 'removeSample' }
  | ShopStep
  | ChainStep
  | VendorStep
  | RestartStep
  | { do: 'clock'; minutes: number };

/** A record whose times are minutes before (negative: after) the start of the run or, in `sinceNow`, the present of the step. */
export type RecordDraft = {
  fields: Record<string, unknown>;
  sinceStart: Record<string, number>;
  sinceNow: Record<string, number>;
  /** A value that makes the record wrong. */
  broken?: Record<string, unknown>;
};

export function toRecord({ fields, sinceStart, sinceNow, broken }: RecordDraft, now: number): MarketRecord {
  const times = (minutes: Record<string, number>, from: number) =>
    Object.fromEntries(
      Object.entries(minutes).map(([name, ago]) => [name, new Date(from - ago * MINUTE).toISOString()]),
    );
  const record = { ...fields, ...times(sinceStart, START), ...times(sinceNow, now) };
  const names = Object.keys(broken ?? {}).filter((name) => name in record || name === 'colour');
  return { ...record, ...Object.fromEntries(names.map((name) => [name, broken?.[name]])) } as MarketRecord;
}

const option = <T>(values: fc.Arbitrary<T>) => fc.option(values, { nil: undefined, freq: 2 });
const of = <T>(...values: readonly T[]) => fc.constantFrom(...values);

type Drawn = { fields: object; sinceStart?: object; sinceNow?: object };

function drafts(drawn: fc.Arbitrary<Drawn>): fc.Arbitrary<RecordDraft> {
  const without = (values: object = {}) =>
    Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
  return drawn.map(({ fields, sinceStart, sinceNow }) => ({
    fields: without(fields),
    sinceStart: without(sinceStart) as Record<string, number>,
    sinceNow: without(sinceNow) as Record<string, number>,
  }));
}

const place = of(...COLLECTIONS);
/** A place with one of its tokens and two of its wallets. */
const located = fc
  .record({ at: place, token: fc.nat(3), seller: fc.nat(2), buyer: fc.nat(3), zero: fc.nat(11) })
  .map(({ at, token, seller, buyer, zero }) => {
    const isEvm = at.chain !== 'solana';
    const wallets = isEvm ? EVM_WALLETS : SOLANA_WALLETS;
    return {
      at,
      asset: isEvm ? { tokenId: EVM_TOKENS[token] } : { mint: MINTS[token] },
      isEvm,
      seller: wallets[seller],
      soldBy: wallets[zero === 0 ? 3 : seller],
      buyer: wallets[buyer],
    };
  });
/** A hexadecimal transaction, or one of Solana. */
const toTx = (isEvm: boolean, index: number | undefined) => {
  if (index === undefined) return undefined;
  return isEvm ? `0x${String(index + 1).padStart(64, '0')}` : base58.encode(new Uint8Array(64).fill(index + 1));
};
const status = fc.constantFrom(undefined, undefined, undefined, 'active', 'filled', 'cancelled', 'expired');
const expiry = fc.constantFrom(undefined, undefined, -7, -65, -3 * DAY_MINUTES, 30);

const order = drafts(
  fc
    .record({ located, price: of(...ASK_PRICES), created: fc.nat(2), expiry, status })
    .filter(({ located: { isEvm } }) => isEvm)
    .map(({ located: { at, asset, seller }, price, created, expiry: expires, status: state }) => ({
      fields: { kind: 'order', ...at, ...asset, priceRaw: price, seller, status: state },
      sinceStart: { createdAt: created + 1 },
      sinceNow: { expiresAt: expires },
    })),
);
const listing = drafts(
  fc
    .record({
      located,
      price: of(...ASK_PRICES),
      total: option(of('1', '0', '1600000000000000000', '2600000000000000000')),
      id: option(of('a', 'b', 'c')),
      source: of('opensea', 'magic-eden', 'mercat'),
      listed: fc.nat(2),
      hash: option(of('11', '22')),
      expiry,
      status,
    })
    .map(({ located: { at, asset, seller, isEvm }, price, total, id, source: drawn, listed, hash, ...rest }) => {
      const source = isEvm && drawn === 'mercat' ? 'blur' : drawn;
      return {
        fields: {
          kind: 'listing',
          source,
          ...at,
          ...asset,
          priceRaw: price,
          buyerTotalRaw: total,
          seller,
          id: id && `${source}-${at.chain}-${id}`,
          orderHash: isEvm && hash ? `0x${hash.repeat(32)}` : undefined,
          status: rest.status,
        },
        sinceStart: { timestamp: listed + 1 },
        sinceNow: { expiresAt: rest.expiry },
      };
    }),
);
const sale = drafts(
  fc
    .record({
      located,
      price: of(...SALE_PRICES),
      source: of('opensea', 'mercat', 'blur'),
      parties: fc.nat(3),
      tx: option(fc.nat(2)),
      logIndex: option(fc.nat(1)),
      sold: of(31, 5 * 60 + 1, 23 * 60 + 58, 30 * 60 + 2, 6 * DAY_MINUTES + 1_300, 8 * DAY_MINUTES + 3, 4_000),
      bundle: fc.nat(7),
      listingId: option(of('opensea-ethereum-a', 'other')),
    })
    .map(({ located: { at, asset, soldBy, buyer, isEvm }, price, source, parties, tx, logIndex, bundle, ...rest }) => ({
      fields: {
        kind: 'sale',
        source,
        ...at,
        ...(bundle > 0 ? asset : isEvm ? { tokenIds: ['1', '2'] } : { mints: [MINTS[0], MINTS[1]] }),
        price,
        seller: parties === 1 ? undefined : soldBy,
        buyer: parties === 2 ? undefined : buyer,
        tx: toTx(isEvm, tx),
        logIndex,
        listingId: rest.listingId,
      },
      sinceStart: { timestamp: rest.sold },
    })),
);
const token = drafts(
  fc
    .record({
      located,
      name: option(of('One', 'Café Éclair', '日本猫')),
      image: option(of(...IMAGES)),
      rank: option(of(1, 2, 7)),
      owned: fc.boolean(),
      traits: option(
        fc.constantFrom(
          [],
          [{ name: '', value: 'Cap' }],
          [{ name: 'Hat', value: 'Cap' }],
          [
            { name: 'Hat', value: 'Crown' },
            { name: 'constructor', value: '__proto__' },
          ],
        ),
      ),
    })
    .map(({ located: { at, asset, seller }, name, image, rank, owned, traits }) => ({
      fields: {
        kind: 'token',
        ...at,
        ...asset,
        name,
        image,
        rarityRank: rank,
        owner: owned ? seller : undefined,
        traits,
      },
    })),
);
const collection = drafts(
  fc
    .record({
      at: place,
      name: of('Lantern Moths', 'Tidal Clocks', 'Café'),
      slug: option(of(...SLUGS)),
      image: option(of(...IMAGES)),
      royalty: option(of(0, 500, 10_000)),
      launched: option(fc.boolean()),
      complete: option(fc.boolean()),
      created: option(fc.nat(2)),
      snapshot: option(
        fc.record(
          {
            floorRaw: of('0', '70', '2000000000000000000'),
            volumeAllTime: of(0, 2.5, 1_000),
            supply: of(0, 3, 10_000),
            owners: of(2, 900),
          },
          { requiredKeys: [] },
        ),
      ),
    })
    .map(({ at, name, slug, image, royalty, launched, complete, created, snapshot }) => ({
      fields: {
        kind: 'collection',
        ...at,
        name,
        slug,
        image,
        royaltyBps: royalty,
        launched,
        tokensComplete: complete,
        snapshot,
      },
      sinceStart: { createdAt: created },
    })),
);
const age = fc.constantFrom(undefined, 0, 9, 29, 41, 119, 121, 23 * 60, 25 * 60, -60);
const counts = (values: readonly number[]) =>
  fc.record({ allTime: of(...values), sevenDay: of(...values), twentyFourHour: of(...values) }, { requiredKeys: [] });
const stats = drafts(
  fc
    .record({
      at: place,
      figures: fc.record(
        {
          owners: of(0, 3, 50),
          listedCount: of(0, 1, 2, 40),
          supply: of(0, 8, 777),
          floorRaw: of('0', '50', '1200000000000000000'),
        },
        { requiredKeys: [] },
      ),
      age,
    })
    .map(({ at, figures, age: ago }) => ({ fields: { kind: 'stats', ...at, ...figures }, sinceNow: { at: ago } })),
);
const analytics = drafts(
  fc
    .record({
      at: place,
      floorRaw: option(of('0', '60', '1300000000000000000')),
      volume: option(counts([0, 1.25, 321.5])),
      sales: option(counts([0, 4, 90])),
      age,
    })
    .map(({ at, floorRaw, volume, sales, age: ago }) => ({
      fields: { kind: 'analytics', ...at, floorRaw, volume, sales },
      sinceNow: { at: ago },
    })),
);
const rate = drafts(
  fc
    .record({ symbol: of('ETH', 'SOL', 'POL'), usd: of(3_000.5, 150, 0.25), age: of(0, 5, 14, 16, 500) })
    .map(({ symbol, usd, age: ago }) => ({ fields: { kind: 'rate', symbol, usd }, sinceNow: { at: ago } })),
);

const whole = fc.oneof(
  { weight: 4, arbitrary: collection },
  { weight: 4, arbitrary: order },
  { weight: 6, arbitrary: listing },
  { weight: 6, arbitrary: sale },
  { weight: 4, arbitrary: token },
  { weight: 2, arbitrary: stats },
  { weight: 2, arbitrary: analytics },
  { weight: 1, arbitrary: rate },
);

const broken = of<Record<string, unknown>>(
  { colour: 'red' },
  { timestamp: '2026-06-01' },
  { timestamp: '2026-06-01T25:00:00Z' },
  { createdAt: '2026-06-01T10:00:00' },
  { createdAt: '2026-06-01T10:61:00Z' },
  { at: '01.06.2026 10:00' },
  { contractAddress: '0x12' },
  { priceRaw: '007' },
  { priceRaw: '-1' },
  { buyerTotalRaw: '1.5' },
  { tokenId: '0x1' },
  { seller: '0x00000000000000000000000000000000000000g1' },
);
const record = fc
  .record({ draft: whole, broken, draw: fc.nat(11) })
  .map(({ draft, broken: wrong, draw }): RecordDraft => (draw === 0 ? { ...draft, broken: wrong } : draft));

const productFields = {
  name: of('Mug', 'Big  Mug!', 'Café Mug', '', 'x'.repeat(161)),
  price: of<unknown>('19.90', 5, '0', '1e5', '-1', '007.50', '1'.repeat(41)),
  slug: of('mug', 'mug-2', 'other'),
  type: of('physical', 'digital', 'nft', 'food'),
  inventory: of<unknown>(0, 3, 10, 11, 2 ** 31 - 1, -1, 1.5),
  trackInventory: fc.boolean(),
  weightGrams: of(0, 350.5),
  collection: of('a', 'b'),
  collections: of([], ['a', 'b', 'a'], ['c']),
  description: of('A mug', null),
  moreImages: of([], ['https://example.com/2.png']),
  sku: of('M-1', 'M-2', null, 'x'.repeat(121)),
  externalId: of('erp/1', 'erp/2', null),
  status: of('active', 'draft', 'archived', 'sold'),
  groupId: of('mugs', null),
  options: of([{ name: 'Size', value: 'M' }], [{ name: 'Size', value: 'L' }], []),
  metadata: of<unknown>({ shelf: 'B' }, { shelf: null, b: '1' }, { a: 5 }),
  colour: of('red'),
};
const { name, price, colour: _colour, ...optionalFields } = productFields;
const stockChange = fc.oneof(
  fc.record({ adjustment: of<unknown>(-1, -8, 0, 5, -(2 ** 31 - 1), 2 ** 31 - 1, 2 ** 31, 0.5) }),
  fc.record({ set: of(0, 10, 11, 40) }),
  fc.record({ adjustment: of(-1), expected: of(0, 3, 10, 11) }),
  fc.record({ set: of(2), adjustment: of(1) }),
  fc.record({ reason: of('nothing to do') }),
  fc.record({ set: of(12), reason: of('count') }),
  fc.record({ adjustment: of(-1, -3, 2 ** 31 - 1), clamp: of(false, true) }),
);
const ref = { of: fc.nat(4), by: of<ProductRef['by']>('product_id', 'product_id', 'sku', 'externalId') };
/** Most new products are valid, so that a run has products. */
const required = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({ name: of('Mug', 'Big  Mug!', 'Café Mug'), price: of<unknown>('19.90', 5, '0') }),
  },
  { weight: 1, arbitrary: fc.record({ name, price }) },
);
const newProduct = fc.tuple(required, fewOf(optionalFields)).map(([fields, optional]) => ({ ...fields, ...optional }));
const atomic = fc.nat(2).map((draw) => draw === 0);
const quantity = of(1, 1, 2, 3, 9, 2 ** 31 - 1, 0);
const adjust = fc.record({ request: fc.constant('adjust' as const), ...ref, body: stockChange });
const reserve = fc.record({
  request: fc.constant('reserve' as const),
  items: fc.array(fc.record({ ...ref, quantity }), { minLength: 1, maxLength: 3 }),
  body: fc.record({ reference: of('cart-1', null), expiresInSeconds: of(86_400, 604_800) }),
});
const createProduct = fc.record({ request: fc.constant('create' as const), body: newProduct });
const isCurrent = of(undefined, undefined, true, false);
const ended = { reservation: fc.nat(3) };
const shopCall: fc.Arbitrary<ShopCall> = fc.oneof(
  { weight: 3, arbitrary: createProduct },
  {
    weight: 3,
    arbitrary: fc.record({
      request: fc.constant('update' as const),
      of: ref.of,
      body: fewOf(productFields),
      isCurrent,
    }),
  },
  { weight: 4, arbitrary: adjust },
  { weight: 1, arbitrary: fc.record({ request: fc.constant('delete' as const), of: ref.of, isCurrent }) },
  {
    weight: 2,
    arbitrary: fc.record({
      request: fc.constant('products' as const),
      rows: fc.array(
        fc.oneof(
          fc.record({ of: fc.constant(null), body: newProduct }),
          fc.record({ of: fc.option(ref.of), body: fewOf(productFields) }),
        ),
        { minLength: 1, maxLength: 5 },
      ),
      atomic,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      request: fc.constant('changes' as const),
      rows: fc.array(fc.record({ ...ref, body: stockChange }), { minLength: 1, maxLength: 5 }),
      atomic,
    }),
  },
  { weight: 4, arbitrary: reserve },
  {
    weight: 2,
    arbitrary: fc.record({
      request: fc.constant('consume' as const),
      ...ended,
      items: fc.option(fc.array(fc.record({ ...ref, quantity: of(1, 2, 3, 0) }), { minLength: 1, maxLength: 2 })),
      body: of<Fields>({}, { remaining: 'hold' }, { remaining: 'release' }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ request: of<'release' | 'extend'>('release', 'release', 'extend'), ...ended }) },
);
const shopStep: fc.Arbitrary<ShopStep> = fc
  .record({
    do: fc.constant('shop' as const),
    call: fc.oneof(
      { weight: 12, arbitrary: shopCall },
      {
        weight: 1,
        arbitrary: fc.record({
          request: fc.constant('import' as const),
          rows: fc.array(
            fc.tuple(newProduct, of('mug', 'mug-2', 'cap')).map(([fields, slug]) => ({ ...fields, slug })),
            { minLength: 1, maxLength: 3 },
          ),
          isUndone: fc.boolean(),
        }),
      },
    ),
    key: fc.constantFrom(undefined, undefined, undefined, 1, 2),
    // A deletion returns stock a moment later, so it is not sent together with others.
    together: fc.oneof(
      { weight: 4, arbitrary: fc.constant<ShopCall[]>([]) },
      { weight: 1, arbitrary: fc.array(shopCall, { minLength: 1, maxLength: 4 }) },
    ),
  })
  .map(({ together, ...drawn }) => ({
    ...drawn,
    together: drawn.call.request === 'delete' ? [] : together.filter(({ request }) => request !== 'delete'),
  }));

/** At most three fields, so that many requests are valid. */
function fewOf(fields: Record<string, fc.Arbitrary<unknown>>): fc.Arbitrary<Record<string, unknown>> {
  return fc
    .subarray(Object.keys(fields), { maxLength: 3 })
    .chain((names) => fc.record(Object.fromEntries(names.map((field) => [field, fields[field] ?? fc.constant(null)]))));
}

const restart = fc.record({
  do: fc.constant('restart' as const),
  data: of<RestartStep['data']>('same', 'restore', 'keep', 'older'),
});
const action: fc.Arbitrary<Step> = fc.oneof(
  { weight: 10, arbitrary: shopStep },
  { weight: 22, arbitrary: marketStep() },
  { weight: 8, arbitrary: orderStep() },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('chain' as const),
      blocks: of(1, 2, 9),
      depth: of(0, 0, 1, 3, 20),
      report: of<ChainStep['report']>(null, 'same', 'other'),
    }),
  },
  { weight: 8, arbitrary: tradeStep() },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('vendor' as const),
      changes: fc.array(
        fc.record({
          kind: of<VendorStep['changes'][number]['kind']>('list', 'list', 'list', 'end', 'sell', 'ask', 'ask', 'unask'),
          token: fc.nat(5),
          price: of('1500000000000000000', '1000000000000000000', '99'),
        }),
        { minLength: 1, maxLength: 4 },
      ),
      fault: of<VendorStep['fault']>(
        null,
        null,
        'server-error',
        'truncated',
        'repeated-page',
        'nulls',
        'looping-cursor',
        'late',
      ),
    }),
  },
);

/** A restart takes as long as many of the others. */
export const step: fc.Arbitrary<Step> = fc.oneof({ weight: 99, arbitrary: action }, { weight: 1, arbitrary: restart });

function tradeStep(): fc.Arbitrary<Step> {
  const often = ['mint', 'approve', 'deposit', 'allow', 'ask', 'bid', 'fill'] as const;
  const rarely = ['transfer', 'burn', 'revoke', 'withdraw', 'cancel', 'counter', 'close'] as const;
  return fc.record({
    do: fc.constant('trade' as const),
    kind: of<TradeStep['kind']>(...often, ...often, ...often, ...rarely),
    account: of(1, 2),
    token: fc.nat(3),
    of: fc.nat(7),
    price: of('1000000000000000000', '1500000000000000000', '99'),
    units: of(1, 2, 3),
    wants: of<TradeStep['wants']>('item', 'collection', 'tokens'),
    hasFee: fc.boolean(),
    expiresIn: of(7, 65, 3 * DAY_MINUTES),
    depth: of(0, 0, 0, 1, 3, 9),
  });
}

function orderStep(): fc.Arbitrary<Step> {
  const rarely = (weight: number) => fc.nat(weight).map((draw) => draw === 0);
  const signed = {
    // Base and Polygon, which are read from no endpoint.
    place: of(1, 2),
    tokenId: of(...EVM_TOKENS.slice(0, 3)),
    offerer: of(1, 2),
    price: of(...ASK_PRICES.slice(0, 6)),
    fee: of<SignStep['fee']>('none', 'none', 'small', 'large'),
    expiresIn: of(0, 7, 65, 3 * DAY_MINUTES),
    isForged: rarely(9),
    again: fc.option(fc.nat(5), { nil: null, freq: 1 }).map((draw) => (draw === null || draw > 2 ? null : draw)),
  };
  return fc.oneof(
    {
      weight: 5,
      arbitrary: fc.record({ do: fc.constant('sign' as const), ...signed, units: of(1, 1, 1, 2, 3) }),
    },
    {
      weight: 5,
      arbitrary: fc.record({
        do: fc.constant('bid' as const),
        ...signed,
        units: of(1, 1, 2, 3),
        wants: of<BidStep['wants']>('item', 'collection', 'traits', 'tokens'),
        trait: of({ name: 'Hat', value: 'Cap' }, { name: 'Hat', value: 'Crown' }),
        fault: of<BidStep['fault']>(...Array.from({ length: 9 }, () => null), 'quantity', 'currency', 'root'),
      }),
    },
    {
      weight: 4,
      arbitrary: fc.record({
        do: fc.constant('cancel' as const),
        of: fc.nat(5),
        by: of<CancelStep['by']>('operator', 'offerer', 'stranger', 'nobody'),
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        do: fc.constant('mirror' as const),
        of: fc.nat(5),
        source: of('opensea', 'blur'),
        status: of<MirrorStep['status']>(undefined, 'filled', 'cancelled'),
      }),
    },
  );
}

function marketStep(): fc.Arbitrary<Step> {
  return fc.oneof(
    {
      weight: 12,
      arbitrary: fc.record({
        do: fc.constant('import' as const),
        through: fc.constantFrom('http' as const, 'socket' as const, 'csv' as const),
        replace: fc.boolean(),
        createCollections: fc.nat(2).map((draw) => draw === 0),
        records: fc.array(record, { minLength: 1, maxLength: 5 }),
      }),
    },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('repeat' as const), of: fc.nat(20) }) },
    { weight: 4, arbitrary: fc.record({ do: fc.constant('undo' as const), of: fc.nat(20) }) },
    { weight: 1, arbitrary: fc.constant({ do: 'removeSample' as const }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('purge' as const), place: fc.nat(COLLECTIONS.length - 1) }) },
    {
      weight: 3,
      arbitrary: fc.record({ do: fc.constant('clock' as const), minutes: of(1, 8, 14, 31, 61, 125, DAY_MINUTES + 60) }),
    },
  );
}
