// A form in a dialog, with a button that submits it and a button that closes the dialog.

import type { ComponentChildren } from 'preact';
import { Dialog } from './dialog.tsx';

type FormDialogProps = {
  title: string;
  submitText: string;
  closeText: string;
  /** Whether the form can be submitted now. */
  isReady?: boolean;
  onSubmit: () => void;
  onClose: () => void;
  children: ComponentChildren;
};

export function FormDialog({
  title,
  submitText,
  closeText,
  isReady = true,
  onSubmit,
  onClose,
  children,
}: FormDialogProps) {
  return (
    <Dialog title={title} isOpen onClose={onClose}>
      <form
        class="dialog-body"
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          onSubmit();
        }}
      >
        {children}
        <div class="button-row">
          <button type="button" class="button" onClick={onClose}>
            {closeText}
          </button>
          <button type="submit" class="button button-primary" disabled={!isReady}>
            {submitText}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
