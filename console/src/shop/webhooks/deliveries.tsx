// The deliveries of a webhook as a timeline, newest first.

import { useInfiniteQuery } from '@tanstack/preact-query';
import type { Delivery } from '../../../../client/src/store.ts';
import { describeFailedChange } from '../../data/errors.ts';
import type { DeliveryState } from '../../data/shop-queries.ts';
import { deliveriesQuery, refreshShop } from '../../data/shop-queries.ts';
import { useSaving } from '../../data/use-saving.ts';
import { formatRemaining } from '../../format/time.ts';
import { MoreRows } from '../../parts/more-rows.tsx';
import { Segments } from '../../parts/segments.tsx';
import { EmptyState, ErrorPanel, PartSkeleton } from '../../parts/states.tsx';
import { Time } from '../../parts/time.tsx';
import { useUrlState } from '../../parts/url-state.ts';
import { useNow } from '../../shell/clock.ts';
import { texts } from '../../texts.ts';
import { shortId } from '../short-id.ts';
import type { ShopSession } from '../session.ts';

const t = texts.shop.deliveries;
const STATES: readonly DeliveryState[] = ['pending', 'delivered', 'dead'];
const ALL = 'all';
const BADGES: Readonly<Record<DeliveryState, string>> = {
  pending: 'badge badge-warn',
  delivered: 'badge badge-good',
  dead: 'badge badge-bad',
};

export function Deliveries({ session, webhookId }: { session: ShopSession; webhookId: string }) {
  const url = useUrlState();
  const state = STATES.find((one) => one === url.get('state')) ?? null;
  const query = useInfiniteQuery(deliveriesQuery(session, webhookId, state));
  const deliveries = query.data?.pages.flatMap(({ data }) => data) ?? [];
  return (
    <section class="tab" aria-labelledby="deliveries">
      <div class="toolbar">
        <h3 id="deliveries">{t.title}</h3>
        <Segments
          label={t.state}
          value={state ?? ALL}
          segments={[{ value: ALL, name: t.all }, ...STATES.map((value) => ({ value, name: t.states[value] }))]}
          hrefOf={(value) => url.href({ state: value === ALL ? null : value })}
        />
      </div>
      {query.isPending && <PartSkeleton />}
      {query.isError && deliveries.length === 0 && (
        <ErrorPanel error={query.error} onRetry={() => void query.refetch()} />
      )}
      {query.isSuccess && deliveries.length === 0 && <EmptyState title={state === null ? t.none : t.noneInState} />}
      <ol class="timeline">
        {deliveries.map((delivery) => (
          <DeliveryItem key={delivery.id} session={session} delivery={delivery} />
        ))}
      </ol>
      <MoreRows query={query} />
    </section>
  );
}

function DeliveryItem({ session: { client, scopes }, delivery }: { session: ShopSession; delivery: Delivery }) {
  const now = useNow();
  const { id, webhookId, type, state, attempts, lastStatus, lastError, lastDurationMs, nextAttemptAt } = delivery;
  const { save, isSaving, error } = useSaving(async () => {
    await client.redeliver({ webhookId, deliveryId: id });
    await refreshShop();
  });
  return (
    <li class={`timeline-item timeline-${state}`}>
      <div class="timeline-text">
        <p class="timeline-head">
          <strong>{type}</strong>
          <span class={BADGES[state]}>{t.states[state]}</span>
          <span class="muted mono" data-tip={delivery.eventId}>
            {shortId(delivery.eventId)}
          </span>
        </p>
        <p class="muted">
          {t.attempts(attempts)}
          {lastStatus !== null && ` · ${t.status(lastStatus)}`}
          {lastDurationMs !== null && ` · ${lastDurationMs} ms`}
          {state === 'pending' && nextAttemptAt !== null && Date.parse(nextAttemptAt) > now && (
            <> · {t.next(formatRemaining(nextAttemptAt, now))}</>
          )}
        </p>
        {lastError !== null && <p class="timeline-error">{lastError}</p>}
        {error !== null && (
          <p class="field-error" role="alert">
            {describeFailedChange(error)}
          </p>
        )}
      </div>
      <span class="muted">
        <Time at={delivery.createdAt} />
      </span>
      {scopes.has('webhooks:write') && (
        <button
          type="button"
          class="button button-small"
          disabled={isSaving}
          aria-label={t.redeliverOf(type, shortId(delivery.eventId))}
          onClick={() => void save()}
        >
          {t.redeliver}
        </button>
      )}
    </li>
  );
}
