// Support for tests of the embedded database. It starts processes that open a database and write to it, copies database
// directories, and checks that no acknowledged write is lost.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { cpSync, existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Pool } from 'pg';
import { openEmbedded } from '../../../src/platform/database/embedded/embedded.ts';
import { until } from '../until.ts';

const WRITE_LIMIT_MS = 60_000;
const END_LIMIT_MS = 60_000;
const BATCH_ROWS = 2_000;

/**
 * Makes a database directory in `root`. Returns a function that copies it to `root`/`name`/db. This function returns the path of
 * the copy.
 */
export async function makeTemplate(root: string): Promise<(name: string) => string> {
  const template = path.join(root, 'template', 'db');
  const { close } = await openEmbedded({ dir: template });
  await close();
  return (name) => {
    const dir = path.join(root, name, 'db');
    cpSync(template, dir, { recursive: true });
    return dir;
  };
}

export type Program = { child: ChildProcess; stdout: () => string; stderr: () => string; hasEnded: () => boolean };

function startProgram(name: string, args: string[]): Program {
  const program = fileURLToPath(new URL(name, import.meta.url));
  const child = spawn(process.execPath, [program, ...args], { stdio: ['pipe', 'pipe', 'pipe'] });
  const output = { stdout: '', stderr: '' };
  for (const stream of ['stdout', 'stderr'] as const) {
    child[stream].setEncoding('utf8').on('data', (chunk: string) => (output[stream] += chunk));
  }
  let isClosed = false;
  // `close` comes after `exit`, when the output is complete.
  child.once('close', () => (isClosed = true));
  return { child, stdout: () => output.stdout, stderr: () => output.stderr, hasEnded: () => isClosed };
}

/** Starts a process that opens the database in `dir` and prints "open". It closes the database when its standard input ends. */
export function startOpener(dir: string): Program {
  return startProgram('./embedded-opener.ts', [dir]);
}

/** Waits until the process ends, without ending it. Returns its exit code. */
export async function ended({ child, hasEnded }: Program): Promise<number | null> {
  await until(hasEnded, END_LIMIT_MS, 'the process did not end');
  return child.exitCode;
}

/**
 * Starts a writer and waits until it has acknowledged `count` writes. The writer continues until it is killed or its database
 * stops.
 */
export async function startWriter(dir: string, ackFile: string, count: number): Promise<Program> {
  const before = readAcks(ackFile).length;
  const writer = startProgram('./embedded-writer.ts', [dir, ackFile]);
  const hasWrittenEnough = (): boolean => writer.hasEnded() || readAcks(ackFile).length > before + count;
  await until(hasWrittenEnough, WRITE_LIMIT_MS, `${count} writes were not acknowledged`);
  assert.ok(!writer.hasEnded(), `the writer ended: ${writer.stderr()}`);
  return writer;
}

export async function kill(program: Program): Promise<void> {
  program.child.kill('SIGKILL');
  await ended(program);
}

function readAcks(ackFile: string): string[] {
  return existsSync(ackFile) ? readFileSync(ackFile, 'utf8').split('\n').slice(0, -1) : [];
}

/** Opens the database in `dir` after its writer has ended. Fails unless each write in the acknowledgement file is stored. */
export async function assertAcknowledged(dir: string, ackFile: string, when: string): Promise<void> {
  const { pool, close } = await openEmbedded({ dir });
  try {
    assert.deepEqual(await findProblems(pool, ackFile), [], when);
  } finally {
    await close();
  }
}

/** Lists lost writes and other inconsistencies. The list is empty for a correct database. */
async function findProblems(pool: Pool, ackFile: string): Promise<string[]> {
  const newest = { single: 0, batch: 0 };
  for (const [kind, value] of readAcks(ackFile).map((line) => line.split(' '))) {
    if (kind === 'single' || kind === 'batch') newest[kind] = Math.max(newest[kind], Number(value));
  }
  const one = async (sql: string): Promise<number> =>
    Number((await pool.query<{ n: string }>(`select (${sql}) as n`)).rows[0]?.n);
  const singles = await one('select count(*) from single');
  const problems: string[] = [];
  const check = (holds: boolean, problem: string): void => void (holds || problems.push(problem));
  check(newest.single > 0, 'nothing was acknowledged');
  check((await one('select max(i) from single')) >= newest.single, `row ${newest.single} is lost`);
  check((await one('select max(i) from single')) === singles, 'a row in the middle is lost');
  check((await one('select v from counter')) === singles, 'half a transaction is stored');
  check((await one('select coalesce(max(batch), 0) from bulk')) >= newest.batch, `batch ${newest.batch} is lost`);
  const uneven = `select count(*) from (select from bulk group by batch having count(*) <> ${BATCH_ROWS}) b`;
  check((await one(uneven)) === 0, 'half a batch is stored');
  const bulkRows = await one('select count(*) from bulk');
  await pool.query('set enable_seqscan = off');
  check((await one(`select count(*) from single where u > ''`)) === singles, 'an index misses rows');
  check((await one(`select count(*) from bulk where pad > ''`)) === bulkRows, 'an index misses rows');
  await pool.query('reset enable_seqscan');
  return problems;
}
