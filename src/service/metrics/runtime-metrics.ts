// Sets the metrics of the process: event loop, memory and CPU. Their names follow the semantic conventions of OpenTelemetry.

import type { EventLoopUtilization } from 'node:perf_hooks';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { getHeapStatistics } from 'node:v8';
import type { GaugeTable } from './gauge-table.ts';

/** The period of the timer that measures the delay. A sample is the time between two ticks, so `set` subtracts the period from it. */
const SAMPLE_PERIOD_MS = 10;

export class RuntimeMetrics {
  readonly #delay = monitorEventLoopDelay({ resolution: SAMPLE_PERIOD_MS });
  #utilization: EventLoopUtilization = performance.eventLoopUtilization();

  constructor() {
    this.#delay.enable();
  }

  set(gauges: GaugeTable): void {
    const toSeconds = (ns: number) => Math.max(0, ns / 1e9 - SAMPLE_PERIOD_MS / 1e3);
    // The mean is NaN before the first sample.
    gauges.set('nodejs_eventloop_delay_mean_seconds', {}, toSeconds(this.#delay.mean || 0));
    gauges.set('nodejs_eventloop_delay_p99_seconds', {}, toSeconds(this.#delay.percentile(99)));
    gauges.set('nodejs_eventloop_delay_max_seconds', {}, toSeconds(this.#delay.max));
    this.#delay.reset();
    const utilization = performance.eventLoopUtilization();
    const since = performance.eventLoopUtilization(utilization, this.#utilization);
    this.#utilization = utilization;
    gauges.set('nodejs_eventloop_utilization_ratio', {}, since.utilization);
    const { used_heap_size: used, heap_size_limit: limit } = getHeapStatistics();
    gauges.set('v8js_memory_heap_used_bytes', {}, used);
    gauges.set('v8js_memory_heap_limit_bytes', {}, limit);
    gauges.set('process_memory_usage_bytes', {}, process.memoryUsage.rss());
    const { user, system } = process.cpuUsage();
    gauges.set('process_cpu_time_seconds_total', {}, (user + system) / 1e6);
    gauges.set('process_uptime_seconds', {}, process.uptime());
  }

  close(): void {
    this.#delay.disable();
  }
}
