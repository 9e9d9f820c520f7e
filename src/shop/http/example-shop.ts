// The shop of all examples in the OpenAPI document: one product, one webhook, and what happens to them.

export const EXAMPLE_IDS = {
  product: 'prod_019e1c7f862000008c1f0a77d2b94e36',
  adjustment: 'adj_1742e7a0c98b4f05a3d61e0f7b25c894',
  key: 'key_019e1c7cc70000005d3a9e60b81c47f2',
  webhook: 'whk_019e4466100000009b06d13e7f52a8c4',
  reservation: 'rsv_019e8250bd8000002f7c4a1be09d6538',
  delivery: 'dlv_3f8a51c09d7e46b28e1f7204c6ab95d3',
};

export function toExampleEventId(at: string): string {
  return `evt_${Date.parse(at).toString(16).padStart(12, '0')}0000c4719b2ef86d03a5`;
}

export const EXAMPLE_SECRET = 'whsec_bWVyY2F0IGV4YW1wbGUgd2ViaG9vayBzZWNyZXQ=';

/** The example of a change of stock. The change causes the event `inventory.low`. */
export const EXAMPLE_STOCK = { previous: 12, adjustment: -3, inventory: 9 };

export const EXAMPLE_CHANGE_TIME = '2026-06-01T08:30:00.000Z';

/** The entry of the log for the change of EXAMPLE_STOCK. */
export const ADJUSTMENT_EXAMPLE = {
  id: EXAMPLE_IDS.adjustment,
  productId: EXAMPLE_IDS.product,
  previous: EXAMPLE_STOCK.previous,
  next: EXAMPLE_STOCK.inventory,
  adjustment: EXAMPLE_STOCK.adjustment,
  requested: EXAMPLE_STOCK.adjustment,
  reason: 'Sold at the stall',
  source: 'inventory',
  keyId: EXAMPLE_IDS.key,
  createdAt: EXAMPLE_CHANGE_TIME,
  reservationId: null,
};

export const PRODUCT_CREATE_EXAMPLE = {
  name: 'Harbour Lights enamel mug',
  price: '19.90',
  description: 'Enamel mug with a lighthouse of the collection. 350 ml.',
  image: 'https://shop.example/images/mug.jpg',
  inventory: EXAMPLE_STOCK.previous,
  weightGrams: 310,
  collections: ['harbour-lights'],
  sku: 'HL-MUG-350-BLUE',
  barcode: '4006381333931',
  externalId: 'erp-20417',
  groupId: 'harbour-lights-mug',
  options: [{ name: 'Colour', value: 'Blue' }],
  metadata: { shelf: 'B-12' },
};

const PRODUCT_TIME = '2026-05-12T14:03:00.000Z';

export const PRODUCT_SUMMARY_EXAMPLE = {
  id: EXAMPLE_IDS.product,
  name: PRODUCT_CREATE_EXAMPLE.name,
  slug: 'harbour-lights-enamel-mug',
  price: PRODUCT_CREATE_EXAMPLE.price,
  type: 'physical',
  inventory: EXAMPLE_STOCK.previous,
  trackInventory: true,
  requiresShipping: true,
  weightGrams: PRODUCT_CREATE_EXAMPLE.weightGrams,
  collections: PRODUCT_CREATE_EXAMPLE.collections,
  image: PRODUCT_CREATE_EXAMPLE.image,
  createdAt: PRODUCT_TIME,
  updatedAt: PRODUCT_TIME,
  sku: PRODUCT_CREATE_EXAMPLE.sku,
  barcode: PRODUCT_CREATE_EXAMPLE.barcode,
  externalId: PRODUCT_CREATE_EXAMPLE.externalId,
  status: 'active',
  compareAtPrice: null,
  groupId: PRODUCT_CREATE_EXAMPLE.groupId,
  options: PRODUCT_CREATE_EXAMPLE.options,
  metadata: PRODUCT_CREATE_EXAMPLE.metadata,
};

export const PRODUCT_EXAMPLE = {
  ...PRODUCT_SUMMARY_EXAMPLE,
  description: PRODUCT_CREATE_EXAMPLE.description,
  moreImages: [],
};

export const PRODUCT_UPDATE_EXAMPLE = { price: '17.90' };
export const PRODUCT_UPSERT_EXAMPLE = { externalId: PRODUCT_CREATE_EXAMPLE.externalId, ...PRODUCT_UPDATE_EXAMPLE };
export const PRODUCT_UPDATE_TIME = '2026-05-28T10:15:00.000Z';

/** It causes the change of EXAMPLE_STOCK. */
export const RESERVATION_EXAMPLE = {
  id: EXAMPLE_IDS.reservation,
  status: 'held',
  reference: 'cart-4711',
  items: [{ productId: EXAMPLE_IDS.product, name: PRODUCT_CREATE_EXAMPLE.name, quantity: 3, held: 3, consumed: 0 }],
  createdAt: EXAMPLE_CHANGE_TIME,
  expiresAt: '2026-06-01T08:45:00.000Z',
  endedAt: null,
};
