// The results of the search that the user has opened last, newest first. They are stored in this browser.

const STORAGE_KEY = 'recent-searches';
const RECENT_MAX = 6;

export type Recent = { path: string; name: string };

export function listRecent(): readonly Recent[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(STORAGE_KEY) ?? '[]');
    return Array.isArray(stored) ? stored.filter(isRecent).slice(0, RECENT_MAX) : [];
  } catch {
    return [];
  }
}

export function addRecent({ path, name }: Recent): void {
  const others = listRecent().filter((one) => one.path !== path);
  try {
    localStorage.setItem(STORAGE_KEY, JSON.stringify([{ path, name }, ...others].slice(0, RECENT_MAX)));
  } catch {
    // The browser stores nothing for this page.
  }
}

function isRecent(value: unknown): value is Recent {
  const { path, name } = (value ?? {}) as Partial<Record<keyof Recent, unknown>>;
  return typeof path === 'string' && path.startsWith('/') && typeof name === 'string';
}
