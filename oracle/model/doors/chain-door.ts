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
import type { Check, Json } from '../comparison/check.ts';
import { dataOf, rawOf } from '../comparison/check.ts';
import { Unavailable } from '../errors.ts';
import type { ServiceDoors } from './service-doors.ts';
import type { ChainStep, TradeStep } from '../steps.ts';
import { ChainOrders } from './chain-orders.ts';
import type { StreamCopy } from './copy.ts';

const CHAIN = 'ethereum';
const SEED = 7;
const PATIENCE_MS = 120_000;
const POLL_MS = 60;
const RETRY_MS = 100;
const FIRST_BLOCKS = 12;
/** A token that the chain does not have. */
const OTHER_TOKEN = '99';
const FIGURES_MAX_AGE_MS = 2 * 3_600_000;

export class ChainDoor {
  readonly #chain: FakeChain;
  readonly #endpoint: FakeEndpoint;
  /** The signed orders of the first followed collection. */
  readonly orders: ChainOrders;
  #followed: string[] = [];
  /** The reported sales that are not the chain's, by the key of their row. */
  readonly #reported = new Map<string, ChainSale>();

  private constructor(chain: FakeChain, endpoint: FakeEndpoint) {
    this.#chain = chain;
    this.#endpoint = endpoint;
    this.orders = new ChainOrders(chain, COLLECTIONS[0]);
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

  /** Keeps what the service follows, as a backup does. Calling the result brings it back, and waits until the service has read the blocks since then. */
  keep(): (doors: ServiceDoors) => Promise<void> {
    const [followed, reported, orders] = [[...this.#followed], [...this.#reported], this.orders.keep()];
    return async (doors) => {
      orders();
      this.#followed = [...followed];
      this.#reported.clear();
      for (const [tx, sale] of reported) this.#reported.set(tx, sale);
      await this.#wait(doors);
    };
  }

  /** Mines blocks, and before that replaces the newest `depth` blocks with one more. The first call also follows a collection, later calls another one. */
  async mine(doors: ServiceDoors, { blocks, depth, report }: ChainStep): Promise<void> {
    if (!this.isFollowed) this.#chain.mine(FIRST_BLOCKS);
    if (depth > 0) this.#chain.reorganise(depth, depth + 1);
    this.#chain.mine(blocks);
    doors.advanceTo(this.#chain.time);
    // The first one is the one whose orders are signed.
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

  /** Lets an account act on the chain, or sends a request about an order of the first followed collection. Without a followed collection, nothing happens. */
  async trade(doors: ServiceDoors, step: TradeStep, commands: string[]): Promise<void> {
    if (!this.isFollowed) return;
    if (step.depth > 0) this.#chain.reorganise(step.depth, step.depth + 1);
    const planned = this.orders.plan(step);
    if (step.depth > 0 || planned) {
      commands.push(
        `# the chain replaces ${step.depth} blocks, and account ${step.account} does: ${step.kind} (test/support/chain/fake)`,
      );
      this.#chain.mine(1, planned ? [planned] : []);
      doors.advanceTo(this.#chain.time);
      await this.#wait(doors);
    }
    await this.orders.request(doors, step, commands);
  }

  /** Waits until the service has read the newest block and the past of each followed collection. */
  async #wait(doors: ServiceDoors): Promise<void> {
    const deadline = performance.now() + PATIENCE_MS;
    while (this.isFollowed) {
      // On a busy machine, the status may lack what exceeded its deadline.
      const { chains } = (await doors.operate('status', {})) as { chains: Json[] | null };
      const read = chains?.find(({ chain }) => chain === CHAIN);
      const { live } = (read?.['collections'] ?? { live: 0 }) as { live: number };
      if (read?.['block'] === this.#chain.head.number && live === this.#followed.length) return;
      if (performance.now() > deadline) throw new Unavailable(`the chain is not read: ${JSON.stringify(read)}`);
      await delay(POLL_MS);
      // After a failure, an endpoint is called again when its pause has passed.
      if (this.#endpoint.failureShare > 0) doors.advance(RETRY_MS);
    }
  }

  /** What is served about the followed collections. */
  checks(doors: ServiceDoors, copy: StreamCopy, limit: number): Check[] {
    return [
      ...this.#followed.flatMap((contract) => this.#collectionChecks(doors, { contract, limit })),
      ...(this.isFollowed ? this.orders.checks(doors, copy, limit) : []),
    ];
  }

  #collectionChecks(doors: ServiceDoors, { contract, limit }: { contract: string; limit: number }): Check[] {
    const { blocks } = this.#chain;
    const id = `${CHAIN}_${contract}`;
    const owners = ownersOf(blocks, contract);
    const reported = contract === this.#followed[0] ? this.#reported.values() : [];
    const sales = [...chainSalesOf(blocks, contract), ...reported];
    /** Compares a line for each row of a list, in any order. */
    const list = (path: string, lines: readonly string[], toLine: (row: Json) => string | null): Check => ({
      path: `${path} (${id}) of the chain`,
      of: 'chain',
      compare: async () => {
        const rows = (await doors.rows(path, limit)) as Json[] | null;
        return [lines.toSorted(), rows?.flatMap((row) => toLine(row) ?? []).toSorted() ?? null];
      },
    });
    const inCollection = (row: Json, line: string) => (row['collectionId'] === id ? line : null);
    return [
      list(
        `/v1/collections/${id}/sales`,
        sales.map((sale) => join(iso(sale.at), sale.asset, sale.price, sale.seller, sale.buyer, sale.tx)),
        (row) => join(row['timestamp'], row['tokenId'], rawOf(row['price']), row['seller'], row['buyer'], row['tx']),
      ),
      list(
        `/explore/v1/collections/${id}/tokens?sort=id`,
        Array.from(owners, ([asset, owner]) => `${asset} ${owner}`),
        (row) => join(row['tokenId'], (row['owner'] as Json)['address']),
      ),
      list(
        `/explore/v1/activity?collection=${id}&kinds=sale`,
        sales.map(({ asset, price, tx }) => join(asset, price, tx)),
        (row) => (row['voidedBy'] === null ? join(row['tokenId'], rawOf(row['price']), row['tx']) : null),
      ),
      ...Array.from(owners, ([asset, owner]) =>
        list(`/explore/v1/tokens/${CHAIN}/${contract}/${asset}/owners`, [`${owner} 1`], (row) =>
          join(row['address'], row['balance']),
        ),
      ),
      ...Array.from(new Set(owners.values()), (wallet) =>
        list(
          `/explore/v1/wallets/${wallet}/tokens?chain=${CHAIN}`,
          [...owners].flatMap(([asset, owner]) => (owner === wallet ? [asset] : [])),
          (row) => inCollection(row, String(row['tokenId'])),
        ),
      ),
      // Decisions 6, "Maximum age of a reported figure": the newest block says when a figure of the chain was observed.
      ...(doors.now - this.#chain.time < FIGURES_MAX_AGE_MS ? this.#figureChecks(doors, { id, owners, sales }) : []),
    ];
  }

  #figureChecks(
    doors: ServiceDoors,
    { id, owners, sales }: { id: string; owners: ReadonlyMap<string, string>; sales: readonly ChainSale[] },
  ): Check[] {
    const check = (path: string, compare: (data: Json) => readonly [unknown, unknown]): Check => ({
      path: `${path} of the chain`,
      of: 'chain',
      compare: async () => compare(dataOf((await doors.get(path)).body)),
    });
    const all = (windows: unknown) => (windows as Json)['allTime'];
    const volumeRaw = sales.reduce((sum, { price }) => sum + price, 0n);
    const counts = Map.groupBy(owners.values(), (owner) => owner);
    return [
      check(`/v1/collections/${id}`, (data) => {
        const { volume, sales: count, supply, owners: holders } = data['stats'] as Json;
        return [
          [Number(`${volumeRaw}e-18`), sales.length, owners.size, counts.size],
          [all(volume), all(count), supply, holders],
        ];
      }),
      check(`/explore/v1/collections/${id}/holders`, ({ largest }) => [
        Array.from(counts, ([owner, of]) => `${owner} ${of.length}`).toSorted(),
        (largest as Json[]).map((row) => join(row['address'], row['tokens'])).toSorted(),
      ]),
    ];
  }
}

function join(...parts: unknown[]): string {
  return parts.join(' ');
}

function iso(time: number): string {
  return new Date(time).toISOString();
}
