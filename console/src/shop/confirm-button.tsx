// A button for an action that cannot be undone. The button opens a dialog, and the action runs when the user confirms it there.

import { useState } from 'preact/hooks';
import { describeFailedChange } from '../data/errors.ts';
import { useSaving } from '../data/use-saving.ts';
import { Dialog } from '../parts/dialog.tsx';
import { texts } from './texts.ts';

type ConfirmButtonProps = {
  name: string;
  title: string;
  text: string;
  /** The dialog is closed when the action has succeeded. */
  action: () => Promise<unknown>;
  /** Whether the action deletes data. The buttons are then shown as dangerous. */
  isDestructive?: boolean;
};

export function ConfirmButton({ name, title, text, action, isDestructive = true }: ConfirmButtonProps) {
  const look = isDestructive ? 'button button-danger' : 'button';
  const [isOpen, setOpen] = useState(false);
  const { save, isSaving, error, reset } = useSaving(async () => {
    await action();
    setOpen(false);
  });
  const close = () => {
    setOpen(false);
    reset();
  };
  return (
    <>
      <button type="button" class={look} onClick={() => setOpen(true)}>
        {name}
      </button>
      <Dialog title={title} isOpen={isOpen} onClose={close}>
        <div class="dialog-body">
          <p>{text}</p>
          {error !== null && (
            <p class="field-error" role="alert">
              {describeFailedChange(error)}
            </p>
          )}
          <div class="button-row">
            <button type="button" class="button" onClick={close}>
              {texts.cancel}
            </button>
            <button type="button" class={look} disabled={isSaving} onClick={() => void save()}>
              {name}
            </button>
          </div>
        </div>
      </Dialog>
    </>
  );
}
