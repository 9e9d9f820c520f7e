// Runs the checks of `mercat doctor` that use the network. They check whether vendors accept the configured keys, whether RPC endpoints serve
// their chains, and whether the clock of this machine is right. Each probe of a vendor or an endpoint is one small request. No URL is
// printed, because a URL may contain a key.

import type { Config } from '../../service/config.ts';
import { toChainSetting } from '../../service/config.ts';
import { createChains } from '../../platform/core/chains.ts';
import type { Exchange } from '../../platform/resilience/http-exchange.ts';
import { exchange, ExchangeFailure } from '../../platform/resilience/http-exchange.ts';
import type { Probe } from '../../sources/upstreams/vendor.ts';
import type { DoctorFinding } from './findings.ts';
import { CLOCK_FAIL_MS, fail, ok, warn } from './findings.ts';

/** `judge` is called for any status other than 401, 403, 429 and 5xx. It returns null if the response is as expected. */
type JudgedProbe = Probe & { judge?: (response: Exchange) => DoctorFinding | null };

const TIMEOUT_MS = 8_000;
const BYTES_MAX = 2 ** 20;

export async function checkOutside(config: Config, signal: AbortSignal): Promise<DoctorFinding[]> {
  const clockOffsets: number[] = [];
  const probes = [...config.vendors.flatMap((vendor) => vendor.probes()), ...toChainProbes(config)];
  const findings = await Promise.all(probes.map((probe) => runProbe(probe, signal, clockOffsets)));
  return [...findings, ...(probes.length > 0 ? [toClockFinding(clockOffsets)] : [])];
}

async function runProbe(
  { name, url, settings, judge, isOptional, ...request }: JudgedProbe,
  signal: AbortSignal,
  /** Receives the clock of the server minus the clock of this machine, in ms. */
  clockOffsets: number[],
): Promise<DoctorFinding> {
  const startedAt = performance.now();
  const report = isOptional ? warn : fail;
  let response: Exchange;
  try {
    response = await exchange(url, { ...request, timeoutMs: TIMEOUT_MS, bytesMax: BYTES_MAX, signal });
  } catch (error) {
    if (!(error instanceof ExchangeFailure)) throw error;
    if (error.reason === 'too-large') return ok(name, 'it responds');
    return report(
      name,
      `it cannot be reached: ${error.message}`,
      `see ${settings}, and the internet access of this machine`,
    );
  }
  const ms = Math.round(performance.now() - startedAt);
  const date = Date.parse(response.headers.get('date') ?? '');
  if (Number.isFinite(date)) clockOffsets.push(date - Date.now());
  if (response.status === 401 || response.status === 403) {
    return report(
      name,
      `it rejects the request as unauthorized (${response.status})`,
      `check ${settings}: the key was not accepted`,
    );
  }
  if (response.status === 429)
    return warn(
      name,
      'its request limit is exceeded (429)',
      `wait, or use a plan or an endpoint with a higher limit: see ${settings}`,
    );
  if (response.status >= 500) return warn(name, `it reports an internal error (${response.status})`, 'try again later');
  return judge?.(response) ?? ok(name, `it responds in ${ms} ms`);
}

function toChainProbes({ rpcUrls, extraChain }: Config): JudgedProbe[] {
  const chains = createChains(extraChain);
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_chainId', params: [] });
  return [...rpcUrls].flatMap(([chain, urls]) =>
    urls.map((url, index): JudgedProbe => {
      const name = `${chain} endpoint ${index + 1} of ${urls.length}`;
      const settings = toChainSetting(chain);
      return {
        name,
        url,
        settings,
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body,
        judge: (response) => judgeChain(response, { name, settings, chainId: chains.get(chain)?.chainId ?? null }),
      };
    }),
  );
}

function judgeChain(
  response: Exchange,
  { name, settings, chainId }: { name: string; settings: string; chainId: number | null },
): DoctorFinding | null {
  const { chainId: servedChainId, errorCode } = parseChainId(response.body);
  if (servedChainId === null) {
    const message =
      errorCode === null
        ? `its response is not JSON-RPC (status ${response.status})`
        : `it responds with the JSON-RPC error ${errorCode}`;
    return fail(name, message, `see ${settings}`);
  }
  if (chainId !== null && servedChainId !== chainId) {
    return fail(name, `it serves chain ${servedChainId}, not ${chainId}`, `see ${settings}`);
  }
  return null;
}

/**
 * The chain id or the error code in a JSON-RPC response. Both are null for any other response. The message of an error is not read, because
 * it may contain the URL.
 */
function parseChainId(body: Buffer): { chainId: number | null; errorCode: number | null } {
  try {
    const { result, error } = JSON.parse(body.toString('utf8')) as { result?: unknown; error?: { code?: unknown } };
    const code = error?.code;
    return {
      chainId: typeof result === 'string' && /^0x[0-9a-f]{1,12}$/i.test(result) ? Number(result) : null,
      errorCode: typeof code === 'number' ? code : null,
    };
  } catch {
    return { chainId: null, errorCode: null };
  }
}

/**
 * Uses the median, so that one server with a wrong clock does not matter. Dates in HTTP are precise only to one second, which is enough: smaller
 * differences than CLOCK_FAIL_MS are not reported.
 */
function toClockFinding(offsets: readonly number[]): DoctorFinding {
  const medianMs = offsets.toSorted((a, b) => a - b)[Math.floor(offsets.length / 2)];
  if (medianMs === undefined)
    return warn(
      'clock',
      'no response had a date to compare the clock with',
      'check that NTP synchronises the clock of this machine',
    );
  if (Math.abs(medianMs) < CLOCK_FAIL_MS) return ok('clock', 'it agrees with the dates of the responses');
  const seconds = Math.round(Math.abs(medianMs) / 1_000);
  const message = `it is ${seconds} s ${medianMs > 0 ? 'behind' : 'ahead of'} the dates of the responses`;
  return fail('clock', message, 'synchronise the clock of this machine with NTP');
}
