// The marketplaces of a run: local servers in the shapes of OpenSea and Magic Eden, and the comparison of what the service serves about their collection. OpenSea's list of
// listings may be cut off, broken, repeated, or late: then it is as before the step. Both may list one order, at different prices, and one may have ended it already. "upstreams"
// is docs/upstreams.md.

import type { Route } from '../../../test/support/replay/replay.ts';
import { startReplayServer } from '../../../test/support/replay/replay.ts';
import type { ServedListing } from '../../../test/support/replay/opensea.ts';
import { askRow, createMagicEdenBook, magicEdenRoutes } from '../../../test/support/replay/magic-eden.ts';
import { makeAddress, makeCollection, makeHash, openseaRoutes } from '../../../test/support/replay/opensea.ts';
import type { Check, Json } from '../comparison/check.ts';
import { dataOf, rawOf } from '../comparison/check.ts';
import type { ServiceDoors } from './service-doors.ts';
import type { VendorStep } from '../steps.ts';
import { START } from '../steps.ts';

const CHAIN = 'apechain';
const TASKS = ['opensea-listings', 'opensea-sales', 'magic-eden-asks'];
const NATIVE = `0x${'0'.repeat(40)}`;
const LISTINGS = /\/listings\//;
/** Small pages, so that a list has several. */
const PAGE_ROWS = 2;
/** Upstreams: "A breaker stays open for 18 seconds at most." */
const BREAKER_MS = 20_000;
/** Provenance: a listed count has reached its maximum age after "24 h". */
const COUNT_MAX_AGE_MS = 24 * 3_600_000;

export class VendorDoor {
  readonly #served = makeCollection({ tokens: ['1', '2', '3', '4', '5', '6'] });
  /** Magic Eden's asks, by token. */
  readonly #asks = new Map<string, ServedListing>();
  readonly #book = createMagicEdenBook();
  readonly #replay: Awaited<ReturnType<typeof startReplayServer>>;
  #isFollowed = false;
  #hashes = 0;
  /** The listings that must be open at the service. */
  #stored: ServedListing[] = [];
  /** The listings that may also be open: the last read has ended early. */
  #possible: ServedListing[] = [];
  #storedAsks: ServedListing[] = [];
  /** The present list of listings, while the marketplace serves an earlier one. */
  #late: ServedListing[] | null = null;
  #readAt = 0;

  private constructor(replay: Awaited<ReturnType<typeof startReplayServer>>, routes: Route[]) {
    this.#replay = replay;
    routes.push(...openseaRoutes([this.#served]).map(inSmallPages), ...magicEdenRoutes(this.#book));
  }

  static async start(): Promise<VendorDoor> {
    const routes: Route[] = [];
    return new VendorDoor(await startReplayServer({ after: () => undefined }, routes), routes);
  }

  get settings(): Record<string, string> {
    const { url } = this.#replay;
    return {
      OPENSEA_API_KEY: 'a-key',
      OPENSEA_URL: url,
      OPENSEA_HOURLY_BUDGET: '1000000',
      MAGICEDEN_URL: url,
      MAGICEDEN_EVM_URL: url,
    };
  }

  get id(): string {
    return `${CHAIN}_${this.#served.contract}`;
  }

  close(): Promise<void> {
    return this.#replay.close();
  }

  /** Keeps what the service follows, as a backup does. Calling the result brings it back, and lets the service read the marketplace. */
  keep(): (doors: ServiceDoors) => Promise<void> {
    const isFollowed = this.#isFollowed;
    return async (doors) => {
      this.#isFollowed = isFollowed;
      if (isFollowed) await this.take(doors, { changes: [], fault: null });
    };
  }

  /** Changes what the marketplace has, and lets the service read it. A fault lasts until the next step. */
  async take(doors: ServiceDoors, { changes, fault }: Omit<VendorStep, 'do'>): Promise<void> {
    this.#replay.heal();
    this.#served.listings = this.#late ?? this.#served.listings;
    const before = this.#served.listings;
    for (const change of changes) this.#change(change, doors.now);
    // A late list is that of before the step. The next step makes it current.
    this.#late = fault === 'late' ? this.#served.listings : null;
    if (fault === 'late') this.#served.listings = before;
    this.#book.asks.set(this.#served.contract, this.#toAskRows());
    const pages = Math.ceil(this.#served.listings.length / PAGE_ROWS);
    const isCut = fault !== null && fault !== 'late' && pages > 1;
    if (isCut) this.#replay.fail(fault, { skip: 1, path: LISTINGS });
    if (!this.#isFollowed) {
      const { contract: address, slug } = this.#served;
      await doors.operate('collections.add', { chain: CHAIN, address, magiceden: slug });
      this.#isFollowed = true;
    }
    doors.advance(BREAKER_MS);
    for (const task of TASKS) await doors.runTasks([task], { mayFail: isCut });
    // Upstreams: "Only a list that is complete … retires listings."
    this.#possible = isCut ? [...this.#possible, ...this.#served.listings] : [];
    if (!isCut) [this.#stored, this.#readAt] = [this.#served.listings, doors.now];
    this.#storedAsks = [...this.#asks.values()];
  }

  #change({ kind, token, price }: VendorStep['changes'][number], now: number): void {
    const tokenId = String(token + 1);
    const { listings, sales } = this.#served;
    const listed = listings.find((one) => one.tokenId === tokenId);
    if (kind === 'ask') this.#asks.set(tokenId, this.#toListing(tokenId, { price, hash: listed?.hash }));
    if (kind === 'unask') this.#asks.delete(tokenId);
    if (kind === 'ask' || kind === 'unask') return;
    const others = listings.filter((one) => one !== listed);
    this.#served.listings = kind === 'list' ? [...others, this.#toListing(tokenId, { price })] : others;
    if (kind === 'sell') {
      const tx = makeHash(70_000 + sales.length);
      sales.push({ tokenId, raw: BigInt(price), tx, soldAt: Math.floor(now / 1_000) });
    }
  }

  /** `hash`: of an order that the other marketplace lists, too. */
  #toListing(tokenId: string, { price, hash }: { price: string; hash?: string | undefined }): ServedListing {
    this.#hashes += 1;
    const seller = makeAddress(Number(tokenId) % 2);
    const listedAt = START / 1_000 - 86_400 + this.#hashes;
    return { tokenId, seller, total: BigInt(price), hash: hash ?? makeHash(this.#hashes), listedAt };
  }

  #toAskRows(): Json[] {
    return Array.from(this.#asks.values(), ({ tokenId, seller, total, hash, listedAt = 0 }) =>
      askRow(Number(tokenId), this.#served.contract, {
        id: hash,
        maker: seller,
        price: { amount: { raw: total.toString() }, currency: { contract: NATIVE, symbol: 'APE', decimals: 18 } },
        createdAt: new Date(listedAt * 1_000).toISOString(),
        chain: CHAIN,
      }),
    );
  }

  checks(doors: ServiceDoors, limit: number): Check[] {
    if (!this.#isFollowed) return [];
    const rowsOf = async (path: string) => ((await doors.rows(path, limit)) as Json[] | null) ?? [];
    const check = (path: string, compare: (path: string) => ReturnType<Check['compare']>): Check => ({
      path: `${path} of the marketplace`,
      of: 'vendor',
      compare: () => compare(path),
    });
    return [
      check(`/explore/v1/orders?collection=${this.id}&sort=price`, async (path) => {
        const rows = await rowsOf(path);
        const stored = [...this.#stored, ...this.#storedAsks].map(toLine);
        const known = new Set(stored);
        const possible = new Set(this.#possible.map(toLine));
        return [
          stored.toSorted(),
          rows
            .map((row) => [row['tokenId'], rawOf(row['price']), row['seller'], row['orderHash']].join(' '))
            .filter((line) => known.has(line) || !possible.has(line))
            .toSorted(),
        ];
      }),
      check(`/v1/collections/${this.id}/sales`, async (path) => [
        this.#served.sales.map(({ tokenId, raw, tx }) => `${tokenId} ${raw} ${tx}`).toSorted(),
        (await rowsOf(path))
          .map((row) => `${String(row['tokenId'])} ${rawOf(row['price'])} ${String(row['tx'])}`)
          .toSorted(),
      ]),
      ...(this.#isCounted(doors.now)
        ? [
            check(`/v1/collections/${this.id}`, async (path) => {
              const { stats } = dataOf((await doors.get(path)).body) as { stats: Json };
              const open = [...this.#stored, ...this.#storedAsks];
              const lowest = open.map(({ total }) => total).reduce((low, one) => (one < low ? one : low));
              // Decisions 2, "Listings": "One asset appears once".
              const listedCount = new Set(open.map(({ tokenId }) => tokenId)).size;
              return [
                { floor: lowest.toString(), listedCount },
                { floor: rawOf(stats['floor']), listedCount: stats['listedCount'] },
              ];
            }),
          ]
        : []),
    ];
  }

  /** Provenance, "Listed count": "listings are counted only while each of these marketplaces has a complete list". */
  #isCounted(now: number): boolean {
    return this.#possible.length === 0 && this.#stored.length > 0 && now - this.#readAt < COUNT_MAX_AGE_MS;
  }
}

function toLine({ tokenId, total, seller, hash }: ServedListing): string {
  return [tokenId, total, seller, hash].join(' ');
}

function inSmallPages(route: Route): Route {
  if (!route.paging) return route;
  return {
    ...route,
    answer: (request) => {
      const query = new URLSearchParams(request.query);
      query.set('limit', String(PAGE_ROWS));
      return route.answer({ ...request, query });
    },
  };
}
