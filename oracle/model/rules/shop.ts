// A shop as plain lists: products, stock, the adjustment log and reservations. "store" is specification, part B; "decisions 3" the section of the
// project's decisions on the store interface; "docs/store" is docs/store.md.

/** What a physical product has that a request does not give. */
const DEFAULTS = {
  name: '',
  slug: '',
  price: '',
  type: 'physical',
  description: null as string | null,
  image: null as string | null,
  moreImages: [] as string[],
  inventory: 0,
  trackInventory: true,
  requiresShipping: true,
  weightGrams: 0,
  collections: [] as string[],
  sku: null as string | null,
  barcode: null as string | null,
  externalId: null as string | null,
  status: 'active',
  compareAtPrice: null as string | null,
  groupId: null as string | null,
  options: [] as { name: string; value: string }[],
  metadata: {} as Record<string, string>,
};
const FIELDS = new Set([...Object.keys(DEFAULTS), 'collection']);

export type Product = typeof DEFAULTS & { id: string };

export type Entry = {
  productId: string;
  previous: number;
  next: number;
  adjustment: number;
  requested: number;
  reason: string;
  source: string;
  reservationId: string | null;
};

/** What of an item is neither held nor consumed was returned. `isCounted`: the stock of the product was counted when it was reserved. */
type Item = { productId: string; quantity: number; held: number; consumed: number; isCounted: boolean };
type Reservation = { id: string; status: string; reference: string | null; items: Item[] };

/** A text that no rule determines. */
export const ANY = '*';

export type Body = Readonly<Record<string, unknown>>;
export type Call = { method: string; path: string; body?: Body };

/** `data` is compared with the response; null for an error. `code`: of an error whose status has several. */
export type Expected = { status: number; data: unknown; code?: string };

const STOCK_MAX = 2 ** 31 - 1;
const MISSING: Expected = { status: 404, data: null };
const INVALID: Expected = { status: 400, data: null };
/** Specification, "Limits": "Webhook low-stock level: fixed 10". It is also the default of `threshold`. */
const LOW = 10;
const TYPES = ['physical', 'digital', 'nft'];

export class Shop {
  /** In the order of creation. */
  readonly products: Product[] = [];
  /** In the order of the changes. */
  readonly log: Entry[] = [];
  readonly reservations: Reservation[] = [];
  /** Decisions 4: "inventory.low: exactly once per downward crossing of 10", and the events of products and reservations. `of`: their id. */
  readonly events: { type: string; of: string }[] = [];

  /** The response to a request that changes something. `ids`: the ids that the service gave to what the request creates, in order. */
  take({ method, path, body = {} }: Call, ids: readonly string[]): Expected {
    const [, area = '', id, action] = path.split('?', 1)[0]?.split('/') ?? [];
    const isAtomic = path.endsWith('?atomic=true');
    if (area === 'inventory') return id === 'batch' ? this.#adjustAll(body, isAtomic) : this.adjust(body);
    if (area === 'reservations')
      return id === undefined ? this.#reserve(body, ids[0] ?? '') : this.#change(id, action ?? '', body);
    if (id === 'batch') return this.#upsertAll(body, { isAtomic, ids });
    if (id === undefined) return this.create(body, ids[0] ?? '');
    return method === 'PUT' ? this.update(id, body) : this.delete(id);
  }

  copy(): Shop {
    const { products, log, reservations, events } = this;
    return Object.assign(new Shop(), structuredClone({ products, log, reservations, events }));
  }

  /** `id`: the id that the service gave to the product. */
  create(body: Body, id: string): Expected {
    if (!isValid(body, { isNew: true })) return INVALID;
    const { collection: _collection, ...given } = body;
    // Decisions 3, "Defaults": "trackInventory true for physical, false otherwise".
    const isPhysical = (body['type'] ?? DEFAULTS.type) === 'physical';
    const product: Product = {
      ...DEFAULTS,
      trackInventory: isPhysical,
      requiresShipping: isPhysical,
      slug: body['slug'] === undefined ? this.#freeSlug(body['name'] as string) : '',
      ...given,
      price: toText(body['price']),
      collections: toCollections([], body),
      metadata: toMetadata({}, body),
      id,
    };
    if (this.#clashes(product)) return INVALID;
    this.products.push(product);
    this.events.push({ type: 'product.created', of: id });
    return { status: 201, data: product };
  }

  /** Decisions 3, "PUT merges: omitted keeps, null clears what may be null, arrays replace." */
  update(id: string, body: Body, source = 'product'): Expected {
    if (!isValid(body, { isNew: false })) return INVALID;
    const index = this.products.findIndex((one) => one.id === id);
    const stored = this.products[index];
    if (!stored) return MISSING;
    const { collection: _collection, collections: _collections, price, inventory, ...given } = body;
    const product: Product = {
      ...stored,
      ...given,
      price: price === undefined ? stored.price : toText(price),
      collections: toCollections(stored.collections, body),
      metadata: toMetadata(stored.metadata, body),
    };
    if (this.#clashes(product)) return INVALID;
    const isChanged = JSON.stringify(product) !== JSON.stringify(stored);
    const next = (inventory as number | undefined) ?? stored.inventory;
    this.products[index] = { ...product, inventory: next };
    // "inventory in a PUT is a stock set, logged with source product."
    if (next !== stored.inventory)
      this.#record(product, {
        previous: stored.inventory,
        next,
        requested: next,
        reason: ANY,
        source,
      });
    if (isChanged || next !== stored.inventory) this.events.push({ type: 'product.updated', of: id });
    return { status: 200, data: { ...product, inventory: next } };
  }

  delete(id: string): Expected {
    const index = this.products.findIndex((one) => one.id === id);
    if (index < 0) return MISSING;
    this.products.splice(index, 1);
    this.events.push({ type: 'product.deleted', of: id });
    // Docs/store, "Reservations": "The deletion of a product releases its reservations. The stock of their other products returns."
    for (const { items, ...one } of this.reservations.filter(({ status }) => status === 'held'))
      if (items.some(({ productId }) => productId === id))
        this.#end({ items, ...one }, 'released', () => ({ held: 0 }));
    return { status: 200, data: { id, deleted: true } };
  }

  read(id: string): Expected {
    const product = this.products.find((one) => one.id === id);
    return product ? { status: 200, data: product } : MISSING;
  }

  /** Docs/store, "Stock": "the product that `product_id`, `sku` or `externalId` names". */
  #named({ product_id: id, sku, externalId }: Body): Product | undefined {
    return this.products.find((one) =>
      id !== undefined ? one.id === id : sku !== undefined ? one.sku === sku : one.externalId === externalId,
    );
  }

  /** Docs/store, "Many products at once": "The rows take effect in their order, as single requests would." */
  #upsertAll(body: Body, { isAtomic, ids }: { isAtomic: boolean; ids: readonly string[] }): Expected {
    const left = [...ids];
    const one = (row: Body) => {
      const { id, ...fields } = row;
      // "It updates the product with its id; without id, the product with its externalId; without both, the product with its sku."
      const key = [{ product_id: id }, { externalId: row['externalId'] }, { sku: row['sku'] }].find((name) =>
        Object.values(name).every((value) => typeof value === 'string'),
      );
      const stored = key && this.#named(key);
      if (!isValid(fields, { isNew: false })) return INVALID;
      if (id !== undefined && !stored) return MISSING;
      if (!stored) {
        const created = this.create(fields, left[0] ?? '');
        if (created.status === 201) left.shift();
        return created;
      }
      const events = this.events.length;
      const updated = this.update(stored.id, fields);
      return { ...updated, isUnchanged: events === this.events.length };
    };
    const done = this.#all(body['products'] as Body[], isAtomic, one, ({ status, data, isUnchanged }) => ({
      outcome: status === 201 ? 'created' : status > 201 ? 'rejected' : isUnchanged ? 'unchanged' : 'updated',
      product: data,
    }));
    // "If a row is rejected, the response is a 400."
    return done.status === 200 ? done : INVALID;
  }

  /** Docs/store, "Stock", batches: "The changes are made in their order, each as a single request would." */
  #adjustAll(body: Body, isAtomic: boolean): Expected {
    return this.#all(
      body['changes'] as Body[],
      isAtomic,
      (row) => this.adjust(row),
      ({ status, data }) => ({ outcome: status === 200 ? 'applied' : 'rejected', change: data }),
    );
  }

  /** "With ?atomic=true, all are made or none": the response is then the error of the first rejected row; a 400 for products. */
  #all(
    rows: readonly Body[],
    isAtomic: boolean,
    take: (row: Body) => Expected & { isUnchanged?: boolean },
    toResult: (done: Expected & { isUnchanged?: boolean }) => object,
  ): Expected {
    const before = this.copy();
    const done = rows.map(take);
    const rejected = done.find(({ status }) => status >= 300);
    if (!isAtomic || !rejected) {
      const data = done.map((one) => ({ ...toResult(one), error: one.status < 300 ? null : errorOf(one) }));
      return { status: 200, data };
    }
    for (const name of ['products', 'log', 'reservations', 'events'] as const)
      (this[name] as unknown[]).splice(0, Infinity, ...before[name]);
    return rejected;
  }

  /**
   * Records, "product": identified by "shop and slug"; a later record "replaces the fields that it gives, as a PUT does". `idOf`: the id that the service
   * gave to the product with a slug. Returns the numbers of inserted, updated, unchanged and rejected records.
   */
  importAll(rows: readonly Body[], idOf: (slug: string) => string): Record<string, number> {
    const counts = { inserted: 0, updated: 0, unchanged: 0, refused: 0 };
    for (const row of rows) {
      const stored = this.products.find(({ slug }) => slug === row['slug']);
      const events = this.events.length;
      const { status } = stored ? this.update(stored.id, row, 'import') : this.create(row, idOf(String(row['slug'])));
      if (status >= 300) counts.refused += 1;
      else if (status === 201) counts.inserted += 1;
      else counts[events === this.events.length ? 'unchanged' : 'updated'] += 1;
    }
    return counts;
  }

  /** Records, "Taking an import back": "a product is deleted or restored as by a request to the store". `before`: the products before the import. */
  undoImport(before: readonly Product[]): void {
    for (const product of this.products.toReversed()) {
      const earlier = before.find(({ id }) => id === product.id);
      if (!earlier) this.delete(product.id);
      if (!earlier || JSON.stringify(earlier) === JSON.stringify(product)) continue;
      this.products[this.products.indexOf(product)] = earlier;
      const [previous, next] = [product.inventory, earlier.inventory];
      if (previous !== next) this.#record(earlier, { previous, next, requested: next, reason: ANY, source: ANY });
      this.events.push({ type: 'product.updated', of: product.id });
    }
  }

  /** Docs/store, "Reservations": "holds all items or none". */
  #reserve(body: Body, id: string): Expected {
    const given = body['items'] as Body[];
    const quantityOf = (item: Body) => Number(item['quantity']);
    if (given.some((item) => !(quantityOf(item) >= 1))) return INVALID;
    if (this.#isRepeated(given)) return INVALID;
    const products = given.map((item) => this.#named(item));
    if (products.some((one) => !one)) return MISSING;
    const items = products.flatMap((product, index): Item[] => {
      const quantity = quantityOf(given[index] ?? {});
      if (!product) return [];
      const { id: productId, trackInventory: isCounted } = product;
      return [{ productId, quantity, held: quantity, consumed: 0, isCounted }];
    });
    // "If the stock of an item is not sufficient, nothing is reserved". "A product whose stock is not counted can be reserved without limit."
    const isShort = ({ productId, quantity, isCounted }: Item) =>
      isCounted && (this.#named({ product_id: productId })?.inventory ?? 0) < quantity;
    if (items.some(isShort)) return { status: 409, data: null, code: 'insufficient_stock' };
    const reservation = { id, status: 'held', reference: (body['reference'] as string | null) ?? null, items };
    this.reservations.push(reservation);
    for (const { productId, quantity, isCounted } of items) if (isCounted) this.#move(productId, -quantity, id);
    this.events.push({ type: 'reservation.created', of: id });
    return { status: 201, data: this.#view(reservation) };
  }

  /** Docs/store, "Reservations": the items are "1 to 100, each of another product", whether or not there is such a product. */
  #isRepeated(items: readonly Body[]): boolean {
    const names = items.map(({ quantity: _quantity, ...name }) => this.#named(name)?.id ?? JSON.stringify(name));
    return new Set(names).size < names.length;
  }

  /** Docs/store, "Reservations": a reservation "is held, and ends once"; "a later request to change it is a 409". */
  #change(id: string, action: string, body: Body): Expected {
    const stored = this.reservations.find((one) => one.id === id);
    const given = body['items'] as Body[] | undefined;
    const products = given?.map((item) => this.#named(item));
    if (given?.some((item) => !(Number(item['quantity']) >= 1))) return INVALID;
    if (given && this.#isRepeated(given)) return INVALID;
    if (!stored) return MISSING;
    if (stored.status !== 'held') return { status: 409, data: null, code: 'conflict' };
    if (action === 'extend') return { status: 200, data: this.#view(stored) };
    if (action === 'release') return this.#end(stored, 'released', () => ({ held: 0 }));
    const soldOf = (item: Item) =>
      given
        ? Number(given[products?.findIndex((one) => one?.id === item.productId) ?? -1]?.['quantity'] ?? 0)
        : item.held;
    const isOfStored = (one: Product | undefined) => stored.items.some(({ productId }) => productId === one?.id);
    if (products?.some((one) => !isOfStored(one))) return INVALID;
    if (stored.items.some((item) => soldOf(item) > item.held)) return { status: 409, data: null, code: 'conflict' };
    // "With items, a part is consumed. The rest is returned; with remaining: "hold" it stays held, and so does the reservation."
    const keeps = body['remaining'] === 'hold';
    return this.#end(stored, 'consumed', (item) => ({
      held: keeps ? item.held - soldOf(item) : 0,
      consumed: item.consumed + soldOf(item),
    }));
  }

  /** What is no longer held and was not consumed returns. The reservation ends when nothing is held. */
  #end(
    { id, items, reference }: Reservation,
    status: 'released' | 'consumed',
    toItem: (item: Item) => { held: number; consumed?: number },
  ): Expected {
    const after = items.map((item) => ({ ...item, ...toItem(item) }));
    const isHeld = after.some(({ held }) => held > 0);
    const reservation = { id, status: isHeld ? 'held' : status, reference, items: after };
    this.reservations[this.reservations.findIndex((one) => one.id === id)] = reservation;
    for (const [index, { productId, held, consumed, isCounted }] of items.entries()) {
      const { held: heldAfter = 0, consumed: consumedAfter = 0 } = after[index] ?? {};
      const returned = held - heldAfter - (consumedAfter - consumed);
      if (isCounted && returned > 0) this.#move(productId, returned, id);
    }
    this.events.push({ type: `reservation.${status}`, of: id });
    return { status: 200, data: this.#view(reservation) };
  }

  /** "A reservation lowers [the stock], and the log, inventory.low and the version of the product change as for any change." */
  #move(productId: string, requested: number, reservationId: string): void {
    const index = this.products.findIndex(({ id }) => id === productId);
    const product = this.products[index];
    if (!product) return;
    const previous = product.inventory;
    const next = Math.max(0, Math.min(STOCK_MAX, previous + requested));
    this.products[index] = { ...product, inventory: next };
    this.#record(product, { previous, next, requested, reason: ANY, source: 'reservation', reservationId });
  }

  /** The reservations, newest first. */
  viewReservations(): object[] {
    return this.reservations.toReversed().map((one) => this.#view(one));
  }

  /** OpenAPI, "Reservation": the name of each product as it is now, "null after the product was deleted". */
  #view({ items, ...fields }: Reservation): object {
    return {
      ...fields,
      items: items.map(({ isCounted: _isCounted, ...item }) => ({
        ...item,
        name: this.#named({ product_id: item.productId })?.name ?? null,
      })),
    };
  }

  /** Store, "POST /inventory", and decisions 3, "Adjust". */
  adjust(body: Body): Expected {
    const { adjustment, set, reason, expected, clamp } = body as {
      adjustment?: number;
      set?: number;
      reason?: string;
      expected?: number;
      clamp?: boolean;
    };
    // "Body with both adjustment and set: 400, nothing applied."
    const requested = adjustment ?? set;
    if (requested === undefined || !isValidChange(body)) return INVALID;
    const product = this.#named(body);
    if (!product) return MISSING;
    const { id, inventory: previous } = product;
    if (expected !== undefined && expected !== previous) return { status: 409, data: null, code: 'conflict' };
    const wanted = adjustment === undefined ? requested : previous + adjustment;
    // "Stock never goes below 0 (both adjustment and set clamp at 0)."
    const next = Math.max(0, Math.min(STOCK_MAX, wanted));
    // Docs/store, "Stock": "With "clamp": false, such a change is not made: if the stock is not sufficient, the response is a 409 insufficient_stock".
    if (clamp === false && next !== wanted)
      return { status: 409, data: null, code: wanted < 0 ? 'insufficient_stock' : 'conflict' };
    this.products[this.products.indexOf(product)] = { ...product, inventory: next };
    this.#record(product, { previous, next, requested, reason: reason ?? 'API adjustment', source: 'inventory' });
    return {
      status: 200,
      data: {
        productId: id,
        name: product.name,
        inventory: next,
        trackInventory: product.trackInventory,
        // Specification, "Inventory rules": "A product with trackInventory false never sells out."
        lowStock: product.trackInventory && next <= LOW,
        previous,
        adjustment: next - previous,
        requested,
        clamped: next !== wanted,
      },
    };
  }

  /** Store, "GET /inventory": "every tracked product is returned". */
  stock({ lowOnly, threshold }: { lowOnly: boolean; threshold: number }) {
    return (
      this.products
        // Decisions 8, "The store": an archived product is left out of lists unless asked for.
        .filter(({ trackInventory, status }) => trackInventory && status !== 'archived')
        .map(({ id, name, inventory, sku, slug }) => ({
          productId: id,
          name,
          inventory,
          reserved: this.#reservedOf(id),
          sku,
          slug,
          trackInventory: true,
          lowStock: inventory <= threshold,
        }))
        .filter(({ lowStock }) => lowStock || !lowOnly)
    );
  }

  /** Store.md, "Reservations": "`reserved` counts what is held". */
  #reservedOf(id: string): number {
    const items = this.reservations.flatMap((one) => one.items);
    return items.reduce((sum, { productId, held, isCounted }) => sum + (isCounted && productId === id ? held : 0), 0);
  }

  #record(
    product: Product,
    change: Omit<Entry, 'productId' | 'adjustment' | 'reservationId'> & { reservationId?: string },
  ): void {
    const { previous, next } = change;
    this.log.push({ productId: product.id, reservationId: null, ...change, adjustment: next - previous });
    // "An untracked product is adjusted and logged, and never fires inventory.low."
    if (product.trackInventory && previous > LOW && next <= LOW)
      this.events.push({ type: 'inventory.low', of: product.id });
  }

  /** Decisions 8, "The store": "`sku` and `externalId` are unique in the shop", the options of a variant in its group, and the slug as before. */
  #clashes(product: Product): boolean {
    return this.products.some(
      (one) =>
        one.id !== product.id &&
        (one.slug === product.slug ||
          (one.sku !== null && one.sku === product.sku) ||
          (one.externalId !== null && one.externalId === product.externalId) ||
          (one.groupId !== null && one.groupId === product.groupId && hasSameOptions(one, product))),
    );
  }

  /** Decisions 3, "Slug": from the name, "with -2, -3 … on a clash in the shop". */
  #freeSlug(name: string): string {
    const base = name
      .normalize('NFKD')
      .replaceAll(/\p{M}/gu, '')
      .toLowerCase()
      .replaceAll(/[^a-z0-9]+/g, '-')
      .replaceAll(/^-|-$/g, '');
    const taken = new Set(this.products.map(({ slug }) => slug));
    for (let count = 1; ; count += 1) {
      const slug = count === 1 ? base : `${base}-${count}`;
      if (!taken.has(slug)) return slug;
    }
  }
}

/** Docs/store, "Errors": the code of each status. */
function errorOf({ status, code }: Expected): string {
  return code ?? (status === 400 ? 'bad_request' : status === 404 ? 'not_found' : 'conflict');
}

/** A price is text or a number. */
function toText(value: unknown): string {
  return typeof value === 'number' || typeof value === 'string' ? value.toString() : '';
}

/** Decisions 3: "`collection` adds to `collections`; duplicates collapse, order is kept." */
function toCollections(stored: readonly string[], body: Body): string[] {
  const listed = (body['collections'] as string[] | undefined) ?? stored;
  const added = body['collection'] as string | undefined;
  return [...new Set(added === undefined ? listed : [...listed, added])];
}

/** Decisions 8, "The store": "PUT merges keys, `null` removes one". In sorted order, because the order has no meaning. */
function toMetadata(stored: Readonly<Record<string, string>>, body: Body): Record<string, string> {
  const given = (body['metadata'] as Record<string, string | null> | undefined) ?? {};
  const kept = Object.entries({ ...stored, ...given }).filter(([, value]) => value !== null);
  return Object.fromEntries(kept.toSorted(([a], [b]) => (a < b ? -1 : 1))) as Record<string, string>;
}

function hasSameOptions(one: Product, other: Product): boolean {
  const others = new Map(other.options.map(({ name, value }) => [name, value]));
  return one.options.length === others.size && one.options.every(({ name, value }) => others.get(name) === value);
}

/** Decisions 3, "Adjust": exactly one of `adjustment` and `set`, an integer "within ±2^31-1". */
function isValidChange({ adjustment, set }: Body): boolean {
  const requested = adjustment ?? set;
  const isOne = (adjustment === undefined) !== (set === undefined);
  return isOne && Number.isInteger(requested) && Math.abs(Number(requested)) <= STOCK_MAX;
}

/** The bounds of specification, "POST /products", and of decisions 3, "Price": "Exponents, signs, NaN, empty and locale forms are 400." */
function isValid(body: Body, { isNew }: { isNew: boolean }): boolean {
  if (Object.keys(body).some((name) => !FIELDS.has(name))) return false;
  if (isNew && (body['name'] === undefined || body['price'] === undefined)) return false;
  const { name, price, slug, type, inventory, weightGrams, status, metadata } = body;
  const isText = (value: unknown, max: number) =>
    value === undefined || (typeof value === 'string' && value.length >= 1 && value.length <= max);
  const isCount = (value: unknown) => value === undefined || (Number.isInteger(value) && Number(value) >= 0);
  return (
    isText(name, 160) &&
    isText(slug, 180) &&
    (price === undefined || /^\d{1,40}(?:\.\d{1,18})?$/.test(toText(price))) &&
    (type === undefined || TYPES.includes(toText(type))) &&
    (status === undefined || ['active', 'draft', 'archived'].includes(toText(status))) &&
    Object.values(metadata ?? {}).every((value) => value === null || isText(value, 500)) &&
    isText(body['sku'] ?? undefined, 120) &&
    isText(body['externalId'] ?? undefined, 255) &&
    isCount(inventory) &&
    (weightGrams === undefined || Number(weightGrams) >= 0)
  );
}
