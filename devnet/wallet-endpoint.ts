// The JSON-RPC endpoint of a local chain for wallets. The endpoint forwards reads to the chain. It passes transactions to the simulation,
// which mines each transaction in a separate block, between two steps of the simulation. If a transaction bypassed the simulation, the
// simulation would plan its next steps from a wrong state of the chain.

import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import type { Hex } from 'viem';
import type { Simulation, Step } from './simulation.ts';

export type WalletEndpoint = AsyncDisposable & { url: string };

type Call = { id?: unknown; method?: unknown; params?: readonly unknown[] };

const SENDING = new Set(['eth_sendTransaction', 'eth_sendRawTransaction']);
/**
 * Only these methods are forwarded to the chain. A list of forbidden methods would not be safe, because a local chain has many methods that
 * change its state, and new versions add more.
 */
const READS = new Set([
  'eth_accounts',
  'eth_blockNumber',
  'eth_call',
  'eth_chainId',
  'eth_createAccessList',
  'eth_estimateGas',
  'eth_feeHistory',
  'eth_gasPrice',
  'eth_getBalance',
  'eth_getBlockByHash',
  'eth_getBlockByNumber',
  'eth_getBlockReceipts',
  'eth_getBlockTransactionCountByHash',
  'eth_getBlockTransactionCountByNumber',
  'eth_getCode',
  'eth_getLogs',
  'eth_getProof',
  'eth_getStorageAt',
  'eth_getTransactionByBlockHashAndIndex',
  'eth_getTransactionByBlockNumberAndIndex',
  'eth_getTransactionByHash',
  'eth_getTransactionCount',
  'eth_getTransactionReceipt',
  'eth_maxPriorityFeePerGas',
  'eth_syncing',
  'net_listening',
  'net_version',
  'web3_clientVersion',
]);
/** The host names that the Host header of a request may have. */
const OWN_HOSTS = new Set(['127.0.0.1', 'localhost']);
const METHOD_NOT_FOUND = -32_601;
const FAILED = -32_000;

/** `onStep` is called with each transaction that was mined. */
export async function startWalletEndpoint(
  simulation: Simulation,
  onStep: (step: Step) => void = () => undefined,
): Promise<WalletEndpoint> {
  const { rpc, url: chainUrl } = simulation.world.chain;

  const respond = async (call: Call): Promise<object> => {
    const { id = null, method, params = [] } = call;
    const base = { jsonrpc: '2.0', id };
    if (typeof method !== 'string' || !(READS.has(method) || SENDING.has(method)))
      return { ...base, error: { code: METHOD_NOT_FOUND, message: `the method ${String(method)} is not available` } };
    if (!SENDING.has(method)) return passOn(chainUrl, { ...call, ...base });
    try {
      const step = await simulation.include(() => rpc.call<Hex>(method, ...params));
      onStep(step);
      return { ...base, result: step.txs[0] };
    } catch (error) {
      return { ...base, error: { code: FAILED, message: error instanceof Error ? error.message : String(error) } };
    }
  };

  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    // A website can make its own host name resolve to 127.0.0.1 (DNS rebinding). A browser then treats this endpoint as part of the website
    // and does not check the origin. But the Host header of such a request still has the host name of the website.
    const host = URL.parse(`http://${request.headers.host ?? ''}`)?.hostname;
    if (host === undefined || !OWN_HOSTS.has(host)) {
      response.writeHead(403).end();
      return;
    }
    // Before a browser sends this content type to another origin, it sends a preflight request. This server rejects every preflight request.
    if (!/^application\/json\s*(;|$)/i.test(request.headers['content-type'] ?? '')) {
      response.writeHead(415).end();
      return;
    }
    const body = (await json(request)) as Call | Call[];
    const result = Array.isArray(body) ? await Promise.all(body.map(respond)) : await respond(body);
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(result));
  };

  const server = createServer((request, response) => {
    handle(request, response).catch(() => response.writeHead(400).end());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    [Symbol.asyncDispose]: async () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** Forwards the call to the chain. Returns the complete response, including the `data` of an error. */
async function passOn(chainUrl: string, call: object): Promise<object> {
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(chainUrl, { method: 'POST', headers, body: JSON.stringify(call) });
  return (await response.json()) as object;
}
