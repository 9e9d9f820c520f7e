// The part of autocannon that the benchmarks use; the package brings no types.

declare module 'autocannon' {
  type Result = {
    requests: { total: number };
    latency: { p50: number; p99: number };
    duration: number;
    non2xx: number;
    errors: number;
  };
  export default function autocannon(options: { url: string; connections: number; duration: number }): Promise<Result>;
}
