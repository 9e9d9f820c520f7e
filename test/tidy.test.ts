// Checks the rules of the architecture on the files of src, and what the files of the oracle, of the client and of the independent decoder import. Each rule is also
// tested with a file that breaks it.

import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

/** A file of src: its path relative to src, and its text. */
type SourceFile = { name: string; text: string };

/** Returns the violations of the rule, each as one line. */
type Rule = (files: readonly SourceFile[]) => string[];

/** The rooms of ARCHITECTURE.md, floor by floor. A file imports its own room and the rooms on lower floors. Rooms on one floor never meet. */
const FLOORS = [['main.ts'], ['cli'], ['service'], ['sources', 'server'], ['intake'], ['market', 'shop'], ['platform']];

/** The parts of the rooms that have an order of their own. A part imports itself and the parts after it. `.`: the other files beside the folders. */
const PARTS: Readonly<Record<string, readonly string[]>> = {
  service: ['.', 'context.ts', 'config.ts', 'processes', 'telemetry', 'metrics', 'workers'],
  sources: ['metadata', 'chains', 'upstreams'],
  market: ['explore', 'reads', 'index', 'provenance', 'orders', 'follows', 'chain-log', 'activity'],
  platform: ['tasks', 'http', 'database', 'resilience', 'core', 'version.ts'],
};

const roomOf = (name: string) => name.split('/', 1)[0] ?? '';
const floorOf = (name: string) => FLOORS.findIndex((rooms) => rooms.includes(roomOf(name)));

/** The place of a file in the order of its room. -1 if the room has an order in which the file has no place. */
function partOf(name: string): number {
  const [room = '', part = ''] = name.split('/');
  const parts = PARTS[room];
  if (!parts) return 0;
  return parts.includes(part) || !part.endsWith('.ts') ? parts.indexOf(part) : parts.indexOf('.');
}

const isUpward = (from: string, to: string) =>
  roomOf(from) === roomOf(to) ? partOf(to) < partOf(from) : floorOf(to) <= floorOf(from);

/** The files that a file imports, types included, relative to src. */
function importsOf({ name, text }: SourceFile): string[] {
  const specifiers = [...text.matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+)'/g)].map((match) => match[1] ?? '');
  return specifiers.map((specifier) => path.posix.normalize(path.posix.join(path.posix.dirname(name), specifier)));
}

/** A rule that reports files whose text matches `pattern`. Files whose path matches `allowedPaths` are not reported. */
const onlyIn =
  (pattern: RegExp, allowedPaths: RegExp): Rule =>
  (files) =>
    files.filter(({ name, text }) => !allowedPaths.test(name) && pattern.test(text)).map(({ name }) => name);

const nowhere = (pattern: RegExp) => onlyIn(pattern, /^$/);

function findUpwardImports(files: readonly SourceFile[]): string[] {
  return files.flatMap((file) => {
    if (floorOf(file.name) < 0 || partOf(file.name) < 0)
      return [`${file.name} is in no room: add its place to FLOORS or PARTS, and to ARCHITECTURE.md`];
    return importsOf(file)
      .filter((target) => !target.startsWith('..') && isUpward(file.name, target))
      .map((target) => `${file.name} -> ${target}`);
  });
}

function findCircles(files: readonly SourceFile[]): string[] {
  const targets = new Map(files.map((file) => [file.name, importsOf(file)]));
  const done = new Set<string>();
  const findCircleFrom = (name: string, path: readonly string[]): string | null => {
    if (path.includes(name)) return [...path.slice(path.indexOf(name)), name].join(' -> ');
    if (done.has(name)) return null;
    for (const target of targets.get(name) ?? []) {
      const circle = findCircleFrom(target, [...path, name]);
      if (circle !== null) return circle;
    }
    done.add(name);
    return null;
  };
  return [...targets.keys()].map((name) => findCircleFrom(name, [])).filter((circle) => circle !== null);
}

function findExportedTwice(files: readonly SourceFile[]): string[] {
  const exported = /^export (?:async )?(?:function\*?|const|type|class) (\w+)/gm;
  const found = new Map<string, Set<string>>();
  for (const { name, text } of files) {
    for (const [, symbol = ''] of text.matchAll(exported)) {
      found.set(symbol, (found.get(symbol) ?? new Set()).add(name));
    }
  }
  return [...found]
    .filter(([, names]) => names.size > 1)
    .map(([symbol, names]) => `${symbol}: ${[...names].join(', ')}`);
}

const RULES: Readonly<Record<string, { rule: Rule; broken: readonly SourceFile[] }>> = {
  'imports point down the floors': {
    rule: findUpwardImports,
    broken: [{ name: 'platform/http/a.ts', text: `import type { B } from '../../market/b.ts';` }],
  },
  'rooms on one floor never meet': {
    rule: findUpwardImports,
    broken: [{ name: 'shop/a.ts', text: `import type { B } from '../market/reads/b.ts';` }],
  },
  'imports point down the parts of a room': {
    rule: findUpwardImports,
    broken: [{ name: 'platform/core/a.ts', text: `import type { B } from '../http/b.ts';` }],
  },
  'every file is in a room': {
    rule: findUpwardImports,
    broken: [{ name: 'misc/a.ts', text: '' }],
  },
  'no files import one another in a circle, types included': {
    rule: findCircles,
    broken: [
      { name: 'platform/core/a.ts', text: `import type { B } from './b.ts';` },
      { name: 'platform/core/b.ts', text: `import { a } from './a.ts';` },
    ],
  },
  'only the command `mercat devnet` imports the local chains': {
    rule: onlyIn(/(?:from|import)\s*\(?\s*'(?:\.\.\/)+devnet\//, /^cli\/devnet\.ts$/),
    broken: [{ name: 'sources/chains/a.ts', text: `import { startDevnet } from '../../../devnet/devnet.ts';` }],
  },
  'the oracle is imported by the audit command alone': {
    rule: onlyIn(/(?:from|import)\s*\(?\s*'(?:\.\.\/)+oracle\//, /^cli\/audit-fillable\.ts$/),
    broken: [{ name: 'sources/chains/a.ts', text: `import { askVerdicts } from '../../../oracle/chain-verdicts.ts';` }],
  },
  'the export of telemetry is loaded only if it is switched on': {
    rule: onlyIn(/^import \{[^}]*\} from '[./]*\/telemetry\/(?!settings)/m, /^service\/telemetry\//),
    broken: [{ name: 'service/service.ts', text: `import { Telemetry } from './telemetry/telemetry.ts';` }],
  },
  'the MCP server and its SDK are loaded at the first request': {
    rule: onlyIn(
      /^import \{[^}]*\} from '(?:[./]*\/mcp-server\.ts|@modelcontextprotocol\/[^']+)'/m,
      /^server\/agents\/mcp-server\.ts$/,
    ),
    broken: [{ name: 'server/agents/http/a.ts', text: `import { createMcpResponder } from '../mcp-server.ts';` }],
  },
  'SQL stands in queries/ and platform/database/ alone': {
    rule: onlyIn(
      /\b(select\s[\s\S]{1,80}\sfrom|insert into|update \w+\.\w+ set|delete from)\b/,
      /^platform\/database\/|\/queries\//,
    ),
    broken: [{ name: 'market/a.ts', text: 'db.query(`select id\n from main.shop`)' }],
  },
  'the HTTP framework, its schemas and its statuses are used in server/, */http/ and service/http-server.ts alone': {
    rule: onlyIn(
      /from '(?:fastify|typebox|@fastify\/[^']+)'|\.code\(\d{3}\)|\bstatusCode:/,
      /^server\/|\/http\/|^service\/http-server\.ts$/,
    ),
    broken: [{ name: 'market/a.ts', text: `import { Type } from 'typebox';` }],
  },
  'the figures of the index are locked and refreshed by changeIndex alone': {
    rule: onlyIn(/\b(?:lockFigures|refreshListedAssets|updateRanks)\b/, /^market\/index\//),
    broken: [{ name: 'intake/a.ts', text: 'await lockFigures(tx, collectionIds);' }],
  },
  'the tables of the index are written in market/index, apart from the records that chains, metadata and imports keep of their work':
    {
      rule: onlyIn(
        /\b(?:insert into|update|delete from) indexer\./,
        /^market\/index\/|^platform\/database\/|^sources\/(?:chains|metadata)\/queries\/|^intake\/queries\//,
      ),
      broken: [{ name: 'shop/queries/a.ts', text: 'tx.query(`update indexer.listing set status = $1`)' }],
    },
  'only service/config.ts reads the environment': {
    rule: onlyIn(/process\.env\b/, /^service\/config\.ts$/),
    broken: [{ name: 'shop/a.ts', text: `process.env['PORT']` }],
  },
  'core does no input or output': {
    // `node:diagnostics_channel` is allowed, because a channel only calls subscribers in this process.
    rule: (files) =>
      nowhere(/from 'node:(?!crypto|zlib|diagnostics_channel)|\bfetch\(|\bsetTimeout\b/)(
        files.filter(({ name }) => name.startsWith('platform/core/')),
      ),
    broken: [{ name: 'platform/core/a.ts', text: `import { readFileSync } from 'node:fs';` }],
  },
  'time and randomness are passed in': {
    // The system's clock and random source stand in core. Log lines and commands are at the edge of the program and read the clock
    // directly.
    rule: onlyIn(/\bMath\.random\b|\bDate\.now\b|\bnew Date\(\)/, /^platform\/core\/(clock|random|log)\.ts$|^cli\//),
    broken: [{ name: 'shop/a.ts', text: 'const at = Date.now();' }],
  },
  'a name is exported once': {
    rule: findExportedTwice,
    broken: [
      { name: 'core/a.ts', text: 'export type Price = 1;' },
      { name: 'http/b.ts', text: 'export const Price = 2;' },
    ],
  },
  'no error is swallowed and no type error is suppressed': {
    rule: nowhere(/catch\s*(\([^)]*\))?\s*\{\s*\}|@ts-ignore|@ts-expect-error/),
    broken: [{ name: 'core/a.ts', text: 'try { a() } catch {}' }],
  },
};

/** The files that compare services with the chain (run/), or one service with the model. The model itself is not among them. */
const RUNS_OF_THE_ORACLE =
  /^(?:run\/|model\/(?:doors\/|(?:command|run|steps)\.ts$)|history\/(?:command|run|workload)\.ts$)/;

/** Checks on the files of oracle/, whose paths are relative to that folder. */
const ORACLE_RULES: Readonly<Record<string, { rule: Rule; broken: readonly SourceFile[] }>> = {
  'the oracle imports nothing of src': {
    rule: nowhere(/(?:from|import)\s*\(?\s*'(?:\.\.\/)+src\//),
    broken: [{ name: 'run/a.ts', text: `import { deriveOrderStatus } from '../../src/market/orders/status.ts';` }],
  },
  'only the runs of the oracle, of its model and of its histories use the local chains and the support of tests': {
    rule: onlyIn(/(?:from|import)\s*\(?\s*'(?:\.\.\/)+(?:devnet|test)\//, RUNS_OF_THE_ORACLE),
    broken: [{ name: 'a.ts', text: `import { readBlock } from '../devnet/chain.ts';` }],
  },
  'the oracle needs no package, so that the audit command can use it where only production packages are installed': {
    // Not the text 'import'.
    rule: onlyIn(/(?<!')(?:from|import)\s*\(?\s*'(?!node:|\.)/, RUNS_OF_THE_ORACLE),
    broken: [{ name: 'a.ts', text: `import { encodeFunctionData } from 'viem';` }],
  },
  'the rules of the model know nothing of how they are compared': {
    rule: onlyIn(/(?<!')(?:from|import)\s*\(?\s*'(?!\.\/)/, /^(?!model\/rules\/)/),
    broken: [{ name: 'model/rules/a.ts', text: `import { isSame } from '../comparison/check.ts';` }],
  },
};

/** Checks on the files of client/src, whose paths are relative to that folder. */
const CLIENT_RULES: Readonly<Record<string, { rule: Rule; broken: readonly SourceFile[] }>> = {
  'the client needs no package and nothing of Node, so that it runs in browsers': {
    // The hooks are an entry of their own, which needs React and TanStack Query.
    rule: (files) =>
      nowhere(/^(?:import|export)\b[^;]*?from '[^.]|\bimport\(|\b(?:process|Buffer)\./m)(
        files.map(({ name, text }) =>
          name === 'react.ts'
            ? { name, text: text.replaceAll(/'(?:react|@tanstack\/react-query)'/g, `'./peer.ts'`) }
            : { name, text },
        ),
      ),
    broken: [
      { name: 'a.ts', text: `import { createHmac } from 'node:crypto';` },
      { name: 'a.ts', text: `import { useEffect } from 'react';` },
    ],
  },
  'no other file of the client imports the hooks for React': {
    rule: (files) => files.filter((file) => importsOf(file).includes('react.ts')).map(({ name }) => name),
    broken: [{ name: 'market.ts', text: `export { createMarketHooks } from './react.ts';` }],
  },
  'the client imports nothing outside its folder': {
    rule: (files) =>
      files.flatMap((file) =>
        importsOf(file)
          .filter((target) => target.startsWith('..'))
          .map((target) => `${file.name} -> ${target}`),
      ),
    broken: [{ name: 'a.ts', text: `import { ServiceError } from '../../src/platform/core/errors.ts';` }],
  },
  'no files of the client import one another in a circle, types included': {
    rule: findCircles,
    broken: [{ name: 'a.ts', text: `import { a } from './a.ts';` }],
  },
  'the market part of the client imports neither the store nor the intake': {
    rule: (files) =>
      [...reachableFrom('market.ts', files)].filter((name) => /(?:store|intake|webhooks)\.ts$/.test(name)),
    broken: [
      { name: 'market.ts', text: `import { a } from './b.ts';` },
      { name: 'b.ts', text: `import { createStoreClient } from './store.ts';` },
    ],
  },
};

/** Checks on the files of test/, whose paths are relative to that folder. */
const TEST_RULES: Readonly<Record<string, { rule: Rule; broken: readonly SourceFile[] }>> = {
  'the independent decoder and its receipts import nothing of src, not even through another file': {
    rule: (files) =>
      ['differential/decoder.ts', 'differential/receipts/all.ts'].flatMap((name) =>
        [...reachableFrom(name, files)].filter((target) => target.startsWith('../')),
      ),
    broken: [
      { name: 'differential/decoder.ts', text: `import { readLog } from './trades.ts';` },
      {
        name: 'differential/trades.ts',
        text: `import { BLUR_V1 } from '../../src/sources/chains/protocols/blur-v1.ts';`,
      },
    ],
  },
};

/** Returns the files that do not begin with a comment. A line with `#!` may stand before the comment. */
function findWithoutHeader(files: readonly SourceFile[]): string[] {
  return files.filter(({ text }) => !/^(?:#!.*\n)?\/\/ /.test(text)).map(({ name }) => name);
}

function reachableFrom(name: string, files: readonly SourceFile[]): Set<string> {
  const targets = new Map(files.map((file) => [file.name, importsOf(file)]));
  const reached = new Set([name]);
  for (const one of reached) for (const target of targets.get(one) ?? []) reached.add(target);
  return reached;
}

function readSource(folder: string): SourceFile[] {
  const root = fileURLToPath(new URL(folder, import.meta.url));
  return readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => ({ name: name.replaceAll(path.sep, '/'), text: readFileSync(path.join(root, name), 'utf8') }));
}

const source = readSource('../src/');
const oracle = readSource('../oracle/');
const client = readSource('../client/src/');
const tests = readSource('./');

describe('the architecture', () => {
  for (const [name, { rule }] of Object.entries(RULES)) test(name, () => assert.deepEqual(rule(source), []));
  for (const [name, { rule }] of Object.entries(ORACLE_RULES)) test(name, () => assert.deepEqual(rule(oracle), []));
  for (const [name, { rule }] of Object.entries(CLIENT_RULES)) test(name, () => assert.deepEqual(rule(client), []));
  for (const [name, { rule }] of Object.entries(TEST_RULES)) test(name, () => assert.deepEqual(rule(tests), []));
});

test('every file of the service and of its tests begins with a comment that says what the file is responsible for', () => {
  assert.deepEqual(findWithoutHeader([...source, ...tests]), []);
  assert.deepEqual(findWithoutHeader([{ name: 'a.test.ts', text: `import assert from 'node:assert/strict';` }]), [
    'a.test.ts',
  ]);
});

describe('a broken rule is reported', () => {
  for (const [name, { rule, broken }] of Object.entries({
    ...RULES,
    ...ORACLE_RULES,
    ...CLIENT_RULES,
    ...TEST_RULES,
  })) {
    test(name, () => assert.equal(rule(broken).length > 0, true));
  }
});
