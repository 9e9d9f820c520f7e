// Sends the JSON-RPC calls of the oracle to an endpoint. A call that the contract reverts has a result: `reverted`. If the endpoint does
// not respond or cannot execute a call, there is no result, and an EndpointFailure is thrown.

export type Hex = `0x${string}`;

/** `reverted`: the data with which the contract ended the call, such as the selector of an error, or the endpoint's message if there is no data. */
export type CallResult = { result: Hex } | { reverted: string };

export type EthCall = {
  to: string;
  data: Hex;
  from?: string;
  value?: bigint;
  /** Accounts whose balance or code is replaced during the call. */
  overrides?: Readonly<Record<string, { balance?: Hex; code?: Hex }>>;
};

export type BlockHeader = { number: number; hash: Hex; /** Seconds. */ time: number };

/** The endpoint did not respond, or could not execute a call. */
export class EndpointFailure extends Error {
  override readonly name = 'EndpointFailure';
}

export type Endpoint = {
  /** The results in the order of the calls, at one block. Throws EndpointFailure. */
  callAll(calls: readonly EthCall[], block: number): Promise<CallResult[]>;
  /** Null if the endpoint does not have the block. */
  header(block: number | 'latest'): Promise<BlockHeader | null>;
  chainId(): Promise<number>;
};

type Request = { method: string; params: readonly unknown[] };
type Response = { id: number; result?: unknown; error?: { code: number; message: string; data?: unknown } };

const TIMEOUT_MS = 60_000;
const BATCH_SIZE_MAX = 100;
const GAS: Hex = '0x989680';
/** The JSON-RPC error code with which most Ethereum clients report a reverted call. */
const REVERTED = 3;

/** `headers`: sent with every request, such as credentials. */
export function createEndpoint(url: string, headers: Readonly<Record<string, string>> = {}): Endpoint {
  const sendAll = (requests: readonly Request[]) => sendBatches({ url, headers }, requests);
  const sendOne = async (request: Request): Promise<unknown> => {
    const [response] = await sendAll([request]);
    if (!response || response.error) throw new EndpointFailure(`${request.method}: ${response?.error?.message}`);
    return response.result ?? null;
  };
  return {
    callAll: async (calls, block) => {
      return (await sendAll(calls.map((each) => toRequest(each, block)))).map(toCallResult);
    },
    header: async (block) => {
      const at = block === 'latest' ? block : toHex(block);
      const found = await sendOne({ method: 'eth_getBlockByNumber', params: [at, false] });
      if (found === null) return null;
      const { number, hash, timestamp } = found as { number: Hex; hash: Hex; timestamp: Hex };
      return { number: Number(number), hash, time: Number(timestamp) };
    },
    chainId: async () => Number(await sendOne({ method: 'eth_chainId', params: [] })),
  };
}

function toRequest({ to, data, from, value = 0n, overrides }: EthCall, block: number): Request {
  const transaction = { ...(from && { from }), to, data, gas: GAS, value: toHex(value) };
  return { method: 'eth_call', params: [transaction, toHex(block), ...(overrides ? [overrides] : [])] };
}

function toHex(value: number | bigint): Hex {
  return `0x${value.toString(16)}`;
}

type Target = { url: string; headers: Readonly<Record<string, string>> };

async function sendBatches(target: Target, requests: readonly Request[]): Promise<Response[]> {
  const responses: Response[] = [];
  for (let from = 0; from < requests.length; from += BATCH_SIZE_MAX) {
    const part = requests.slice(from, from + BATCH_SIZE_MAX);
    const received = await post(
      target,
      part.map((request, id) => ({ jsonrpc: '2.0', id, ...request })),
    );
    const byId = new Map(received.map((response) => [response.id, response]));
    for (let id = 0; id < part.length; id += 1) {
      const response = byId.get(id);
      if (!response) throw new EndpointFailure('the endpoint left out a response');
      responses.push(response);
    }
  }
  return responses;
}

async function post({ url, headers }: Target, body: unknown): Promise<Response[]> {
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    const received: unknown = await response.json();
    if (Array.isArray(received)) return received as Response[];
    throw new EndpointFailure(`status ${response.status} without a batch of responses`);
  } catch (error) {
    if (error instanceof EndpointFailure) throw error;
    throw new EndpointFailure('the endpoint did not respond', { cause: error });
  }
}

function toCallResult({ result, error }: Response): CallResult {
  if (!error) return { result: result as Hex };
  const data = typeof error.data === 'string' ? error.data : '';
  if (error.code === REVERTED || data.startsWith('0x') || /revert/i.test(error.message)) {
    return { reverted: data || error.message };
  }
  throw new EndpointFailure(error.message);
}
