// A shop as plain lists: products, stock, the adjustment log and remembered requests. "store" is specification, part B; "decisions 3" the section of the
// project's decisions on the store interface.

export type Product = {
  id: string;
  name: string;
  slug: string;
  price: string;
  type: string;
  description: string | null;
  image: string | null;
  moreImages: string[];
  inventory: number;
  trackInventory: boolean;
  requiresShipping: boolean;
  weightGrams: number;
  collections: string[];
  sku: string | null;
  barcode: string | null;
  externalId: string | null;
  status: string;
  compareAtPrice: string | null;
  groupId: string | null;
  options: { name: string; value: string }[];
  metadata: Record<string, string>;
};

export type Entry = {
  productId: string;
  previous: number;
  next: number;
  adjustment: number;
  requested: number;
  reason: string;
  source: string;
};

/** A text that no rule determines. */
export const ANY = '*';

export type Body = Readonly<Record<string, unknown>>;

/** `data` is compared with the response; null for an error. `id`: the product that the request names. */
export type Expected = { status: number; data: Record<string, unknown> | null };

const STOCK_MAX = 2 ** 31 - 1;
/** Specification, "Limits": "Webhook low-stock level: fixed 10". It is also the default of `threshold`. */
const LOW = 10;
const TYPES = ['physical', 'digital', 'nft'];
const FIELDS = new Set([
  'name',
  'price',
  'slug',
  'description',
  'image',
  'moreImages',
  'type',
  'inventory',
  'trackInventory',
  'requiresShipping',
  'weightGrams',
  'collection',
  'collections',
  'sku',
  'barcode',
  'externalId',
  'status',
  'compareAtPrice',
  'groupId',
  'options',
  'metadata',
]);

export class Shop {
  /** In the order of creation. */
  readonly products: Product[] = [];
  /** In the order of the changes. */
  readonly log: Entry[] = [];
  /** Decisions 4: "inventory.low: exactly once per downward crossing of 10", and the events of products. In order. */
  readonly events: { type: string; productId: string }[] = [];

  /** `id`: the id that the service gave to the product. */
  create(body: Body, id: string): Expected {
    if (!isValid(body, { isNew: true })) return { status: 400, data: null };
    const type = (body['type'] as string | undefined) ?? 'physical';
    const product: Product = {
      id,
      name: body['name'] as string,
      slug: (body['slug'] as string | undefined) ?? this.#freeSlug(body['name'] as string),
      price: toText(body['price']),
      type,
      description: (body['description'] as string | null | undefined) ?? null,
      image: (body['image'] as string | null | undefined) ?? null,
      moreImages: (body['moreImages'] as string[] | undefined) ?? [],
      inventory: (body['inventory'] as number | undefined) ?? 0,
      // Decisions 3, "Defaults": "trackInventory true for physical, false otherwise".
      trackInventory: (body['trackInventory'] as boolean | undefined) ?? type === 'physical',
      requiresShipping: (body['requiresShipping'] as boolean | undefined) ?? type === 'physical',
      weightGrams: (body['weightGrams'] as number | undefined) ?? 0,
      collections: toCollections([], body),
      sku: (body['sku'] as string | null | undefined) ?? null,
      barcode: (body['barcode'] as string | null | undefined) ?? null,
      externalId: (body['externalId'] as string | null | undefined) ?? null,
      status: (body['status'] as string | undefined) ?? 'active',
      compareAtPrice: null,
      groupId: (body['groupId'] as string | null | undefined) ?? null,
      options: (body['options'] as Product['options'] | undefined) ?? [],
      metadata: toMetadata({}, body),
    };
    if (this.#clashes(product)) return { status: 400, data: null };
    this.products.push(product);
    this.events.push({ type: 'product.created', productId: id });
    return { status: 201, data: product };
  }

  /** Decisions 3, "PUT merges: omitted keeps, null clears what may be null, arrays replace." */
  update(id: string, body: Body): Expected {
    if (!isValid(body, { isNew: false })) return { status: 400, data: null };
    const index = this.products.findIndex((one) => one.id === id);
    const stored = this.products[index];
    if (!stored) return { status: 404, data: null };
    const { collection: _collection, collections: _collections, price, inventory, ...given } = body;
    const product: Product = {
      ...stored,
      ...given,
      price: price === undefined ? stored.price : toText(price),
      collections: toCollections(stored.collections, body),
      metadata: toMetadata(stored.metadata, body),
    };
    if (this.#clashes(product)) return { status: 400, data: null };
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
        source: 'product',
      });
    if (isChanged || next !== stored.inventory) this.events.push({ type: 'product.updated', productId: id });
    return { status: 200, data: { ...product, inventory: next } };
  }

  delete(id: string): Expected {
    const index = this.products.findIndex((one) => one.id === id);
    if (index < 0) return { status: 404, data: null };
    this.products.splice(index, 1);
    this.events.push({ type: 'product.deleted', productId: id });
    return { status: 200, data: { id, deleted: true } };
  }

  read(id: string): Expected {
    const product = this.products.find((one) => one.id === id);
    return product ? { status: 200, data: product } : { status: 404, data: null };
  }

  /** Store, "POST /inventory", and decisions 3, "Adjust". */
  adjust(body: Body): Expected {
    const {
      product_id: id,
      adjustment,
      set,
      reason,
      expected,
    } = body as {
      product_id?: string;
      adjustment?: number;
      set?: number;
      reason?: string;
      expected?: number;
    };
    // "Body with both adjustment and set: 400, nothing applied."
    const requested = adjustment ?? set;
    if (id === undefined || requested === undefined || !isValidChange(body)) return { status: 400, data: null };
    const index = this.products.findIndex((one) => one.id === id);
    const product = this.products[index];
    if (!product) return { status: 404, data: null };
    const previous = product.inventory;
    if (expected !== undefined && expected !== previous) return { status: 409, data: null };
    const wanted = adjustment === undefined ? requested : previous + adjustment;
    // "Stock never goes below 0 (both adjustment and set clamp at 0)."
    const next = Math.max(0, Math.min(STOCK_MAX, wanted));
    this.products[index] = { ...product, inventory: next };
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
        .map(({ id, name, inventory }) => ({
          productId: id,
          name,
          inventory,
          trackInventory: true,
          lowStock: inventory <= threshold,
        }))
        .filter(({ lowStock }) => lowStock || !lowOnly)
    );
  }

  #record(product: Product, change: Omit<Entry, 'productId' | 'adjustment'>): void {
    const { previous, next } = change;
    this.log.push({ productId: product.id, ...change, adjustment: next - previous });
    // "An untracked product is adjusted and logged, and never fires inventory.low."
    if (product.trackInventory && previous > LOW && next <= LOW)
      this.events.push({ type: 'inventory.low', productId: product.id });
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
export function isValidChange({ adjustment, set }: Body): boolean {
  const requested = adjustment ?? set;
  const isOne = (adjustment === undefined) !== (set === undefined);
  return isOne && Number.isInteger(requested) && Math.abs(Number(requested)) <= STOCK_MAX;
}

/** The bounds of specification, "POST /products", and of decisions 3, "Price": "Exponents, signs, NaN, empty and locale forms are 400." */
export function isValid(body: Body, { isNew }: { isNew: boolean }): boolean {
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
