// `mercat devnet`: local chains with the real Seaport, a simulation of people who trade on them, and a service that follows them.
// Everything is removed at the end.

import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { InvalidArgumentError } from '@commander-js/extra-typings';
import type { Config, ConfigOverrides } from '../config.ts';
import { isStartedByNpm, readConfig, toChainSetting } from '../config.ts';
import type { Devnet } from '../../devnet/devnet.ts';
import { NETWORKS, startDevnet, startSimulation } from '../../devnet/devnet.ts';
import { createIntakeClient } from '../../devnet/intake-client.ts';
import type { Simulation, Step } from '../../devnet/simulation.ts';
import { OperatorError } from '../core/errors.ts';
import { createLog } from '../core/log.ts';
import type { Service } from '../service.ts';
import { startService } from '../service.ts';
import { requireFreePort } from '../server/listen.ts';
import type { CommandIo, DefineCommand } from './command.ts';
import { callServer } from './server-connection.ts';
import { watchParent } from './npm-parent.ts';

/** Local chains produce blocks by the second, and no endpoint limits requests. */
const CHAIN_POLL_MS = '200';
/** Invented dollar rates. */
const FIXED_PRICES = 'ETH=3000,POL=0.5,APE=1';
const DIRECTORY_PREFIX = 'mercat-devnet-';

type SimulationRequest = { networks: string[]; orders: number; paceMs: number; actions: number; seed: number };

export const defineDevnet: DefineCommand = (devnet, io) => {
  devnet
    .description(
      'Start local chains with the real Seaport at its real address, people who list, buy, bid, cancel, transfer, mint and burn, ' +
        'with occasional reorganisations, and a service that follows the chains. Nothing leaves this machine. It needs the ' +
        'development packages and anvil: docs/devnet.md.',
    )
    .option('--chains <a,b>', `the chains to simulate: ${[...NETWORKS.keys()].join(', ')}`, 'ethereum,base')
    .option('--orders <number>', 'signed orders on each chain to begin with', parseCount, 300)
    .option('--pace <ms>', 'pause between two actions in milliseconds; 0: none', parseCount, 1_000)
    .option('--actions <number>', 'end after this many actions (default: until stopped)', parseCount)
    .option('--seed <number>', 'seed of the simulation: another seed, another course of events', parseCount, 1)
    .option('--port <number>', 'port that the service listens on (default: a free one)', parseCount)
    .option(
      '--data-dir <directory>',
      "keep the service's data there (default: a temporary directory, removed at the end)",
    )
    .action((options) => startAll(options, io));
};

type Options = {
  chains: string;
  orders: number;
  pace: number;
  actions?: number;
  seed: number;
  port?: number;
  dataDir?: string;
};

async function startAll(options: Options, io: CommandIo): Promise<void> {
  const { orders, pace: paceMs, actions = Infinity, seed, port = 0 } = options;
  const networks = options.chains.split(',').map(readNetwork);
  const signal = isStartedByNpm() ? AbortSignal.any([io.signal, watchParent()]) : io.signal;
  const dataDir = options.dataDir ?? (await mkdtemp(path.join(os.tmpdir(), DIRECTORY_PREFIX)));
  try {
    await requireFreePort(configOf([], { dataDir, port }));
    await runDevnet(io, { request: { networks, orders, paceMs, actions, seed }, dataDir, port, signal });
  } finally {
    if (options.dataDir === undefined) await rm(dataDir, { recursive: true, force: true });
  }
}

type RunOptions = { request: SimulationRequest; dataDir: string; port: number; signal: AbortSignal };

async function runDevnet(io: CommandIo, { request, dataDir, port, signal }: RunOptions): Promise<void> {
  const devnet = await startDevnet(request);
  try {
    const config = configOf(devnet.networks, { dataDir, port });
    const service = await startService({ config, log: createLog(config.logLevel), sample: false });
    try {
      await simulate(io, { devnet, service, request, signal });
    } finally {
      await service.close();
    }
  } finally {
    await devnet.stop();
  }
}

/** Settings with which only the local chains are read and only the data directory is written. */
function configOf(networks: Devnet['networks'], { dataDir, port }: { dataDir: string; port: number }): Config {
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
    PORT: String(port),
  };
  return readConfig(undefined, overrides);
}

type Running = { devnet: Devnet; service: Service; request: SimulationRequest; signal: AbortSignal };

/** Follows the collections, posts the first listings, and runs the simulations until the signal aborts. */
async function simulate({ stdout }: CommandIo, { devnet, service, request, signal }: Running): Promise<void> {
  const marketplace = createIntakeClient({ socketPath: service.socketPath });
  const simulations: Simulation[] = [];
  stdout.write(`Mercat serves on ${service.url}\n`);
  for (const network of devnet.networks) {
    const { chain, collections } = network.world;
    for (const { address, name } of collections)
      await callServer(service.socketPath, 'collections.add', { chain: chain.id, address, name, fromBlock: 0 });
    const { simulation, book } = await startSimulation(network, { ...request, marketplace });
    simulations.push(simulation);
    stdout.write(`${chain.id} runs on ${chain.url}, chain id ${chain.chainId}\n`);
    for (let from = 0; from < book.length && !signal.aborted; from += 1)
      await simulation.post(book.slice(from, from + 1));
    stdout.write(`  ${simulation.accepted.length} orders listed in ${collections.length} collections\n`);
    printRejected(stdout, simulation);
  }
  stdout.write(`\nTry:\n${toExamples(devnet, service).join('\n')}\n\nStop: Ctrl-C\n\n`);
  for (let action = 0; action < request.actions && !signal.aborted; action += 1) {
    const simulation = simulations[action % simulations.length];
    if (!simulation) break;
    stdout.write(describeStep(await simulation.step()));
    printRejected(stdout, simulation);
    if (request.paceMs > 0) await delay(request.paceMs, undefined, { signal }).catch(() => undefined);
  }
}

/** Prints the orders that the service rejected. There should be none: the simulations post valid orders only. */
function printRejected(stdout: CommandIo['stdout'], simulation: Simulation): void {
  for (const { listing, reason } of simulation.rejected.splice(0))
    stdout.write(`  rejected ${listing.hash}: ${reason}\n`);
}

function describeStep({ chain, block, what, txs }: Step): string {
  const [first, ...rest] = txs;
  const shown = first === undefined ? '' : `  ${first}${rest.length > 0 ? ` and ${rest.length} more` : ''}`;
  return `${chain} ${block}  ${what}${shown}\n`;
}

function toExamples({ networks }: Devnet, { url }: Service): string[] {
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

function parseCount(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a whole number.');
}
