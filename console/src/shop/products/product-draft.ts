// The values in the form of a product while a user edits them, and the requests that are made from these values.

import type { Product, ProductCreate, ProductUpdate } from '../../../../client/src/store.ts';

/**
 * The values as they stand in the fields of the form. `collections` has its entries separated by commas, and `moreImages` has one entry on
 * each line.
 */
export type ProductDraft = {
  name: string;
  price: string;
  compareAtPrice: string;
  sku: string;
  barcode: string;
  status: Product['status'];
  type: Product['type'];
  description: string;
  image: string;
  moreImages: string;
  collections: string;
  slug: string;
  weightGrams: string;
  inventory: string;
  trackInventory: boolean;
  requiresShipping: boolean;
};

export type DraftField = keyof ProductDraft;

export const EMPTY_DRAFT: ProductDraft = {
  name: '',
  price: '',
  compareAtPrice: '',
  sku: '',
  barcode: '',
  status: 'active',
  type: 'physical',
  description: '',
  image: '',
  moreImages: '',
  collections: '',
  slug: '',
  weightGrams: '0',
  inventory: '0',
  trackInventory: true,
  requiresShipping: true,
};

const FIELDS = Object.keys(EMPTY_DRAFT) as DraftField[];

export function toDraft(product: Product): ProductDraft {
  return {
    name: product.name,
    price: product.price,
    compareAtPrice: product.compareAtPrice ?? '',
    sku: product.sku ?? '',
    barcode: product.barcode ?? '',
    status: product.status,
    type: product.type,
    description: product.description ?? '',
    image: product.image ?? '',
    moreImages: product.moreImages.join('\n'),
    collections: product.collections.join(', '),
    slug: product.slug,
    weightGrams: String(product.weightGrams),
    inventory: String(product.inventory),
    trackInventory: product.trackInventory,
    requiresShipping: product.requiresShipping,
  };
}

/** The fields in which the drafts differ. */
export function changedFields(before: ProductDraft, after: ProductDraft): DraftField[] {
  return FIELDS.filter((field) => before[field] !== after[field]);
}

export function toCreate(draft: ProductDraft): ProductCreate {
  const { slug, ...fields } = toFields(draft);
  return { ...fields, ...(draft.slug.trim() !== '' && { slug }), inventory: toNumber(draft.inventory) };
}

/** The update contains only the changed fields, and never the stock: users change the stock on the stock page, with a reason. */
export function toUpdate(draft: ProductDraft, changed: readonly DraftField[]): ProductUpdate {
  const isChanged = new Set<string>(changed);
  return Object.fromEntries(Object.entries(toFields(draft)).filter(([field]) => isChanged.has(field)));
}

function toFields(draft: ProductDraft) {
  return {
    name: draft.name.trim(),
    price: draft.price.trim(),
    compareAtPrice: trimmedOrNull(draft.compareAtPrice),
    sku: trimmedOrNull(draft.sku),
    barcode: trimmedOrNull(draft.barcode),
    status: draft.status,
    type: draft.type,
    description: draft.description.trim() === '' ? null : draft.description,
    image: trimmedOrNull(draft.image),
    moreImages: split(draft.moreImages, '\n'),
    collections: split(draft.collections, ','),
    slug: draft.slug.trim(),
    weightGrams: toNumber(draft.weightGrams),
    trackInventory: draft.trackInventory,
    requiresShipping: draft.requiresShipping,
  };
}

/** Text that is not a number is sent as it is, so that the service reports it together with all other errors. An empty field stands for 0. */
function toNumber(text: string): number {
  const trimmed = text.trim();
  return Number.isFinite(Number(trimmed)) ? Number(trimmed) : (trimmed as unknown as number);
}

function trimmedOrNull(text: string): string | null {
  return text.trim() === '' ? null : text.trim();
}

function split(text: string, separator: string): string[] {
  return text
    .split(separator)
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

/** A field that this user (`mine`) and another user (`theirs`) have changed to different values. */
export type FieldConflict = { field: DraftField; mine: string | boolean; theirs: string | boolean };

/**
 * Applies the changes of this user to a newer version of the product. Where another user has changed the same field to a different value,
 * the draft keeps the value of this user, and the field is a conflict.
 */
export function mergeDrafts(
  base: ProductDraft,
  mine: ProductDraft,
  theirs: ProductDraft,
): { draft: ProductDraft; conflicts: FieldConflict[] } {
  const changed = changedFields(base, mine);
  const draft = { ...theirs, ...Object.fromEntries(changed.map((field) => [field, mine[field]])) };
  const conflicts = changed
    .filter((field) => theirs[field] !== base[field] && theirs[field] !== mine[field])
    .map((field) => ({ field, mine: mine[field], theirs: theirs[field] }));
  return { draft, conflicts };
}
