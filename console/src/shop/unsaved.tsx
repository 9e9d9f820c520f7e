// The bar that is displayed while a form has unsaved changes, and the dialog that asks for a confirmation before the user leaves the form.

import { useEffect, useState } from 'preact/hooks';
import { useLocation } from 'wouter-preact';
import { Dialog } from '../parts/dialog.tsx';
import { basePath } from '../shell/base-path.ts';
import { texts } from '../texts.ts';

type UnsavedBarProps = { isSaving: boolean; saveText: string; onSave: () => void; onDiscard: () => void };

/** While an element with `data-unsaved` is on the page, the keyboard shortcuts of the console do not open another page. */
export function UnsavedBar({ isSaving, saveText, onSave, onDiscard }: UnsavedBarProps) {
  return (
    <>
      <div class="save-bar" role="region" aria-label={texts.shop.unsaved.title} data-unsaved>
        <p>{texts.shop.unsaved.title}</p>
        <div class="button-row">
          <button type="button" class="button" disabled={isSaving} onClick={onDiscard}>
            {texts.shop.unsaved.discard}
          </button>
          <button type="button" class="button button-primary" disabled={isSaving} onClick={onSave}>
            {isSaving ? texts.shop.saving : saveText}
          </button>
        </div>
      </div>
      <LeaveGuard />
    </>
  );
}

function LeaveGuard() {
  const [, navigate] = useLocation();
  const [target, setTarget] = useState<string | null>(null);
  useEffect(() => {
    const onUnload = (event: BeforeUnloadEvent) => event.preventDefault();
    const onClick = (event: MouseEvent) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
      const link = event.target instanceof Element ? event.target.closest('a') : null;
      if (!link || link.origin !== location.origin || !link.pathname.startsWith(basePath)) return;
      event.preventDefault();
      event.stopPropagation();
      setTarget(link.pathname.slice(basePath.length) + link.search);
    };
    window.addEventListener('beforeunload', onUnload);
    document.addEventListener('click', onClick, { capture: true });
    return () => {
      window.removeEventListener('beforeunload', onUnload);
      document.removeEventListener('click', onClick, { capture: true });
    };
  }, []);
  return (
    <Dialog title={texts.shop.unsaved.leaveTitle} isOpen={target !== null} onClose={() => setTarget(null)}>
      <div class="dialog-body">
        <p>{texts.shop.unsaved.leave}</p>
        <div class="button-row">
          <button type="button" class="button" onClick={() => setTarget(null)}>
            {texts.shop.unsaved.stay}
          </button>
          <button type="button" class="button button-danger" onClick={() => target !== null && navigate(target)}>
            {texts.shop.unsaved.leaveButton}
          </button>
        </div>
      </div>
    </Dialog>
  );
}
