// Starts a local chain, and a service that follows the chain and offers trading. Adds wallets for accounts of the chain to the pages of
// a test.

import assert from 'node:assert/strict';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import type { Hex } from 'viem';
import type { HDAccount } from 'viem/accounts';
import type { Receipt } from '../../devnet/chain.ts';
import { readBlock } from '../../devnet/chain.ts';
import { startSimulation } from '../../devnet/devnet.ts';
import { createIntakeClient } from '../../devnet/intake-client.ts';
import type { Rpc } from '../../devnet/rpc.ts';
import { createRpc } from '../../devnet/rpc.ts';
import type { Simulation } from '../../devnet/simulation.ts';
import { startWalletEndpoint } from '../../devnet/wallet-endpoint.ts';
import type { World } from '../../devnet/world.ts';
import type { Look, WatchedPage } from './browser.ts';
import { PATIENT, openPage, visit, waitUntilLoaded } from './browser.ts';
import { startTestDevnet } from '../../test/support/chain/devnet.ts';
import { directoryWithDatabase } from '../../test/support/engines/embedded-template.ts';
import type { TestService } from '../../test/support/service/service.ts';
import { startTestService } from '../../test/support/service/service.ts';

const SIZE = { people: 4, visitors: 2, collections: 2, tokens: 24, editions: 4 };
const ORDERS = 20;
const REJECTED = { code: 4001, message: 'User rejected the request.' };

export type DevnetMarket = AsyncDisposable & {
  service: TestService;
  world: World;
  simulation: Simulation;
  /** The endpoint for wallets. */
  rpc: Rpc;
};

/** Starts a local Ethereum with posted listings, and a service that follows it. */
export async function startDevnetMarket(): Promise<DevnetMarket> {
  await using started = new AsyncDisposableStack();
  const devnet = await startTestDevnet({ size: SIZE });
  started.defer(devnet.stop);
  const [network = assert.fail()] = devnet.networks;
  const { chain, collections } = network.world;
  const service = await startTestService({
    settings: {
      DATA_DIR: await directoryWithDatabase(),
      ...PATIENT,
      RPC_URL_ETHEREUM: chain.url,
      CHAIN_POLL_MS: '100',
      PRICE_SOURCES: 'fixed',
      FIXED_PRICES: 'ETH=3000',
      TRADING_CHAINS: `ethereum=${(await readBlock(chain, 0)).hash}`,
    },
  });
  started.defer(service.close);
  for (const { address, name } of collections)
    await service.operate('collections.add', { chain: chain.id, address, name, fromBlock: 0 });
  const marketplace = createIntakeClient({ socketPath: service.socketPath });
  const { simulation, book } = await startSimulation(network, { seed: 2, orders: ORDERS, marketplace });
  await simulation.post(book);
  assert.deepEqual(simulation.rejected, []);
  const endpoint = started.use(await startWalletEndpoint(simulation));
  const closers = started.move();
  return {
    service,
    world: network.world,
    simulation,
    rpc: createRpc(endpoint.url),
    [Symbol.asyncDispose]: () => closers.disposeAsync(),
  };
}

export type WalletOptions = {
  account: HDAccount;
  rpc: Rpc;
  /** The methods of the requests that the user of the wallet rejects. */
  rejects?: Set<string>;
  /** Called before a transaction is sent. */
  beforeSend?: () => Promise<unknown>;
  /** Results by method. The wallet returns them instead of asking the chain. */
  results?: Readonly<Record<string, unknown>>;
};

/** Adds a wallet (EIP-1193) with one account to the pages of a browser context. */
export async function addWallet(context: BrowserContext, options: WalletOptions): Promise<void> {
  const respond = async (method: string, params: unknown[]): Promise<unknown> => {
    try {
      if (options.rejects?.has(method)) return { error: REJECTED };
      return { result: await perform(options, method, params) };
    } catch (error) {
      return { error: { code: -32_000, message: error instanceof Error ? error.message : String(error) } };
    }
  };
  await context.exposeFunction('respondAsWallet', respond);
  await context.addInitScript(`{
    const request = async ({ method, params = [] }) => {
      const { result, error } = await window.respondAsWallet(method, params);
      if (error) throw Object.assign(new Error(error.message), error);
      return result;
    };
    window.ethereum = { request, on: () => undefined, removeListener: () => undefined };
  }`);
}

export type OpenedToken = { contract: string; tokenId: string; wallet: Omit<WalletOptions, 'rpc'>; look: Look };

/** Opens the page of a token in a browser that has the wallet, and waits until nothing on it is loading. */
export async function openTokenWithWallet(
  browser: Browser,
  { service, rpc }: DevnetMarket,
  { contract, tokenId, wallet, look }: OpenedToken,
): Promise<WatchedPage> {
  const opened = await openPage(browser, look);
  await addWallet(opened.context, { rpc, ...wallet });
  await visit(opened.page, `${service.url}/t/ethereum/${contract}/${tokenId}`);
  await opened.page.waitForSelector('.trade-wallet');
  await waitUntilLoaded(opened.page);
  return opened;
}

/** Waits until the trade panel says that the trade is done. */
export const finished = (page: Page, text: string) => page.waitForSelector(`.note-good >> text=${text}`);

async function perform({ account, rpc, beforeSend, results }: WalletOptions, method: string, params: unknown[]) {
  if (results && method in results) return results[method];
  if (method === 'eth_requestAccounts' || method === 'eth_accounts') return [account.address];
  if (method === 'eth_signTypedData_v4') return sign(account, String(params[1]));
  if (method !== 'eth_sendTransaction') return rpc.call(method, ...params);
  await beforeSend?.();
  // With a gas limit, the chain also mines a transaction that fails.
  return rpc.call(method, { gas: '0x100000', ...(params[0] as object) });
}

function sign(account: HDAccount, json: string): Promise<Hex> {
  const { types, ...rest } = JSON.parse(json);
  const { EIP712Domain: _, ...others } = types;
  return account.signTypedData({ ...rest, types: others });
}

/** Sends a transaction from an account of the chain. Fails unless the transaction succeeds. */
export async function transactAs(rpc: Rpc, transaction: { from: string; to: string; data: Hex }): Promise<void> {
  const hash = await rpc.call<Hex>('eth_sendTransaction', { gas: '0x100000', ...transaction });
  assert.equal((await rpc.call<Receipt>('eth_getTransactionReceipt', hash)).status, '0x1');
}
