// Keeps what a user has typed into a form, in the session storage of the tab, until the user saves or discards it. So it survives a reload, the
// end of the session, and a crash of the page.

import { useState } from 'preact/hooks';

const PREFIX = 'draft:';

/** The draft with this name, and a function that replaces it. Null stands for no draft. */
export function useDraft<Draft>(name: string): [draft: Draft | null, setDraft: (draft: Draft | null) => void] {
  const [draft, setDraft] = useState(() => read<Draft>(name));
  return [
    draft,
    (next) => {
      setDraft(next);
      write(name, next);
    },
  ];
}

/** Called when the user signs out, because the next user of this tab may belong to another shop. */
export function forgetDrafts(): void {
  for (const key of Object.keys(sessionStorage)) if (key.startsWith(PREFIX)) sessionStorage.removeItem(key);
}

function read<Draft>(name: string): Draft | null {
  try {
    return JSON.parse(sessionStorage.getItem(PREFIX + name) ?? 'null') as Draft | null;
  } catch {
    return null;
  }
}

function write(name: string, draft: unknown): void {
  try {
    if (draft === null) sessionStorage.removeItem(PREFIX + name);
    else sessionStorage.setItem(PREFIX + name, JSON.stringify(draft));
  } catch {
    // The browser stores nothing for this page. The draft lasts until the page is left.
  }
}
