// The theme of the console. It follows the system unless the user has chosen a theme. The choice is stored in this browser.

import { Store } from './store.ts';

export type Theme = 'system' | 'light' | 'dark';
const THEMES: readonly Theme[] = ['system', 'light', 'dark'];
const STORAGE_KEY = 'theme';

export const theme = new Store<Theme>(readTheme());

export function applyTheme(): void {
  const apply = (value: Theme) => {
    if (value === 'system') delete document.documentElement.dataset['theme'];
    else document.documentElement.dataset['theme'] = value;
  };
  apply(theme.get());
  theme.subscribe(apply);
}

export function chooseNextTheme(): void {
  const next = THEMES[(THEMES.indexOf(theme.get()) + 1) % THEMES.length] ?? 'system';
  theme.set(next);
  try {
    localStorage.setItem(STORAGE_KEY, next);
  } catch {
    // The browser stores nothing for this page. The choice holds until the page is closed.
  }
}

function readTheme(): Theme {
  try {
    return THEMES.find((one) => one === localStorage.getItem(STORAGE_KEY)) ?? 'system';
  } catch {
    return 'system';
  }
}
