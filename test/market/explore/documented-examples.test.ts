// The requests and programs in the pages about the public interfaces are run against a service with the sample marketplace, as they are written.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { describe, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { useSampleService } from '../../support/service/sample-service.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
/** The pages with `curl` commands, and the least number of commands. */
const PAGES: [page: string, commands: number][] = [
  ['docs/marketplace.md', 3],
  ['docs/explore.md', 3],
  ['docs/agents.md', 1],
  ...globSync('docs/coming-from-*.md', { cwd: ROOT }).map((page): [string, number] => [page, 1]),
];
/** The pages whose tables have requests, with names in braces in place of values. */
const TABLES = globSync('docs/coming-from-*.md', { cwd: ROOT });
const REQUESTS_MIN = 15;
/** The pages whose programs need nothing but a service. */
const PROGRAMS = ['docs/explore.md', 'docs/client.md'];
/** The address of the service in the pages. */
const BASE_URL = 'http://127.0.0.1:8080';
const PROGRAM_MS_MAX = 60_000;
const HEADERS = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' };

const COLLECTION = 'harbour-lights';
const TOKEN = { chain: 'ethereum', address: '0x3dd4e9f052dbe1a6e836dc9b9787879836f2c5dd', tokenId: '249' };

type Example = { path: string; body: string | null };

const readPage = (page: string) => readFileSync(path.join(ROOT, page), 'utf8');

/** The `curl` commands of a page, each with its continued lines. A stream does not end, so it is left out: its own tests read it. */
function readCommands(page: string): Example[] {
  const text = readPage(page).replaceAll(/ \\\n\s*/g, ' ');
  return [...text.matchAll(/^(?:\$ )?curl .*$/gm)].flatMap(([line]) => {
    const [, target] = new RegExp(`${BASE_URL}([^' ]*)`).exec(line) ?? [];
    assert.ok(target !== undefined, `${page}: ${line}`);
    const [, body = null] = /-d '([^']*)'/.exec(line) ?? [];
    return line.startsWith('$ curl -sN') ? [] : [{ path: target, body }];
  });
}

/** The public requests in the tables of a page. `POST /explore/v1/tokens/batch` is the only one with a body. */
function readRequests(page: string): Example[] {
  return [...readPage(page).matchAll(/`(GET|POST) (\/(?:explore\/)?v1\/[^`]*)`/g)].map(([, method, target = '']) => ({
    path: target,
    body: method === 'POST' ? JSON.stringify({ tokens: [TOKEN] }) : null,
  }));
}

type Program = { imports: string; body: string };

/** The programs of a page. All but the first continue the first one. */
function readPrograms(page: string): Program[] {
  return [...readPage(page).matchAll(/^```[jt]s\n(.*?)^```$/gms)].map(([, text = '']) => {
    const isImport = (line: string) => line.startsWith('import ');
    const lines = text.split('\n');
    return {
      imports: lines.filter(isImport).join('\n'),
      body: lines.filter((line) => !isImport(line)).join('\n'),
    };
  });
}

const toSourceUrl = (_match: string, entry = '/market') =>
  `'${pathToFileURL(path.join(ROOT, `client/src${entry}.ts`)).href}'`;

/** Runs a program until it has printed a line, because the programs that follow the stream do not end. */
async function readFirstLine(text: string): Promise<string | null> {
  const file = path.join(temporaryDirectory(), 'program.mts');
  writeFileSync(file, text.replaceAll(/'mercat-client(\/\w+)?'/g, toSourceUrl));
  const program = spawn(process.execPath, ['--experimental-eventsource', '--no-warnings', file], {
    stdio: ['ignore', 'pipe', 'inherit'],
    timeout: PROGRAM_MS_MAX,
  });
  const exited = once(program, 'exit');
  let first: string | null = null;
  for await (const line of createInterface({ input: program.stdout })) {
    first ??= line;
    program.kill();
  }
  await exited;
  return first;
}

describe('the examples in the pages about the public interfaces', () => {
  const service = useSampleService();

  async function findsSomething({ path: target, body }: Example): Promise<void> {
    const request = body === null ? {} : { method: 'POST', headers: HEADERS, body };
    const response = await fetch(`${service.url}${target}`, request);
    const text = await response.text();
    assert.equal(response.status, 200, text);
    const { data, result } = JSON.parse(text.replace(/^event: .*\ndata: /, '')) as { data?: unknown; result?: any };
    const found = data ?? result?.structuredContent?.data;
    assert.ok(Array.isArray(found) ? found.length > 0 : found, text);
  }

  /** A token of the sample that is listed and was sold, for the names in braces. */
  async function readValues(): Promise<Map<string, string>> {
    const { data } = await service.ok(`/explore/v1/collections/${COLLECTION}/tokens?listed=true&limit=100`);
    const { chain, contractAddress, tokenId, listing } = data.find(({ lastSale }: any) => lastSale !== null);
    return new Map([
      ['id', COLLECTION],
      ['token', `${chain}/${contractAddress}/${tokenId}`],
      ['tokenId', tokenId],
      ['wallet', listing.seller],
      ['orderId', listing.orderId],
    ]);
  }

  for (const [page, least] of PAGES) {
    const commands = readCommands(page);
    test(`${page} has commands`, () => assert.ok(commands.length >= least));
    for (const command of commands)
      test(`${page}: ${command.path} finds something in the sample`, () => findsSomething(command));
  }

  for (const page of TABLES) {
    const requests = readRequests(page);
    test(`${page} has requests`, () => assert.ok(requests.length >= REQUESTS_MIN));
    for (const request of requests) {
      test(`${page}: ${request.path} finds something in the sample`, async () => {
        const values = await readValues();
        const target = request.path.replaceAll(
          /\{(\w+)\}/g,
          (_match, name: string) => values.get(name) ?? assert.fail(name),
        );
        await findsSomething({ ...request, path: target });
      });
    }
  }

  for (const page of PROGRAMS) {
    const programs = readPrograms(page);
    test(`${page} has programs, which take the decimals of an amount from its price`, () => {
      assert.ok(programs.length > 0);
      for (const { body } of programs) assert.doesNotMatch(body, /Amount\([^()]*, \d+\)/);
    });
    for (const [index, { body }] of programs.entries()) {
      test(`${page}: program ${index + 1} prints something`, async () => {
        const imports = programs.map((program) => program.imports).join('\n');
        const start = index === 0 ? '' : (programs[0]?.body ?? '').replaceAll('console.log', 'void ');
        const text = `${imports}\n${start}\n{\n${body}\n}`;
        assert.ok(await readFirstLine(text.replaceAll(BASE_URL, service.url)));
      });
    }
  }
});
