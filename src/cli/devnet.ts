// `mercat devnet`: local chains with the real Seaport and life on them, and a service that follows them, all of it gone at the end.

import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { Config, ConfigOverrides } from '../config.ts';
import { isStartedByNpm, readConfig, toChainSetting } from '../config.ts';
import type { Devnet } from '../../devnet/devnet.ts';
import { NETWORKS, startDevnet, startLife } from '../../devnet/devnet.ts';
import { createIntakeDoor } from '../../devnet/intake-door.ts';
import type { Life, Step } from '../../devnet/life.ts';
import { OperatorError } from '../core/errors.ts';
import { createLog } from '../core/log.ts';
import type { Service } from '../service.ts';
import { startService } from '../service.ts';
import type { Command, CommandIo } from './command.ts';
import { parseUsage } from './command.ts';
import { callServer } from './connect-operator.ts';
import { watchParent } from './npm-parent.ts';

const HELP = `Usage: mercat devnet [--chains A,B] [--orders N] [--pace MS] [--actions N] [--seed N] [--port N] [--data-dir D]

Local chains with the real Seaport at its real address, people who list, buy, bid, cancel, transfer, mint and burn, now and then
a reorganisation, and a service that follows all of it. Nothing leaves this machine. Needs anvil: docs/devnet.md.

  --chains A,B   the chains to stand for: ${[...NETWORKS.keys()].join(', ')} (default ethereum,base)
  --orders N     signed orders on each chain to begin with (default 300)
  --pace MS      pause between two actions, in milliseconds (default 1000; 0: as fast as it goes)
  --actions N    end after so many actions (default: until stopped)
  --seed N       another course of events (default 1)
  --port N       port that the service listens on (setting PORT, default 8080; 0: a free one)
  --data-dir D   keep the service's data there (default: a temporary directory, removed at the end)
`;

const OPTIONS = {
  chains: { type: 'string', default: 'ethereum,base' },
  orders: { type: 'string', default: '300' },
  pace: { type: 'string', default: '1000' },
  actions: { type: 'string' },
  seed: { type: 'string', default: '1' },
  port: { type: 'string' },
  'data-dir': { type: 'string' },
} as const;
/** Blocks come by the second here, and nobody counts the requests. */
const CHAIN_POLL_MS = '200';
/** Dollars that are as made up as the rest. */
const FIXED_PRICES = 'ETH=3000,POL=0.5,APE=1';
const DIRECTORY_PREFIX = 'mercat-devnet-';

type Wishes = { networks: string[]; orders: number; paceMs: number; actions: number; seed: number };

export const devnetCommand: Command = {
  name: 'devnet',
  summary: 'local chains with life on them, followed by a service',
  help: HELP,
  run: async (args, io) => {
    const { values } = parseUsage(devnetCommand, () => parseArgs({ args, options: OPTIONS }));
    const wishes: Wishes = {
      networks: values.chains.split(',').map(readNetwork),
      orders: readCount('--orders', values.orders),
      paceMs: readCount('--pace', values.pace),
      actions: values.actions === undefined ? Infinity : readCount('--actions', values.actions),
      seed: readCount('--seed', values.seed),
    };
    const signal = isStartedByNpm() ? AbortSignal.any([io.signal, watchParent()]) : io.signal;
    const dataDir = values['data-dir'] ?? (await mkdtemp(path.join(os.tmpdir(), DIRECTORY_PREFIX)));
    const devnet = await startDevnet(wishes);
    try {
      const config = configOf(devnet, { dataDir, port: values.port });
      const service = await startService({ config, log: createLog(config.logLevel), sample: false });
      try {
        await live(io, { devnet, service, wishes, signal });
      } finally {
        await service.close();
      }
    } finally {
      await devnet.stop();
      if (values['data-dir'] === undefined) await rm(dataDir, { recursive: true, force: true });
    }
    return 0;
  },
};

/** Settings under which nothing but the local chains is read, and nothing but the directory is written. */
function configOf({ networks }: Devnet, { dataDir, port }: { dataDir: string; port: string | undefined }): Config {
  const urls = new Map<string, string>(networks.map(({ world: { chain } }) => [chain.id, chain.url]));
  const endpoints = [...NETWORKS.keys()].map((id) => [toChainSetting(id), urls.get(id) ?? '']);
  const overrides: ConfigOverrides = {
    ...(Object.fromEntries(endpoints) as ConfigOverrides),
    DATA_DIR: dataDir,
    DATABASE_URL: '',
    INDEXER_DATABASE_URL: '',
    CHAIN_POLL_MS,
    PRICE_SOURCES: 'fixed',
    FIXED_PRICES,
    OPENSEA_API_KEY: '',
    DAS_URL: '',
    FEED_URL: '',
    LOG_LEVEL: 'warn',
    ...(port !== undefined && { PORT: port }),
  };
  return readConfig(undefined, overrides);
}

type Running = { devnet: Devnet; service: Service; wishes: Wishes; signal: AbortSignal };

/** Follows the collections, fills the book, and lives until told otherwise. */
async function live({ stdout }: CommandIo, { devnet, service, wishes, signal }: Running): Promise<void> {
  const marketplace = createIntakeDoor({ socketPath: service.socketPath });
  const lives: Life[] = [];
  stdout.write(`Mercat serves on ${service.url}\n`);
  for (const network of devnet.networks) {
    const { chain, collections } = network.world;
    for (const { address, name } of collections)
      await callServer(service.socketPath, 'collections.add', { chain: chain.id, address, name, fromBlock: 0 });
    const { life, book } = await startLife(network, { ...wishes, marketplace });
    lives.push(life);
    stdout.write(`${chain.id} runs on ${chain.url}, chain id ${chain.chainId}\n`);
    for (let from = 0; from < book.length && !signal.aborted; from += 1) await life.post(book.slice(from, from + 1));
    stdout.write(`  ${life.accepted.length} orders listed in ${collections.length} collections\n`);
    report(stdout, life);
  }
  stdout.write(`\nTry:\n${toVisits(devnet, service).join('\n')}\n\nStop: Ctrl-C\n\n`);
  for (let action = 0; action < wishes.actions && !signal.aborted; action += 1) {
    const life = lives[action % lives.length];
    if (!life) break;
    stdout.write(describeStep(await life.step()));
    report(stdout, life);
    if (wishes.paceMs > 0) await delay(wishes.paceMs, undefined, { signal }).catch(() => undefined);
  }
}

/** Says which orders the service refused: life here never posts one that it should. */
function report(stdout: CommandIo['stdout'], life: Life): void {
  for (const { listing, reason } of life.refused.splice(0)) stdout.write(`  refused ${listing.hash}: ${reason}\n`);
}

function describeStep({ chain, block, what, txs }: Step): string {
  const [first, ...rest] = txs;
  const shown = first === undefined ? '' : `  ${first}${rest.length > 0 ? ` and ${rest.length} more` : ''}`;
  return `${chain} ${block}  ${what}${shown}\n`;
}

function toVisits({ networks }: Devnet, { url }: Service): string[] {
  const first = networks.flatMap(({ world: { chain, collections } }) =>
    collections.slice(0, 1).map(({ address }) => `${url}/v1/collections/${chain.id}_${address}`),
  );
  return [
    `  curl '${url}/v1/collections'`,
    ...first.flatMap((collection) => [
      `  curl '${collection}/listings?limit=3'`,
      `  curl '${collection}/sales?limit=3'`,
    ]),
    `  open ${url}/docs`,
  ];
}

function readNetwork(text: string): string {
  const network = text.trim();
  if (NETWORKS.has(network)) return network;
  throw new OperatorError(`--chains takes ${[...NETWORKS.keys()].join(', ')}, not ${JSON.stringify(text)}`, {
    exitCode: 2,
  });
}

function readCount(name: string, text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new OperatorError(`${name} must be a whole number`, { exitCode: 2 });
}
