// The bar that is displayed while a form has unsaved changes, and the dialog that asks for a confirmation before the user leaves the form.

import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { Dialog } from '../parts/dialog.tsx';
import { guardPage } from '../shell/leaving.ts';
import { texts } from './texts.ts';

type UnsavedBarProps = { isSaving: boolean; saveText: string; onSave: () => void; onDiscard: () => void };

/** `onDiscard` is also called when the user leaves the page without saving. */
export function UnsavedBar({ isSaving, saveText, onSave, onDiscard }: UnsavedBarProps) {
  return (
    <>
      <div class="save-bar" role="region" aria-label={texts.unsaved.title}>
        <p>{texts.unsaved.title}</p>
        <div class="button-row">
          <button type="button" class="button" disabled={isSaving} onClick={onDiscard}>
            {texts.unsaved.discard}
          </button>
          <button type="button" class="button button-primary" disabled={isSaving} onClick={onSave}>
            {isSaving ? texts.saving : saveText}
          </button>
        </div>
      </div>
      <LeaveGuard onLeave={onDiscard} />
    </>
  );
}

function LeaveGuard({ onLeave }: { onLeave: () => void }) {
  /** What the user wanted to do when the guard asked. */
  const [wanted, setWanted] = useState<{ proceed: () => void } | null>(null);
  const release = useRef<() => void>();
  // An effect would begin only after the next paint.
  useLayoutEffect(() => {
    const onUnload = (event: BeforeUnloadEvent) => event.preventDefault();
    release.current = guardPage((proceed) => setWanted({ proceed }));
    window.addEventListener('beforeunload', onUnload);
    return () => {
      release.current?.();
      window.removeEventListener('beforeunload', onUnload);
    };
  }, []);
  const proceed = () => {
    release.current?.();
    onLeave();
    wanted?.proceed();
  };
  return (
    <Dialog title={texts.unsaved.leaveTitle} isOpen={wanted !== null} onClose={() => setWanted(null)}>
      <div class="dialog-body">
        <p>{texts.unsaved.leave}</p>
        <div class="button-row">
          <button type="button" class="button" onClick={() => setWanted(null)}>
            {texts.unsaved.stay}
          </button>
          <button type="button" class="button button-danger" onClick={proceed}>
            {texts.unsaved.leaveButton}
          </button>
        </div>
      </div>
    </Dialog>
  );
}
