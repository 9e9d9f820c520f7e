// `mercat devnet`: local chains with the real Seaport, a simulation of people who trade on them, and a service that follows them.
// Everything is removed at the end.

import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { Config, ConfigOverrides } from '../config.ts';
import { isStartedByNpm, readConfig, toChainSetting } from '../config.ts';
import type { Devnet } from '../../devnet/devnet.ts';
import { NETWORKS, startDevnet, startSimulation } from '../../devnet/devnet.ts';
import { createIntakeClient } from '../../devnet/intake-client.ts';
import type { Simulation, Step } from '../../devnet/simulation.ts';
import { describeError, OperatorError } from '../core/errors.ts';
import { createLog } from '../core/log.ts';
import type { Service } from '../service.ts';
import { startService } from '../service.ts';
import type { Command, CommandIo } from './command.ts';
import { parseUsage } from './command.ts';
import { callServer } from './connect-operator.ts';
import { watchParent } from './npm-parent.ts';

const HELP = `Usage: mercat devnet [--chains A,B] [--orders N] [--pace MS] [--actions N] [--seed N] [--port N] [--data-dir D]

Starts local chains with the real Seaport at its real address, people who list, buy, bid, cancel, transfer, mint and burn, with
occasional reorganisations, and a service that follows the chains. Nothing leaves this machine. Needs anvil: docs/devnet.md.

  --chains A,B   the chains to simulate: ${[...NETWORKS.keys()].join(', ')} (default ethereum,base)
  --orders N     signed orders on each chain to begin with (default 300)
  --pace MS      pause between two actions, in milliseconds (default 1000; 0: none)
  --actions N    end after so many actions (default: until stopped)
  --seed N       seed of the simulation: another seed, another course of events (default 1)
  --port N       port that the service listens on (default: a free one)
  --data-dir D   keep the service's data there (default: a temporary directory, removed at the end)
`;

const OPTIONS = {
  chains: { type: 'string', default: 'ethereum,base' },
  orders: { type: 'string', default: '300' },
  pace: { type: 'string', default: '1000' },
  actions: { type: 'string' },
  seed: { type: 'string', default: '1' },
  port: { type: 'string', default: '0' },
  'data-dir': { type: 'string' },
} as const;
/** Local chains produce blocks by the second, and no endpoint limits requests. */
const CHAIN_POLL_MS = '200';
/** Invented dollar rates. */
const FIXED_PRICES = 'ETH=3000,POL=0.5,APE=1';
const DIRECTORY_PREFIX = 'mercat-devnet-';

type SimulationRequest = { networks: string[]; orders: number; paceMs: number; actions: number; seed: number };

export const devnetCommand: Command = {
  name: 'devnet',
  summary: 'local chains with simulated trading, followed by a service',
  help: HELP,
  run: async (args, io) => {
    const { values } = parseUsage(devnetCommand, () => parseArgs({ args, options: OPTIONS }));
    const request: SimulationRequest = {
      networks: values.chains.split(',').map(readNetwork),
      orders: readCount('--orders', values.orders),
      paceMs: readCount('--pace', values.pace),
      actions: values.actions === undefined ? Infinity : readCount('--actions', values.actions),
      seed: readCount('--seed', values.seed),
    };
    const port = readCount('--port', values.port);
    const signal = isStartedByNpm() ? AbortSignal.any([io.signal, watchParent()]) : io.signal;
    const dataDir = values['data-dir'] ?? (await mkdtemp(path.join(os.tmpdir(), DIRECTORY_PREFIX)));
    try {
      await requireFreePort(configOf([], { dataDir, port }));
      await runDevnet(io, { request, dataDir, port, signal });
    } finally {
      if (values['data-dir'] === undefined) await rm(dataDir, { recursive: true, force: true });
    }
    return 0;
  },
};

/** Fails before chains and databases are made, which takes a while. Port 0 is always free. */
async function requireFreePort({ host, port }: Config): Promise<void> {
  const server = net.createServer();
  try {
    await once(server.listen({ host, port }), 'listening');
  } catch (error) {
    throw new OperatorError(`cannot listen on ${host}:${port}: ${describeError(error)}; choose another with --port`);
  }
  server.close();
  await once(server, 'close');
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

function readCount(name: string, text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new OperatorError(`${name} must be a whole number`, { exitCode: 2 });
}
