// One webhook: its state, its secret, and its deliveries.

import { useQuery } from '@tanstack/preact-query';
import { useState } from 'preact/hooks';
import { useLocation, useParams } from 'wouter-preact';
import type { GetWebhookResult, Webhook } from '../../../../client/src/store.ts';
import { isNotFound, queries } from '../../data/client.ts';
import { describeFailedChange } from '../../data/errors.ts';
import { refreshShop, webhookQuery } from '../../data/shop-queries.ts';
import { useSaving } from '../../data/use-saving.ts';
import { formatLocal } from '../../format/time.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { TextField } from '../../parts/field.tsx';
import { WarningIcon } from '../../parts/icons.tsx';
import { EmptyState, ErrorPanel, PartSkeleton } from '../../parts/states.tsx';
import { Time } from '../../parts/time.tsx';
import { usePageTitle } from '../../shell/shell.tsx';
import { texts } from '../texts.ts';
import { ConfirmButton } from '../confirm-button.tsx';
import type { ShopSession } from '../session.ts';
import { Deliveries } from './deliveries.tsx';
import { SecretPanel } from './secret-panel.tsx';
import { WebhookForm } from './webhook-form.tsx';
import { WebhookState } from './webhook-state.tsx';
import { Link } from '../../parts/link.tsx';

const t = texts.webhook;

export function WebhookPage({ session }: { session: ShopSession }) {
  const { id } = useParams<{ id: string }>();
  const query = useQuery(webhookQuery(session, id));
  usePageTitle(query.data?.data.url ?? texts.tabs.webhooks, texts.title);
  if (query.isPending) return <PartSkeleton />;
  if (query.isError && isNotFound(query.error)) {
    return (
      <EmptyState title={t.notFound}>
        <Link class="button" href="/shop/webhooks">
          {t.back}
        </Link>
      </EmptyState>
    );
  }
  if (!query.data) return <ErrorPanel error={query.error} onRetry={() => void query.refetch()} />;
  return <Loaded key={id} session={session} loaded={query.data} />;
}

function Loaded({ session, loaded: { data: webhook } }: { session: ShopSession; loaded: GetWebhookResult }) {
  const [secret, setSecret] = useState<string | null>(null);
  return (
    <div class="tab">
      <Link class="link" href="/shop/webhooks">
        {t.back}
      </Link>
      <div class="shop-head">
        <div class="shop-head-text">
          <h2 class="shop-title">{webhook.url}</h2>
          <p class="facts">
            <WebhookState webhook={webhook} />
            <span>{webhook.events.join(', ')}</span>
            {webhook.description !== null && <span>{webhook.description}</span>}
          </p>
        </div>
      </div>
      {webhook.enabled && webhook.failingSince !== null && (
        <p class="note note-warn">
          <span>
            {t.failing} <Time at={webhook.failingSince} />.
          </span>
        </p>
      )}
      {webhook.disabledReason !== null && (
        <div class="note note-bad" role="status">
          <WarningIcon />
          <div>
            <p>
              <strong>{t.disabledBecause(webhook.disabledAt === null ? null : formatLocal(webhook.disabledAt))}</strong>{' '}
              {webhook.disabledReason.replace(/\.$/, '')}.
            </p>
            <p>{t.disabledHint}</p>
          </div>
        </div>
      )}
      {webhook.previousSecretExpiresAt !== null && Date.parse(webhook.previousSecretExpiresAt) > Date.now() && (
        <p class="note">{t.previousSecret(formatLocal(webhook.previousSecretExpiresAt))}</p>
      )}
      {secret !== null && <SecretPanel secret={secret} onDone={() => setSecret(null)} />}
      {session.scopes.has('webhooks:write') && <Actions session={session} webhook={webhook} onSecret={setSecret} />}
      <Deliveries session={session} webhookId={webhook.id} />
    </div>
  );
}

type ActionsProps = {
  session: ShopSession;
  webhook: Webhook;
  onSecret: (secret: string) => void;
};

function Actions({ session, webhook, onSecret }: ActionsProps) {
  const { client } = session;
  const { id, enabled: isEnabled } = webhook;
  const [isEditing, setEditing] = useState(false);
  const [, navigate] = useLocation();
  const [outcome, setOutcome] = useState<string | null>(null);
  const [isRecovering, setRecovering] = useState(false);
  /** Runs an action, and shows its result or its error. */
  const {
    save: run,
    isSaving: isRunning,
    error,
  } = useSaving(async (action: () => Promise<string>) => {
    try {
      setOutcome(await action());
    } finally {
      await refreshShop();
    }
  });
  return (
    <>
      <div class="button-row button-row-start">
        <button
          type="button"
          class="button"
          disabled={isRunning || !isEnabled}
          onClick={() =>
            void run(async () => {
              await client.testWebhook({ webhookId: id });
              return t.tested;
            })
          }
        >
          {t.test}
        </button>
        <button type="button" class="button" onClick={() => setEditing(true)}>
          {t.edit}
        </button>
        <button type="button" class="button" disabled={!isEnabled} onClick={() => setRecovering(true)}>
          {t.recover}
        </button>
        <button
          type="button"
          class={isEnabled ? 'button' : 'button button-primary'}
          disabled={isRunning}
          onClick={() =>
            void run(async () => {
              await client.updateWebhook({ webhookId: id, enabled: !isEnabled });
              return isEnabled ? t.nowDisabled : t.nowEnabled;
            })
          }
        >
          {isEnabled ? t.disable : t.enable}
        </button>
        <ConfirmButton
          name={t.rotate}
          title={t.rotateTitle}
          text={t.rotateText}
          isDestructive={false}
          action={async () => {
            const { data } = await client.rotateWebhookSecret({ webhookId: id });
            onSecret(data.secret);
            await refreshShop();
          }}
        />
        <ConfirmButton
          name={t.remove}
          title={t.removeTitle}
          text={t.removeText}
          action={async () => {
            await client.deleteWebhook({ webhookId: id });
            navigate('/shop/webhooks', { replace: true });
            queries.removeQueries({ queryKey: webhookQuery(session, id).queryKey });
            await refreshShop();
          }}
        />
      </div>
      <p class="outcome" role="status">
        {error === null ? outcome : <span class="bad">{describeFailedChange(error)}</span>}
      </p>
      {isEditing && (
        <WebhookForm
          title={t.editTitle}
          saveText={texts.save}
          draftName={id}
          initial={webhook}
          onClose={() => setEditing(false)}
          onSave={async ({ events, ...values }) => {
            await client.updateWebhook({ webhookId: id, ...values, events: [...events] });
            setOutcome(t.saved);
            await refreshShop();
          }}
        />
      )}
      {isRecovering && (
        <RecoverDialog
          onClose={() => setRecovering(false)}
          onRecover={(since) => {
            setRecovering(false);
            void run(async () => {
              const { data } = await client.recoverWebhook({ webhookId: id, since });
              return data.hasMore ? t.recoveredMore(data.recovered) : t.recovered(data.recovered);
            });
          }}
        />
      )}
    </>
  );
}

const DAY_MS = 86_400_000;

type RecoverDialogProps = { onClose: () => void; onRecover: (since: string) => void };

function RecoverDialog({ onClose, onRecover }: RecoverDialogProps) {
  const [since, setSince] = useState(() => toLocalInput(Date.now() - DAY_MS));
  const [error, setError] = useState<string | undefined>(undefined);
  return (
    <Dialog title={t.recover} isOpen onClose={onClose}>
      <form
        class="dialog-body"
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          const at = new Date(since);
          if (Number.isNaN(at.getTime())) setError(t.notATime);
          else onRecover(at.toISOString());
        }}
      >
        <p class="muted">{t.recoverText}</p>
        <TextField
          label={t.recoverSince}
          hint={t.recoverHint}
          error={error}
          name="since"
          type="datetime-local"
          value={since}
          onChange={setSince}
        />
        <div class="button-row">
          <button type="button" class="button" onClick={onClose}>
            {texts.cancel}
          </button>
          <button type="submit" class="button button-primary">
            {t.recover}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

/** Formats a time as local time, in the format of a field of the type `datetime-local`. */
function toLocalInput(ms: number): string {
  const offsetMs = new Date(ms).getTimezoneOffset() * 60_000;
  return new Date(ms - offsetMs).toISOString().slice(0, 16);
}
