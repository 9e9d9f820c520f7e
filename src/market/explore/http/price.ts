// The schema of prices in responses of the explore interface: those of `/v1`, and the decimals of the currency.

import Type from 'typebox';
import type { TSchema } from 'typebox';
import { closed } from '../../../platform/http/schema-builders.ts';
import { toExamplePrice } from '../../reads/http/example-collection.ts';
import type { PriceContext } from '../../reads/http/price.ts';
import { PriceSchema, readPriceContext } from '../../reads/http/price.ts';
import type { Market } from '../../reads/market.ts';

const EXAMPLE_DECIMALS = 18;

export const DetailedPriceSchema = Type.Object(
  {
    ...PriceSchema.properties,
    currency: Type.String({
      description:
        'Native currency symbol of the chain. For a bid in another currency than the wrapped native one: the symbol of this currency. Amounts in different currencies cannot be compared.',
    }),
    decimals: Type.Integer({
      minimum: 0,
      description: 'One unit of the currency is 10^decimals base units: 18 for ether, 9 for SOL.',
    }),
  },
  {
    $id: 'Price',
    title: 'Price',
    description: 'An amount. All five fields are always present.',
    examples: [toExamplePrice(420n)],
    ...closed,
  },
);

export function readExplorePrices(market: Market): Promise<PriceContext> {
  return readPriceContext(market, { hasDecimals: true });
}

/** Adds `decimals` to the prices in the examples of a schema. The schemas of `/v1` have examples without this field. */
export function withDecimalsInExamples(schema: TSchema & { examples?: unknown }): TSchema {
  return schema.examples === undefined ? schema : { ...schema, examples: addExampleDecimals(schema.examples) };
}

export function addExampleDecimals<T>(example: T): T {
  if (Array.isArray(example)) return example.map(addExampleDecimals) as T;
  if (typeof example !== 'object' || example === null) return example;
  const fields = Object.entries(example).map(([name, value]) => [name, addExampleDecimals(value)] as const);
  const isPrice = 'raw' in example && 'decimal' in example;
  return { ...Object.fromEntries(fields), ...(isPrice && { decimals: EXAMPLE_DECIMALS }) } as T;
}
