// The only client of `/v1` and `/explore/v1` in the console, and the cache of the data that it has read.

import { MutationCache, QueryCache, QueryClient } from '@tanstack/preact-query';
import { MercatError, createMarketClient } from '../../../client/src/market.ts';
import { basePath } from '../shell/base-path.ts';
import { noteLost } from '../shell/connection.tsx';

const CALL_TIMEOUT_MS = 15_000;
/** The client repeats a failed request once. shell/connection.tsx handles longer outages. */
const RETRIES_MAX = 1;
/** Data that was read less than this time ago is displayed without another request. */
const FRESH_MS = 5_000;
/** Data that no page displays is kept for this time, so that a page is displayed immediately when the user returns to it. */
const KEPT_MS = 300_000;
const UNAVAILABLE = 503;
const BAD_GATEWAY = 502;
/** If the service could not read one of its sources (502), the request is repeated after this time. */
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

/** Repeats the failed requests whose data a page needs now. If such a request fails again, `noteError` calls this function again. */
function readFailedAgain(): void {
  if (isReadAgainDue) return;
  isReadAgainDue = true;
  setTimeout(() => {
    isReadAgainDue = false;
    void queries.refetchQueries({ type: 'active', predicate: ({ state }) => state.status === 'error' });
  }, FAILED_AGAIN_MS);
}

/** Whether the service could not be reached, did not respond in time, or is unavailable (503). */
function isOutage(error: unknown): boolean {
  if (!(error instanceof MercatError)) return false;
  return error.code === 'network_error' || error.code === 'timeout' || error.status === UNAVAILABLE;
}

export function isNotFound(error: unknown): boolean {
  return error instanceof MercatError && (error.code === 'not_found' || error.code === 'bad_request');
}
