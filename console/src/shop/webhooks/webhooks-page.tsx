// The webhooks of the shop, and the form for a new webhook.

import { useQuery } from '@tanstack/preact-query';
import { useState } from 'preact/hooks';
import type { Webhook } from '../../../../client/src/store.ts';
import { refreshShop, webhooksQuery } from '../../data/shop-queries.ts';
import type { Column } from '../../parts/data-table.tsx';
import { DataTable, RowLink } from '../../parts/data-table.tsx';
import { EmptyState, ErrorPanel } from '../../parts/states.tsx';
import { Time } from '../../parts/time.tsx';
import { usePageTitle } from '../../shell/shell.tsx';
import { texts } from '../texts.ts';
import { webhookPath } from '../paths.ts';
import type { ShopSession } from '../session.ts';
import { SecretPanel } from './secret-panel.tsx';
import { USUAL_EVENTS, WebhookForm } from './webhook-form.tsx';
import { WebhookState } from './webhook-state.tsx';
import { Link } from '../../parts/link.tsx';

const SKELETONS = 3;

type Created = { id: string; secret: string };

export function WebhooksPage({ session }: { session: ShopSession }) {
  usePageTitle(texts.tabs.webhooks, texts.title);
  const query = useQuery(webhooksQuery(session));
  const [isAdding, setAdding] = useState(false);
  const [created, setCreated] = useState<Created | null>(null);
  const rows = query.data?.data ?? [];
  const isWritable = session.scopes.has('webhooks:write');
  return (
    <section class="tab" aria-label={texts.tabs.webhooks}>
      {isWritable && (
        <div class="toolbar toolbar-end">
          <button type="button" class="button button-primary" onClick={() => setAdding(true)}>
            {texts.webhooks.add}
          </button>
        </div>
      )}
      {created && (
        <>
          <SecretPanel secret={created.secret} onDone={() => setCreated(null)} />
          <Link class="link" href={webhookPath(created.id)}>
            {texts.webhooks.openCreated}
          </Link>
        </>
      )}
      {query.isError && !query.data && <ErrorPanel error={query.error} onRetry={() => void query.refetch()} />}
      {query.isSuccess && rows.length === 0 && (
        <EmptyState title={texts.webhooks.none}>
          <p class="muted">{texts.webhooks.noneHint}</p>
        </EmptyState>
      )}
      {(query.isPending || rows.length > 0) && (
        <DataTable
          label={texts.tabs.webhooks}
          columns={COLUMNS}
          rows={rows}
          keyOf={({ id }) => id}
          skeletons={query.isPending ? SKELETONS : 0}
        />
      )}
      {isAdding && (
        <WebhookForm
          title={texts.webhooks.add}
          saveText={texts.webhooks.create}
          draftName="new webhook"
          initial={{ url: '', events: USUAL_EVENTS, description: null }}
          onClose={() => setAdding(false)}
          onSave={async ({ events, ...values }) => {
            const { data } = await session.client.createWebhook({ ...values, events: [...events] });
            setCreated({ id: data.id, secret: data.secret });
            await refreshShop();
          }}
        />
      )}
    </section>
  );
}

const COLUMNS: readonly Column<Webhook>[] = [
  {
    id: 'url',
    head: texts.webhook.url,
    width: 'minmax(200px, 3fr)',
    place: 'top-left',
    cell: ({ id, url }) => (
      <span class="truncate">
        <RowLink href={webhookPath(id)}>{url}</RowLink>
      </span>
    ),
  },
  {
    id: 'events',
    head: texts.webhook.events,
    width: 'minmax(160px, 2fr)',
    place: 'bottom-left',
    cell: ({ events }) => <span class="truncate">{events.join(', ')}</span>,
  },
  {
    id: 'state',
    head: texts.webhook.state,
    width: 'minmax(96px, 0.8fr)',
    place: 'top-right',
    cell: (webhook) => <WebhookState webhook={webhook} />,
  },
  {
    id: 'created',
    head: texts.products.created,
    width: 'minmax(72px, 0.6fr)',
    isNumber: true,
    place: 'bottom-right',
    cell: ({ createdAt }) => <Time at={createdAt} />,
  },
];
