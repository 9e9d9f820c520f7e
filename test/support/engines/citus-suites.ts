// Which test files run on a Citus cluster: all that declare their tests once for each engine, except those below.

import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** A test file that imports this module, directly or not, can run on a cluster. */
const CLUSTER = 'test/support/engines/citus-cluster.ts';

/** Files, and folders with all their files, that do not run on a cluster, with the reason. */
export const NOT_ON_CITUS: Readonly<Record<string, string>> = {
  'test/shop/': 'the store does not use the index',
  'test/platform/tasks/': 'leases and states of tasks are in the primary',
  'test/client/': 'the client does not depend on the database',
  'test/deploy/': 'the files of deploy/ do not depend on the database',
  'test/bench/': 'the generators of benchmarks write rows with statements of their own',
  'test/market/reads/cold-plans.test.ts': 'the plan of a coordinator does not show the plans of the workers',
  'test/intake/rows-read.test.ts': 'a coordinator does not count the rows that the workers read',
  'test/degradation/embedded-load.test.ts': 'its subject is the embedded database',
};

/** The paths of the test files, relative to the working directory, which must be the root of the repository. */
export function listCitusSuites(): string[] {
  const imports = new Map<string, readonly string[]>();
  const files = globSync('test/**/*.test.ts').toSorted();
  return files.filter((file) => !isExcluded(file) && reaches(file, { imports, seen: new Set() }));
}

function isExcluded(file: string): boolean {
  return Object.keys(NOT_ON_CITUS).some((excluded) => file.startsWith(excluded));
}

type Search = { imports: Map<string, readonly string[]>; seen: Set<string> };

/** Whether the file imports the module of the cluster. */
function reaches(file: string, search: Search): boolean {
  if (file === CLUSTER) return true;
  if (search.seen.has(file)) return false;
  search.seen.add(file);
  const imported = search.imports.get(file) ?? importsOf(file);
  search.imports.set(file, imported);
  return imported.some((next) => reaches(next, search));
}

/** The files of `test` that the file imports. Imports of types alone are left out, because they do not run the imported file. */
function importsOf(file: string): string[] {
  const text = readFileSync(file, 'utf8');
  const specifiers = [...text.matchAll(/^(?:import|export) (?!type )[^;]*?from '(\.[^']+)'/gms)].map(
    ([, name = '']) => name,
  );
  const paths = specifiers.map((specifier) => path.posix.join(path.posix.dirname(file), specifier));
  return paths.filter((name) => name.startsWith('test/') && name.endsWith('.ts'));
}
