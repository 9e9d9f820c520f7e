// The dialog in which a user creates a webhook or edits one. What was typed is kept until it is saved or the user discards it.

import type { Webhook } from '../../../../client/src/store.ts';
import { useSaving } from '../../data/use-saving.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { Checkbox, TextField } from '../../parts/field.tsx';
import { texts } from '../texts.ts';
import { useDraft } from '../drafts.ts';
import { toFormFailure } from '../form-errors.ts';

const t = texts.webhook;

export type EventName = Webhook['events'][number];

export type WebhookValues = { url: string; events: readonly EventName[]; description: string | null };

/** The events that a new webhook gets unless the user chooses others. */
export const USUAL_EVENTS: readonly EventName[] = [
  'product.created',
  'product.updated',
  'product.deleted',
  'inventory.low',
];
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

type Draft = { url: string; events: readonly EventName[]; description: string };

type WebhookFormProps = {
  title: string;
  saveText: string;
  /** The name of the draft. */
  draftName: string;
  initial: WebhookValues;
  onSave: (values: WebhookValues) => Promise<unknown>;
  onClose: () => void;
};

export function WebhookForm({ title, saveText, draftName, initial, onSave, onClose }: WebhookFormProps) {
  const [kept, setDraft] = useDraft<Draft>(draftName);
  const draft = kept ?? { ...initial, description: initial.description ?? '' };
  // A stored webhook can have patterns of events that the form does not list.
  const events = [...EVENTS, ...initial.events.filter((event) => !EVENTS.includes(event))];
  const change = (changes: Partial<Draft>) => setDraft({ ...draft, ...changes });
  const { save, isSaving, error } = useSaving(async () => {
    const description = draft.description.trim();
    await onSave({ url: draft.url.trim(), events: draft.events, description: description === '' ? null : description });
    setDraft(null);
    onClose();
  });
  const failure = toFormFailure(error);
  return (
    <Dialog title={title} isOpen onClose={onClose}>
      <form
        class="dialog-body"
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          void save();
        }}
      >
        <TextField
          label={t.url}
          hint={t.urlHint}
          error={failure.fields['url']}
          name="url"
          type="url"
          inputMode="url"
          value={draft.url}
          isRequired
          onChange={(url) => change({ url })}
        />
        <fieldset class="field choice">
          <legend>{t.events}</legend>
          {events.map((event) => (
            <Checkbox
              key={event}
              label={event}
              hint={t.eventHints[event]}
              name={event}
              isChecked={draft.events.includes(event)}
              onChange={(isChecked) =>
                change({ events: events.filter((one) => (one === event ? isChecked : draft.events.includes(one))) })
              }
            />
          ))}
          {failure.fields['events'] !== undefined && (
            <p class="field-error" role="alert">
              {failure.fields['events']}
            </p>
          )}
        </fieldset>
        <TextField
          label={t.description}
          error={failure.fields['description']}
          name="description"
          value={draft.description}
          onChange={(description) => change({ description })}
        />
        {failure.message !== null && (
          <p class="field-error" role="alert">
            {failure.message}
          </p>
        )}
        <div class="button-row">
          <button
            type="button"
            class="button"
            onClick={() => {
              setDraft(null);
              onClose();
            }}
          >
            {kept === null ? texts.cancel : texts.unsaved.discard}
          </button>
          <button type="submit" class="button button-primary" disabled={isSaving}>
            {isSaving ? texts.saving : saveText}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
