// Reads the public state of the service, GET /status.

import { queryOptions } from '@tanstack/preact-query';
import { MercatError } from '../../../client/src/market.ts';
import { serviceUrl } from '../shell/base-path.ts';
import type { ServiceState } from './service-state.ts';

const PERIOD_MS = 5_000;
const TIMEOUT_MS = 10_000;

export const statusQuery = queryOptions({
  queryKey: ['status'],
  queryFn: ({ signal }) => readStatus(AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)])),
  refetchInterval: PERIOD_MS,
});

async function readStatus(signal: AbortSignal): Promise<ServiceState> {
  const response = await request(signal);
  const { status } = response;
  if (!response.ok) {
    const code = status === 429 ? 'rate_limited' : status === 503 ? 'unavailable' : 'invalid_response';
    throw new MercatError(code, `GET /status responded with ${status}`, { status });
  }
  const { data } = (await response.json()) as { data: ServiceState };
  return data;
}

async function request(signal: AbortSignal): Promise<Response> {
  try {
    return await fetch(serviceUrl('/status'), { signal });
  } catch (cause) {
    throw new MercatError('network_error', 'No response', { cause });
  }
}
