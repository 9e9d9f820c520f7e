// The store interface of a run: sends requests to `/api/v1`, one after the other or together, and compares what is served with the shop of the model.
// "docs/store" is docs/store.md, "decisions 3" the section of the project's decisions on the store interface.

import type { Check, Json } from '../comparison/check.ts';
import { dataOf, isSame, show } from '../comparison/check.ts';
import { Difference } from '../errors.ts';
import { compareText } from '../rules/figures.ts';
import type { Response, ServiceDoors } from './service-doors.ts';
import { SHOP } from './service-doors.ts';
import type { Body, Call, Expected, Product } from '../rules/shop.ts';
import { Shop } from '../rules/shop.ts';
import type { ProductRef, ShopCall, ShopStep } from '../steps.ts';

/** Decisions 3: an Idempotency-Key is "kept 24 hours". */
const IDEMPOTENCY_KEPT_MS = 24 * 3_600_000;
/** Fields of responses that the texts do not determine. */
const UNKNOWN_FIELDS = ['createdAt', 'updatedAt', 'adjustmentId', 'expiresAt', 'endedAt'];
const PAGES_MAX = 1_000;
/** How many products `ids` names. */
const IDS_MAX = 20;

export class ShopDoor {
  readonly #doors: ServiceDoors;
  #shop = new Shop();
  /** The products and reservations that were created, also those that were deleted since. */
  readonly #productIds: string[] = [];
  readonly #reservationIds: string[] = [];
  readonly #kept = new Map<string, { at: number; request: string; response: Expected }>();
  /** A copy of the shop that follows the feed of changes alone. It has those events and log entries that came after the first `events` and `entries`. */
  #copy = new FeedCopy();
  #before = { sequence: 0, events: 0, entries: 0 };

  constructor(doors: ServiceDoors) {
    this.#doors = doors;
  }

  /** Keeps the present state, as a backup does. Calling the result brings it back. */
  keep(): () => void {
    const shop = this.#shop.copy();
    const [products, reservations] = [[...this.#productIds], [...this.#reservationIds]];
    const [kept, events] = [[...this.#kept], [...this.#doors.shopEvents]];
    return () => {
      this.#shop = shop.copy();
      this.#productIds.splice(0, Infinity, ...products);
      this.#reservationIds.splice(0, Infinity, ...reservations);
      this.#kept.clear();
      for (const [key, request] of kept) this.#kept.set(key, request);
      this.#doors.shopEvents.clear();
      for (const [id, event] of events) this.#doors.shopEvents.set(id, event);
    };
  }

  /** Docs/store, "Changes": "An after from before the service was restored from a backup is a 410". Then a client reads the products again. */
  async begin(): Promise<void> {
    const path = `/changes?after=${this.#copy.sequence}`;
    const { status } = await this.#doors.store('GET', path);
    if (status !== 410)
      throw new Difference(`/api/v1${path} of before a restore\n    model:  410\n    served: ${status}`);
    const { events, log } = this.#shop;
    this.#copy = await this.#readSnapshot();
    this.#before = { sequence: this.#copy.sequence, events: events.length, entries: log.length };
  }

  /** Sends the requests of a step. The service chooses the ids, so the model learns them from the responses. */
  async take({ call, key, together }: ShopStep, commands: string[]): Promise<void> {
    if (call.request === 'import') return this.#import(call, commands);
    if (together.length > 0) return this.#takeTogether([call, ...together], commands);
    const one = this.#toCall(call);
    const hasVersion = 'isCurrent' in call && call.isCurrent !== undefined;
    const idempotencyKey = key === undefined || one.method === 'DELETE' || hasVersion ? undefined : `key-${key}`;
    const headers = {
      ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
      ...(hasVersion && { 'if-match': call.isCurrent ? (await this.#doors.store('GET', one.path)).etag : '"another"' }),
    };
    commands.push(toCommand(one, headers));
    const response = await this.#doors.store(one.method, one.path, one.body, headers);
    const request = `${one.method} ${one.path} ${show(one.body)}`;
    // Of a used key with another body and an error of the request itself, the texts do not say which is found first.
    const own = this.#shop.copy().take(one, []).status;
    const otherwise = (own === 400 || own === 404) && response.status === own ? own : 422;
    // Docs/store, "Products": "With If-Match, a PUT or DELETE changes only the version with that ETag; for any other version the response is a 412".
    const isOther = hasVersion && !call.isCurrent && own < 300;
    const expected = isOther
      ? { status: 412, data: null }
      : this.#expectedOf(idempotencyKey, { request, otherwise }, () => this.#shop.take(one, idsOf(response)));
    this.#learn(response);
    if (!isSame(expected, toShown(response, expected)))
      throw new Difference(`${one.method} ${one.path}
    model:  ${show(expected)}
    served: ${show(response)}`);
  }

  /** Imports product records, as the operator does, and takes the import back if the step says so. */
  async #import({ rows, isUndone }: ShopCall & { request: 'import' }, commands: string[]): Promise<void> {
    const records = rows.map((row) => ({ kind: 'product', shop: SHOP, ...row }));
    const lines = records.map((record) => JSON.stringify(record)).join('\n');
    commands.push(`cat > records.ndjson <<'END'\n${lines}\nEND\nmercat import records.ndjson`);
    const options = { replace: false, createCollections: false };
    const { id, counts, rejected } = await this.#doors.import(records, 'socket', options);
    const ids = new Map<string, string>();
    for (const slug of new Set(rows.map((row) => String(row['slug'])))) {
      const found = (await this.#doors.rows(`/api/v1/products?slug=${slug}`, 1)) as Json[] | null;
      if (found?.[0]) ids.set(slug, String(found[0]['id']));
    }
    const before = this.#shop.copy().products;
    const expected = this.#shop.importAll(rows, (slug) => ids.get(slug) ?? '');
    this.#productIds.push(...this.#shop.products.map((one) => one.id).filter((one) => !this.#productIds.includes(one)));
    const { conflict: _conflict, ...served } = counts;
    if (!isSame(expected, served))
      throw new Difference(`counts of the import ${id} (${rejected.join('; ')})
    model:  ${show(expected)}
    served: ${show(served)}`);
    if (!isUndone) return;
    commands.push(`mercat imports undo ${id}`);
    const kept = await this.#doors.undo(id);
    if (kept > 0) throw new Difference(`rows that stay after the undo of ${id}\n    model:  0\n    served: ${kept}`);
    this.#shop.undoImport(before);
  }

  /**
   * Specification, "POST /inventory": "concurrent adjustments all land". The responses to concurrent requests, and the log after them, must be those
   * of the same requests one after the other, in one order. A copy that began with a list of products meanwhile and follows the feed has the same.
   */
  async #takeTogether(calls: readonly ShopCall[], commands: string[]): Promise<void> {
    const all = calls.map((call) => this.#toCall(call));
    for (const one of all) commands.push(`${toCommand(one)} &`);
    commands.push('wait');
    const [snapshot, ...responses] = await Promise.all([
      this.#readSnapshot(),
      ...all.map(({ method, path, body }) => this.#doors.store(method, path, body)),
    ]);
    const log = await this.#readLog();
    const after = ordersOf(all.length)
      .values()
      .map((order) => this.#takeInOrder(order, { all, responses }))
      .find((shop) => shop !== null && isSame(bySubject(shop.log.toReversed(), 'productId'), log));
    if (!after)
      throw new Difference(`concurrent requests have the responses and the log of no order in which they were made
    before: ${show(this.#shop.products)}
    served: ${show(responses)}
    log:    ${show(log)}`);
    this.#shop = after;
    for (const response of responses) this.#learn(response);
    await snapshot.follow(this.#doors);
    const copied = snapshot.products().map(toRow);
    const expected = byId(this.#shop.products).map(toRow);
    if (!isSame(expected, copied))
      throw new Difference(`a copy that began while the shop changed
    model:  ${show(expected)}
    served: ${show(copied)}`);
  }

  /** The shop after the calls in this order. Null if their responses would be others. */
  #takeInOrder(
    order: readonly number[],
    { all, responses }: { all: readonly Call[]; responses: readonly Response[] },
  ): Shop | null {
    const shop = this.#shop.copy();
    const fits = order.every((index) => {
      const [one, response] = [all[index], responses[index]];
      if (!one || !response) return false;
      const expected = shop.take(one, idsOf(response));
      return isSame(expected, toShown(response, expected));
    });
    return fits ? shop : null;
  }

  async #readSnapshot(): Promise<FeedCopy> {
    const products: Product[] = [];
    let sequence: number | null = null;
    let cursor = '';
    do {
      const { body } = await this.#doors.store('GET', `/products?status=any&limit=100${cursor}`);
      const page = body as { data: Product[]; pagination: { nextCursor: string | null }; meta: { sequence: number } };
      sequence ??= page.meta.sequence;
      products.push(...page.data);
      cursor = page.pagination.nextCursor === null ? '' : `&cursor=${page.pagination.nextCursor}`;
    } while (cursor !== '');
    const reservations = (await this.#doors.rows('/api/v1/reservations', 100)) as Json[] | null;
    return new FeedCopy(sequence, products, reservations ?? []);
  }

  async #readLog(query = ''): Promise<unknown[]> {
    const rows = (await this.#doors.rows(`/api/v1/inventory/adjustments${query}`, 100)) as Json[] | null;
    return bySubject(rows?.map((row) => without(row, ['id', 'keyId', 'createdAt'])) ?? [], 'productId');
  }

  #learn({ body }: Response): void {
    for (const id of toIds(body)) {
      const ids = id.startsWith('rsv_') ? this.#reservationIds : this.#productIds;
      if (!ids.includes(id)) ids.push(id);
    }
  }

  #toCall(call: ShopCall): Call {
    const atomic = 'atomic' in call && call.atomic ? '?atomic=true' : '';
    const reservation = 'reservation' in call ? at(this.#reservationIds, call.reservation, 'rsv_0') : '';
    switch (call.request) {
      case 'create':
        return { method: 'POST', path: '/products', body: call.body };
      case 'update':
        return { method: 'PUT', path: `/products/${this.#idOf(call.of)}`, body: call.body };
      case 'delete':
        return { method: 'DELETE', path: `/products/${this.#idOf(call.of)}` };
      case 'adjust':
        return { method: 'POST', path: '/inventory', body: { ...this.#nameOf(call), ...call.body } };
      case 'products': {
        const products = call.rows.map(({ of, body }) => ({ ...(of !== null && { id: this.#idOf(of) }), ...body }));
        return { method: 'POST', path: `/products/batch${atomic}`, body: { products } };
      }
      case 'changes': {
        const changes = call.rows.map(({ body, ...named }) => ({ ...this.#nameOf(named), ...body }));
        return { method: 'POST', path: `/inventory/batch${atomic}`, body: { changes } };
      }
      case 'reserve':
      case 'consume': {
        const items = call.items?.map(({ quantity, ...named }) => ({ ...this.#nameOf(named), quantity }));
        const body = { ...(items && { items }), ...call.body };
        const path = call.request === 'reserve' ? '' : `/${reservation}/consume`;
        return { method: 'POST', path: `/reservations${path}`, body };
      }
      case 'extend':
        return { method: 'POST', path: `/reservations/${reservation}/extend`, body: { expiresInSeconds: 3_600 } };
      case 'release':
        return { method: 'POST', path: `/reservations/${reservation}/release` };
      case 'import':
        throw new Error('an import is no request to the store');
    }
  }

  #idOf(of: number): string {
    return at(this.#productIds, of, 'prod_0');
  }

  /** By SKU or external id if the product has one. */
  #nameOf({ of, by }: ProductRef): Body {
    const id = this.#idOf(of);
    const product = this.#shop.products.find((one) => one.id === id);
    const value = by === 'product_id' ? null : product?.[by];
    return typeof value === 'string' ? { [by]: value } : { product_id: id };
  }

  /** Decisions 3, "Idempotency": the same key with the same body returns the first response; "with another body 422"; "refusals are not stored". */
  #expectedOf(
    key: string | undefined,
    { request, otherwise }: { request: string; otherwise: number },
    take: () => Expected,
  ): Expected {
    const { now } = this.#doors;
    const kept = key === undefined ? undefined : this.#kept.get(key);
    if (kept && now - kept.at < IDEMPOTENCY_KEPT_MS)
      return kept.request === request ? kept.response : { status: otherwise, data: null };
    const response = structuredClone(take());
    if (key !== undefined && response.status < 300) this.#kept.set(key, { at: now, request, response });
    return response;
  }

  /** Everything that the store serves. */
  checks(limit: number): Check[] {
    const shop = this.#shop;
    const rows = async (path: string) => (await this.#doors.rows(`/api/v1${path}`, limit)) as Json[] | null;
    const log = bySubject(shop.log.toReversed(), 'productId');
    const [first] = shop.log;
    const ofFirst = `?product_id=${first?.productId ?? ''}`;
    const isOfFirst = ({ productId }: { productId: string }) => productId === first?.productId;
    return [
      ...this.#productChecks(rows),
      ...this.#stockChecks(),
      inShop('/api/v1/inventory/adjustments', async () => [log, await this.#readLog()]),
      ...(first
        ? [
            inShop(`/api/v1/inventory/adjustments${ofFirst}`, async () => [
              log.filter(isOfFirst),
              await this.#readLog(ofFirst),
            ]),
          ]
        : []),
      ...this.#reservationChecks(rows),
      inShop('the events that a webhook has received', () => this.#compareWebhook()),
      inShop('/api/v1/changes', () => this.#compareChanges()),
    ];
  }

  #productChecks(rows: Rows): Check[] {
    const newestFirst = byId(this.#shop.products).toReversed();
    // Decisions 8, "The store": an archived product is left out of lists unless asked for.
    const unarchived = newestFirst.filter(({ status }) => status !== 'archived');
    return [
      inShop('/api/v1/products', async () => [
        unarchived.map(toRow),
        (await rows('/products'))?.map(withoutUnknown) ?? null,
      ]),
      ...this.#foundChecks(rows, { newestFirst, unarchived }),
      ...this.#shop.products.flatMap(({ id }) => [
        inShop(`/api/v1/products/${id}`, async () => {
          const { body } = await this.#doors.store('GET', `/products/${id}`);
          return [this.#shop.read(id).data, withoutUnknown(dataOf(body))];
        }),
        // Specification, "Authentication": "another shop's product gives 404".
        inShop(`/api/v1/products/${id} with the key of another shop`, async () => [
          404,
          (await this.#doors.asOtherShop(`/products/${id}`)).status,
        ]),
      ]),
    ];
  }

  #stockChecks(): Check[] {
    const queries = [
      ['', false, 10],
      ['?low_stock=true&threshold=3', true, 3],
    ] as const;
    return queries.map(([query, lowOnly, threshold]) =>
      inShop(`/api/v1/inventory${query}`, async () => {
        const { body } = await this.#doors.store('GET', `/inventory${query}`);
        const { data, count } = body as { data: Json[]; count: number };
        const expected = this.#shop.stock({ lowOnly, threshold });
        return [
          { data: bySubject(expected, 'productId'), count: expected.length },
          { data: bySubject(data.map(withoutUnknown), 'productId'), count },
        ];
      }),
    );
  }

  /** Docs/store, "Find products". */
  #foundChecks(
    rows: Rows,
    { newestFirst, unarchived }: { newestFirst: readonly Product[]; unarchived: readonly Product[] },
  ): Check[] {
    const idsAt = async (path: string) => (await rows(path))?.map(({ id }) => String(id)) ?? null;
    const isListed = ({ status }: Product) => status !== 'archived';
    const filters: [string, (product: Product) => boolean][] = [
      ['type=digital', (product) => isListed(product) && product.type === 'digital'],
      ['type=physical', (product) => isListed(product) && product.type === 'physical'],
      ['collection=a', (product) => isListed(product) && product.collections.includes('a')],
      ['status=draft', ({ status }) => status === 'draft'],
      ['status=any', () => true],
      ['sku=M-1', ({ sku }) => sku === 'M-1'],
      ['externalId=erp/1', ({ externalId }) => externalId === 'erp/1'],
      ['slug=mug', ({ slug }) => slug === 'mug'],
      ['group=mugs', (product) => isListed(product) && product.groupId === 'mugs'],
    ];
    // "Words that begin with all these words. Case, accents and punctuation make no difference."
    const words = ['mug', 'CAFE', 'm 1', 'mug caf'];
    const sorts: [string, (product: Product) => number | string][] = [
      ['name', ({ name }) => name.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase())],
      ['price', ({ price }) => Number(price)],
      ['stock', ({ inventory }) => inventory],
    ];
    const ids = newestFirst.map(({ id }) => id);
    if (ids.length > 0) filters.push([`ids=${ids.slice(0, IDS_MAX).join(',')}`, ({ id }) => ids.indexOf(id) < IDS_MAX]);
    return [
      ...filters.map(([query, isFound]) =>
        inShop(`/api/v1/products?${query}`, async () => [
          newestFirst.filter(isFound).map(({ id }) => id),
          await idsAt(`/products?${query}`),
        ]),
      ),
      ...words.map((q) =>
        inShop(`/api/v1/products?q=${q}`, async () => [
          unarchived
            .filter((product) => hasWords(product, q))
            .map(({ id }) => id)
            .toSorted(),
          (await idsAt(`/products?q=${encodeURIComponent(q)}`))?.toSorted() ?? null,
        ]),
      ),
      ...sorts.flatMap(([sort, keyOf]) =>
        [1, -1].map((sign) => {
          const path = `/products?sort=${sort}&order=${sign === 1 ? 'asc' : 'desc'}`;
          return inShop(`/api/v1${path}`, async () => {
            const served = (await idsAt(path)) ?? [];
            const keyOfId = (id: string) => keyOf(newestFirst.find((one) => one.id === id) ?? ({} as Product));
            return [
              {
                order: unarchived.map(keyOf).toSorted((a, b) => (a === b ? 0 : a < b ? -sign : sign)),
                ids: unarchived.map(({ id }) => id).toSorted(),
              },
              { order: served.map(keyOfId), ids: served.toSorted() },
            ];
          });
        }),
      ),
    ];
  }

  #reservationChecks(rows: Rows): Check[] {
    const all = bySubject(this.#shop.viewReservations() as Json[], 'id');
    const list = (query: string, isFound: (reservation: Json) => boolean) =>
      inShop(`/api/v1/reservations${query}`, async () => [
        all.filter(isFound),
        bySubject((await rows(`/reservations${query}`))?.map(withoutUnknown) ?? [], 'id'),
      ]);
    const [product] = this.#productIds;
    const isOf = ({ items }: Json) => (items as Json[]).some(({ productId }) => productId === product);
    return [
      list('', () => true),
      ...['held', 'consumed', 'released'].map((state) => list(`?status=${state}`, ({ status }) => status === state)),
      ...(product === undefined ? [] : [list(`?product_id=${product}`, isOf)]),
      ...all.map((one) => {
        const path = `/reservations/${String(one['id'])}`;
        return inShop(`/api/v1${path}`, async () => {
          const { body } = await this.#doors.store('GET', path);
          return [one, withoutUnknown(dataOf(body))];
        });
      }),
    ];
  }

  /** Webhooks: "Every event is delivered at least once", and "a later event of a shop has a higher sequence". */
  async #compareWebhook(): Compared {
    const received = [...this.#doors.shopEvents.values()].toSorted((a, b) => a.sequence - b.sequence);
    return [
      toLines(this.#shop.events),
      toLines(received.map(({ type, data }) => ({ type, of: data.productId ?? data.id ?? '' }))),
    ];
  }

  /** What happened to each product and each reservation, in order, in the feed; and a copy that follows the feed. */
  async #compareChanges(): Compared {
    const { events, log, products, reservations } = this.#shop;
    const before = this.#before;
    const { body } = await this.#doors.store('GET', `/changes?after=${before.sequence}&limit=500`);
    await this.#copy.follow(this.#doors);
    const { changes } = this.#copy;
    const isStock = ({ type }: { type: string }) => type === 'inventory.changed';
    const entries = changes.filter(isStock).map(({ object }) => without(object ?? {}, ['id', 'keyId', 'createdAt']));
    const others = changes.filter((one) => !isStock(one));
    // Of what has not changed since the restore, the copy has rows of the list.
    const toCopied = (one: Json) => (before.sequence > 0 ? toRow(one) : one);
    return [
      {
        // Docs/store, "Changes": "The numbers of a shop begin at 1. Only a key with both scopes receives every number."
        numbers: changes.map((_, index) => before.sequence + index + 1),
        page: changes.slice(0, 500),
        events: toLines(events.slice(before.events).filter(({ type }) => type !== 'inventory.low')),
        stock: bySubject(log.slice(before.entries), 'productId'),
        products: byId(products).map(toCopied),
        reservations: bySubject(reservations, 'id').map(({ id, status }) => `${id} ${status}`),
      },
      {
        numbers: changes.map(({ sequence }) => sequence),
        page: dataOf(body),
        events: toLines(
          others.map(({ type, productId, object }) => ({ type, of: productId ?? String(object?.['id']) })),
        ),
        stock: bySubject(entries, 'productId'),
        products: this.#copy.products().map(toCopied),
        reservations: bySubject(this.#copy.reservations(), 'id').map(
          (one) => `${String(one['id'])} ${String(one['status'])}`,
        ),
      },
    ];
  }
}

type Rows = (path: string) => Promise<Json[] | null>;
type Compared = ReturnType<Check['compare']>;

function inShop(path: string, compare: Check['compare']): Check {
  return { path, of: 'shop', compare };
}

function toLines(all: readonly { type: string; of: string }[]): string[] {
  return bySubject(all, 'of').map(show);
}

type Change = { sequence: number; type: string; productId: string | null; object: Json | null };

/** Docs/store, "Changes": "A copy of the shop stays equal to it by reading this feed." */
class FeedCopy {
  sequence: number;
  readonly #products: Map<string, Json>;
  readonly #reservations: Map<string, Json>;
  readonly changes: Change[] = [];

  constructor(sequence: number | null = 0, products: readonly Json[] = [], reservations: readonly Json[] = []) {
    const byIds = (rows: readonly Json[]) => new Map(rows.map((row) => [String(row['id']), row]));
    this.sequence = sequence ?? 0;
    this.#products = byIds(products);
    this.#reservations = byIds(reservations);
  }

  async follow(doors: ServiceDoors): Promise<void> {
    for (let page = 0; page < PAGES_MAX; page += 1) {
      const { status, body } = await doors.store('GET', `/changes?after=${this.sequence}&limit=7`);
      if (status !== 200) throw new Difference(`/api/v1/changes?after=${this.sequence}: ${status} ${show(body)}`);
      const { data, meta } = body as { data: Change[]; meta: { sequence: number; hasMore: boolean } };
      for (const change of data) this.#apply(change);
      this.sequence = meta.sequence;
      if (!meta.hasMore) return;
    }
  }

  products(): Json[] {
    return byId([...this.#products.values()] as Product[]).map((one) => withoutUnknown(one));
  }

  reservations(): Json[] {
    return [...this.#reservations.values()];
  }

  #apply(change: Change): void {
    this.changes.push(change);
    const { type, productId, object } = change;
    if (type.startsWith('reservation.')) this.#reservations.set(String(object?.['id']), object ?? {});
    if (productId === null) return;
    if (type === 'product.deleted') this.#products.delete(productId);
    if (type === 'product.created' || type === 'product.updated') this.#products.set(productId, object ?? {});
    const stored = this.#products.get(productId);
    if (type === 'inventory.changed' && stored)
      this.#products.set(productId, { ...stored, inventory: object?.['next'] });
  }
}

/** A product as lists have it. */
function toRow(product: Product | Json): Json {
  return without(product, ['description', 'moreImages']);
}

function at(ids: readonly string[], index: number, otherwise: string): string {
  return ids[index % Math.max(1, ids.length)] ?? otherwise;
}

/** The ids of what a request has created, in order. */
function idsOf({ status, body }: Response): string[] {
  return status < 300 ? toIds(body) : [];
}

function toIds(body: unknown): string[] {
  const { data } = body as { data?: Json | { outcome: string; product?: Json | null }[] };
  if (!data) return [];
  if (!Array.isArray(data)) return typeof data['id'] === 'string' ? [data['id']] : [];
  return data.flatMap(({ outcome, product }) => (outcome === 'created' ? [String(product?.['id'])] : []));
}

/** What the model says of a response: of errors the code only where the status has several. */
function toShown({ status, body }: Response, { code }: Expected): Expected {
  if (status >= 300) return { status, data: null, ...(code !== undefined && { code: codeOf(body) }) };
  const { data } = body as { data: Json | Json[] };
  const toResult = ({ error, ...result }: Json) => ({
    ...Object.fromEntries(
      Object.entries(result).map(([name, value]) => [name, isObject(value) ? withoutUnknown(value) : value]),
    ),
    error: error === null ? null : codeOf({ error }),
  });
  return { status, data: Array.isArray(data) ? data.map(toResult) : withoutUnknown(data) };
}

function codeOf(body: unknown): string {
  return (body as { error: { code: string } }).error.code;
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null;
}

function without(row: Json, names: readonly string[]): Json {
  return Object.fromEntries(Object.entries(row).filter(([name]) => !names.includes(name)));
}

function withoutUnknown(row: Json): Json {
  return without(row, UNKNOWN_FIELDS);
}

/** The rows by product or reservation, each in the order that they had: changes of two products may have any order. */
function bySubject<T extends object>(rows: readonly T[], name: keyof T & string): T[] {
  return rows.toSorted((a, b) => compareText(String(a[name]), String(b[name])));
}

/** Decisions 3: "Ids are prod_ + a time-ordered id." */
function byId<T extends { id: string }>(products: readonly T[]): T[] {
  return bySubject(products, 'id');
}

function hasWords({ name, sku, barcode }: Product, q: string): boolean {
  const words = toWords([name, sku, barcode].join(' '));
  return toWords(q).every((wanted) => words.some((word) => word.startsWith(wanted)));
}

function toWords(text: string): string[] {
  const plain = text.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase();
  return plain.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== '');
}

/** All orders of the numbers below `count`. */
function ordersOf(count: number): number[][] {
  if (count === 0) return [[]];
  return ordersOf(count - 1).flatMap((order) =>
    Array.from({ length: count }, (_, place) => order.toSpliced(place, 0, count - 1)),
  );
}

/** The command that repeats a request. */
function toCommand({ method, path, body }: Call, headers: Record<string, string> = {}): string {
  return [
    `curl -X ${method} -H "authorization: Bearer $KEY"`,
    ...Object.entries(headers).map(([name, value]) => `-H '${name}: ${value}'`),
    body && `-H 'content-type: application/json' -d '${JSON.stringify(body)}'`,
    `"$URL/api/v1${path}"`,
  ]
    .filter(Boolean)
    .join(' ');
}
