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
  'npm run oracle -- --steps N [--seed 1] [--case-steps 100] [--engine embedded|postgresql] [--patience 3] [--shrink 300] [--processes 1] [--faults 0] [--list]\n';

type Engine = Pick<RunOptions, 'withDatabase'> & { close: () => Promise<void> };

/** Resolves with the exit code. */
export async function runModelCommand(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      steps: { type: 'string' },
      seed: { type: 'string', default: '1' },
      'case-steps': { type: 'string', default: '100' },
      patience: { type: 'string', default: '3' },
      engine: { type: 'string' },
      shrink: { type: 'string', default: '300' },
      processes: { type: 'string', default: '1' },
      faults: { type: 'string', default: '0' },
      list: { type: 'boolean', default: false },
    },
  });
  const stepsPerCase = Number(values['case-steps']);
  const engines = values.engine === undefined ? ['embedded', 'postgresql'] : [values.engine];
  let failures = 0;
  for (const name of engines) {
    if (name === 'postgresql' && !canRunPostgres()) continue;
    const engine = await (name === 'postgresql' ? onPostgres() : onEmbedded());
    const startedAt = performance.now();
    const listed = new Map<string, string>();
    const note = (text: string, steps: number) => {
      for (const [kind, line] of toKinds(text)) {
        if (listed.has(kind)) continue;
        listed.set(kind, line);
        process.stdout.write(`${name}: step ${steps}: ${line}\n`);
      }
    };
    try {
      const { steps, responses, repeated, failure } = await runModel({
        withDatabase: engine.withDatabase,
        seed: Number(values.seed),
        cases: Math.ceil(Number(values.steps) / stepsPerCase),
        stepsPerCase,
        shrinkMs: Number(values.shrink) * 1_000,
        patienceMs: Number(values.patience) * 1_000,
        processes: name === 'postgresql' ? Number(values.processes) : 1,
        faultShare: Number(values.faults) / 1_000,
        ...(values.list && { onDifference: note }),
        onProgress: (line) => process.stderr.write(`${name}: ${line}\n`),
      });
      const seconds = Math.round((performance.now() - startedAt) / 1_000);
      process.stdout.write(
        `${name}: ${steps} steps, ${responses} responses, ${repeated} cases repeated, ${seconds} s, ${failure === null && listed.size === 0 ? 'no difference' : 'a difference'}\n`,
      );
      if (failure !== null || listed.size > 0) failures += 1;
      if (failure !== null) process.stdout.write(`${failure}\n`);
    } finally {
      await engine.close();
      await cleanUp();
    }
  }
  return failures > 0 ? 1 : 0;
}

/** The places at which a comparison found differences, by a text that is the same for other ids and amounts. */
function toKinds(text: string): [string, string][] {
  const [, ...rest] = text.split(/^(?=\/|[a-z])/m);
  return (rest.length > 0 ? rest : [text]).map((one) => {
    const [path = '', ...lines] = one.split('\n');
    const place = lines.find((line) => line.includes('differs at'))?.trim() ?? lines.join(' ').slice(0, 300);
    const line = `${path.slice(0, 200)}: ${place}`;
    return [line.replaceAll(/[0-9a-zA-Z]*\d[0-9a-zA-Z]*/g, '#').slice(0, 160), line];
  });
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
      try {
        await use({ DATA_DIR: dir, DATABASE_URL: url });
      } finally {
        const client = new pg.Client(server.url);
        await client.connect();
        await client.query(`drop database "${new URL(url).pathname.slice(1)}" with (force)`);
        await client.end();
      }
    },
    close: () => server.discard(),
  };
}
