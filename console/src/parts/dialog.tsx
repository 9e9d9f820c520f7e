// A modal dialog with a title. The Escape key, the close button and a click outside of the dialog close it.

import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';
import { texts } from '../texts.ts';
import { CloseIcon } from './icons.tsx';
import './dialog.css';

type DialogProps = {
  title: string;
  isOpen: boolean;
  onClose: () => void;
  /** Whether the dialog is a sheet at the bottom of the window, as for filters on a phone. */
  isSheet?: boolean;
  children: ComponentChildren;
};

export function Dialog({ title, isOpen, onClose, isSheet = false, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useLayoutEffect(() => {
    if (isOpen) dialog.current?.showModal();
    else dialog.current?.close();
  }, [isOpen]);
  return (
    <dialog
      ref={dialog}
      class={isSheet ? 'dialog sheet' : 'dialog'}
      aria-labelledby={id}
      // The event comes some time after the dialog was closed. The dialog may have been opened again meanwhile.
      onClose={() => !dialog.current?.open && onClose()}
      onClick={(event) => event.target === dialog.current && onClose()}
    >
      <div class="dialog-head">
        <h2 id={id}>{title}</h2>
        <button type="button" class="icon-button" aria-label={texts.shell.close} onClick={onClose}>
          <CloseIcon />
        </button>
      </div>
      {children}
    </dialog>
  );
}
