// Displays a price: first the native amount, and beside or below it the amount in dollars, in a muted colour. The tooltip shows the exact
// native amount, and a user who copies the price gets the exact native amount.

import type { Amount } from '../format/amount.ts';
import { exactAmount, formatAmount, formatUsd } from '../format/amount.ts';
import { texts } from '../texts.ts';
import { Flash } from './flash.tsx';
import { Unknown } from './unknown.tsx';
import './price.css';

type PriceProps = {
  price: Amount | null;
  /** The reason that is displayed if the price is unknown. */
  reason?: string;
  /** Whether dollars stand below the native amount. */
  isStacked?: boolean;
  /** Whether dollars are left out. */
  isNativeOnly?: boolean;
};

export function Price({ price, reason = texts.unknown.price, isStacked = false, isNativeOnly = false }: PriceProps) {
  if (!price) return <Unknown reason={reason} />;
  const exact = exactAmount(price);
  return (
    <span class={isStacked ? 'price price-stacked' : 'price'}>
      <Flash value={price.raw}>
        <data value={exact} class="price-native" data-tip={exact} data-exact={exact}>
          {formatAmount(price.decimal)} <span class="price-currency">{price.currency}</span>
        </data>
      </Flash>
      {!isNativeOnly && price.usd !== null && <span class="price-usd">{formatUsd(price.usd)}</span>}
    </span>
  );
}

/** Displays an amount whose exact base units are not known, such as a volume. `value` is in native units. */
export function Volume({ value, currency, reason }: { value: number | null; currency: string; reason: string }) {
  if (value === null) return <Unknown reason={reason} />;
  const exact = `${value} ${currency}`.trim();
  return (
    <Flash value={value}>
      <data value={exact} class="price-native" data-tip={exact} data-exact={exact}>
        {formatAmount(value)} <span class="price-currency">{currency}</span>
      </data>
    </Flash>
  );
}

/** From now on, when a user copies a selection within one amount, the exact amount is copied. */
export function copyExactAmounts(): void {
  document.addEventListener('copy', (event) => {
    const selection = getSelection();
    const start = selection?.anchorNode?.parentElement?.closest('[data-exact]');
    const end = selection?.focusNode?.parentElement?.closest('[data-exact]');
    const exact = start && start === end ? start.getAttribute('data-exact') : null;
    if (exact === null) return;
    event.clipboardData?.setData('text/plain', exact);
    event.preventDefault();
  });
}
