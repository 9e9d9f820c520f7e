// Types for the part of autocannon that the benchmarks use. The package has no types.

declare module 'autocannon' {
  type Result = {
    requests: { total: number };
    latency: { p50: number; p99: number };
    duration: number;
    non2xx: number;
    '1xx': number;
    '2xx': number;
    '3xx': number;
    '4xx': number;
    '5xx': number;
    errors: number;
  };
  type Request = { path?: string; body?: string };
  export type Options = {
    url: string;
    connections: number;
    duration: number;
    method?: string;
    headers?: Record<string, string>;
    /** Each connection sends these requests in turn. */
    requests?: Request[];
    /** Requests a second over all connections. Without it, as many requests as possible are sent. */
    overallRate?: number;
    /** How many threads send the requests. Without it, the thread of the caller. */
    workers?: number;
  };
  export default function autocannon(options: Options): Promise<Result>;
}
