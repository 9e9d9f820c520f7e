// The chain of a run: a simulated chain in memory, which the service follows through a JSON-RPC endpoint on loopback, and the comparison of what it serves
// about the followed collections.

import { setTimeout as delay } from 'node:timers/promises';
import { createRandom } from '../../../devnet/random.ts';
import { FakeChain } from '../../../test/support/chain/fake/fake-chain.ts';
import type { FakeEndpoint } from '../../../test/support/chain/fake/fake-endpoint.ts';
import { startFakeEndpoint } from '../../../test/support/chain/fake/fake-endpoint.ts';
import { COLLECTIONS } from '../../../test/support/chain/fake/fake-logs.ts';
import type { ChainSale } from '../rules/chain.ts';
import { chainSalesOf, mintedOf, ownersOf } from '../rules/chain.ts';
import type { Json } from '../comparison/explore.ts';
import { Unavailable } from '../errors.ts';
import type { ServiceDoors } from './service-doors.ts';
import type { ChainStep } from '../steps.ts';

const CHAIN = 'ethereum';
const SEED = 7;
const PATIENCE_MS = 120_000;
const POLL_MS = 25;
const RETRY_MS = 100;
const FIRST_BLOCKS = 12;
/** A token that the chain does not have. */
const OTHER_TOKEN = '99';
const FIGURES_MAX_AGE_MS = 2 * 3_600_000;

type Expect = (path: string, expected: unknown, served: unknown) => void;

export class ChainDoor {
  readonly #chain: FakeChain;
  readonly #endpoint: FakeEndpoint;
  #followed: string[] = [];
  /** The reported sales that are not the chain's, by the key of their row. */
  readonly #reported = new Map<string, ChainSale>();

  private constructor(chain: FakeChain, endpoint: FakeEndpoint) {
    this.#chain = chain;
    this.#endpoint = endpoint;
  }

  /** `faultShare`: the probability that a request to the endpoint fails. */
  static async start(clock: () => number, faultShare: number): Promise<ChainDoor> {
    const chain = new FakeChain(SEED, clock);
    const endpoint = await startFakeEndpoint(chain, createRandom(SEED));
    endpoint.failureShare = faultShare;
    return new ChainDoor(chain, endpoint);
  }

  get settings(): Record<string, string> {
    return { RPC_URL_ETHEREUM: this.#endpoint.url, CHAIN_POLL_MS: '100' };
  }

  /** The followed collections. Their figures come from the chain, and not from the market of the model. */
  get ids(): string[] {
    return this.#followed.map((contract) => `${CHAIN}_${contract}`);
  }

  get isFollowed(): boolean {
    return this.#followed.length > 0;
  }

  close(): Promise<void> {
    return this.#endpoint.close();
  }

  /** Mines blocks, and before that replaces the newest `depth` blocks with one more. The first call also follows a collection, later calls another one. */
  async mine(doors: ServiceDoors, { blocks, depth, report }: ChainStep): Promise<void> {
    if (!this.isFollowed) this.#chain.mine(FIRST_BLOCKS);
    if (depth > 0) this.#chain.reorganise(depth, depth + 1);
    this.#chain.mine(blocks);
    doors.advanceTo(this.#chain.time);
    const next = COLLECTIONS.find((contract) => !this.#followed.includes(contract));
    if (next !== undefined && mintedOf(this.#chain.blocks, next).length > 0) {
      await doors.operate('collections.add', { chain: CHAIN, address: next, fromBlock: 1, standard: 'erc721' });
      this.#followed.push(next);
    }
    if (report !== null) await this.#report(doors, report === 'same');
    await this.#wait(doors);
  }

  /** Mostly before the service has read the block. Decisions 6, "Sales": "A marketplace's report of a sale is kept, with its source, when its transaction and token are not among the chain's." */
  async #report(doors: ServiceDoors, isSame: boolean): Promise<void> {
    const [contractAddress = ''] = this.#followed;
    const [newest] = chainSalesOf(this.#chain.blocks, contractAddress);
    if (!newest) return;
    const sale = isSame ? newest : { ...newest, asset: OTHER_TOKEN };
    const { asset: tokenId, price, at, ...parties } = sale;
    const fields = { source: 'opensea', chain: CHAIN, contractAddress, tokenId, ...parties };
    const record = { kind: 'sale', ...fields, price: price.toString(), timestamp: iso(at) };
    await doors.import([record], 'http', { replace: false, createCollections: false });
    if (!isSame) this.#reported.set(sale.tx, sale);
  }

  /** Waits until the service has read the newest block and the past of each followed collection. */
  async #wait(doors: ServiceDoors): Promise<void> {
    const deadline = performance.now() + PATIENCE_MS;
    while (this.isFollowed) {
      const { chains } = (await doors.operate('status', {})) as { chains: Json[] };
      const read = chains.find(({ chain }) => chain === CHAIN);
      const { live } = (read?.['collections'] ?? { live: 0 }) as { live: number };
      if (read?.['block'] === this.#chain.head.number && live === this.#followed.length) return;
      if (performance.now() > deadline) throw new Unavailable(`the chain is not read: ${JSON.stringify(read)}`);
      await delay(POLL_MS);
      // After a failure, an endpoint is called again when its pause has passed.
      if (this.#endpoint.failureShare > 0) doors.advance(RETRY_MS);
    }
  }

  /** Compares what is served about the followed collections. */
  async compare(doors: ServiceDoors, expect: Expect, limit: number): Promise<void> {
    for (const contract of this.#followed) await this.#compareCollection(doors, { contract, expect, limit });
  }

  async #compareCollection(
    doors: ServiceDoors,
    { contract, expect, limit }: { contract: string; expect: Expect; limit: number },
  ): Promise<void> {
    const { blocks } = this.#chain;
    const id = `${CHAIN}_${contract}`;
    const base = `/v1/collections/${id}`;
    const owners = ownersOf(blocks, contract);
    const reported = contract === this.#followed[0] ? this.#reported.values() : [];
    const sales = [...chainSalesOf(blocks, contract), ...reported];
    const rows = (await doors.rows(`${base}/sales`, limit)) as Json[] | null;
    const toLine = (...parts: unknown[]) => parts.join(' ');
    expect(
      `${base}/sales of the chain`,
      sales.map((sale) => toLine(iso(sale.at), sale.asset, sale.price, sale.seller, sale.buyer, sale.tx)).toSorted(),
      rows
        ?.map((row) =>
          toLine(row['timestamp'], row['tokenId'], rawOf(row['price']), row['seller'], row['buyer'], row['tx']),
        )
        .toSorted() ?? null,
    );
    const tokens = (await doors.rows(`/explore/v1/collections/${id}/tokens?sort=id`, limit)) as Json[] | null;
    const ownerOf = (row: Json) => (row['owner'] as Json)['address'];
    expect(
      `/explore/v1/collections/${id}/tokens of the chain`,
      Array.from(owners, ([asset, owner]) => `${asset} ${owner}`).toSorted(),
      tokens?.map((row) => `${String(row['tokenId'])} ${String(ownerOf(row))}`).toSorted() ?? null,
    );
    // Decisions 6, "Maximum age of a reported figure": the newest block says when a figure of the chain was observed.
    if (doors.now - this.#chain.time >= FIGURES_MAX_AGE_MS) return;
    const { stats } = dataOf((await doors.get(base)).body) as { stats: Json };
    const volumeRaw = sales.reduce((sum, { price }) => sum + price, 0n);
    const all = (windows: unknown) => (windows as Json)['allTime'];
    expect(
      `${base} of the chain`,
      {
        volume: Number(`${volumeRaw}e-18`),
        sales: sales.length,
        supply: owners.size,
        owners: new Set(owners.values()).size,
      },
      { volume: all(stats['volume']), sales: all(stats['sales']), supply: stats['supply'], owners: stats['owners'] },
    );
    const holders = dataOf((await doors.get(`/explore/v1/collections/${id}/holders`)).body);
    const counts = Map.groupBy(owners.values(), (owner) => owner);
    expect(
      `/explore/v1/collections/${id}/holders of the chain`,
      Array.from(counts, ([owner, of]) => `${owner} ${of.length}`).toSorted(),
      (holders['largest'] as Json[]).map((row) => `${String(row['address'])} ${String(row['tokens'])}`).toSorted(),
    );
    const activity = (await doors.rows(`/explore/v1/activity?collection=${id}&kinds=sale`, limit)) as Json[] | null;
    expect(
      `/explore/v1/activity?collection=${id}&kinds=sale of the chain`,
      sales.map(({ asset, price, tx }) => toLine(asset, price, tx)).toSorted(),
      activity
        ?.filter((row) => row['voidedBy'] === null)
        .map((row) => toLine(row['tokenId'], rawOf(row['price']), row['tx']))
        .toSorted() ?? null,
    );
    for (const [asset, owner] of owners) {
      const path = `/explore/v1/tokens/${CHAIN}/${contract}/${asset}/owners`;
      const held = (await doors.rows(path, limit)) as Json[] | null;
      expect(
        `${path} of the chain`,
        [`${owner} 1`],
        held?.map((row) => `${String(row['address'])} ${String(row['balance'])}`) ?? null,
      );
    }
    for (const wallet of new Set(owners.values())) {
      const path = `/explore/v1/wallets/${wallet}/tokens?chain=${CHAIN}`;
      const owned = (await doors.rows(path, limit)) as Json[] | null;
      expect(
        `${path} (${id}) of the chain`,
        [...owners].flatMap(([asset, owner]) => (owner === wallet ? [asset] : [])).toSorted(),
        owned
          ?.filter((row) => row['collectionId'] === id)
          .map((row) => String(row['tokenId']))
          .toSorted() ?? null,
      );
    }
  }
}

function iso(time: number): string {
  return new Date(time).toISOString();
}

function dataOf(body: unknown): Json {
  return (body as { data: Json }).data;
}

function rawOf(price: unknown): string {
  return price === null ? 'null' : String((price as Json)['raw']);
}
