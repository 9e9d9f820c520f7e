// Measures times, CPU times and memory for the benchmarks. `compare` runs its two sides alternately, so that a change of the machine's speed
// affects both sides of a ratio.

import { readFileSync, readdirSync } from 'node:fs';
import type { Database } from '../../src/platform/database/port.ts';
import { listChildren } from '../../test/support/engines/postgres-server.ts';

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const [low = 0, high = 0] = [sorted[sorted.length % 2 === 0 ? middle - 1 : middle], sorted[middle]];
  return (low + high) / 2;
}

/** Runs `a` and `b` alternately. Returns the median of each, the ratios of the pairs, and the median ratio. */
export async function compare(
  rounds: number,
  a: () => Promise<number>,
  b: () => Promise<number>,
): Promise<{ a: number; b: number; ratio: number; ratios: number[] }> {
  const values: [number, number][] = [];
  for (let round = 0; round < rounds; round += 1) values.push([await a(), await b()]);
  const ratios = values.map(([first, second]) => first / second);
  return {
    a: median(values.map(([first]) => first)),
    b: median(values.map(([, second]) => second)),
    ratio: median(ratios),
    ratios,
  };
}

export async function timeMs(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

export function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

export function spread(values: readonly number[]): string {
  return `${Math.min(...values).toFixed(2)} to ${Math.max(...values).toFixed(2)}`;
}

const TICK_MS = 10;

/** The CPU time of a process in milliseconds. NaN if the system does not report it. */
export function cpuMs(pid: number): number {
  try {
    const fields = readStat(pid);
    return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
  } catch {
    return Number.NaN;
  }
}

/** Times in milliseconds. CPU times: of this process, and of the PostgreSQL server of the database (`databaseCpuMs`). */
export type WorkFigures = { ms: number; cpuMs: number; databaseCpuMs: number };

/** Runs `work`, and measures its elapsed time and its CPU times. */
export async function measureWork(database: Database, work: () => Promise<unknown>): Promise<WorkFigures> {
  const [own, ofDatabase] = [process.cpuUsage(), await databaseCpuMs(database)];
  const ms = await timeMs(work);
  const { user, system } = process.cpuUsage(own);
  return { ms, cpuMs: (user + system) / 1_000, databaseCpuMs: (await databaseCpuMs(database)) - ofDatabase };
}

/** The largest resident memory of this process until now. */
export const peakMiB = (): number => process.resourceUsage().maxRSS / 1_024;

/**
 * Returns the CPU time of a PostgreSQL server on this machine in milliseconds. It includes all processes of the server, also those that have
 * ended. Returns 0 for the embedded engine, whose CPU time is part of the CPU time of this process.
 */
export async function databaseCpuMs(database: Database): Promise<number> {
  if (database.engine === 'embedded') return 0;
  const [row] = await database.query<{ pid: number }>('select pg_backend_pid() as pid');
  const server = Number(readStat(row?.pid ?? 0)[1]);
  const children = listChildren(server).reduce((sum, pid) => sum + cpuMs(pid), 0);
  const [, , , , , , , , , , , user, system, endedUser, endedSystem] = readStat(server).map(Number);
  return (
    children + [user, system, endedUser, endedSystem].reduce<number>((sum, ticks) => sum + (ticks ?? 0) * TICK_MS, 0)
  );
}

/** The fields of /proc/PID/stat after the name of the program. The first field is the state, the second the id of the parent process. */
function readStat(pid: number): string[] {
  return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
}

/**
 * Returns the CPU time of a process and its children in milliseconds, more exactly than `cpuMs`, for work of a few milliseconds. The time of ended
 * threads is missing, so this function must not be used for long work.
 */
export function exactCpuMs(pid: number): number {
  try {
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean);
    return [String(pid), ...children].reduce((sum, one) => sum + readThreadsMs(one), 0);
  } catch {
    return Number.NaN;
  }
}

function readThreadsMs(pid: string): number {
  const threads = `/proc/${pid}/task`;
  const times = readdirSync(threads).map((thread) =>
    Number(readFileSync(`${threads}/${thread}/schedstat`, 'utf8').split(' ')[0]),
  );
  return times.reduce((sum, nanoseconds) => sum + nanoseconds / 1e6, 0);
}

/** The resident memory of a process in MiB. NaN if the system does not report it. */
export function residentMiB(pid: number): number {
  try {
    const [, kib] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    return Number(kib) / 1_024;
  } catch {
    return Number.NaN;
  }
}

/**
 * Returns the memory of a process in MiB. A page that n processes share counts as one nth of a page for each of them, so a sum over these
 * processes counts the page once. Returns 0 for a process that has ended.
 */
export function proportionalMiB(pid: number): number {
  try {
    const [, kib] = /^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8')) ?? [];
    return Number(kib ?? 0) / 1_024;
  } catch {
    return 0;
  }
}
