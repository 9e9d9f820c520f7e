// The keyboard shortcuts of the console. A key with Ctrl, Alt or Meta is not a shortcut. In a field, only Escape is a shortcut: it moves the focus
// out of the field.

import { useEffect } from 'preact/hooks';
import { useLocation } from 'wouter-preact';
import { leave } from './leaving.ts';

const ROW_LINKS = 'a[data-row]';
/** A search field of the page comes before the one in the header. */
const SEARCHES = ['main input[type=search]', 'input[type=search]'];
const WORKPLACES: Readonly<Record<string, string>> = { m: '/', s: '/shop', o: '/service' };
/** A key of WORKPLACES opens its page only within this time after the key `g`. */
const PAIR_MS = 1_000;

export function useKeyboard(openHelp: () => void): void {
  const [location, navigate] = useLocation();
  useEffect(() => {
    let pairUntil = 0;
    const onKey = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
      if (document.querySelector('dialog[open]')) return;
      const target = event.target instanceof HTMLElement ? event.target : null;
      const isField = target?.matches('input, textarea, select, [contenteditable]') ?? false;
      if (event.key === 'Escape') {
        if (isField) target?.blur();
        else if (location !== '/') history.back();
        return;
      }
      if (isField) return;
      // Elsewhere, the arrow keys scroll the page.
      const isRow = target?.matches(ROW_LINKS) ?? false;
      const workplace = event.timeStamp < pairUntil ? WORKPLACES[event.key] : undefined;
      pairUntil = event.key === 'g' ? event.timeStamp + PAIR_MS : 0;
      if (workplace !== undefined) leave(() => navigate(workplace));
      else if (event.key === '/') focusSearch();
      else if (event.key === 'j' || (event.key === 'ArrowDown' && isRow)) moveRow(1);
      else if (event.key === 'k' || (event.key === 'ArrowUp' && isRow)) moveRow(-1);
      else if (event.key === '?') openHelp();
      else return;
      event.preventDefault();
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, [location, navigate, openHelp]);
}

function focusSearch(): void {
  const [field] = SEARCHES.flatMap((selector) => document.querySelector<HTMLInputElement>(selector) ?? []);
  field?.focus();
  field?.select();
}

/** Moves the focus to the link of the next or previous row. */
export function moveRow(step: 1 | -1): void {
  const links = [...document.querySelectorAll<HTMLElement>(ROW_LINKS)];
  const current = links.findIndex((link) => link === document.activeElement);
  const next = current < 0 ? links[0] : links[current + step];
  next?.focus();
  next?.scrollIntoView({ block: 'nearest' });
}
