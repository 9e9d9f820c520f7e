// Tests the metrics of a service with several serving processes.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Counter, Registry } from 'prom-client';
import type { MetricsOfProcess, ProcessReport } from '../../src/processes/calls.ts';
import { MergedMetrics } from '../../src/processes/merged-metrics.ts';

const REPORT = { state: 'serving', restarts: 0, uptimeSeconds: 1 } as const;
const REPORTS: ProcessReport[] = [1, 2].map((process) => ({ ...REPORT, process }));

async function metricsOf(process: number, requests: number): Promise<MetricsOfProcess> {
  const registry = new Registry();
  new Counter({ name: 'mercat_rejected_requests_total', help: 'Rejected.', registers: [registry] }).inc(requests);
  return { process, restarts: 0, metrics: { own: await registry.getMetricsAsJSON(), shared: [] } };
}

test('concurrent requests for the metrics read each process only once, and a process that has not responded is reported as down', async (t) => {
  const reads: PromiseWithResolvers<MetricsOfProcess[]>[] = [];
  const metrics = new MergedMetrics({
    readMetrics: () => {
      const read = Promise.withResolvers<MetricsOfProcess[]>();
      reads.push(read);
      return read.promise;
    },
    reportOnProcesses: () => Promise.resolve(REPORTS),
  });
  t.after(() => metrics.close());
  const texts = [metrics.text(), metrics.text()];
  assert.equal(reads.length, 1);
  reads[0]?.resolve([await metricsOf(1, 3)]);
  const [first = '', second] = await Promise.all(texts);
  assert.equal(first, second);
  assert.match(first, /^mercat_serving_process_up\{process="1"\} 1$/m);
  assert.match(first, /^mercat_serving_process_up\{process="2"\} 0$/m);
  const later = metrics.text();
  reads[1]?.resolve([await metricsOf(2, 4)]);
  assert.match(await later, /^mercat_rejected_requests_total 7$/m);
});
