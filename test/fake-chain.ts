// `npm run fake-chain -- [--blocks N] [--reorganisations N] [--endpoints 2|3] [--engine embedded|postgresql] [--seed N]`: runs
// test/sources/chains/fake-chain.test.ts on a longer chain. Without `--endpoints` and `--engine`, it runs with each. The exit code is 0 only if nothing was
// wrong.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { parseArgs } from 'node:util';

const { values } = parseArgs({
  options: {
    blocks: { type: 'string', default: '3000' },
    reorganisations: { type: 'string', default: '150' },
    endpoints: { type: 'string' },
    engine: { type: 'string' },
    seed: { type: 'string', default: '7' },
  },
});
const { blocks, reorganisations, endpoints, engine, seed } = values;
const pattern = engine === undefined ? 'a simulated chain' : `a simulated chain \\[${engine}\\]`;
// The set-up keeps the databases in memory. On a disk, most of the time would be spent waiting for it.
const options = ['--test-global-setup=test/support/global-setup.ts', `--test-name-pattern=${pattern}`];
const child = spawn(process.execPath, ['--test', ...options, 'test/sources/chains/fake-chain.test.ts'], {
  stdio: 'inherit',
  env: {
    ...process.env,
    FAKE_CHAIN_BLOCKS: blocks,
    FAKE_CHAIN_REORGANISATIONS: reorganisations,
    FAKE_CHAIN_SEED: seed,
    ...(endpoints !== undefined && { FAKE_CHAIN_ENDPOINTS: endpoints }),
  },
});
const [code] = await once(child, 'exit');
process.exitCode = code === 0 ? 0 : 1;
