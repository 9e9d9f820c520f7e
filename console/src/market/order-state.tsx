// What a buyer of an order pays in parts, and the state of an order with its reasons.

import type { Order } from '../../../client/src/market.ts';
import { formatCount } from '../format/amount.ts';
import { WarningIcon } from '../parts/icons.tsx';
import { Price } from '../parts/price.tsx';
import { Row } from '../parts/row.tsx';
import { Time } from '../parts/time.tsx';
import { texts } from './texts.ts';
import { Transaction } from './transaction.tsx';

/** The parts of the buyer total. If the price of the order already includes the fees, they are shown as one amount. */
export function PriceSplit({
  price: { ask, platformFee, royalty, fees },
}: {
  price: NonNullable<Order['buyerPrice']>;
}) {
  const isDivided = platformFee !== null && royalty !== null;
  return (
    <dl class="rows price-split">
      <Row name={texts.token.ask}>
        <Price price={ask} />
      </Row>
      {isDivided && (
        <>
          <Row name={texts.token.platformFee}>
            <Price price={platformFee} />
          </Row>
          <Row name={texts.token.royalty}>
            <Price price={royalty} />
          </Row>
        </>
      )}
      {!isDivided && (
        <Row name={texts.token.includedFees}>
          {fees.raw === 0n ? <span class="muted">{texts.token.noFees}</span> : <Price price={fees} />}
        </Row>
      )}
    </dl>
  );
}

/** The state of an order, the reason for this state, and what has happened to the order. */
export function OrderState({ order: { side, status, dormant, evidence, listing } }: { order: Order }) {
  const { chain } = listing;
  return (
    <>
      {dormant && (
        <div class="note note-warn">
          <WarningIcon />
          <div>
            <strong>{texts.token.dormantTitle}</strong>
            {dormant.reasons.map((reason) => (
              <p key={reason}>{texts.orders.dormantWhy[side][reason]}</p>
            ))}
          </div>
        </div>
      )}
      <p class="order-state">
        <span class={status === 'active' && !dormant ? 'badge badge-good' : 'badge'}>
          {texts.token.statuses[status]}
        </span>{' '}
        <span class="muted">
          {status === 'active' ? (dormant ? null : texts.token.whyActive) : texts.token.whyEnded[status]}
        </span>
      </p>
      {evidence.length > 0 && (
        <ol class="evidence" aria-label={texts.token.evidence}>
          {evidence.map(({ kind, at, block, tx }) => (
            <li key={`${kind} ${at} ${tx}`}>
              <span>{texts.token.evidenceKinds[kind] ?? kind}</span>{' '}
              <span class="muted">
                <Time at={at} />
                {block !== null && ` · ${texts.token.block(formatCount(block))}`}
                {tx !== null && (
                  <>
                    {' · '}
                    <Transaction chain={chain} tx={tx} />
                  </>
                )}
              </span>
            </li>
          ))}
        </ol>
      )}
    </>
  );
}
