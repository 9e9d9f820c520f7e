// Tests the npm package of the client on Node, Deno and Bun, and reads the stream with the npm package `eventsource`. The service has the
// sample marketplace. `npm run test:runtimes` installs Deno, Bun and `eventsource` from npm into a temporary directory. The packages of Deno
// and Bun for one platform contain the executable file, so that they need no install script.

import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { before, test } from 'node:test';
import { createMarketClient } from '../../client/src/market.ts';
import { useSampleService } from '../support/service/sample-service.ts';
import { newCollection } from '../support/service/market.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import type { Project } from './installed-package.ts';
import { createProjectWithClient } from './installed-package.ts';

const DENO_VERSION = '2.9.6';
const BUN_VERSION = '1.4.5';
const EVENTSOURCE_VERSION = '5.1.5';
const SLUG = 'harbour-lights';
const EVENTS = 12;
const PROGRAM_MS_MAX = 60_000;

const skip = process.env['RUNTIME_TESTS']
  ? false
  : 'npm run test:runtimes downloads Deno, Bun and eventsource from npm';

/** Counts the connections, and breaks each of them after two chunks. */
const BREAKING_FETCH = `
let connections = 0;
const breaking = async (...request) => {
  connections += 1;
  const response = await fetch(...request);
  let chunks = 0;
  const cut = new TransformStream({
    transform(chunk, controller) {
      chunks += 1;
      if (chunks > 2) controller.error(new Error('the connection broke'));
      else controller.enqueue(chunk);
    },
  });
  return new Response(response.body.pipeThrough(cut), response);
};
`;

/** Prints one line of JSON for each step. The connections of the stream break after two chunks. */
const PROGRAM = `
import { createMarketClient, formatAmount } from 'mercat-client';
const [baseUrl, slug, collectionId] = process.argv.slice(2);
const market = createMarketClient({ baseUrl });
const print = (step, value) => console.log(JSON.stringify({ step, value }));
const listings = await market.listListings({ id: slug, limit: 40 }).take(100);
print('list', listings.map(({ orderId, price }) => [orderId, typeof price.raw, formatAmount(price.raw, 18)]));
const pages = [];
for await (const page of market.listListings({ id: slug, limit: 60 }).pages()) pages.push(page.data.length);
print('pages', pages);
print('failure', await market.getCollection({ id: 'no such' }).catch(({ code, status }) => [code, status]));
${BREAKING_FETCH}const { offset, changes } = await market.snapshotThenFollow((reads) => reads.listTokens({ id: collectionId }).take(1));
await changes.return();
print('snapshot', offset);
const followed = [];
const unstable = createMarketClient({ baseUrl, fetch: breaking, random: () => 0 });
for await (const { offset: position } of unstable.follow({ from: offset, collections: [collectionId], kinds: ['list'] })) {
  if (followed.push(position) === ${EVENTS}) break;
}
print('followed', followed);
print('resumed', connections > 1);
process.exit(0);
`;

/** Follows the stream with the npm package `eventsource`, which resumes by itself as browsers do. */
const EVENTSOURCE_PROGRAM = `
import { EventSource } from 'eventsource';
const [baseUrl, , collectionId] = process.argv.slice(2);
const print = (step, value) => console.log(JSON.stringify({ step, value }));
${BREAKING_FETCH}
const { meta } = await (await fetch(baseUrl + '/explore/v1/collections/' + collectionId + '/tokens')).json();
const query = new URLSearchParams({ from: meta.offset, collections: collectionId, kinds: 'list' });
// Keeps the process running while the package waits for its next connection, because the timer of the package does not.
setInterval(() => undefined, 1_000);
const source = new EventSource(baseUrl + '/explore/v1/stream?' + query, { fetch: breaking });
const followed = [];
source.addEventListener('list', ({ lastEventId }) => {
  if (followed.push(lastEventId) < ${EVENTS}) return;
  print('followed', followed);
  print('resumed', connections > 1);
  process.exit(0);
});
source.addEventListener('open', () => connections === 1 && print('snapshot', meta.offset));
`;

const service = useSampleService();
let project: Project;
const programs = new Map<string, readonly string[]>();

before(() => {
  if (skip !== false) return;
  project = createProjectWithClient();
  project.write('program.js', PROGRAM);
  const directory = temporaryDirectory();
  const { platform, arch } = process;
  const [deno, bun] = [
    `@deno/${platform}-${arch}${platform === 'linux' ? '-glibc' : ''}`,
    `@oven/bun-${platform}-${arch === 'arm64' ? 'aarch64' : arch}`,
  ];
  const packages = [`${deno}@${DENO_VERSION}`, `${bun}@${BUN_VERSION}`, `eventsource@${EVENTSOURCE_VERSION}`];
  const options = [
    '--prefix',
    directory,
    '--no-save',
    '--no-package-lock',
    '--ignore-scripts',
    '--no-audit',
    '--no-fund',
  ];
  const { status, stderr } = spawnSync('npm', ['install', ...options, ...packages], { encoding: 'utf8' });
  assert.equal(status, 0, stderr);
  const installed = path.join(directory, 'node_modules');
  const eventsource = path.join(directory, 'eventsource.mjs');
  writeFileSync(eventsource, EVENTSOURCE_PROGRAM);
  programs.set('eventsource', [process.execPath, eventsource]);
  programs.set('Node', [process.execPath, 'program.js']);
  programs.set('Deno', [path.join(installed, deno, 'deno'), 'run', '--allow-net', 'program.js']);
  programs.set('Bun', [path.join(installed, bun, 'bin/bun'), 'run', 'program.js']);
});

type Steps = Record<'list' | 'pages' | 'failure' | 'snapshot' | 'followed' | 'resumed', unknown>;

/** Runs a program, and changes the market as soon as the program has its snapshot. */
async function run(command: readonly string[]): Promise<{ steps: Steps; stored: string[] }> {
  const subject = newCollection();
  await service.load([subject.collection(), subject.token('1')]);
  const [file = '', ...options] = command;
  const program = spawn(file, [...options, service.url, SLUG, subject.id], {
    cwd: project.directory,
    env: { PATH: process.env['PATH'], DENO_NO_UPDATE_CHECK: '1', DENO_DIR: temporaryDirectory() },
    stdio: ['ignore', 'pipe', 'inherit'],
    timeout: PROGRAM_MS_MAX,
  });
  const exited = once(program, 'exit');
  const steps: Partial<Steps> = {};
  for await (const line of createInterface({ input: program.stdout })) {
    const { step, value } = JSON.parse(line) as { step: keyof Steps; value: unknown };
    steps[step] = value;
    if (step !== 'snapshot') continue;
    for (let index = 0; index < EVENTS; index += 1)
      await service.load([subject.listing(String(index), 5 + index, { id: `${subject.slug}-${index}` })]);
  }
  assert.deepEqual(await exited, [0, null]);
  const market = createMarketClient({ baseUrl: service.url });
  const { data } = await market.listActivityAfter({ offset: String(steps.snapshot) });
  const listed = data.filter(({ collectionId, kind }) => collectionId === subject.id && kind === 'list');
  return { steps: steps as Steps, stored: listed.flatMap(({ offset }) => offset ?? []) };
}

for (const runtime of ['Node', 'Deno', 'Bun']) {
  test(
    `the client reads lists, pages, failures, and a stream over connections that break, on ${runtime}`,
    { skip },
    async () => {
      const { steps, stored } = await run(programs.get(runtime) ?? assert.fail());
      const rows = await service.walk(`/v1/collections/${SLUG}/listings?limit=100`);
      const list = steps.list as [string, string, string][];
      assert.deepEqual(
        list.map(([orderId, type]) => [orderId, type]),
        rows.slice(0, 100).map(({ orderId }) => [orderId, 'bigint']),
      );
      assert.deepEqual(
        list.map(([, , amount]) => Number(amount)),
        rows.slice(0, 100).map(({ price }) => price.decimal),
      );
      assert.equal(
        (steps.pages as number[]).reduce((sum, length) => sum + length, 0),
        rows.length,
      );
      assert.deepEqual(steps.failure, ['not_found', 404]);
      assert.equal(stored.length, EVENTS);
      assert.deepEqual(steps.followed, stored);
      assert.equal(steps.resumed, true);
    },
  );
}

test('the npm package eventsource resumes the stream over connections that break', { skip }, async () => {
  const { steps, stored } = await run(programs.get('eventsource') ?? assert.fail());
  assert.equal(stored.length, EVENTS);
  assert.deepEqual(steps.followed, stored);
  assert.equal(steps.resumed, true);
});
