// A real `mercat serve` that follows local chains. Tests use it as an external program does: the public interface without a key,
// and the intake with an API key. Only the operator's calls use the local socket. These calls create the key, add collections and read the
// progress.

import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { readHeight } from '../../devnet/chain.ts';
import type { World } from '../../devnet/world.ts';
import { createOneEngine } from '../support/engines/one-engine.ts';
import { sendToSocket, startServiceProcess } from '../support/service/service-process.ts';

const WAIT_MS = 60_000;
const POLL_MS = 25;
const CHAIN_POLL_MS = 100;

export type IntakeResponse = { status: number; body: any };

export type FollowedService = {
  url: string;
  /** An API key that may write orders. */
  key: string;
  /** The body of a public read that has to succeed. */
  read(path: string): Promise<any>;
  /** Calls the intake with the key. */
  intake(method: string, path: string, body?: string): Promise<IntakeResponse>;
  /** Waits until each chain has been read to its newest block. */
  settle(): Promise<void>;
  stop(): Promise<void>;
};

/** Starts the service, and follows every collection of the worlds from the first block of its chain. */
export async function startFollowedService(worlds: readonly World[]): Promise<FollowedService> {
  const engine = await createOneEngine();
  // The tests send hundreds of requests with one key in a few seconds.
  const limits = { STORE_RATE_LIMIT: '100000', TRUST_PROXY: 'true' };
  const settings = { ...engine.settings, CHAIN_POLL_MS: String(CHAIN_POLL_MS), ...limits };
  const urls = worlds.map(({ chain }) => [`RPC_URL_${chain.id.toUpperCase()}`, chain.url]);
  const process = await startServiceProcess({ ...settings, ...Object.fromEntries(urls) });
  const operate = async (operation: string, input: object) => {
    const { status, body } = await sendToSocket(process.socketPath, 'POST', `/operator/v1/${operation}`, input);
    assert.equal(status, 200, `${operation}: ${JSON.stringify(body)}`);
    return body.result;
  };
  const { secret } = await operate('keys.create', { scopes: ['orders:write'] });
  for (const { chain, collections } of worlds) {
    for (const { address, name } of collections) {
      await operate('collections.add', { chain: chain.id, address, name, fromBlock: 0 });
    }
  }
  await eventually(async () => {
    for (const { state } of await operate('collections.list', {})) assert.equal(state, 'live');
  });
  let clients = 0;
  return {
    url: process.url,
    key: secret,
    read: async (path) => {
      // Each request has a different client address in X-Forwarded-For, so that no rate limit applies.
      clients += 1;
      const headers = { 'x-forwarded-for': `10.0.${clients >> 8}.${clients & 255}` };
      const response = await fetch(process.url + path, { headers });
      const text = await response.text();
      assert.equal(response.status, 200, `${path}: ${text}`);
      return JSON.parse(text);
    },
    intake: async (method, path, body) => {
      const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' };
      const response = await fetch(`${process.url}/intake/v1${path}`, { method, headers, ...(body && { body }) });
      return { status: response.status, body: await response.json() };
    },
    settle: async () => {
      const heights = await Promise.all(worlds.map(({ chain }) => readHeight(chain)));
      await eventually(async () => {
        const { chains } = await operate('status', {});
        for (const [index, { chain }] of worlds.entries()) {
          const { block } = chains.find((one: { chain: string }) => one.chain === chain.id);
          assert.ok(block >= (heights[index] ?? 0), `${chain.id} has been read to ${block} of ${heights[index]}`);
        }
      });
    },
    stop: async () => {
      await process.stop();
      await engine.close();
    },
  };
}

/** Repeats `check` until it does not throw. After `WAIT_MS`, the error of the latest call is thrown. */
export async function eventually(check: () => Promise<void>): Promise<void> {
  const deadline = performance.now() + WAIT_MS;
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (performance.now() > deadline) throw error;
    }
    await delay(POLL_MS);
  }
}
