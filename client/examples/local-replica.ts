// Keeps a copy of collections in a SQLite file: their orders, the owners and balances of their tokens, their sales and floors. A copy that was
// stopped or killed continues where it ended, because each change is committed together with its offset. When the service was restored from a
// backup, the copy begins anew. Needs Node.js 22.13 or newer, for node:sqlite.
// node client/examples/local-replica.ts BASE_URL FILE COLLECTION... [--edition=COLLECTION]... (collections of ERC-1155 contracts)

import { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import type { Activity, MarketClient, MarketReads, StreamEvent } from 'mercat-client';
import { MercatError, createMarketClient } from 'mercat-client';

/** Amounts and units are decimal text, because they may be larger than the integers of SQLite. `unread` has the tokens whose owners must be read again. */
const SCHEMA = `
  create table if not exists position (id integer primary key check (id = 0), epoch_offset text not null);
  create table if not exists collection (id text primary key, chain text, address text, is_edition integer, floor text);
  create table if not exists "order" (id text primary key, collection text, token text, seller text, price text, units text);
  create table if not exists owner (collection text, token text, account text, units text, primary key (collection, token, account));
  create table if not exists sale (id text primary key, collection text, token text, tx text, seller text, buyer text, total text);
  create table if not exists move (id text primary key, collection text, token text);
  create table if not exists unread (collection text, token text, since text, primary key (collection, token));
`;
const TABLES_OF_COLLECTION = ['"order"', 'owner', 'sale', 'move', 'unread'];
const PAGE = { limit: 100 };
const READ_AGAIN_MS = 100;

type Value = string | number | null;
type Collections = { names: readonly string[]; editions?: readonly string[] };
type Place = Pick<Activity, 'collectionId' | 'tokenId' | 'mint'>;
const tokenOf = ({ tokenId, mint }: Place) => tokenId ?? mint;
const textOf = (price: { raw: bigint } | null) => price && String(price.raw);

export class Replica {
  readonly #database: DatabaseSync;
  readonly #market: MarketClient;

  constructor(market: MarketClient, file: string) {
    this.#market = market;
    this.#database = new DatabaseSync(file);
    this.#database.exec(`pragma journal_mode = wal; ${SCHEMA}`);
  }

  rows(sql: string, ...values: Value[]): Record<string, Value>[] {
    return this.#database.prepare(sql).all(...values) as Record<string, Value>[];
  }

  /** Follows the market until the signal aborts, or until the service has none of the collections any more. */
  async follow(collections: Collections, signal: AbortSignal): Promise<void> {
    for (;;) {
      const [position] = this.rows('select epoch_offset from position');
      try {
        if (position) await this.#followFrom(String(position['epoch_offset']), signal);
        else await this.#readSnapshot(collections, signal);
        if (this.rows('select id from collection').length === 0) return;
      } catch (error) {
        if (!(error instanceof MercatError) || error.code !== 'offset_expired') throw error;
        this.#change(() => {
          for (const table of ['position', 'collection', ...TABLES_OF_COLLECTION]) this.#run(`delete from ${table}`);
        });
      }
    }
  }

  close(): void {
    this.#database.close();
  }

  async #followFrom(from: string, signal: AbortSignal): Promise<void> {
    await this.#readOwners(signal);
    const ids = this.rows('select id from collection').map(({ id }) => String(id));
    const onPosition = (offset: string) => this.#setPosition(offset);
    for await (const activity of this.#market.follow({ from, collections: ids, signal, onPosition })) {
      this.#change(() => {
        this.#apply(activity);
        this.#setPosition(activity.offset);
      });
      await this.#readOwners(signal);
      if (activity.kind === 'remove') return;
    }
  }

  /** Reads everything, and writes it at once: the copy of a reader that is killed before is empty, and never half full. */
  async #readSnapshot({ names, editions = [] }: Collections, signal: AbortSignal): Promise<void> {
    const writes: (() => void)[] = [];
    const read = async (reads: MarketReads) => {
      for (const name of names) {
        const { data: row } = await reads.getMarketCollection({ id: name }, { signal });
        const collection = row.id;
        const isEdition = editions.includes(name);
        writes.push(() => {
          const floor = textOf(row.stats.floor);
          this.#put('collection', [collection, row.chain, row.contractAddress, Number(isEdition), floor]);
        });
        for await (const order of reads.listOrders({ collection, ...PAGE }, { signal }))
          writes.push(() => this.#putOrder({ ...order, from: order.seller, quantity: order.remaining }));
        // In the default order, by price, a token that is listed while the pages are read can be on none of them.
        for await (const token of reads.listTokens({ id: collection, sort: 'id', ...PAGE }, { signal })) {
          const { owner } = token;
          writes.push(() => {
            if (isEdition) this.#put('unread', [collection, tokenOf(token), '']);
            else if (owner.address !== null) this.#put('owner', [collection, tokenOf(token), owner.address, '1']);
          });
        }
        const kinds = 'sale,mint,transfer,burn';
        let past = 0;
        for await (const activity of reads.listActivity({ collection, kinds, ...PAGE }, { signal })) {
          const id = activity.offset ?? `past ${collection} ${(past += 1)}`;
          if (activity.voidedBy === null) writes.push(() => this.#putEvent({ ...activity, offset: id }));
        }
      }
    };
    const { offset, changes } = await this.#market.snapshotThenFollow(read, { signal });
    await changes.return();
    this.#change(() => {
      for (const write of writes) write();
      this.#setPosition(offset);
    });
  }

  /** Every change is set as a state, so that a change which the snapshot already has is harmless. */
  #apply(activity: StreamEvent): void {
    const { kind, offset, collectionId, orderId } = activity;
    const token = tokenOf(activity);
    if (kind === 'list' || kind === 'reprice' || kind === 'revalidate') this.#putOrder(activity);
    else if (ENDS.has(kind)) this.#run('delete from "order" where id = ?', orderId);
    else if (kind === 'floor')
      this.#run('update collection set floor = ? where id = ?', textOf(activity.price), collectionId);
    else if (kind === 'remove') {
      this.#run('delete from collection where id = ?', collectionId);
      for (const table of TABLES_OF_COLLECTION) this.#run(`delete from ${table} where collection = ?`, collectionId);
    } else if (kind === 'reorg') for (const voided of activity.voids ?? []) this.#void(voided, offset);
    else if (kind === 'sale' || MOVES.has(kind)) this.#putEvent(activity);
    if (MOVES.has(kind)) this.#put('unread', [collectionId, token, offset]);
  }

  #void(voided: string, since: string): void {
    this.#run('delete from sale where id = ?', voided);
    this.#run('insert or replace into unread select collection, token, ? from move where id = ?', since, voided);
    this.#run('delete from move where id = ?', voided);
  }

  #putOrder(order: Place & Pick<Activity, 'orderId' | 'price' | 'quantity' | 'from'>): void {
    const { orderId, collectionId, price, from, quantity } = order;
    this.#put('"order"', [orderId, collectionId, tokenOf(order), from, textOf(price), quantity]);
  }

  /** A sale, or a move of a token: with it, the token is found again when a reorganisation takes the move back. */
  #putEvent(event: Place & Pick<Activity, 'kind' | 'offset' | 'tx' | 'from' | 'to' | 'total'>): void {
    const { kind, offset, collectionId, tx, from, to, total } = event;
    if (kind === 'sale') this.#put('sale', [offset, collectionId, tokenOf(event), tx, from, to, textOf(total)]);
    else this.#put('move', [offset, collectionId, tokenOf(event)]);
  }

  /** Reads the owners of the tokens in `unread`. A response older than the change that moved the token is read again. */
  async #readOwners(signal: AbortSignal): Promise<void> {
    const unread = 'select chain, address, unread.* from unread join collection on collection.id = unread.collection';
    for (const row of this.rows(unread)) {
      const { chain, address, collection, token, since } = row as Record<string, string>;
      const place = { chain: chain ?? '', address: address ?? '', tokenId: token ?? '' };
      const owners: { account: string | null; units: string | null }[] = [];
      let offset: string | null = null;
      try {
        for await (const { data, meta } of this.#market.listTokenOwners({ ...place, ...PAGE }, { signal }).pages()) {
          offset ??= meta.offset;
          owners.push(...data.map((owner) => ({ account: owner.address, units: owner.balance })));
        }
      } catch (error) {
        if (!(error instanceof MercatError) || error.code !== 'not_found') throw error;
        // A token that was burned, or whose mint was taken back, has no owner. An error has no offset, so the token is read with one.
        const { data, meta } = await this.#market.readTokens({ tokens: [place] }, { signal });
        offset = data[0] === null ? meta.offset : null;
      }
      if (offset === null || offset < (since ?? '')) {
        await delay(READ_AGAIN_MS, undefined, { signal });
        return this.#readOwners(signal);
      }
      this.#change(() => {
        this.#run('delete from owner where collection = ? and token = ?', collection ?? '', token ?? '');
        for (const { account, units } of owners)
          if (account !== null) this.#put('owner', [collection ?? '', token ?? '', account, units ?? '1']);
        this.#run('delete from unread where collection = ? and token = ?', collection ?? '', token ?? '');
      });
    }
  }

  #setPosition(offset: string): void {
    this.#put('position', [0, offset]);
  }

  #put(table: string, values: readonly (Value | undefined)[]): void {
    const marks = values.map(() => '?').join(', ');
    this.#run(`insert or replace into ${table} values (${marks})`, ...values.map((value) => value ?? null));
  }

  #run(sql: string, ...values: Value[]): void {
    this.#database.prepare(sql).run(...values);
  }

  #change(write: () => void): void {
    this.#database.exec('begin immediate');
    try {
      write();
      this.#database.exec('commit');
    } catch (error) {
      this.#database.exec('rollback');
      throw error;
    }
  }
}

const MOVES: ReadonlySet<Activity['kind']> = new Set(['mint', 'transfer', 'burn'] as const);
const ENDS: ReadonlySet<Activity['kind']> = new Set(['fill', 'cancel', 'expire', 'invalidate'] as const);

if (import.meta.main) {
  const [baseUrl = 'http://127.0.0.1:8080', file = 'replica.sqlite', ...rest] = process.argv.slice(2);
  const isOption = (text: string) => text.startsWith('--edition=');
  const editions = rest.filter(isOption).map((text) => text.slice('--edition='.length));
  const names = [...rest.filter((text) => !isOption(text)), ...editions];
  // A service that is restored from a backup is away for minutes.
  const market = createMarketClient({ baseUrl, retriesMax: 1_000, timeoutMs: 3_600_000 });
  const replica = new Replica(market, file);
  await replica.follow({ names, editions }, new AbortController().signal);
}
