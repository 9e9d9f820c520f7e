// Posts traces and metrics to the OpenTelemetry receiver. An outage of the receiver is logged once when it begins and once when it
// ends. During an outage, `post` returns a result and does not throw.

import type { Log } from '../../platform/core/log.ts';
import { OutageLog } from '../../platform/http/outage-log.ts';
import { exchange, ExchangeFailure } from '../../platform/resilience/http-exchange.ts';

/** `rejected`: the receiver would reject the same data again. `unavailable`: the receiver may accept the data later. */
export type PostResult = 'accepted' | 'rejected' | 'unavailable';

export type OtlpClientOptions = {
  /** Without a trailing slash. */
  endpoint: string;
  headers: Readonly<Record<string, string>>;
  log: Log;
  /** Returns how many spans were dropped since the previous call of this function. The number is logged at the end of an outage. */
  takeDropped?: () => number;
};

const TIMEOUT_MS = 10_000;
const RESPONSE_BYTES_MAX = 64 * 1024;
/** After these statuses, the specification of OTLP allows the client to send the same data again. */
const RETRYABLE_STATUSES = new Set([429, 502, 503, 504]);

export class OtlpClient {
  readonly #options: OtlpClientOptions;
  readonly #outages: OutageLog;
  readonly #stopping = new AbortController();

  constructor(options: OtlpClientOptions) {
    this.#options = options;
    this.#outages = new OutageLog(options.log, {
      begin: 'telemetry cannot be exported',
      end: 'telemetry is exported again',
    });
  }

  async post(path: '/v1/traces' | '/v1/metrics', body: string): Promise<PostResult> {
    const { endpoint, headers } = this.#options;
    try {
      const { status } = await exchange(`${endpoint}${path}`, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body,
        timeoutMs: TIMEOUT_MS,
        bytesMax: RESPONSE_BYTES_MAX,
        signal: this.#stopping.signal,
      });
      if (status >= 200 && status < 300) {
        this.#outages.noteSuccess(() => ({ droppedSpans: this.#options.takeDropped?.() ?? 0 }));
        return 'accepted';
      }
      this.#outages.noteFailure(new Error(`the receiver responded with ${status}`));
      return RETRYABLE_STATUSES.has(status) ? 'unavailable' : 'rejected';
    } catch (error) {
      if (!(error instanceof ExchangeFailure)) throw error;
      if (error.reason !== 'aborted') this.#outages.noteFailure(error);
      return 'unavailable';
    }
  }

  /** Aborts the current requests and all later ones. */
  abort(): void {
    this.#stopping.abort();
  }
}
