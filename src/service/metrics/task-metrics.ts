// Sets the metrics of tasks, followed chains and sales from the sections of the status.

import type { ChainStatus } from '../../sources/chains/chain-status.ts';
import type { SalesStatus } from '../../market/index/sales-status.ts';
import type { TaskStatus } from '../../platform/tasks/task-status.ts';
import type { GaugeTable } from './gauge-table.ts';

export function setTaskMetrics(gauges: GaugeTable, tasks: readonly TaskStatus[]): void {
  const openUpstreams = new Map<string, boolean>();
  for (const { name: task, state, periodSeconds, lagSeconds, failures, upstreams } of tasks) {
    gauges.set('mercat_task_state', { task, state }, 1);
    gauges.set('mercat_task_period_seconds', { task }, periodSeconds);
    gauges.set('mercat_task_failures', { task }, failures);
    if (lagSeconds !== null) gauges.set('mercat_task_lag_seconds', { task }, lagSeconds);
    // Several tasks can use the same upstream. The gauge is 1 if the upstream's breaker is not closed in at least one task.
    for (const { name, breaker } of upstreams)
      openUpstreams.set(name, openUpstreams.get(name) === true || breaker !== 'closed');
  }
  for (const [name, isOpen] of openUpstreams)
    gauges.set('mercat_breaker_open', { kind: 'upstream', name }, isOpen ? 1 : 0);
}

export function setChainMetrics(gauges: GaugeTable, chains: readonly ChainStatus[]): void {
  for (const { chain, block, lagSeconds, headDistance, reorganisations, comparison, endpoints, ...counts } of chains) {
    if (block !== null) gauges.set('mercat_chain_block', { chain }, block);
    if (lagSeconds !== null) gauges.set('mercat_chain_lag_seconds', { chain }, lagSeconds);
    if (headDistance !== null) gauges.set('mercat_chain_head_distance_blocks', { chain }, headDistance);
    if (comparison) {
      gauges.set('mercat_chain_disputed', { chain }, comparison.disputed ? 1 : 0);
      gauges.set('mercat_chain_uncompared_blocks_total', { chain }, comparison.uncompared);
      gauges.set('mercat_chain_uncompared_calls_total', { chain }, comparison.uncomparedCalls);
    }
    gauges.set('mercat_chain_reorganisations_total', { chain }, reorganisations);
    gauges.set('mercat_chain_undecodable_logs_total', { chain }, counts.undecodableLogs);
    for (const { protocol, logs } of counts.unread)
      gauges.set('mercat_chain_unread_protocol_logs_total', { chain, protocol }, logs);
    gauges.set('mercat_chain_unread_pool_ranges_total', { chain }, counts.unreadPoolRanges);
    for (const { position, state } of endpoints)
      gauges.set(
        'mercat_breaker_open',
        { kind: 'endpoint', name: `${chain}-${position}` },
        state === 'resting' ? 1 : 0,
      );
  }
}

export function setSaleMetrics(gauges: GaugeTable, sales: readonly SalesStatus[]): void {
  for (const { chain, withoutNativePrice } of sales)
    gauges.set('mercat_sales_without_native_price', { chain }, withoutNativePrice);
}
