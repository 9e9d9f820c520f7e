// The keys of the lists of products and of stock, while a row has the focus: they select it, edit a value in it, and open or close its variants.

import type { JSX } from 'preact';
import { useCallback } from 'preact/hooks';
import type { Selection } from './products/selection.ts';

/** The elements of a row that the keys click. */
const KEYS: Readonly<Record<string, string>> = {
  x: '[data-select]',
  s: '[data-edit=stock]',
  p: '[data-edit=price]',
  ArrowRight: '[data-toggle][aria-expanded=false]',
  ArrowLeft: '[data-toggle][aria-expanded=true]',
};

export function useListKeys(selection: Selection | null): (event: JSX.TargetedKeyboardEvent<HTMLElement>) => void {
  return useCallback(
    (event) => {
      const { target, key, ctrlKey, metaKey, altKey } = event;
      if (!(target instanceof HTMLElement) || ctrlKey || metaKey || altKey || event.defaultPrevented) return;
      const isField = target.matches('input:not([type=checkbox]), textarea, select');
      if (isField || target.closest('dialog')) return;
      if (key === 'Escape' && selection && selection.get().size > 0) {
        selection.clear();
        event.preventDefault();
        return;
      }
      const selector = KEYS[key];
      const row = target.closest('.table-body [role=row]');
      const wanted = selector === undefined ? null : row?.querySelector<HTMLElement>(selector);
      if (!wanted) return;
      event.preventDefault();
      wanted.click();
    },
    [selection],
  );
}
