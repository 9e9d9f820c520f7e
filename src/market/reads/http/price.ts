// Defines the schema of prices in responses, and converts amounts to prices.

import type { Static } from 'typebox';
import Type from 'typebox';
import type { Chain, Currency } from '../../../platform/core/chains.ts';
import type { Price, Rates } from '../../../platform/core/price.ts';
import { toDetailedPrice, toPrice, toPriceOfCurrency } from '../../../platform/core/price.ts';
import { closed, typeOrNull } from '../../../platform/http/schema-builders.ts';
import type { Market } from '../market.ts';
import { toExamplePrice } from './example-collection.ts';

export const PriceSchema = Type.Object(
  {
    raw: Type.String({
      pattern: '^(0|[1-9][0-9]{0,77})$',
      description: 'Integer base units (wei or lamports) as a decimal string. Use this field for arithmetic.',
    }),
    decimal: Type.Number({ description: 'Native units as a number; loses precision on large amounts.' }),
    currency: Type.String({ description: 'Native currency symbol of the chain.' }),
    usd: typeOrNull<number>('number', 'Best-effort US dollars; null when no recent rate is known.'),
  },
  {
    $id: 'Price',
    title: 'Price',
    description: 'An amount. All four fields are always present.',
    examples: [toExamplePrice(420n)],
    ...closed,
  },
);
export type WirePrice = Static<typeof PriceSchema>;

/**
 * The rates and the time for the prices of one response. `ownCode` is the value of `marketplace` for listings and sales of the
 * service itself. An address in `custodyWallets` is not published as a seller or buyer. `hasDecimals`: prices have the field `decimals`.
 */
export type PriceContext = {
  rates: Rates;
  now: number;
  ownCode: string;
  custodyWallets: ReadonlyMap<string, string>;
  hasDecimals: boolean;
};

export async function readPriceContext(market: Market, { hasDecimals = false } = {}): Promise<PriceContext> {
  const rates = await market.rates.read();
  return toPriceContext(market, { rates, now: market.clock(), hasDecimals });
}

export function toPriceContext(
  { serviceName, custodyWallets }: Pick<Market, 'serviceName' | 'custodyWallets'>,
  options: Pick<PriceContext, 'rates' | 'now' | 'hasDecimals'>,
): PriceContext {
  return { ...options, ownCode: serviceName.toUpperCase(), custodyWallets };
}

export function toPriceIn({ rates, now, hasDecimals }: PriceContext, raw: bigint, chain: Chain): Price {
  return hasDecimals ? toDetailedPrice(raw, chain, rates, now) : toPrice(raw, chain, rates, now);
}

/** An amount of a bid. `currency`: null for the wrapped native currency. */
export function toBidPrice(
  context: PriceContext,
  raw: bigint,
  { chain, currency }: { chain: Chain; currency: Currency | null },
): Price {
  if (currency === null) return toPriceIn(context, raw, chain);
  return toPriceOfCurrency(raw, currency, context);
}

/** Null when the amount or the chain is unknown. */
export function toPriceOrNull(raw: bigint | null, chain: Chain | null, context: PriceContext): Price | null {
  return raw === null || !chain ? null : toPriceIn(context, raw, chain);
}
