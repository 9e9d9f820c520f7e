// `mercat devnet`: runs local chains with the real Seaport contracts, simulated traders, and a service that follows the chains. The chains
// are removed at the end. The data of the service is removed unless --data-dir is given.

import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { InvalidArgumentError } from '@commander-js/extra-typings';
import type { Config, ConfigOverrides } from '../service/config.ts';
import { isStartedByNpm, readConfig, toChainSetting } from '../service/config.ts';
import type { Devnet } from '../../devnet/devnet.ts';
import { NETWORKS, startDevnet, startSimulation } from '../../devnet/devnet.ts';
import { createIntakeClient } from '../../devnet/intake-client.ts';
import { readBlock } from '../../devnet/chain.ts';
import type { Simulation, Step } from '../../devnet/simulation.ts';
import { startWalletEndpoint } from '../../devnet/wallet-endpoint.ts';
import { OperatorError } from '../platform/core/errors.ts';
import { createLog } from '../platform/core/log.ts';
import type { Service } from '../service/service.ts';
import { startService } from '../service/service.ts';
import { requireFreePort } from '../server/starting-server.ts';
import type { CommandIo, DefineCommand } from './command.ts';
import { callServer } from './server-connection.ts';
import { watchParent } from './npm-parent.ts';

/** The poll interval is short, because local chains may have a block every second, and their endpoints have no rate limits. */
const CHAIN_POLL_MS = '200';
/** Invented dollar rates for the demonstration. */
const FIXED_PRICES = 'ETH=3000,POL=0.5,APE=1';
const DIRECTORY_PREFIX = 'mercat-devnet-';

type SimulationRequest = { networks: string[]; orders: number; paceMs: number; actions: number; seed: number };

export const defineDevnet: DefineCommand = (devnet, io) => {
  devnet
    .description(
      'Start local chains with the real Seaport contracts at their real addresses, and a service that follows the chains. ' +
        'Simulated traders list, buy, bid, cancel, transfer, mint and burn tokens, and some blocks are reorganised. No data ' +
        'leaves this machine. The command needs the development packages and anvil: docs/devnet.md.',
    )
    .option('--chains <a,b>', `the chains to simulate: ${[...NETWORKS.keys()].join(', ')}`, 'ethereum,base')
    .option('--orders <number>', 'how many signed orders each chain has at the start', parseCount, 300)
    .option('--pace <ms>', 'pause between two actions in milliseconds; 0: no pause', parseCount, 1_000)
    .option('--actions <number>', 'end after this many actions (default: run until stopped)', parseCount)
    .option('--seed <number>', 'seed of the random choices of the simulation', parseCount, 1)
    .option('--port <number>', 'port that the service listens on (default: a free port)', parseCount)
    .option(
      '--data-dir <directory>',
      "directory of the service's data (default: a temporary directory, which is removed at the end)",
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
    await requireFreePort(configOf([], { dataDir, port, tradingChains: '' }));
    await runDevnet(io, { request: { networks, orders, paceMs, actions, seed }, dataDir, port, signal });
  } finally {
    if (options.dataDir === undefined) await rm(dataDir, { recursive: true, force: true });
  }
}

type RunOptions = { request: SimulationRequest; dataDir: string; port: number; signal: AbortSignal };

async function runDevnet(io: CommandIo, { request, dataDir, port, signal }: RunOptions): Promise<void> {
  const devnet = await startDevnet(request);
  try {
    const tradingChains = await describeTradingChains(devnet.networks);
    const config = configOf(devnet.networks, { dataDir, port, tradingChains });
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

/** Makes the settings with which the service reads only the local chains and writes only to the data directory. */
function configOf(
  networks: Devnet['networks'],
  { dataDir, port, tradingChains }: { dataDir: string; port: number; tradingChains: string },
): Config {
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
    TRADING_CHAINS: tradingChains,
    PORT: String(port),
  };
  return readConfig(undefined, overrides);
}

/** Returns the chains with the hashes of their first blocks, in the form of the setting TRADING_CHAINS. */
async function describeTradingChains(networks: Devnet['networks']): Promise<string> {
  const chains = networks.map(async ({ world: { chain } }) => `${chain.id}=${(await readBlock(chain, 0)).hash}`);
  return (await Promise.all(chains)).join(',');
}

type Running = { devnet: Devnet; service: Service; request: SimulationRequest; signal: AbortSignal };

/**
 * Follows the collections, posts the first listings, and runs the simulations until the signal aborts or the requested number of actions is
 * reached.
 */
async function simulate({ stdout }: CommandIo, { devnet, service, request, signal }: Running): Promise<void> {
  await using endpoints = new AsyncDisposableStack();
  const marketplace = createIntakeClient({ socketPath: service.socketPath });
  const simulations: Simulation[] = [];
  stdout.write(`Mercat serves on ${service.url}\n`);
  if (service.hasConsole) stdout.write(`Open ${service.url} in a browser to see the market.\n`);
  for (const network of devnet.networks) {
    const { chain, collections } = network.world;
    for (const { address, name } of collections)
      await callServer(
        service.socketPath,
        'collections.add',
        { chain: chain.id, address, name, fromBlock: 0 },
        { signal },
      );
    const { simulation, book: firstListings } = await startSimulation(network, { ...request, marketplace });
    simulations.push(simulation);
    const endpoint = endpoints.use(await startWalletEndpoint(simulation, (step) => stdout.write(describeStep(step))));
    stdout.write(`${chain.id} runs on ${endpoint.url}, chain id ${chain.chainId}\n`);
    for (let index = 0; index < firstListings.length && !signal.aborted; index += 1)
      await simulation.post(firstListings.slice(index, index + 1));
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

/** Prints the orders that the service rejected. There should be none, because the simulations post valid orders only. */
function printRejected(stdout: CommandIo['stdout'], simulation: Simulation): void {
  for (const { listing, reason } of simulation.rejected.splice(0))
    stdout.write(`  rejected ${listing.hash}: ${reason}\n`);
}

function describeStep({ chain, block, what, txs }: Step): string {
  const [first, ...rest] = txs;
  const transactions = first === undefined ? '' : `  ${first}${rest.length > 0 ? ` and ${rest.length} more` : ''}`;
  return `${chain} ${block}  ${what}${transactions}\n`;
}

function toExamples({ networks }: Devnet, { url }: Service): string[] {
  const collectionUrls = networks.flatMap(({ world: { chain, collections } }) =>
    collections.slice(0, 1).map(({ address }) => `${url}/v1/collections/${chain.id}_${address}`),
  );
  return [
    `  curl '${url}/v1/collections'`,
    ...collectionUrls.flatMap((collectionUrl) => [
      `  curl '${collectionUrl}/listings?limit=3'`,
      `  curl '${collectionUrl}/sales?limit=3'`,
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
