// JSON-RPC of a local chain: one call, or many in one request. An error answer is thrown with the method and what the chain
// said; nothing is tried again, because nothing on this machine fails for a moment only.

type Params = readonly unknown[];
type Answer = { id: number; result?: unknown; error?: { code: number; message: string } };

export type Rpc = {
  call: <T = unknown>(method: string, ...params: Params) => Promise<T>;
  /** The results in the order of the calls; an error is a null there. For reads of which some may fail. */
  readAll: <T = unknown>(calls: readonly { method: string; params: Params }[]) => Promise<(T | null)[]>;
};

/** Anvil proves and mines in milliseconds; what takes this long hangs. */
const TIMEOUT_MS = 30_000;
const BATCH_SIZE_MAX = 500;

export function createRpc(url: string): Rpc {
  return {
    call: async <T>(method: string, ...params: Params) => {
      const answer = (await post(url, { jsonrpc: '2.0', id: 1, method, params })) as Answer;
      if (answer.error) throw new Error(`${method}: ${answer.error.message}`);
      return answer.result as T;
    },
    readAll: async <T>(calls: readonly { method: string; params: Params }[]) => {
      const results: (T | null)[] = [];
      for (let from = 0; from < calls.length; from += BATCH_SIZE_MAX) {
        const part = calls.slice(from, from + BATCH_SIZE_MAX);
        const body = part.map((call, id) => ({ jsonrpc: '2.0', id, ...call }));
        const answers = (await post(url, body)) as Answer[];
        const byId = new Map(answers.map((answer) => [answer.id, answer]));
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
