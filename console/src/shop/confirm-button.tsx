// A button for an action that cannot be undone. The button opens a dialog, and the action runs when the user confirms it there.

import { useState } from 'preact/hooks';
import { describeError } from '../data/errors.ts';
import { Dialog } from '../parts/dialog.tsx';
import { texts } from '../texts.ts';

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
  const [isRunning, setRunning] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const close = () => {
    setOpen(false);
    setError(null);
  };
  const run = async () => {
    setRunning(true);
    try {
      await action();
      close();
    } catch (reason) {
      setError(reason);
    } finally {
      setRunning(false);
    }
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
              {describeError(error)}
            </p>
          )}
          <div class="button-row">
            <button type="button" class="button" onClick={close}>
              {texts.shop.cancel}
            </button>
            <button type="button" class={look} disabled={isRunning} onClick={() => void run()}>
              {name}
            </button>
          </div>
        </div>
      </Dialog>
    </>
  );
}
