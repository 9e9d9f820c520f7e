// Generated from openapi/store.json by `npm run generate`.

import type { Operations, WriteOptions } from '../calls.ts';
import type { Pages } from '../pages.ts';
import type { CallOptions } from '../transport.ts';

/** An entry of the adjustment log. */
export type Adjustment = {
  /** Id of the entry. */
  id: string;
  /** Product id. */
  productId: string;
  /** Stock before the change. */
  previous: number;
  /** Stock after the change. */
  next: number;
  /** The change that was applied. */
  adjustment: number;
  /** The `adjustment` or the `set` of a stock request. For product updates and imports, the new stock. */
  requested: number;
  /** Why the stock was changed: the `reason` of the request, or a default text. */
  reason: string;
  /** `inventory` for stock requests, `product` for product updates, `import` for imports, `reservation` for reservations. */
  source: string;
  /** Id of the API key that made the change; null for changes without a key. */
  keyId: string | null;
  /** When the stock was changed. */
  createdAt: string;
  /** Id of the reservation that took or returned the stock; null if the source is another one. */
  reservationId: string | null;
};

/** A change in a shop. */
export type Change = {
  /** The place of the change in the feed of the shop. */
  sequence: number;
  /** What has changed. */
  type: 'product.created' | 'product.updated' | 'product.deleted' | 'inventory.changed' | 'reservation.created' | 'reservation.consumed' | 'reservation.released' | 'reservation.expired';
  /** When the change was made. */
  at: string;
  /** Product id; null for a reservation, whose items name its products. */
  productId: string | null;
  /** What the change has made: the product, the entry of the adjustment log (`inventory.changed`) or the reservation; null for a product that was deleted. */
  object: Product | Adjustment | Reservation | null;
};

/** The delivery of one event to one webhook. */
export type Delivery = {
  /** Delivery id. */
  id: string;
  /** The webhook. */
  webhookId: string;
  /** Event id. Every attempt sends it in the header `webhook-id`. */
  eventId: string;
  /** The type of the event. */
  type: string;
  /** `pending` while an attempt is to be made, `delivered` after a success, `dead` after the last attempt has failed. */
  state: 'pending' | 'delivered' | 'dead';
  /** Number of attempts in the current retry schedule. A redelivery or a recovery starts a new schedule at 0. */
  attempts: number;
  /** When the next attempt is due; null when the delivery is not pending. */
  nextAttemptAt: string | null;
  /** When the last attempt was made; null before the first attempt. */
  lastAttemptAt: string | null;
  /** HTTP status of the last attempt; null before the first attempt, and when the last attempt received no complete response. */
  lastStatus: number | null;
  /** Why the last attempt failed; null before the first attempt, and when the last attempt succeeded. */
  lastError: string | null;
  /** How long the last attempt took, in milliseconds; null before the first attempt. */
  lastDurationMs: number | null;
  /** When an attempt last succeeded; null when no attempt has succeeded. */
  deliveredAt: string | null;
  /** When the delivery was created. */
  createdAt: string;
};

/** A delivery with the body of its request. */
export type DeliveryWithBody = {
  /** Delivery id. */
  id: string;
  /** The webhook. */
  webhookId: string;
  /** Event id. Every attempt sends it in the header `webhook-id`. */
  eventId: string;
  /** The type of the event. */
  type: string;
  /** `pending` while an attempt is to be made, `delivered` after a success, `dead` after the last attempt has failed. */
  state: 'pending' | 'delivered' | 'dead';
  /** Number of attempts in the current retry schedule. A redelivery or a recovery starts a new schedule at 0. */
  attempts: number;
  /** When the next attempt is due; null when the delivery is not pending. */
  nextAttemptAt: string | null;
  /** When the last attempt was made; null before the first attempt. */
  lastAttemptAt: string | null;
  /** HTTP status of the last attempt; null before the first attempt, and when the last attempt received no complete response. */
  lastStatus: number | null;
  /** Why the last attempt failed; null before the first attempt, and when the last attempt succeeded. */
  lastError: string | null;
  /** How long the last attempt took, in milliseconds; null before the first attempt. */
  lastDurationMs: number | null;
  /** When an attempt last succeeded; null when no attempt has succeeded. */
  deliveredAt: string | null;
  /** When the delivery was created. */
  createdAt: string;
  /** The body of the request, which is the same for every attempt. JSON text. */
  body: string;
};

/** Stock was changed. */
export type InventoryChangedEvent = {
  /** The type of the event. */
  type: 'inventory.changed';
  /** When the event occurred. */
  timestamp: string;
  /** A later event of the same shop has a larger number. */
  sequence: number;
  data: Adjustment;
};

/** The stock of a product. */
export type InventoryItem = {
  /** Product id. */
  productId: string;
  /** Name. */
  name: string;
  /** Current stock: what can be sold. */
  inventory: number;
  /** What held reservations hold. It is not in `inventory`. */
  reserved: number;
  /** SKU. */
  sku: string | null;
  /** Slug. */
  slug: string;
  /** When the product, or its stock, was last changed. */
  updatedAt: string;
  /** Only tracked products are listed. */
  trackInventory: true;
  /** Whether the stock is at or below the `threshold` of the request. */
  lowStock: boolean;
};

/** Tracked stock has fallen from above 10 to 10 or below. */
export type InventoryLowEvent = {
  /** The type of the event. */
  type: 'inventory.low';
  /** When the event occurred. */
  timestamp: string;
  /** A later event of the same shop has a larger number. */
  sequence: number;
  /** The change of stock. */
  data: {
    /** Product id. */
    productId: string;
    /** Name of the product. */
    name: string;
    /** Stock after the change. */
    inventory: number;
    /** Stock before the change. */
    previous: number;
    /** Id of the entry in the adjustment log. */
    adjustmentId: string;
    /** The level that the stock has reached. */
    threshold: 10;
  };
};

/** Tracked stock has fallen to 0. */
export type InventoryOutEvent = {
  /** The type of the event. */
  type: 'inventory.out';
  /** When the event occurred. */
  timestamp: string;
  /** A later event of the same shop has a larger number. */
  sequence: number;
  /** The change of stock. */
  data: {
    /** Product id. */
    productId: string;
    /** Name of the product. */
    name: string;
    /** Stock after the change. */
    inventory: 0;
    /** Stock before the change. */
    previous: number;
    /** Id of the entry in the adjustment log. */
    adjustmentId: string;
  };
};

/** Tracked stock has risen from 0. */
export type InventoryRestockedEvent = {
  /** The type of the event. */
  type: 'inventory.restocked';
  /** When the event occurred. */
  timestamp: string;
  /** A later event of the same shop has a larger number. */
  sequence: number;
  /** The change of stock. */
  data: {
    /** Product id. */
    productId: string;
    /** Name of the product. */
    name: string;
    /** Stock after the change. */
    inventory: number;
    /** Stock before the change. */
    previous: 0;
    /** Id of the entry in the adjustment log. */
    adjustmentId: string;
  };
};

/** A product. */
export type Product = {
  /** Product id. */
  id: string;
  /** Name. */
  name: string;
  /** Slug, unique in the shop. */
  slug: string;
  /** Decimal amount in the shop's currency, exactly as it was sent. */
  price: string;
  /** The kind of product. */
  type: 'physical' | 'digital' | 'nft';
  /** Stock. */
  inventory: number;
  /** Whether stock is counted. If not, the product never sells out. */
  trackInventory: boolean;
  /** Whether the product is shipped. */
  requiresShipping: boolean;
  /** Weight in grams. */
  weightGrams: number;
  /** Slugs of the collections that contain the product. */
  collections: string[];
  /** Main image URL. */
  image: string | null;
  /** When the product was created. */
  createdAt: string;
  /** When the product was last changed. */
  updatedAt: string;
  /** Stock keeping unit, unique in the shop. */
  sku: string | null;
  /** Barcode, such as a GTIN. Several products may have the same. */
  barcode: string | null;
  /** The id of the product in another system of the shop, unique in the shop. */
  externalId: string | null;
  /** `archived`: the product keeps its stock and its log, and is left out of lists. `draft` has no other effect than its name. */
  status: 'active' | 'draft' | 'archived';
  /** The price before a reduction, like `price`. */
  compareAtPrice: string | null;
  /** The products with the same text are the variants of one product. */
  groupId: string | null;
  /** What distinguishes this variant. No other product with this `groupId` has the same values. */
  options: {
    /** The name, such as `Size`. */
    name: string;
    /** The value, such as `M`. */
    value: string;
  }[];
  /** Texts of the shop, by key. */
  metadata: Record<string, string>;
  /** Description. */
  description: string | null;
  /** Further image URLs. */
  moreImages: string[];
};

/** Products to create or update. */
export type ProductBatch = {
  /** The rows, which take effect in this order. */
  products: ProductUpsert[];
};

/** The result of a row. */
export type ProductBatchResult = {
  /** What the row has done. A rejected row has no effect. */
  outcome: 'created' | 'updated' | 'unchanged' | 'rejected';
  /** The product as it is after the row; null if the row is rejected. */
  product: Product | null;
  /** Why the row is rejected, as in the response to a single request; otherwise null. */
  error: {
    /** The error code. */
    code: string;
    /** What is wrong. */
    message: string;
    /** The invalid fields or parameters. */
    details?: {
      /** Field or parameter. */
      path: string;
      /** What is wrong with it. */
      message: string;
      /** The product of the shop that has the value already. */
      productId?: string;
    }[];
  } | null;
};

/** A product to be created. */
export type ProductCreate = {
  /** Name. */
  name: string;
  /** Decimal amount: at most 40 digits before and 18 after the point, no exponent. Stored exactly as written. */
  price: string | number;
  /** Slug; derived from the name when omitted. */
  slug?: string;
  /** Description. */
  description?: string | null;
  /** Main image URL: begins with http://, https://, ipfs://, ar:// or data:image/, or is empty. */
  image?: string | null;
  /** Further image URLs, which begin with http://, https://, ipfs://, ar:// or data:image/. */
  moreImages?: string[];
  /** The kind of product. */
  type?: 'physical' | 'digital' | 'nft';
  /** Stock. */
  inventory?: number;
  /** Whether stock is counted. Default: true for physical products. */
  trackInventory?: boolean;
  /** Whether the product is shipped. Default: true for physical products. */
  requiresShipping?: boolean;
  /** Weight in grams, for the calculation of shipping rates. */
  weightGrams?: number;
  /** A collection to add the product to. */
  collection?: string;
  /** Collection slugs. */
  collections?: string[];
  /** Stock keeping unit, unique in the shop. */
  sku?: string | null;
  /** Barcode, such as a GTIN. */
  barcode?: string | null;
  /** The id of the product in another system, unique in the shop. */
  externalId?: string | null;
  /** `archived`: the product keeps its stock and its log, and is left out of lists. `draft` has no other effect than its name. */
  status?: 'active' | 'draft' | 'archived';
  /** The price before a reduction, in the form of `price`. */
  compareAtPrice?: string | number | null;
  /** The products with the same text are the variants of one product. */
  groupId?: string | null;
  /** What distinguishes this variant. No other product with this `groupId` has the same values. */
  options?: {
    /** The name, such as `Size`. */
    name: string;
    /** The value, such as `M`. */
    value: string;
  }[];
  /** Texts by key. An update merges them by key: null removes a key, and omitted keys keep their text. */
  metadata?: Record<string, string | null>;
};

/** A product was created. */
export type ProductCreatedEvent = {
  /** The type of the event. */
  type: 'product.created';
  /** When the event occurred. */
  timestamp: string;
  /** A later event of the same shop has a larger number. */
  sequence: number;
  data: Product;
};

/** A product was deleted. */
export type ProductDeletedEvent = {
  /** The type of the event. */
  type: 'product.deleted';
  /** When the event occurred. */
  timestamp: string;
  /** A later event of the same shop has a larger number. */
  sequence: number;
  /** The product that was deleted. */
  data: {
    /** Id of the deleted product. */
    id: string;
    /** Slug of the deleted product. */
    slug: string;
  };
};

/** Whether the list has another page, and the cursor of that page. */
export type ProductPagination = {
  /** Whether another page follows. Even a short or an empty page may have a next page. */
  hasMore: boolean;
  /** Cursor of the next page; null on the last page. */
  nextCursor: string | null;
  /** Number of products in `data`. */
  count: number;
};

/** A product in a list. */
export type ProductSummary = {
  /** Product id. */
  id: string;
  /** Name. */
  name: string;
  /** Slug, unique in the shop. */
  slug: string;
  /** Decimal amount in the shop's currency, exactly as it was sent. */
  price: string;
  /** The kind of product. */
  type: 'physical' | 'digital' | 'nft';
  /** Stock. */
  inventory: number;
  /** Whether stock is counted. If not, the product never sells out. */
  trackInventory: boolean;
  /** Whether the product is shipped. */
  requiresShipping: boolean;
  /** Weight in grams. */
  weightGrams: number;
  /** Slugs of the collections that contain the product. */
  collections: string[];
  /** Main image URL. */
  image: string | null;
  /** When the product was created. */
  createdAt: string;
  /** When the product was last changed. */
  updatedAt: string;
  /** Stock keeping unit, unique in the shop. */
  sku: string | null;
  /** Barcode, such as a GTIN. Several products may have the same. */
  barcode: string | null;
  /** The id of the product in another system of the shop, unique in the shop. */
  externalId: string | null;
  /** `archived`: the product keeps its stock and its log, and is left out of lists. `draft` has no other effect than its name. */
  status: 'active' | 'draft' | 'archived';
  /** The price before a reduction, like `price`. */
  compareAtPrice: string | null;
  /** The products with the same text are the variants of one product. */
  groupId: string | null;
  /** What distinguishes this variant. No other product with this `groupId` has the same values. */
  options: {
    /** The name, such as `Size`. */
    name: string;
    /** The value, such as `M`. */
    value: string;
  }[];
  /** Texts of the shop, by key. */
  metadata: Record<string, string>;
};

/** Changes. Omitted fields keep their value, arrays replace the stored arrays, and null clears a nullable field. */
export type ProductUpdate = {
  /** Name. */
  name?: string;
  /** Decimal amount: at most 40 digits before and 18 after the point, no exponent. Stored exactly as written. */
  price?: string | number;
  /** Slug; derived from the name when omitted. */
  slug?: string;
  /** Description. */
  description?: string | null;
  /** Main image URL: begins with http://, https://, ipfs://, ar:// or data:image/, or is empty. */
  image?: string | null;
  /** Further image URLs, which begin with http://, https://, ipfs://, ar:// or data:image/. */
  moreImages?: string[];
  /** The kind of product. */
  type?: 'physical' | 'digital' | 'nft';
  /** Stock. */
  inventory?: number;
  /** Whether stock is counted. Default: true for physical products. */
  trackInventory?: boolean;
  /** Whether the product is shipped. Default: true for physical products. */
  requiresShipping?: boolean;
  /** Weight in grams, for the calculation of shipping rates. */
  weightGrams?: number;
  /** A collection to add the product to. */
  collection?: string;
  /** Collection slugs. */
  collections?: string[];
  /** Stock keeping unit, unique in the shop. */
  sku?: string | null;
  /** Barcode, such as a GTIN. */
  barcode?: string | null;
  /** The id of the product in another system, unique in the shop. */
  externalId?: string | null;
  /** `archived`: the product keeps its stock and its log, and is left out of lists. `draft` has no other effect than its name. */
  status?: 'active' | 'draft' | 'archived';
  /** The price before a reduction, in the form of `price`. */
  compareAtPrice?: string | number | null;
  /** The products with the same text are the variants of one product. */
  groupId?: string | null;
  /** What distinguishes this variant. No other product with this `groupId` has the same values. */
  options?: {
    /** The name, such as `Size`. */
    name: string;
    /** The value, such as `M`. */
    value: string;
  }[];
  /** Texts by key. An update merges them by key: null removes a key, and omitted keys keep their text. */
  metadata?: Record<string, string | null>;
};

/** A product was updated. */
export type ProductUpdatedEvent = {
  /** The type of the event. */
  type: 'product.updated';
  /** When the event occurred. */
  timestamp: string;
  /** A later event of the same shop has a larger number. */
  sequence: number;
  /** The product after the update, and the names of the changed fields. */
  data: {
    /** Product id. */
    id: string;
    /** Name. */
    name: string;
    /** Slug, unique in the shop. */
    slug: string;
    /** Decimal amount in the shop's currency, exactly as it was sent. */
    price: string;
    /** The kind of product. */
    type: 'physical' | 'digital' | 'nft';
    /** Stock. */
    inventory: number;
    /** Whether stock is counted. If not, the product never sells out. */
    trackInventory: boolean;
    /** Whether the product is shipped. */
    requiresShipping: boolean;
    /** Weight in grams. */
    weightGrams: number;
    /** Slugs of the collections that contain the product. */
    collections: string[];
    /** Main image URL. */
    image: string | null;
    /** When the product was created. */
    createdAt: string;
    /** When the product was last changed. */
    updatedAt: string;
    /** Stock keeping unit, unique in the shop. */
    sku: string | null;
    /** Barcode, such as a GTIN. Several products may have the same. */
    barcode: string | null;
    /** The id of the product in another system of the shop, unique in the shop. */
    externalId: string | null;
    /** `archived`: the product keeps its stock and its log, and is left out of lists. `draft` has no other effect than its name. */
    status: 'active' | 'draft' | 'archived';
    /** The price before a reduction, like `price`. */
    compareAtPrice: string | null;
    /** The products with the same text are the variants of one product. */
    groupId: string | null;
    /** What distinguishes this variant. No other product with this `groupId` has the same values. */
    options: {
      /** The name, such as `Size`. */
      name: string;
      /** The value, such as `M`. */
      value: string;
    }[];
    /** Texts of the shop, by key. */
    metadata: Record<string, string>;
    /** Description. */
    description: string | null;
    /** Further image URLs. */
    moreImages: string[];
    /** The names of the changed fields. */
    changed: ('name' | 'price' | 'slug' | 'description' | 'image' | 'moreImages' | 'type' | 'inventory' | 'trackInventory' | 'requiresShipping' | 'weightGrams' | 'collections' | 'sku' | 'barcode' | 'externalId' | 'status' | 'compareAtPrice' | 'groupId' | 'options' | 'metadata')[];
  };
};

/** A row of a batch. It updates the product with its `id`; without `id`, the product with its `externalId`; without both, the product with its `sku`. If the shop has no product with this `externalId` or `sku`, or the row has none of the three, it creates a product. */
export type ProductUpsert = {
  /** The product to update. */
  id?: string;
  /** Name. */
  name?: string;
  /** Decimal amount: at most 40 digits before and 18 after the point, no exponent. Stored exactly as written. */
  price?: string | number;
  /** Slug; derived from the name when omitted. */
  slug?: string;
  /** Description. */
  description?: string | null;
  /** Main image URL: begins with http://, https://, ipfs://, ar:// or data:image/, or is empty. */
  image?: string | null;
  /** Further image URLs, which begin with http://, https://, ipfs://, ar:// or data:image/. */
  moreImages?: string[];
  /** The kind of product. */
  type?: 'physical' | 'digital' | 'nft';
  /** Stock. */
  inventory?: number;
  /** Whether stock is counted. Default: true for physical products. */
  trackInventory?: boolean;
  /** Whether the product is shipped. Default: true for physical products. */
  requiresShipping?: boolean;
  /** Weight in grams, for the calculation of shipping rates. */
  weightGrams?: number;
  /** A collection to add the product to. */
  collection?: string;
  /** Collection slugs. */
  collections?: string[];
  /** Stock keeping unit, unique in the shop. */
  sku?: string | null;
  /** Barcode, such as a GTIN. */
  barcode?: string | null;
  /** The id of the product in another system, unique in the shop. */
  externalId?: string | null;
  /** `archived`: the product keeps its stock and its log, and is left out of lists. `draft` has no other effect than its name. */
  status?: 'active' | 'draft' | 'archived';
  /** The price before a reduction, in the form of `price`. */
  compareAtPrice?: string | number | null;
  /** The products with the same text are the variants of one product. */
  groupId?: string | null;
  /** What distinguishes this variant. No other product with this `groupId` has the same values. */
  options?: {
    /** The name, such as `Size`. */
    name: string;
    /** The value, such as `M`. */
    value: string;
  }[];
  /** Texts by key. An update merges them by key: null removes a key, and omitted keys keep their text. */
  metadata?: Record<string, string | null>;
};

/** Stock that is held for a checkout. */
export type Reservation = {
  /** Reservation id. */
  id: string;
  /** `held`, or how the reservation has ended: `consumed`, `released` or `expired`. */
  status: 'held' | 'consumed' | 'released' | 'expired';
  /** The shop's own name for the reservation; null if it was given none. */
  reference: string | null;
  /** The items, in the order of the request. */
  items: {
    /** Product id. */
    productId: string;
    /** Name of the product; null after the product was deleted. */
    name: string | null;
    /** How much was reserved. */
    quantity: number;
    /** How much is held. */
    held: number;
    /** How much was sold. What is neither held nor sold was returned to the stock. */
    consumed: number;
  }[];
  /** When the reservation was made. */
  createdAt: string;
  /** When the reservation expires, or would have expired. */
  expiresAt: string;
  /** When the reservation ended (ISO 8601); null while it is held. */
  endedAt: string | null;
};

/** A reservation, or a part of it, was sold. */
export type ReservationConsumedEvent = {
  /** The type of the event. */
  type: 'reservation.consumed';
  /** When the event occurred. */
  timestamp: string;
  /** A later event of the same shop has a larger number. */
  sequence: number;
  data: Reservation;
};

/** What was sold: all that is held, unless `items` names a part. */
export type ReservationConsumption = {
  /** Products and quantities. Each product may occur once. */
  items?: {
    /** Product id. */
    product_id?: string;
    /** SKU, instead of the product id. */
    sku?: string;
    /** External id, instead of the product id. */
    externalId?: string;
    /** How much. */
    quantity: number;
  }[];
  /** What becomes of what is not consumed: it is returned to the stock, or stays held. */
  remaining?: 'release' | 'hold';
};

/** A new reservation. */
export type ReservationCreate = {
  /** Products and quantities. Each product may occur once. */
  items: {
    /** Product id. */
    product_id?: string;
    /** SKU, instead of the product id. */
    sku?: string;
    /** External id, instead of the product id. */
    externalId?: string;
    /** How much. */
    quantity: number;
  }[];
  /** The time from now until the reservation expires. */
  expiresInSeconds?: number;
  /** The shop's own name for the reservation, such as the id of a cart. */
  reference?: string | null;
};

/** Stock was reserved. */
export type ReservationCreatedEvent = {
  /** The type of the event. */
  type: 'reservation.created';
  /** When the event occurred. */
  timestamp: string;
  /** A later event of the same shop has a larger number. */
  sequence: number;
  data: Reservation;
};

/** A reservation has expired, so its stock was returned. */
export type ReservationExpiredEvent = {
  /** The type of the event. */
  type: 'reservation.expired';
  /** When the event occurred. */
  timestamp: string;
  /** A later event of the same shop has a larger number. */
  sequence: number;
  data: Reservation;
};

/** How long a reservation shall be held from now on. */
export type ReservationExtension = {
  /** The time from now until the reservation expires. */
  expiresInSeconds: number;
};

/** A reservation was released, so its stock was returned. */
export type ReservationReleasedEvent = {
  /** The type of the event. */
  type: 'reservation.released';
  /** When the event occurred. */
  timestamp: string;
  /** A later event of the same shop has a larger number. */
  sequence: number;
  data: Reservation;
};

/** Many changes of stock. */
export type StockBatch = {
  /** Changes, made in this order. */
  changes: StockRequest[];
};

/** The result of a change of a batch. */
export type StockBatchResult = {
  /** What became of the change. A rejected change has no effect. */
  outcome: 'applied' | 'rejected';
  /** The result of the change; null if it is rejected. */
  change: StockResult | null;
  /** Why the change is rejected, as in the response to a single request; otherwise null. */
  error: {
    /** The error code. */
    code: string;
    /** What is wrong. */
    message: string;
    /** The invalid fields or parameters. */
    details?: {
      /** Field or parameter. */
      path: string;
      /** What is wrong with it. */
      message: string;
      /** The product of the shop that has the value already. */
      productId?: string;
    }[];
  } | null;
};

/** A change of stock: exactly one of `adjustment` and `set`, of a product that exactly one field names. */
export type StockRequest = {
  /** Product id. */
  product_id?: string;
  /** SKU, instead of the product id. */
  sku?: string;
  /** External id, instead of the product id. */
  externalId?: string;
  /** The number to add to the stock. A negative number decreases it. Concurrent adjustments are all applied. */
  adjustment?: number;
  /** The new stock, for stocktakes. A negative number sets the stock to zero. */
  set?: number;
  /** Recorded in the adjustment log. */
  reason?: string;
  /** The current stock must equal this number; otherwise the response is a 409. */
  expected?: number;
  /** Whether a change beyond 0 is limited. If false, the response to such a change is a 409, and nothing changes. */
  clamp?: boolean;
};

/** The result of a change of stock. */
export type StockResult = {
  /** Product id. */
  productId: string;
  /** Name. */
  name: string;
  /** Stock after the change. */
  inventory: number;
  /** Whether stock is counted. */
  trackInventory: boolean;
  /** Whether the stock is tracked and at or below 10. */
  lowStock: boolean;
  /** Stock before the change. */
  previous: number;
  /** The change that was applied. */
  adjustment: number;
  /** The `adjustment` or the `set` of the request. */
  requested: number;
  /** Whether the change was limited to keep the stock between 0 and 2147483647. */
  clamped: boolean;
  /** Id of the entry in the adjustment log. */
  adjustmentId: string;
};

/** Whether a list has another page, and the cursor of that page. */
export type StorePagination = {
  /** Whether another page follows. */
  hasMore: boolean;
  /** Opaque cursor of the next page; null on the last page. */
  nextCursor: string | null;
};

/** A subscription to events of the shop. */
export type Webhook = {
  /** Webhook id. */
  id: string;
  /** The https URL to which deliveries are sent. Its host must have public addresses only, unless the service allows private addresses. */
  url: string;
  /** Types of events to send. `product.*` means every type that begins with `product.`. */
  events: ('product.created' | 'product.updated' | 'product.deleted' | 'inventory.low' | 'inventory.changed' | 'inventory.out' | 'inventory.restocked' | 'reservation.created' | 'reservation.consumed' | 'reservation.released' | 'reservation.expired' | 'product.*')[];
  /** A note. */
  description: string | null;
  /** Whether events are delivered. */
  enabled: boolean;
  /** Why the webhook is disabled; null while it is enabled. */
  disabledReason: string | null;
  /** When the webhook was disabled; null while it is enabled. */
  disabledAt: string | null;
  /** When the receiver began to fail; null while it is not failing. A webhook that fails for five days is disabled. */
  failingSince: string | null;
  /** Until this time, deliveries are also signed with the previous secret; null before the first rotation. */
  previousSecretExpiresAt: string | null;
  /** When the webhook was created. */
  createdAt: string;
  /** When the shop last changed the webhook. */
  updatedAt: string;
};

/** A new webhook. Without `events` it subscribes to all events. */
export type WebhookCreate = {
  /** The https URL to which deliveries are sent. Its host must have public addresses only, unless the service allows private addresses. */
  url: string;
  /** Types of events to send. `product.*` means every type that begins with `product.`. */
  events?: ('product.created' | 'product.updated' | 'product.deleted' | 'inventory.low' | 'inventory.changed' | 'inventory.out' | 'inventory.restocked' | 'reservation.created' | 'reservation.consumed' | 'reservation.released' | 'reservation.expired' | 'product.*')[];
  /** A note. */
  description?: string | null;
};

/** The result of a recovery. */
export type WebhookRecovered = {
  /** Number of deliveries that were created or scheduled. */
  recovered: number;
  /** Whether more deliveries may be left to recover. If so, call again. A delivery that a recovery or redelivery scheduled in the last ten minutes is not recovered again, and does not make `hasMore` true. */
  hasMore: boolean;
};

/** The time from which to recover. */
export type WebhookRecovery = {
  /** The time of the earliest event to recover. */
  since: string;
};

/** A test event was requested. */
export type WebhookTestEvent = {
  /** The type of the event. */
  type: 'webhook.test';
  /** When the event occurred. */
  timestamp: string;
  /** A later event of the same shop has a larger number. */
  sequence: number;
  /** The webhook. */
  data: {
    /** The webhook that receives the event. */
    webhookId: string;
  };
};

/** Changes; omitted fields keep their value. */
export type WebhookUpdate = {
  /** The https URL to which deliveries are sent. Its host must have public addresses only, unless the service allows private addresses. */
  url?: string;
  /** Types of events to send. `product.*` means every type that begins with `product.`. */
  events?: ('product.created' | 'product.updated' | 'product.deleted' | 'inventory.low' | 'inventory.changed' | 'inventory.out' | 'inventory.restocked' | 'reservation.created' | 'reservation.consumed' | 'reservation.released' | 'reservation.expired' | 'product.*')[];
  /** A note. */
  description?: string | null;
  /** False disables the webhook; true enables it. */
  enabled?: boolean;
};

/** A webhook with its new secret. */
export type WebhookWithSecret = {
  /** Webhook id. */
  id: string;
  /** The https URL to which deliveries are sent. Its host must have public addresses only, unless the service allows private addresses. */
  url: string;
  /** Types of events to send. `product.*` means every type that begins with `product.`. */
  events: ('product.created' | 'product.updated' | 'product.deleted' | 'inventory.low' | 'inventory.changed' | 'inventory.out' | 'inventory.restocked' | 'reservation.created' | 'reservation.consumed' | 'reservation.released' | 'reservation.expired' | 'product.*')[];
  /** A note. */
  description: string | null;
  /** Whether events are delivered. */
  enabled: boolean;
  /** Why the webhook is disabled; null while it is enabled. */
  disabledReason: string | null;
  /** When the webhook was disabled; null while it is enabled. */
  disabledAt: string | null;
  /** When the receiver began to fail; null while it is not failing. A webhook that fails for five days is disabled. */
  failingSince: string | null;
  /** Until this time, deliveries are also signed with the previous secret; null before the first rotation. */
  previousSecretExpiresAt: string | null;
  /** When the webhook was created. */
  createdAt: string;
  /** When the shop last changed the webhook. */
  updatedAt: string;
  /** The secret that verifies deliveries. It is not shown again. */
  secret: string;
};

export type ListProductsParameters = {
  /** Products per page. */
  limit?: number | undefined;
  /** The `nextCursor` of a page of the same list, passed back unchanged. */
  cursor?: string | undefined;
  /** Collection slug. */
  collection?: string | undefined;
  /** Type of product. */
  type?: 'physical' | 'digital' | 'nft' | undefined;
  /** Up to 100 product ids, separated by commas. */
  ids?: string | undefined;
  /** Only the product with this SKU. */
  sku?: string | undefined;
  /** Only products with this barcode. */
  barcode?: string | undefined;
  /** Only the product with this external id. */
  externalId?: string | undefined;
  /** Only the product with this slug. */
  slug?: string | undefined;
  /** Only products with this status. Default: all but archived products; and all, if `ids`, `sku`, `barcode`, `externalId` or `slug` names the products. */
  status?: 'active' | 'draft' | 'archived' | 'any' | undefined;
  /** Only the variants with this `groupId`. */
  group?: string | undefined;
  /** Only products whose name, SKU or barcode has words that begin with these words, the best matches first. Case, accents and punctuation make no difference. */
  q?: string | undefined;
  /** What the list is sorted by. Default: `created`, or the best match with `q`. */
  sort?: 'created' | 'updated' | 'name' | 'price' | 'stock' | undefined;
  /** The order. Default: `desc` for `created` and `updated`, otherwise `asc`. */
  order?: 'asc' | 'desc' | undefined;
};

export type ListProductsResult = {
  data: ProductSummary[];
  pagination: ProductPagination;
  /** The place of the page in the feed of changes. */
  meta: {
    /** The `after` with which `GET /api/v1/changes` continues from this page. Use that of the first page. */
    sequence: number;
  };
} & { etag: string | null; isReplay: boolean };

export type CreateProductParameters = ProductCreate;

export type CreateProductResult = {
  data: Product;
} & { etag: string | null; isReplay: boolean };

export type StoreProductsParameters = {
  /** Whether nothing is stored if a row is rejected. */
  atomic?: boolean | undefined;
} & ProductBatch;

export type StoreProductsResult = {
  data: ProductBatchResult[];
} & { etag: string | null; isReplay: boolean };

export type GetProductParameters = {
  /** Product id. */
  productId: string;
};

export type GetProductResult = {
  data: Product;
} & { etag: string | null; isReplay: boolean };

export type UpdateProductParameters = {
  /** Product id. */
  productId: string;
} & ProductUpdate;

export type UpdateProductResult = {
  data: Product;
} & { etag: string | null; isReplay: boolean };

export type DeleteProductParameters = {
  /** Product id. */
  productId: string;
};

export type DeleteProductResult = {
  data: {
    id: string;
    deleted: true;
  };
} & { etag: string | null; isReplay: boolean };

export type ListInventoryParameters = {
  /** Only this product. */
  product_id?: string | undefined;
  /** Only products with at most `threshold` in stock. */
  low_stock?: boolean | undefined;
  /** The level at or below which stock counts as low in this response. */
  threshold?: number | undefined;
};

export type ListInventoryResult = {
  data: InventoryItem[];
  /** Number of items in `data`. */
  count: number;
} & { etag: string | null; isReplay: boolean };

export type ChangeInventoryParameters = StockRequest;

export type ChangeInventoryResult = {
  data: StockResult;
} & { etag: string | null; isReplay: boolean };

export type ChangeInventoryBatchParameters = {
  /** Whether nothing changes if a change is rejected. */
  atomic?: boolean | undefined;
} & StockBatch;

export type ChangeInventoryBatchResult = {
  data: StockBatchResult[];
} & { etag: string | null; isReplay: boolean };

export type ListAdjustmentsParameters = {
  /** Only this product. */
  product_id?: string | undefined;
  /** Entries per page. */
  limit?: number | undefined;
  /** A `nextCursor`, passed back unchanged. */
  cursor?: string | undefined;
};

export type ListAdjustmentsResult = {
  data: Adjustment[];
  pagination: StorePagination;
} & { etag: string | null; isReplay: boolean };

export type ListReservationsParameters = {
  /** Reservations per page. */
  limit?: number | undefined;
  /** A `nextCursor`, passed back unchanged. */
  cursor?: string | undefined;
  /** Only reservations with this status. */
  status?: 'held' | 'consumed' | 'released' | 'expired' | undefined;
  /** Only reservations with this reference. */
  reference?: string | undefined;
  /** Only reservations of this product. */
  product_id?: string | undefined;
};

export type ListReservationsResult = {
  data: Reservation[];
  pagination: StorePagination;
} & { etag: string | null; isReplay: boolean };

export type CreateReservationParameters = ReservationCreate;

export type CreateReservationResult = {
  data: Reservation;
} & { etag: string | null; isReplay: boolean };

export type GetReservationParameters = {
  /** Reservation id. */
  reservationId: string;
};

export type GetReservationResult = {
  data: Reservation;
} & { etag: string | null; isReplay: boolean };

export type ExtendReservationParameters = {
  /** Reservation id. */
  reservationId: string;
} & ReservationExtension;

export type ExtendReservationResult = {
  data: Reservation;
} & { etag: string | null; isReplay: boolean };

export type ConsumeReservationParameters = {
  /** Reservation id. */
  reservationId: string;
} & ReservationConsumption;

export type ConsumeReservationResult = {
  data: Reservation;
} & { etag: string | null; isReplay: boolean };

export type ReleaseReservationParameters = {
  /** Reservation id. */
  reservationId: string;
};

export type ReleaseReservationResult = {
  data: Reservation;
} & { etag: string | null; isReplay: boolean };

export type ListChangesParameters = {
  /** Only changes after this sequence number. 0: from the first change on. */
  after: number;
  /** The most changes in the response. */
  limit?: number | undefined;
  /** For how many seconds the response waits if there is no change. */
  wait?: number | undefined;
};

export type ListChangesResult = {
  data: Change[];
  /** The place of the page in the feed. */
  meta: {
    /** The `after` of the next request. */
    sequence: number;
    /** Whether more changes may follow at once. */
    hasMore: boolean;
  };
} & { etag: string | null; isReplay: boolean };

export type ListWebhooksResult = {
  data: Webhook[];
  /** Number of webhooks in `data`. */
  count: number;
} & { etag: string | null; isReplay: boolean };

export type CreateWebhookParameters = WebhookCreate;

export type CreateWebhookResult = {
  data: WebhookWithSecret;
} & { etag: string | null; isReplay: boolean };

export type GetWebhookParameters = {
  /** Webhook id. */
  webhookId: string;
};

export type GetWebhookResult = {
  data: Webhook;
} & { etag: string | null; isReplay: boolean };

export type UpdateWebhookParameters = {
  /** Webhook id. */
  webhookId: string;
} & WebhookUpdate;

export type UpdateWebhookResult = {
  data: Webhook;
} & { etag: string | null; isReplay: boolean };

export type DeleteWebhookParameters = {
  /** Webhook id. */
  webhookId: string;
};

export type DeleteWebhookResult = {
  data: {
    id: string;
    deleted: true;
  };
} & { etag: string | null; isReplay: boolean };

export type RotateWebhookSecretParameters = {
  /** Webhook id. */
  webhookId: string;
};

export type RotateWebhookSecretResult = {
  data: WebhookWithSecret;
} & { etag: string | null; isReplay: boolean };

export type TestWebhookParameters = {
  /** Webhook id. */
  webhookId: string;
};

export type TestWebhookResult = {
  data: Delivery;
} & { etag: string | null; isReplay: boolean };

export type RecoverWebhookParameters = {
  /** Webhook id. */
  webhookId: string;
} & WebhookRecovery;

export type RecoverWebhookResult = {
  data: WebhookRecovered;
} & { etag: string | null; isReplay: boolean };

export type ListDeliveriesParameters = {
  /** Deliveries per page. */
  limit?: number | undefined;
  /** A `nextCursor`, passed back unchanged. */
  cursor?: string | undefined;
  /** Only deliveries in this state. */
  state?: 'pending' | 'delivered' | 'dead' | undefined;
  /** Webhook id. */
  webhookId: string;
};

export type ListDeliveriesResult = {
  data: Delivery[];
  pagination: StorePagination;
} & { etag: string | null; isReplay: boolean };

export type GetDeliveryParameters = {
  /** Webhook id. */
  webhookId: string;
  /** Delivery id. */
  deliveryId: string;
};

export type GetDeliveryResult = {
  data: DeliveryWithBody;
} & { etag: string | null; isReplay: boolean };

export type RedeliverParameters = {
  /** Webhook id. */
  webhookId: string;
  /** Delivery id. */
  deliveryId: string;
};

export type RedeliverResult = {
  data: Delivery;
} & { etag: string | null; isReplay: boolean };

/** The body of a webhook delivery. */
export type WebhookEvent = ProductCreatedEvent | ProductUpdatedEvent | ProductDeletedEvent | InventoryLowEvent | InventoryChangedEvent | InventoryOutEvent | InventoryRestockedEvent | ReservationCreatedEvent | ReservationConsumedEvent | ReservationReleasedEvent | ReservationExpiredEvent | WebhookTestEvent;

export type StoreMethods = {
  /** List products. Newest first, without archived products, unless the parameters say otherwise. `collection` and `type` are applied to the products of each page, so a page may be short or empty while `hasMore` is true. All other filters are exact, and apply before the page is cut. Scope `products:read`. */
  listProducts(parameters?: ListProductsParameters, options?: CallOptions): Pages<ListProductsResult>;
  /** Create a product. Sends `product.created`. Scope `products:write`. */
  createProduct(parameters: CreateProductParameters, options?: WriteOptions): Promise<CreateProductResult>;
  /** Create and update many products. Stores each row, in the given order, as a create or an update would. The response has one result for each row, in the same order. A row that is rejected has no effect on the others, except with `atomic=true`: then nothing is stored, and the response is a 400 of which `details` names the rejected rows. Scope `products:write`. */
  storeProducts(parameters: StoreProductsParameters, options?: WriteOptions): Promise<StoreProductsResult>;
  /** Read a product. The response has the `ETag` of the product. Scope `products:read`. */
  getProduct(parameters: GetProductParameters, options?: CallOptions): Promise<GetProductResult>;
  /** Update a product. Omitted fields keep their value. Sends `product.updated`, unless nothing changes. With `If-Match` the product is updated only if the header names its current `ETag`. Scope `products:write`. */
  updateProduct(parameters: UpdateProductParameters, options?: WriteOptions): Promise<UpdateProductResult>;
  /** Delete a product. Sends `product.deleted`. Entries in the adjustment log stay. Scope `products:write`. */
  deleteProduct(parameters: DeleteProductParameters, options?: WriteOptions): Promise<DeleteProductResult>;
  /** Read stock levels. Returns all tracked products that match the parameters, without paging. Archived products are left out, unless `product_id` names one. Scope `inventory:read`. */
  listInventory(parameters?: ListInventoryParameters, options?: CallOptions): Promise<ListInventoryResult>;
  /** Change stock. Atomic: concurrent adjustments are all applied. Stock never goes below zero. A change of tracked stock from above 10 to 10 or below sends `inventory.low`. Scope `inventory:write`. */
  changeInventory(parameters?: ChangeInventoryParameters, options?: WriteOptions): Promise<ChangeInventoryResult>;
  /** Change many stocks. Makes each change, in the given order, as a single request would. The response has one result for each change, in the same order. A rejected change has no effect on the others, except with `atomic=true`: then nothing changes, and the response is the error of the first rejected change, whose `details` name all of them. The changes of a product that another client of the database keeps locked are rejected as `unavailable`. Scope `inventory:write`. */
  changeInventoryBatch(parameters: ChangeInventoryBatchParameters, options?: WriteOptions): Promise<ChangeInventoryBatchResult>;
  /** Read the adjustment log. Newest first. Entries stay when their product is deleted. `previous` of an entry equals `next` of the entry for the preceding change of the same product. Scope `inventory:read`. */
  listAdjustments(parameters?: ListAdjustmentsParameters, options?: CallOptions): Pages<ListAdjustmentsResult>;
  /** List reservations. Newest first. Scope `inventory:read`. */
  listReservations(parameters?: ListReservationsParameters, options?: CallOptions): Pages<ListReservationsResult>;
  /** Reserve stock. Holds all items or none. `inventory` of each product falls by what is held. Sends `reservation.created`. Scope `inventory:write`. */
  createReservation(parameters: CreateReservationParameters, options?: WriteOptions): Promise<CreateReservationResult>;
  /** Read a reservation. Scope `inventory:read`. */
  getReservation(parameters: GetReservationParameters, options?: CallOptions): Promise<GetReservationResult>;
  /** Hold a reservation for longer. The time is counted from now, and is never made shorter. Scope `inventory:write`. */
  extendReservation(parameters: ExtendReservationParameters, options?: WriteOptions): Promise<ExtendReservationResult>;
  /** Sell what is reserved. What is consumed leaves the reservation and does not return to the stock. Sends `reservation.consumed`. Scope `inventory:write`. */
  consumeReservation(parameters: ConsumeReservationParameters, options?: WriteOptions): Promise<ConsumeReservationResult>;
  /** Return what is reserved to the stock. Returns all that is held. Sends `reservation.released`. Scope `inventory:write`. */
  releaseReservation(parameters: ReleaseReservationParameters, options?: WriteOptions): Promise<ReleaseReservationResult>;
  /** Read what has changed. Every change of the shop, in one order: a reader that has received a sequence number never receives a smaller one later. Pass `meta.sequence` as `after` of the next request. Changes are kept for 30 days. A key with the scope `products:read` gets the changes of products, and one with `inventory:read` those of stock and reservations. */
  listChanges(parameters: ListChangesParameters, options?: CallOptions): Promise<ListChangesResult>;
  /** List webhooks. All webhooks of the shop, oldest first. A shop has at most 20. Scope `webhooks:read`. */
  listWebhooks(parameters?: Record<string, never>, options?: CallOptions): Promise<ListWebhooksResult>;
  /** Create a webhook. The response contains the secret that verifies deliveries. The secret is not shown again. Scope `webhooks:write`. */
  createWebhook(parameters: CreateWebhookParameters, options?: WriteOptions): Promise<CreateWebhookResult>;
  /** Read a webhook. The response has the `ETag` of the webhook, and does not contain the secret. Scope `webhooks:read`. */
  getWebhook(parameters: GetWebhookParameters, options?: CallOptions): Promise<GetWebhookResult>;
  /** Update a webhook. Omitted fields keep their value. While the webhook is disabled, its pending deliveries wait until it is enabled, and new events create no deliveries. `recover` creates deliveries for these events later. Scope `webhooks:write`. */
  updateWebhook(parameters: UpdateWebhookParameters, options?: WriteOptions): Promise<UpdateWebhookResult>;
  /** Delete a webhook. The deliveries of the webhook are deleted too: pending deliveries are not sent. Scope `webhooks:write`. */
  deleteWebhook(parameters: DeleteWebhookParameters, options?: WriteOptions): Promise<DeleteWebhookResult>;
  /** Rotate the secret. The response contains the new secret, which is not shown again. For 24 hours deliveries are signed with both the new and the replaced secret. After several rotations each replaced secret has its own 24 hours; a delivery has at most ten signatures. Scope `webhooks:write`. */
  rotateWebhookSecret(parameters: RotateWebhookSecretParameters, options?: WriteOptions): Promise<RotateWebhookSecretResult>;
  /** Send a test event. Sends an event of type `webhook.test` to this webhook only. Scope `webhooks:write`. */
  testWebhook(parameters: TestWebhookParameters, options?: WriteOptions): Promise<TestWebhookResult>;
  /** Recover events since a time. For events since the given time: makes failed deliveries due now, and creates deliveries for events without a delivery, for example because the webhook was disabled. The webhook must be enabled. Call again while `hasMore` is true. Events are kept for 30 days. Scope `webhooks:write`. */
  recoverWebhook(parameters: RecoverWebhookParameters, options?: WriteOptions): Promise<RecoverWebhookResult>;
  /** Read the delivery log. Lists the deliveries of a webhook, the newest first. Scope `webhooks:read`. */
  listDeliveries(parameters: ListDeliveriesParameters, options?: CallOptions): Pages<ListDeliveriesResult>;
  /** Read a delivery. Returns a delivery with the body of its request. Of a response, only the status is stored. Scope `webhooks:read`. */
  getDelivery(parameters: GetDeliveryParameters, options?: CallOptions): Promise<GetDeliveryResult>;
  /** Send a delivery again. Makes the delivery due now, whatever its state. It is sent with the same header `webhook-id` as before, and its retry schedule begins again. The webhook must be enabled. Scope `webhooks:write`. */
  redeliver(parameters: RedeliverParameters, options?: WriteOptions): Promise<RedeliverResult>;
};

export const STORE_OPERATIONS = {
  listProducts: { method: 'GET', path: '/api/v1/products', kind: 'list', query: ['limit', 'cursor', 'collection', 'type', 'ids', 'sku', 'barcode', 'externalId', 'slug', 'status', 'group', 'q', 'sort', 'order'] },
  createProduct: { method: 'POST', path: '/api/v1/products', kind: 'keyed', hasBody: true },
  storeProducts: { method: 'POST', path: '/api/v1/products/batch', kind: 'keyed', query: ['atomic'], hasBody: true },
  getProduct: { method: 'GET', path: '/api/v1/products/{productId}', kind: 'read' },
  updateProduct: { method: 'PUT', path: '/api/v1/products/{productId}', kind: 'keyed', hasBody: true },
  deleteProduct: { method: 'DELETE', path: '/api/v1/products/{productId}', kind: 'write' },
  listInventory: { method: 'GET', path: '/api/v1/inventory', kind: 'read', query: ['product_id', 'low_stock', 'threshold'] },
  changeInventory: { method: 'POST', path: '/api/v1/inventory', kind: 'keyed', hasBody: true },
  changeInventoryBatch: { method: 'POST', path: '/api/v1/inventory/batch', kind: 'keyed', query: ['atomic'], hasBody: true },
  listAdjustments: { method: 'GET', path: '/api/v1/inventory/adjustments', kind: 'list', query: ['product_id', 'limit', 'cursor'] },
  listReservations: { method: 'GET', path: '/api/v1/reservations', kind: 'list', query: ['limit', 'cursor', 'status', 'reference', 'product_id'] },
  createReservation: { method: 'POST', path: '/api/v1/reservations', kind: 'keyed', hasBody: true },
  getReservation: { method: 'GET', path: '/api/v1/reservations/{reservationId}', kind: 'read' },
  extendReservation: { method: 'POST', path: '/api/v1/reservations/{reservationId}/extend', kind: 'keyed', hasBody: true },
  consumeReservation: { method: 'POST', path: '/api/v1/reservations/{reservationId}/consume', kind: 'keyed', hasBody: true },
  releaseReservation: { method: 'POST', path: '/api/v1/reservations/{reservationId}/release', kind: 'keyed' },
  listChanges: { method: 'GET', path: '/api/v1/changes', kind: 'read', query: ['after', 'limit', 'wait'] },
  listWebhooks: { method: 'GET', path: '/api/v1/webhooks', kind: 'read' },
  createWebhook: { method: 'POST', path: '/api/v1/webhooks', kind: 'keyed', hasBody: true },
  getWebhook: { method: 'GET', path: '/api/v1/webhooks/{webhookId}', kind: 'read' },
  updateWebhook: { method: 'PUT', path: '/api/v1/webhooks/{webhookId}', kind: 'keyed', hasBody: true },
  deleteWebhook: { method: 'DELETE', path: '/api/v1/webhooks/{webhookId}', kind: 'write' },
  rotateWebhookSecret: { method: 'POST', path: '/api/v1/webhooks/{webhookId}/rotate-secret', kind: 'keyed' },
  testWebhook: { method: 'POST', path: '/api/v1/webhooks/{webhookId}/test', kind: 'keyed' },
  recoverWebhook: { method: 'POST', path: '/api/v1/webhooks/{webhookId}/recover', kind: 'keyed', hasBody: true },
  listDeliveries: { method: 'GET', path: '/api/v1/webhooks/{webhookId}/deliveries', kind: 'list', query: ['limit', 'cursor', 'state'] },
  getDelivery: { method: 'GET', path: '/api/v1/webhooks/{webhookId}/deliveries/{deliveryId}', kind: 'read' },
  redeliver: { method: 'POST', path: '/api/v1/webhooks/{webhookId}/deliveries/{deliveryId}/redeliver', kind: 'keyed' },
} as const satisfies Operations;
