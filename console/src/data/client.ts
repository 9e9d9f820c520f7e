// The one client of the market in the console, and the store of what it has read.

import { MutationCache, QueryCache, QueryClient } from '@tanstack/preact-query';
import { MercatError, createMarketClient } from '../../../client/src/market.ts';
import { basePath } from '../shell/base-path.ts';
import { noteLost } from '../shell/connection.tsx';

const CALL_TIMEOUT_MS = 15_000;
/** The client repeats a failed request once. Longer outages are the connection's matter (shell/connection.tsx). */
const RETRIES_MAX = 1;
/** What was read within this time is displayed without being read again. */
const FRESH_MS = 5_000;
/** What no page displays is kept for this long, so that the way back is immediate. */
const KEPT_MS = 300_000;
const UNAVAILABLE = 503;
const BAD_GATEWAY = 502;
/** What the service could not read from one of its sources is requested again after this time. */
const FAILED_AGAIN_MS = 5_000;

export const CALL_OPTIONS = {
  baseUrl: location.origin + basePath,
  timeoutMs: CALL_TIMEOUT_MS,
  retriesMax: RETRIES_MAX,
};

export const client = createMarketClient(CALL_OPTIONS);

export const queries: QueryClient = new QueryClient({
  queryCache: new QueryCache({ onError: noteError }),
  mutationCache: new MutationCache({ onError: noteError }),
  defaultOptions: { queries: { staleTime: FRESH_MS, gcTime: KEPT_MS, retry: false, networkMode: 'always' } },
});

function noteError(error: unknown): void {
  if (isOutage(error)) noteLost(queries);
  else if (error instanceof MercatError && error.status === BAD_GATEWAY) readFailedAgain();
}

let isReadAgainDue = false;

/** Reads again what has failed and is still displayed. If it fails again, `noteError` continues. */
function readFailedAgain(): void {
  if (isReadAgainDue) return;
  isReadAgainDue = true;
  setTimeout(() => {
    isReadAgainDue = false;
    void queries.refetchQueries({ type: 'active', predicate: ({ state }) => state.status === 'error' });
  }, FAILED_AGAIN_MS);
}

/** Whether the service gave no response of its own. */
export function isOutage(error: unknown): boolean {
  if (!(error instanceof MercatError)) return false;
  return error.code === 'network_error' || error.code === 'timeout' || error.status === UNAVAILABLE;
}

export function isNotFound(error: unknown): boolean {
  return error instanceof MercatError && (error.code === 'not_found' || error.code === 'bad_request');
}
