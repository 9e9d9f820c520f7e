// A JSON-RPC endpoint on loopback that tells the truth or one consistent lie. Its false responses are well-formed, so that no check of
// their form can refuse them. Malformed responses are in faulty-endpoint.ts.

import http from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * `omits-logs`: every block is served without logs, but with its true bloom. `fork`: the block that was the newest when `tell` was
 * called, and the blocks after it, have other hashes and no logs. `other-chain`: all blocks have other hashes and no logs, and the
 * chain has another id.
 */
export type Lie = 'none' | 'omits-logs' | 'fork' | 'other-chain';

export type LyingEndpoint = {
  url: string;
  /** For each lie, the number of responses that it changed. */
  told: Record<Lie, number>;
  tell(lie: Lie): Promise<void>;
  close(): Promise<void>;
};

type Call = { id: number; method: string; params: unknown[] };
type Response = { id: number; result?: unknown };
type Fields = Record<string, unknown>;

const FORK_MARK = 'f0f0f0f0';
const NO_BLOOM = `0x${'0'.repeat(512)}`;

export async function startLyingEndpoint(targetUrl: string): Promise<LyingEndpoint> {
  let current: Lie = 'none';
  let forkedAt = 0;
  /** By false hash, the true hash of the block that a lie served with the false hash. */
  const renamed = new Map<string, string>();
  const told = { none: 0, 'omits-logs': 0, fork: 0, 'other-chain': 0 };
  const newest = async () => Number((await forward(targetUrl, [BLOCK_NUMBER]))[0]?.result);

  const rename = (hash: unknown): string => {
    const fake = `${String(hash).slice(0, -FORK_MARK.length)}${FORK_MARK}`;
    renamed.set(fake, String(hash));
    return fake;
  };
  const toForked = (block: Fields): Fields => {
    const number = Number(block['number']);
    if (number < forkedAt) return block;
    const parentHash = number > forkedAt ? rename(block['parentHash']) : block['parentHash'];
    return { ...block, hash: rename(block['hash']), parentHash, logsBloom: NO_BLOOM };
  };
  const lies: Record<Lie, (call: Call, result: unknown) => unknown> = {
    none: (_call, result) => result,
    'omits-logs': ({ method }, result) => (method === 'eth_getLogs' ? [] : result),
    fork: ({ method }, result) => {
      if (method === 'eth_getLogs') return [];
      return isBlock(result) ? toForked(result) : result;
    },
    'other-chain': ({ method }, result) => {
      if (method === 'eth_chainId') return '0x539';
      if (method === 'eth_getLogs') return [];
      return isBlock(result)
        ? { ...result, hash: rename(result['hash']), parentHash: rename(result['parentHash']) }
        : result;
    },
  };

  const server = http.createServer((request, response) => {
    const respond = async () => {
      const body = Buffer.concat(await Array.fromAsync(request as AsyncIterable<Buffer>)).toString();
      const calls = JSON.parse(body) as Call | Call[];
      const list = [calls].flat();
      const honest = await forward(
        targetUrl,
        list.map((call) => toTrue(call, renamed)),
      );
      const answers = list.map((call, index) => {
        const { result, ...rest } = honest[index] ?? { id: call.id };
        const lied = lies[current](call, result);
        if (JSON.stringify(lied) !== JSON.stringify(result)) told[current] += 1;
        return result === undefined ? rest : { ...rest, result: lied };
      });
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(Array.isArray(calls) ? answers : answers[0]));
    };
    respond().catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    told,
    tell: async (lie) => {
      forkedAt = await newest();
      current = lie;
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const BLOCK_NUMBER: Call = { id: 1, method: 'eth_blockNumber', params: [] };

/** The call with each false hash replaced by the true hash. */
function toTrue(call: Call, renamed: ReadonlyMap<string, string>): Call {
  let text = JSON.stringify(call);
  for (const [fake, hash] of renamed) text = text.replaceAll(fake, hash);
  return JSON.parse(text) as Call;
}

function isBlock(result: unknown): result is Fields {
  return typeof result === 'object' && result !== null && 'parentHash' in result && 'number' in result;
}

async function forward(targetUrl: string, calls: readonly Call[]): Promise<Response[]> {
  const response = await fetch(targetUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(calls.map((call) => ({ jsonrpc: '2.0', ...call }))),
  });
  const results = (await response.json()) as Response[];
  return calls.map(({ id }) => results.find((result) => result.id === id) ?? { id });
}
