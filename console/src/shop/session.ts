// The session of the user who has signed in to the shop with an API key. The browser stores the key only in the session storage of this
// tab, and deletes the key when the tab is closed. The key is sent only in a request header.

import type { StoreClient } from '../../../client/src/store.ts';
import { MercatError, createStoreClient } from '../../../client/src/store.ts';
import { CALL_OPTIONS, queries } from '../data/client.ts';
import { Store } from '../shell/store.ts';

const SCOPES = [
  'products:read',
  'products:write',
  'inventory:read',
  'inventory:write',
  'webhooks:read',
  'webhooks:write',
] as const;

export type Scope = (typeof SCOPES)[number];

export type ShopSession = {
  client: StoreClient;
  scopes: ReadonlySet<Scope>;
  /** Enough of the key to recognise it. */
  keyHint: string;
};

type StoredSession = { key: string; scopes: readonly Scope[] };

const STORAGE_KEY = 'shop';
/** The characters of a key that are displayed. */
const HINT_CHARACTERS = 4;
/** The first part of the query key of every read of the shop. `signOut` removes the cached results of these reads. */
export const SHOP = 'shop';

export const shopSession = new Store<ShopSession | null>(restore());
/** Whether the service rejected the key of the last session. */
export const isKeyRejected = new Store(false);

/** Null if the key has no scope of the store. Fails with `unauthorized` if the key is not valid. */
export async function signIn(key: string): Promise<ShopSession | null> {
  const client = createClient(key);
  const scopes = await readScopes(client);
  if (scopes.length === 0) return null;
  store({ key, scopes });
  isKeyRejected.set(false);
  const session = toSession({ key, scopes });
  shopSession.set(session);
  return session;
}

export function signOut(): void {
  sessionStorage.removeItem(STORAGE_KEY);
  shopSession.set(null);
  queries.removeQueries({ queryKey: [SHOP] });
}

/** Whether the service rejects the key, because it is unknown, expired or revoked. */
export function isUnauthorized(error: unknown): boolean {
  return error instanceof MercatError && error.code === 'unauthorized';
}

// A key that is revoked while the page is open ends the session.
for (const cache of [queries.getQueryCache(), queries.getMutationCache()]) {
  cache.subscribe((event) => {
    if (event.type !== 'updated' || event.action.type !== 'error') return;
    if (shopSession.get() === null || !isUnauthorized(event.action.error)) return;
    isKeyRejected.set(true);
    signOut();
  });
}

/**
 * Finds the scopes of the key. No operation returns them, so one request is sent for each scope: a read of one row, or an incomplete change.
 * The service checks the scope before it rejects the incomplete change.
 */
async function readScopes(client: StoreClient): Promise<Scope[]> {
  const tries: Readonly<Record<Scope, () => Promise<unknown>>> = {
    'products:read': () => client.listProducts({ limit: 1 }).page(),
    'products:write': () => client.createProduct({ name: '', price: '' }),
    'inventory:read': () => client.listAdjustments({ limit: 1 }).page(),
    'inventory:write': () => client.changeInventory({ product_id: '' }),
    'webhooks:read': () => client.listWebhooks(),
    'webhooks:write': () => client.createWebhook({ url: '' }),
  };
  // If the key is not valid, the first request fails and the other requests are not sent. The service limits how many requests with an
  // invalid key one address may send.
  const isFirstAllowed = await isAllowed(tries['products:read']);
  const others = SCOPES.slice(1);
  const areAllowed = await Promise.all(others.map((scope) => isAllowed(tries[scope])));
  return SCOPES.filter((scope) =>
    scope === 'products:read' ? isFirstAllowed : areAllowed[others.indexOf(scope)] === true,
  );
}

async function isAllowed(request: () => Promise<unknown>): Promise<boolean> {
  try {
    await request();
    return true;
  } catch (error) {
    if (error instanceof MercatError && error.code === 'forbidden') return false;
    if (error instanceof MercatError && error.code === 'bad_request') return true;
    throw error;
  }
}

function createClient(key: string): StoreClient {
  return createStoreClient({ ...CALL_OPTIONS, apiKey: key });
}

function toSession({ key, scopes }: StoredSession): ShopSession {
  return { client: createClient(key), scopes: new Set(scopes), keyHint: `…${key.slice(-HINT_CHARACTERS)}` };
}

function store(session: StoredSession): void {
  try {
    sessionStorage.setItem(STORAGE_KEY, JSON.stringify(session));
  } catch {
    // The browser stores nothing for this page. The session ends when the page is loaded again.
  }
}

function restore(): ShopSession | null {
  try {
    const text = sessionStorage.getItem(STORAGE_KEY);
    return text === null ? null : toSession(JSON.parse(text) as StoredSession);
  } catch {
    return null;
  }
}
