// The deliveries of a webhook as a timeline, newest first.

import { useInfiniteQuery, useQuery } from '@tanstack/preact-query';
import { useState } from 'preact/hooks';
import type { Delivery } from '../../../../client/src/store.ts';
import { describeFailedChange } from '../../data/errors.ts';
import type { DeliveryState } from '../../data/shop-queries.ts';
import { deliveriesQuery, deliveryQuery, refreshShop } from '../../data/shop-queries.ts';
import { useSaving } from '../../data/use-saving.ts';
import { formatRemaining } from '../../format/time.ts';
import { CopyButton } from '../../parts/copy-button.tsx';
import { MoreRows } from '../../parts/more-rows.tsx';
import { Segments } from '../../parts/segments.tsx';
import { EmptyState, ErrorPanel, PartSkeleton } from '../../parts/states.tsx';
import { Time } from '../../parts/time.tsx';
import { useUrlState } from '../../parts/url-state.ts';
import { useNow } from '../../shell/clock.ts';
import { texts } from '../texts.ts';
import { shortId } from '../short-id.ts';
import type { ShopSession } from '../session.ts';

const t = texts.deliveries;
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

function DeliveryItem({ session, delivery }: { session: ShopSession; delivery: Delivery }) {
  const { client, scopes } = session;
  const now = useNow();
  const [isOpen, setOpen] = useState(false);
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
      <button
        type="button"
        class="button button-small"
        aria-expanded={isOpen}
        aria-label={t.detailsOf(isOpen ? t.hide : t.details, type, shortId(delivery.eventId))}
        onClick={() => setOpen(!isOpen)}
      >
        {isOpen ? t.hide : t.details}
      </button>
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
      {isOpen && <Exchange session={session} delivery={delivery} />}
    </li>
  );
}

/** The request of a delivery, and the response to its last attempt, beside each other. */
function Exchange({ session, delivery }: { session: ShopSession; delivery: Delivery }) {
  const query = useQuery(deliveryQuery(session, delivery));
  const { eventId, lastAttemptAt, lastStatus, lastError, lastDurationMs } = delivery;
  const body = query.data?.data.body;
  return (
    <div class="exchange">
      <section class="exchange-side" aria-label={t.request}>
        <h4>{t.request}</h4>
        <p class="mono">webhook-id: {eventId}</p>
        {query.isPending && <PartSkeleton />}
        {query.isError && <ErrorPanel error={query.error} onRetry={() => void query.refetch()} />}
        {body !== undefined && (
          <>
            <pre class="exchange-body" tabIndex={0}>
              {toReadable(body)}
            </pre>
            <CopyButton text={body} label={t.body} />
          </>
        )}
      </section>
      <section class="exchange-side" aria-label={t.response}>
        <h4>{t.response}</h4>
        {lastAttemptAt === null ? (
          <p class="muted">{t.noAttempt}</p>
        ) : (
          <>
            <p>
              <span class={lastStatus !== null && lastError === null ? 'badge badge-good' : 'badge badge-bad'}>
                {lastStatus === null ? t.noResponse : t.status(lastStatus)}
              </span>{' '}
              {lastDurationMs !== null && `${lastDurationMs} ms · `}
              <Time at={lastAttemptAt} />
            </p>
            {lastError !== null && <p class="timeline-error">{lastError}</p>}
            <p class="muted">{t.responseHint}</p>
          </>
        )}
      </section>
    </div>
  );
}

/** Indented JSON. */
function toReadable(body: string): string {
  return JSON.stringify(JSON.parse(body), null, 2);
}
