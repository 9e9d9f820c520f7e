// Puts the variants of a product into one row of the list, which opens to a row for each variant.

import type { ProductSummary } from '../../../../client/src/store.ts';

/** A row of the list: one product, or all variants of a group that the list has. */
export type ProductRow = {
  key: string;
  /** The product, or the first variant of the group. */
  product: ProductSummary;
  /** The variants of a group, in the order of the list. Null for a row of one product. */
  variants: readonly ProductSummary[] | null;
  isOpen: boolean;
  /** Whether the row is one of the variants below the row of its group. */
  isVariant: boolean;
};

/** `open`: the ids of the groups whose variants have rows. Null leaves each product in a row of its own. */
export function toProductRows(products: readonly ProductSummary[], open: ReadonlySet<string> | null): ProductRow[] {
  const single = (product: ProductSummary, isVariant = false): ProductRow => ({
    key: product.id,
    product,
    variants: null,
    isOpen: false,
    isVariant,
  });
  if (open === null) return products.map((product) => single(product));
  const groups = new Map<string, ProductSummary[]>();
  for (const product of products) {
    if (product.groupId === null) continue;
    const group = groups.get(product.groupId);
    if (group) group.push(product);
    else groups.set(product.groupId, [product]);
  }
  return products.flatMap((product) => {
    const variants = product.groupId === null ? [] : (groups.get(product.groupId) ?? []);
    if (variants.length < 2) return [single(product)];
    // The group stands at the place of its first variant.
    if (variants[0] !== product) return [];
    const isOpen = open.has(product.groupId ?? '');
    const head: ProductRow = { key: `group ${product.groupId}`, product, variants, isOpen, isVariant: false };
    return [head, ...(isOpen ? variants.map((variant) => single(variant, true)) : [])];
  });
}

/** The products of which a row consists. */
export function productsOf({ product, variants }: ProductRow): readonly ProductSummary[] {
  return variants ?? [product];
}

/** What distinguishes a variant, such as `Red / M`. */
export function optionsText({ options }: Pick<ProductSummary, 'options'>): string {
  return options.map(({ value }) => value).join(' / ');
}

/** The part of the name that all variants have. A variant of an import is named after its product and its options. */
export function nameOfGroup(variants: readonly ProductSummary[]): string {
  const [first] = variants;
  if (!first) return '';
  const suffix = ` – ${optionsText(first)}`;
  if (first.options.length > 0 && first.name.endsWith(suffix)) return first.name.slice(0, -suffix.length);
  let common = first.name;
  for (const { name } of variants) while (!name.startsWith(common)) common = common.slice(0, -1);
  return common.replace(/[\s\-–—/,:(]+$/u, '') || first.name;
}

/** The lowest and the highest price, as texts: one text if all prices are equal. Prices are decimals of any length, which numbers only order. */
export function pricesOf(variants: readonly ProductSummary[]): string[] {
  const prices = [...new Set(variants.map(({ price }) => price))].sort((a, b) => Number(a) - Number(b));
  const [lowest = '', highest = lowest] = [prices[0], prices.at(-1)];
  return lowest === highest ? [lowest] : [lowest, highest];
}
