// The list of keys.

import { useEffect, useRef } from 'preact/hooks';
import { CloseIcon } from '../parts/icons.tsx';
import { texts } from '../texts.ts';

export function HelpDialog({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    if (isOpen) dialog.current?.showModal();
    else dialog.current?.close();
  }, [isOpen]);
  return (
    <dialog
      ref={dialog}
      class="dialog"
      aria-labelledby="help-title"
      onClose={onClose}
      onClick={(event) => event.target === dialog.current && onClose()}
    >
      <div class="dialog-head">
        <h2 id="help-title">{texts.shell.help}</h2>
        <button type="button" class="icon-button" aria-label={texts.shell.close} onClick={onClose}>
          <CloseIcon />
        </button>
      </div>
      <dl class="keys">
        {texts.keys.map(({ keys, meaning }) => (
          <div key={meaning}>
            <dt>
              {keys.map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{meaning}</dd>
          </div>
        ))}
      </dl>
    </dialog>
  );
}
