// Watches whether the service responds. If a request gets no response, the page shows a banner and requests /readyz until the service is ready.
// Then the page hides the banner and reads everything again.

import type { QueryClient } from '@tanstack/preact-query';
import { WarningIcon } from '../parts/icons.tsx';
import { formatClock } from '../format/time.ts';
import { texts } from '../texts.ts';
import { serviceUrl } from './base-path.ts';
import { Store, useStore } from './store.ts';
import './connection.css';

const RETRY_MS = 2_000;
const PROBE_TIMEOUT_MS = 4_000;

/** The time since which the service has not responded, in ms since the epoch. Null while the service responds. */
export const lostSince = new Store<number | null>(null);

/** Reports that a request got no response from the service. */
export function noteLost(queries: QueryClient): void {
  if (lostSince.get() !== null) return;
  lostSince.set(Date.now());
  setTimeout(() => void probe(queries), RETRY_MS);
}

/** Called when a stream has ended. Reports the service as lost only if it does not respond, because a proxy can also end a stream. */
export async function verifyConnection(queries: QueryClient): Promise<void> {
  if (!(await isReady())) noteLost(queries);
}

async function probe(queries: QueryClient): Promise<void> {
  if (await isReady()) {
    lostSince.set(null);
    await queries.invalidateQueries();
  } else setTimeout(() => void probe(queries), RETRY_MS);
}

async function isReady(): Promise<boolean> {
  try {
    const response = await fetch(serviceUrl('/readyz'), { signal: AbortSignal.timeout(PROBE_TIMEOUT_MS) });
    return response.ok;
  } catch {
    return false;
  }
}

export function ConnectionBanner() {
  const since = useStore(lostSince);
  return (
    <div class="connection" role="status">
      {since !== null && (
        <p class="connection-text">
          <WarningIcon />
          <span>
            <strong>{texts.connection.lost(formatClock(since))}</strong> {texts.connection.kept}{' '}
            {texts.connection.retry}
          </span>
        </p>
      )}
    </div>
  );
}
