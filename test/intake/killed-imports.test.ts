// Processes that import or undo are killed with SIGKILL at varying moments. Then the import is undone, and the rows must be those from
// before the import. After a repeated import, the rows must be those of an import that was not killed. CRASHES sets how many imports, and
// how many undos, are killed.

import assert from 'node:assert/strict';
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { openEmbedded } from '../../src/platform/database/embedded/embedded.ts';
import type { Database } from '../../src/platform/database/port.ts';
import { createDatabase } from '../../src/platform/database/port.ts';
import { readImports } from '../../src/intake/undo/list-imports.ts';
import { undoPart } from '../../src/intake/undo/undo-import.ts';
import { copyCatalog } from '../../src/market/index/catalog.ts';
import { lockFigures } from '../../src/market/index/queries/figures.ts';
import { recountFigures } from '../../src/market/index/recount.ts';
import { createShop } from '../../src/shop/shops.ts';
import { forEachEngine } from '../support/engines/each-engine.ts';
import type { TestEngine } from '../support/engines/each-engine.ts';
import { listing, NOW, runImport, sale, toContext, token, toNdjson } from '../support/service/intake.ts';
import { dumpUndoable, UNDOABLE_RECORDS } from '../support/service/undoable.ts';
import { until } from '../support/until.ts';
import { programEnvironment } from '../support/program-environment.ts';

const ROUNDS = Number(process.env['CRASHES'] ?? 1);
const LIMIT_MS = 120_000;
const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url));
const ONE_BATCH = fileURLToPath(new URL('one-batch.ts', import.meta.url));

/** Each version of the file has this number of tokens, of sales and of listings. */
const ROWS = 600;
const LINES = 500;
const numbers = Array.from({ length: ROWS }, (_, n) => n + 100);
/** Row `n` is in one of four collections. So each batch has rows of several collections. Only the batch `DIVIDED` is stored in parts. */
const collectionOf = (n: number) => ({ contractAddress: `0x${String(n % 4).padStart(40, '0')}` });

function toRecords(version: 'first' | 'second'): object[] {
  return [
    ...numbers.map((n) =>
      token({
        ...collectionOf(n),
        tokenId: String(n),
        name: `${version} ${n}`,
        owner: `0x${String(n % 50).padStart(40, '0')}`,
      }),
    ),
    ...numbers.map((n) =>
      sale({
        ...collectionOf(n),
        tokenId: String(n),
        tx: `0x${n}`,
        logIndex: 1,
        price: version === 'first' ? '1' : '2',
      }),
    ),
    ...numbers.map((n) =>
      listing({ ...collectionOf(n), tokenId: String(n), id: `${version} ${n}`, orderHash: `0x${n}` }),
    ),
    ...Object.values(UNDOABLE_RECORDS).flatMap((records) => records[version]),
  ];
}

/**
 * The second version. In each group of 500 lines, the second line is invalid. When the import has stored the batch of this line, it prints
 * the number of the line. So a test can see how far the import is.
 */
const SECOND = toNdjson(
  toRecords('second').flatMap((record, index) => (index % (LINES - 1) === 0 ? [record, 'x'] : [record])),
);
const PARTS = Math.ceil(SECOND.split('\n').length / LINES);

type Settings = Awaited<ReturnType<TestEngine['settings']>>;

/** A batch that PostgreSQL stores in four parts, each with the rows of one collection. */
const PART_ROWS = 1_500;
const DIVIDED = toNdjson(
  Array.from({ length: 4 * PART_ROWS }, (_, n) => {
    const fields = { ...collectionOf(n), tokenId: String(n) };
    if (n % 3 === 0) return sale({ ...fields, tx: `0x${n}`, logIndex: 1 });
    return n % 3 === 1 ? listing({ ...fields, id: `L${n}` }) : token({ ...fields, name: `#${n}` });
  }),
);

/** `mercat` with these arguments, or another program, in a process of its own. */
class Command {
  readonly child: ChildProcessWithoutNullStreams;
  readonly #closed: Promise<unknown>;
  output = '';

  constructor(settings: Settings, args: readonly string[], input = '', program = MAIN) {
    const env = {
      ...programEnvironment(),
      HOME: settings['DATA_DIR'] ?? '',
      PORT: '0',
      LOG_LEVEL: 'error',
      ...settings,
    };
    this.child = spawn(process.execPath, [program, ...args], { env });
    for (const stream of [this.child.stdout, this.child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => (this.output += text));
    }
    this.#closed = once(this.child, 'close');
    // A killed process does not read its input to the end.
    this.child.stdin.on('error', () => undefined).end(input);
  }

  get hasEnded(): boolean {
    return this.child.exitCode !== null || this.child.signalCode !== null;
  }

  /** Waits until the process has written `text`, or has ended. */
  async written(text: string): Promise<void> {
    await until(() => this.hasEnded || this.output.includes(text), LIMIT_MS, `${this.output} does not contain ${text}`);
  }

  async end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    this.child.kill(signal);
    await this.closed();
  }

  async closed(): Promise<void> {
    await this.#closed;
  }
}

async function open(settings: Settings): Promise<Database> {
  if (settings['DATABASE_URL'] !== undefined) {
    const pool = new pg.Pool({ connectionString: settings['DATABASE_URL'], max: 4 });
    pool.on('error', () => undefined);
    return createDatabase(pool, { engine: 'postgresql', name: 'main' });
  }
  const { pool, close } = await openEmbedded({ dir: path.join(settings['DATA_DIR'] ?? '', 'db') });
  return createDatabase(pool, { engine: 'embedded', name: 'main', onClose: close });
}

/** Opens the database for `work`. No other process may have the embedded database open. */
async function use<T>(settings: Settings, work: (db: Database) => Promise<T>): Promise<T> {
  const db = await open(settings);
  try {
    return await work(db);
  } finally {
    await db.close();
  }
}

const contextOf = (db: Database) => {
  // These statements have no deadline. On a slow machine, the copy of the catalog would otherwise exceed its deadline and fail.
  const patient: Database = { ...db, within: () => patient };
  return toContext(patient, { copyCatalog: () => Promise.resolve() });
};

/** Does the work that a running service does in the background, and returns the rows. All figures must agree with the rows. */
async function dump(db: Database): Promise<Record<string, unknown[]>> {
  await copyCatalog(contextOf(db), { timeoutMs: LIMIT_MS, batchesMax: 100 });
  const differences = await recountFigures(
    { ...contextOf(db), main: db, indexer: db },
    { prefix: '', now: NOW, limit: 10 },
  );
  assert.deepEqual(differences, []);
  return dumpUndoable(db);
}

/** The ids of the imports that are not undone, newest first, without the import of the first version. */
async function listToUndo(db: Database): Promise<string[]> {
  const imports = await readImports(contextOf(db), 100);
  return imports.slice(0, -1).flatMap(({ id, undo }) => (undo?.state === 'undone' ? [] : [id]));
}

async function undoAll(db: Database): Promise<void> {
  for (const id of await listToUndo(db)) {
    const { state } = await undoPart(contextOf(db), id, { budgetMs: LIMIT_MS });
    assert.equal(state, 'undone');
  }
}

/** Which process is killed while a server runs: the command, or the server that does the work of the command. */
type Victim = 'command' | 'server';

forEachEngine('killed imports', (engine) => {
  let settings: Settings;
  let first: Record<string, unknown[]>;
  let second: Record<string, unknown[]>;
  before(async () => {
    settings = await engine.settings();
    await use(settings, async (db) => {
      await createShop(contextOf(db), 's');
      await runImport(contextOf(db), toNdjson(toRecords('first')));
      first = await dump(db);
      await runImport(contextOf(db), SECOND, { replace: true });
      second = await dump(db);
      await undoAll(db);
      assert.deepEqual(await dump(db), first);
    });
  });

  /** Runs `round` while a server runs, or without a server if `victim` is null. */
  const beside = async (victim: Victim | null, round: (server: Command | null) => Promise<void>) => {
    const server = victim === null ? null : new Command(settings, ['serve', '--no-sample', '--no-workers']);
    try {
      await server?.written('http://');
      await round(server);
    } finally {
      await server?.end('SIGTERM');
    }
  };

  /** Kills an import after some of its batches. Then kills an undo of this import after some time. Finally undoes the rest of the import. */
  const killOnce = async (victim: Victim | null, round: number) => {
    await beside(victim, async (server) => {
      const command = new Command(settings, ['import', '-', '--replace'], SECOND);
      await command.written(`stdin:${1 + (round % PARTS) * LINES + 1}:`);
      await sleep((round * 37) % 60);
      await (victim === 'server' ? server : command)?.end('SIGKILL');
      if (victim === 'server') await command.end('SIGTERM');
    });
    const [id = ''] = await use(settings, listToUndo);
    assert.notEqual(id, '', 'the killed import has stored nothing');
    await beside(victim, async (server) => {
      const command = new Command(settings, ['imports', 'undo', id]);
      await sleep(300 + ((round * 137) % 700));
      await (victim === 'server' ? server : command)?.end('SIGKILL');
      if (victim === 'server') await command.end('SIGTERM');
    });
    await use(settings, async (db) => {
      await undoAll(db);
      assert.deepEqual(await dump(db), first, `the rows differ after round ${round}`);
    });
  };

  test(`after a killed import or undo, an undo restores all rows, and a new import stores all rows (rounds: ${ROUNDS})`, async () => {
    // Without CRASHES, the embedded engine is tested without a server, and PostgreSQL with a server.
    const victims =
      engine.name === 'embedded' ? ([null, 'server', 'command'] as const) : (['server', null, 'command'] as const);
    for (let round = 0; round < ROUNDS; round += 1) await killOnce(victims[round % victims.length] ?? null, round);
    await use(settings, async (db) => {
      await runImport(contextOf(db), SECOND, { replace: true });
      assert.deepEqual(await dump(db), second);
    });
  });

  test('if an import is killed after three of the four parts of a batch, its undo removes all rows of the three parts', async (t) => {
    if (engine.name === 'embedded') return t.skip('the embedded engine stores a batch in one part');
    const own = await engine.settings();
    await use(own, async (db) => {
      const countRows = async () => {
        const [row] = await db.query(
          `select (select count(*) from indexer.sale)::int + (select count(*) from indexer.listing)::int
             + (select count(*) from indexer.token)::int as rows`,
        );
        return row?.['rows'];
      };
      const empty = await dump(db);
      await db.transaction(async (tx) => {
        // The part with this collection waits, and the other three are stored.
        await lockFigures(tx, [`ethereum_${collectionOf(0).contractAddress}`]);
        const killed = new Command(own, [], DIVIDED, ONE_BATCH);
        await killed.written('a part is stored\n'.repeat(3));
        await killed.end('SIGKILL');
      });
      assert.equal(await countRows(), 3 * PART_ROWS);
      const [killed] = await readImports(contextOf(db), 100);
      const { state } = await undoPart(contextOf(db), killed?.id ?? '', { budgetMs: LIMIT_MS });
      assert.equal(state, 'undone');
      assert.deepEqual(await dump(db), empty);
      const again = new Command(own, [], DIVIDED, ONE_BATCH);
      await again.closed();
      assert.equal(again.output, 'a part is stored\n'.repeat(4));
      assert.equal(await countRows(), 4 * PART_ROWS);
    });
  });
});
