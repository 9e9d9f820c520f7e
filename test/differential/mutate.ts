// Breaks each protocol, and what the protocols share, in each of its ways (mutations.ts), in a copy of the service, and fails if the comparison with the independent decoder does not
// see it: `npm run mutate:protocols`. `npm run mutate:protocols -- wyvern nouns` breaks only these. Takes about two seconds for each way.

import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { MUTATIONS, SHARED_MUTATIONS } from './mutations.ts';

const ROOT = path.join(import.meta.dirname, '../..');
const TIMEOUT_MS = 120_000;
const COPIED = ['src', 'test/differential', 'test/support', 'package.json', 'tsconfig.json'];
/** The exit code of compare.ts for a difference. A copy that does not run at all ends with another output. */
const DIFFERENT = 1;

const copy = mkdtempSync(path.join(tmpdir(), 'mutated-protocols-'));
try {
  for (const part of COPIED) cpSync(path.join(ROOT, part), path.join(copy, part), { recursive: true });
  symlinkSync(path.join(ROOT, 'node_modules'), path.join(copy, 'node_modules'));
  const whole = compare();
  if (whole.status !== 0) throw new Error(`the comparison fails without a mutation:\n${whole.stdout}${whole.stderr}`);
  const chosen = process.argv.slice(2);
  const survivors: string[] = [];
  for (const [protocol, mutations] of Object.entries({ ...MUTATIONS, ...SHARED_MUTATIONS })) {
    if (chosen.length > 0 && !chosen.includes(protocol)) continue;
    const file = path.join(copy, `src/sources/chains/protocols/${protocol}.ts`);
    const original = readFileSync(file, 'utf8');
    const seen = mutations.map(({ kind, text, broken }) => {
      if (!original.includes(text)) throw new Error(`${protocol}.ts does not contain ${text}`);
      writeFileSync(
        file,
        original.replace(text, () => broken),
      );
      const { status, stdout, stderr } = compare();
      const isSeen = status === DIFFERENT && /^(?:missing|extra): /m.test(stdout);
      if (!isSeen) survivors.push(`${protocol}: ${kind}: ${broken}\n${stderr}`);
      return `${kind}: ${isSeen ? 'seen' : 'NOT SEEN'}`;
    });
    writeFileSync(file, original);
    console.log(`${protocol.padEnd(18)} ${seen.join(', ')}`);
  }
  if (survivors.length > 0) {
    console.log(`\nnot seen:\n${survivors.join('\n')}`);
    process.exitCode = 1;
  }
} finally {
  rmSync(copy, { recursive: true });
}

function compare() {
  return spawnSync(process.execPath, ['test/differential/compare.ts'], {
    cwd: copy,
    encoding: 'utf8',
    timeout: TIMEOUT_MS,
  });
}
