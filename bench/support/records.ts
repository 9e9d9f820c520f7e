// Records for the benchmarks: a collection with 2,500 listings, many small collections, and rows to import. The records are the same in
// every run.

const CONTRACT = `0x${'5a'.repeat(20)}`;

const address = (n: number) => `0x${n.toString(16).padStart(40, '0')}`;
const time = (n: number) => new Date(Date.UTC(2026, 0, 1) + n * 1_000).toISOString();
const tokenOf = (n: number) => ({ chain: 'ethereum', contractAddress: CONTRACT, tokenId: String(n) });
const price = (n: number) => (10n ** 18n + BigInt((n * 7919) % 10_007) * 10n ** 14n).toString();

/** The collection of `listedCollection`. `asset` is the id of a listed token, of which `importRows` makes sales. */
export const LISTED_COLLECTION = {
  id: `ethereum_${CONTRACT}`,
  slug: 'bench',
  chain: 'ethereum',
  contractAddress: CONTRACT,
  asset: '1',
};

/** One collection with 2,000 mirrored listings, 500 own orders and 2,000 tokens. */
export function* listedCollection(): Generator<Record<string, unknown>> {
  yield {
    kind: 'collection',
    chain: 'ethereum',
    contractAddress: CONTRACT,
    slug: 'bench',
    name: 'Bench',
    royaltyBps: 500,
  };
  for (let n = 0; n < 2_000; n += 1) {
    yield { kind: 'token', ...tokenOf(n), name: `Bench #${n}`, rarityRank: n + 1, owner: address(n % 700) };
    yield {
      kind: 'listing',
      source: 'opensea',
      id: `os-${n}`,
      ...tokenOf(n),
      priceRaw: price(n),
      seller: address(n % 700),
      timestamp: time(n),
    };
    if (n % 4 === 0)
      yield { kind: 'order', ...tokenOf(n), priceRaw: price(n + 3), seller: address(n % 700), createdAt: time(n) };
  }
}

/** Collections with one sale and one listing each, for benchmarks of the sorted collection list. */
export function* manyCollections(count: number): Generator<Record<string, unknown>> {
  for (let n = 0; n < count; n += 1) {
    const contractAddress = address(1_000_000 + n);
    const token = { chain: 'ethereum', contractAddress, tokenId: '1' };
    yield { kind: 'collection', chain: 'ethereum', contractAddress, slug: `many-${n}`, name: `Many ${n}` };
    yield {
      kind: 'listing',
      source: 'opensea',
      id: `many-${n}`,
      ...token,
      priceRaw: price(n),
      seller: address(n),
      timestamp: time(n),
    };
    yield {
      kind: 'sale',
      source: 'opensea',
      ...token,
      price: price(n + 1),
      seller: address(n),
      buyer: address(n + 1),
      timestamp: time(n),
      tx: `0x${n.toString(16).padStart(64, '0')}`,
    };
  }
}

/**
 * Sales of the first `collections` collections that `manyCollections` makes, one sale of each collection in turn. The sales are numbered from
 * `from`. Sales with different numbers are different.
 */
export function* salesOfMany(
  collections: number,
  { count, from }: { count: number; from: number },
): Generator<Record<string, unknown>> {
  for (let n = from; n < from + count; n += 1) {
    yield {
      kind: 'sale',
      source: 'opensea',
      chain: 'ethereum',
      contractAddress: address(1_000_000 + (n % collections)),
      tokenId: '1',
      price: price(n),
      seller: address(n % 5_000),
      buyer: address(n % 4_999),
      timestamp: time(n),
      tx: `0x${n.toString(16).padStart(64, '0')}`,
    };
  }
}

export const IMPORTED_KINDS = ['sale', 'listing', 'token'] as const;
export type ImportedKind = (typeof IMPORTED_KINDS)[number];

/** The collection of row `n`. Of 500 collections, the largest has a ninth of the rows, and the smallest have few. */
function collectionAt(n: number, collections: number): string {
  if (collections === 1) return CONTRACT;
  return address(2_000_000 + Math.floor((collections + 1) ** (((n * 7_919) % 10_007) / 10_007)));
}

/**
 * `count` rows of one kind, of `collections` collections. The rows are numbered from `from`. Rows with different numbers are different. A token
 * has many sales, but one listing: with a hundred active listings of each token, an import would mostly compare them.
 */
export function* importRows(
  kind: ImportedKind,
  count: number,
  from: number,
  collections = 1,
): Generator<Record<string, unknown>> {
  for (let n = from; n < from + count; n += 1) {
    const ofToken = (id: number) => ({ ...tokenOf(id), contractAddress: collectionAt(n, collections) });
    if (kind === 'sale') {
      const tx = `0x${n.toString(16).padStart(64, '0')}`;
      yield {
        kind,
        source: 'opensea',
        ...ofToken(n % 10_000),
        price: price(n),
        seller: address(n % 5_000),
        buyer: address(n % 4_999),
        timestamp: time(n),
        tx,
        logIndex: n % 300,
      };
    } else if (kind === 'token') {
      yield { kind, ...ofToken(n), name: `Token #${n}`, rarityRank: n + 1, owner: address(n % 5_000) };
    } else {
      yield {
        kind,
        source: 'opensea',
        id: `row-${n}`,
        ...ofToken(n),
        priceRaw: price(n),
        seller: address(n % 5_000),
        timestamp: time(n),
      };
    }
  }
}

/** The records as the bytes of an NDJSON file, in chunks of 200 lines. */
export function* toChunks(records: Iterable<Record<string, unknown>>): Generator<Uint8Array> {
  const LINES_A_CHUNK = 200;
  let lines: string[] = [];
  for (const record of records) {
    lines.push(JSON.stringify(record));
    if (lines.length === LINES_A_CHUNK) {
      yield Buffer.from(`${lines.join('\n')}\n`);
      lines = [];
    }
  }
  if (lines.length > 0) yield Buffer.from(`${lines.join('\n')}\n`);
}

export async function* toAsync(chunks: Iterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield* chunks;
}
