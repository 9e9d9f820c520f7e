// `npm run oracle -- --steps N --seed S`: runs of the model against a service on each engine, and prints the first difference with the commands that
// repeat it. Exit code 1 means that there is a difference.

import { rmSync } from 'node:fs';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { cleanUp } from '../../test/support/engines/cleanup.ts';
import { directoryWithDatabase } from '../../test/support/engines/embedded-template.ts';
import {
  canRunPostgres,
  createTestDatabase,
  migratedTemplate,
  startPostgres,
} from '../../test/support/engines/postgres-server.ts';
import { temporaryDirectory } from '../../test/support/temporary-directory.ts';
import type { RunOptions } from './run.ts';
import { runModel } from './run.ts';

export const MODEL_USAGE =
  'npm run oracle -- --steps N [--seed 1] [--case-steps 30] [--engine embedded|postgresql] [--patience 15]\n';

/** Only the steps of the last case are printed if it fails, so a case is short. Many cases meet more beginnings than one long case. */
const SHRINK_MS = 300_000;

type Engine = Pick<RunOptions, 'withDatabase'> & { close: () => Promise<void> };

/** Resolves with the exit code. */
export async function runModelCommand(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      steps: { type: 'string' },
      seed: { type: 'string', default: '1' },
      'case-steps': { type: 'string', default: '30' },
      patience: { type: 'string', default: '15' },
      engine: { type: 'string' },
    },
  });
  const stepsPerCase = Number(values['case-steps']);
  const engines = values.engine === undefined ? ['embedded', 'postgresql'] : [values.engine];
  let failures = 0;
  for (const name of engines) {
    if (name === 'postgresql' && !canRunPostgres()) continue;
    const engine = await (name === 'postgresql' ? onPostgres() : onEmbedded());
    const startedAt = performance.now();
    try {
      const { steps, responses, failure } = await runModel({
        withDatabase: engine.withDatabase,
        seed: Number(values.seed),
        cases: Math.ceil(Number(values.steps) / stepsPerCase),
        stepsPerCase,
        shrinkMs: SHRINK_MS,
        patienceMs: Number(values.patience) * 1_000,
        onProgress: (line) => process.stderr.write(`${name}: ${line}\n`),
      });
      const seconds = Math.round((performance.now() - startedAt) / 1_000);
      process.stdout.write(
        `${name}: ${steps} steps, ${responses} responses, ${seconds} s, ${failure === null ? 'no difference' : 'a difference'}\n`,
      );
      if (failure === null) continue;
      failures += 1;
      process.stdout.write(`${failure}\n`);
    } finally {
      await engine.close();
      await cleanUp();
    }
  }
  return failures > 0 ? 1 : 0;
}

export async function onEmbedded(): Promise<Engine> {
  return {
    withDatabase: async (use) => {
      const dir = await directoryWithDatabase();
      await use({ DATA_DIR: dir }).finally(() => rmSync(dir, { recursive: true }));
    },
    close: () => Promise.resolve(),
  };
}

/** Every case has the database of an empty template, which is dropped after the case. */
export async function onPostgres(): Promise<Engine> {
  const server = await startPostgres();
  const template = await migratedTemplate(server.url);
  return {
    withDatabase: async (use) => {
      const url = await createTestDatabase(server.url, template);
      const dir = temporaryDirectory();
      await use({ DATA_DIR: dir, DATABASE_URL: url });
      const client = new pg.Client(server.url);
      await client.connect();
      await client.query(`drop database "${new URL(url).pathname.slice(1)}" with (force)`);
      await client.end();
    },
    close: () => server.discard(),
  };
}
