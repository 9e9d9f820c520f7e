// Measures the store beside other programs with the same 1,000 products: requests per second, the 99th percentile of the response times,
// and memory. All programs run at the same time, and their rounds alternate.

import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import autocannon from 'autocannon';
import { canRunPostgres, createTestDatabase, startPostgres } from '../../test/support/engines/postgres-server.ts';
import { median, residentMiB, say } from '../support/measure.ts';
import { medusa } from './medusa.ts';
import { mercat } from './mercat.ts';
import type { Load, Peer, Row, RunningPeer } from './peer.ts';
import { ROWS } from './peer.ts';
import { jsonServer, prism } from './plain.ts';
import { vendure } from './vendure.ts';
import { judge, recordUnmeasured } from '../support/verdict.ts';

const ROUNDS = 3;
const ROUND_S = 4;
/** The longest round of a peer that needs seconds for a response. */
const ROUND_S_MAX = 36;
/** A peer that needs a second for a response needs several seconds until its rate is steady. */
const WARM_UP_S = 6;
const CONNECTIONS = 32;

type Measured = { rate: number; p99: number; failed: number };
type MeasuredPeer = Peer & { running: RunningPeer; rounds: Record<Row, Measured[]> };

export async function benchPeers(): Promise<void> {
  if (!canRunPostgres()) return recordUnmeasured('peers', 'needs PostgreSQL on this machine');
  const dir = mkdtempSync(path.join(os.tmpdir(), 'mercat-bench-'));
  const postgres = await startPostgres({ durable: true });
  const peers: MeasuredPeer[] = [];
  try {
    for (const peer of [mercat, medusa, vendure, jsonServer, prism]) {
      const running = await peer.start({ databaseUrl: await createTestDatabase(postgres.url), dir });
      peers.push({ ...peer, running, rounds: { list: [], read: [], update: [], stock: [] } });
    }
    for (const row of ROWS) await measureRow(row, peers);
    printTable(peers);
  } finally {
    for (const { running } of peers) await running.stop();
    await postgres.discard();
    rmSync(dir, { recursive: true, force: true });
  }
}

async function measureRow(row: Row, peers: readonly MeasuredPeer[]): Promise<void> {
  for (const { running } of peers) await send(running.loads[row], WARM_UP_S);
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const { running, rounds } of peers) rounds[row].push(await send(running.loads[row], ROUND_S));
  }
}

/** A round that completes fewer requests than it has connections is repeated with three times the duration, up to ROUND_S_MAX. */
async function send(load: Load, seconds: number): Promise<Measured> {
  const result = await autocannon({ connections: CONNECTIONS, duration: seconds, ...load });
  if (result.requests.total < CONNECTIONS && seconds < ROUND_S_MAX) return send(load, 3 * seconds);
  return {
    rate: result.requests.total / result.duration,
    p99: result.latency.p99,
    failed: result.non2xx + result.errors,
  };
}

/**
 * Prints a Markdown table of all programs. Compares the rates of Mercat with those of each peer. If a request of Mercat failed, the aim is
 * missed.
 */
function printTable(peers: readonly MeasuredPeer[]): void {
  say('| requests/s (p99 in ms) | list 50 | read | update | stock | memory, MiB |');
  say('|---|---|---|---|---|---|');
  for (const { name, rounds, running } of peers) {
    const cells = ROWS.map((row) => {
      const rates = rounds[row].map(({ rate }) => rate);
      const failed = rounds[row].reduce((sum, round) => sum + round.failed, 0);
      const p99 = median(rounds[row].map((round) => round.p99));
      return `${median(rates).toFixed(0)} (${p99.toFixed(0)})${failed > 0 ? `, ${failed} failed` : ''}`;
    });
    say(`| ${[name, ...cells, residentMiB(running.pid).toFixed(0)].join(' | ')} |`);
  }
  const [own, ...others] = peers;
  if (!own) return;
  for (const { name, aim, rounds } of others) {
    for (const row of ROWS) {
      const ratios = ratiosOf(own.rounds[row], rounds[row]);
      judge({
        name: `peers, ${row}, rate of Mercat as a multiple of ${name}`,
        figure: median(ratios),
        unit: '',
        rounds: ratios,
        aim: aim === null ? null : { atLeast: aim },
        failures: own.rounds[row].reduce((sum, round) => sum + round.failed, 0),
      });
    }
  }
}

function ratiosOf(own: readonly Measured[], other: readonly Measured[]): number[] {
  // A peer that has completed no request was not measured.
  return own.map(({ rate }, index) => rate / (other[index]?.rate || Number.NaN));
}
