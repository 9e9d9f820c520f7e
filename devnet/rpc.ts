// JSON-RPC calls to a local chain, singly or in batches. Nothing is retried, because failures on the loopback address are not temporary.

type Params = readonly unknown[];
type RpcResponse = { id: number; result?: unknown; error?: { code: number; message: string } };

export type Rpc = {
  /** Rejects with the method and the message if the response is an error. */
  call: <T = unknown>(method: string, ...params: Params) => Promise<T>;
  /** The results in the order of the calls. A call whose response is an error has the result null. */
  readAll: <T = unknown>(calls: readonly { method: string; params: Params }[]) => Promise<(T | null)[]>;
};

/** The time limit of a request. Anvil responds in milliseconds, so a request that takes longer has hung. */
const TIMEOUT_MS = 30_000;
const BATCH_SIZE_MAX = 500;

export function createRpc(url: string): Rpc {
  return {
    call: async <T>(method: string, ...params: Params) => {
      const response = (await post(url, { jsonrpc: '2.0', id: 1, method, params })) as RpcResponse;
      if (response.error) throw new Error(`${method}: ${response.error.message}`);
      return response.result as T;
    },
    readAll: async <T>(calls: readonly { method: string; params: Params }[]) => {
      const results: (T | null)[] = [];
      for (let from = 0; from < calls.length; from += BATCH_SIZE_MAX) {
        const part = calls.slice(from, from + BATCH_SIZE_MAX);
        const body = part.map((call, id) => ({ jsonrpc: '2.0', id, ...call }));
        const responses = (await post(url, body)) as RpcResponse[];
        const byId = new Map(responses.map((response) => [response.id, response]));
        results.push(...part.map((_, id) => (byId.get(id)?.result as T | undefined) ?? null));
      }
      return results;
    },
  };
}

async function post(url: string, body: unknown): Promise<unknown> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  return response.json();
}
