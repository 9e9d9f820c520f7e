// The webhooks of the shop, and the form for a new webhook.

import { useQuery } from '@tanstack/preact-query';
import { useState } from 'preact/hooks';
import type { Webhook } from '../../../../client/src/store.ts';
import { refreshShop, webhooksQuery } from '../../data/shop-queries.ts';
import { useSaving } from '../../data/use-saving.ts';
import type { Column } from '../../parts/data-table.tsx';
import { DataTable, RowLink } from '../../parts/data-table.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Checkbox, TextField } from '../../parts/field.tsx';
import { EmptyState, ErrorPanel } from '../../parts/states.tsx';
import { Time } from '../../parts/time.tsx';
import { usePageTitle } from '../../shell/shell.tsx';
import { texts } from '../../texts.ts';
import { toFormFailure } from '../form-errors.ts';
import { webhookPath } from '../paths.ts';
import type { ShopSession } from '../session.ts';
import { SecretPanel } from './secret-panel.tsx';
import { WebhookState } from './webhook-state.tsx';
import { Link } from '../../parts/link.tsx';

type EventName = Webhook['events'][number];

/** The events that a new webhook gets unless the user chooses others. */
const USUAL_EVENTS: readonly EventName[] = ['product.created', 'product.updated', 'product.deleted', 'inventory.low'];
const EVENTS: readonly EventName[] = [
  ...USUAL_EVENTS,
  'inventory.changed',
  'inventory.out',
  'inventory.restocked',
  'reservation.created',
  'reservation.consumed',
  'reservation.released',
  'reservation.expired',
];
const SKELETONS = 3;

type Created = { id: string; secret: string };

export function WebhooksPage({ session }: { session: ShopSession }) {
  usePageTitle(texts.shop.tabs.webhooks, texts.shop.title);
  const query = useQuery(webhooksQuery(session));
  const [isAdding, setAdding] = useState(false);
  const [created, setCreated] = useState<Created | null>(null);
  const rows = query.data?.data ?? [];
  const isWritable = session.scopes.has('webhooks:write');
  return (
    <section class="tab" aria-label={texts.shop.tabs.webhooks}>
      {isWritable && (
        <div class="toolbar toolbar-end">
          <button type="button" class="button button-primary" onClick={() => setAdding(true)}>
            {texts.shop.webhooks.add}
          </button>
        </div>
      )}
      {created && (
        <>
          <SecretPanel secret={created.secret} onDone={() => setCreated(null)} />
          <Link class="link" href={webhookPath(created.id)}>
            {texts.shop.webhooks.openCreated}
          </Link>
        </>
      )}
      {query.isError && !query.data && <ErrorPanel error={query.error} onRetry={() => void query.refetch()} />}
      {query.isSuccess && rows.length === 0 && (
        <EmptyState title={texts.shop.webhooks.none}>
          <p class="muted">{texts.shop.webhooks.noneHint}</p>
        </EmptyState>
      )}
      {(query.isPending || rows.length > 0) && (
        <DataTable
          label={texts.shop.tabs.webhooks}
          columns={COLUMNS}
          rows={rows}
          keyOf={({ id }) => id}
          skeletons={query.isPending ? SKELETONS : 0}
        />
      )}
      {isAdding && <NewWebhook session={session} onClose={() => setAdding(false)} onCreated={setCreated} />}
    </section>
  );
}

type NewWebhookProps = { session: ShopSession; onClose: () => void; onCreated: (created: Created) => void };

function NewWebhook({ session: { client }, onClose, onCreated }: NewWebhookProps) {
  const [url, setUrl] = useState('');
  const [description, setDescription] = useState('');
  const [events, setEvents] = useState<readonly EventName[]>(USUAL_EVENTS);
  const { save, isSaving, error } = useSaving(async () => {
    const { data } = await client.createWebhook({
      url: url.trim(),
      events: [...events],
      ...(description.trim() !== '' && { description: description.trim() }),
    });
    onCreated({ id: data.id, secret: data.secret });
    onClose();
    await refreshShop();
  });
  const failure = toFormFailure(error);
  return (
    <Dialog title={texts.shop.webhooks.add} isOpen onClose={onClose}>
      <form
        class="dialog-body"
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          void save();
        }}
      >
        <TextField
          label={texts.shop.webhook.url}
          hint={texts.shop.webhook.urlHint}
          error={failure.fields['url']}
          name="url"
          type="url"
          inputMode="url"
          value={url}
          isRequired
          onChange={setUrl}
        />
        <fieldset class="field choice">
          <legend>{texts.shop.webhook.events}</legend>
          {EVENTS.map((event) => (
            <Checkbox
              key={event}
              label={event}
              hint={texts.shop.webhook.eventHints[event]}
              name={event}
              isChecked={events.includes(event)}
              onChange={(isChecked) =>
                setEvents(EVENTS.filter((one) => (one === event ? isChecked : events.includes(one))))
              }
            />
          ))}
          {failure.fields['events'] !== undefined && <p class="field-error">{failure.fields['events']}</p>}
        </fieldset>
        <TextField
          label={texts.shop.webhook.description}
          error={failure.fields['description']}
          name="description"
          value={description}
          onChange={setDescription}
        />
        {failure.message !== null && (
          <p class="field-error" role="alert">
            {failure.message}
          </p>
        )}
        <div class="button-row">
          <button type="button" class="button" onClick={onClose}>
            {texts.shop.cancel}
          </button>
          <button type="submit" class="button button-primary" disabled={isSaving}>
            {texts.shop.webhooks.create}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

const COLUMNS: readonly Column<Webhook>[] = [
  {
    id: 'url',
    head: texts.shop.webhook.url,
    width: 'minmax(200px, 3fr)',
    place: 'top-left',
    cell: ({ id, url }) => (
      <span class="truncate block">
        <RowLink href={webhookPath(id)}>{url}</RowLink>
      </span>
    ),
  },
  {
    id: 'events',
    head: texts.shop.webhook.events,
    width: 'minmax(160px, 2fr)',
    place: 'bottom-left',
    cell: ({ events }) => <span class="truncate block">{events.join(', ')}</span>,
  },
  {
    id: 'state',
    head: texts.shop.webhook.state,
    width: 'minmax(96px, 0.8fr)',
    place: 'top-right',
    cell: (webhook) => <WebhookState webhook={webhook} />,
  },
  {
    id: 'created',
    head: texts.shop.products.created,
    width: 'minmax(72px, 0.6fr)',
    isNumber: true,
    place: 'bottom-right',
    cell: ({ createdAt }) => <Time at={createdAt} />,
  },
];
