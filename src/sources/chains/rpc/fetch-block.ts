// Fetches the header of a block from one endpoint.

import type { BlockHeader } from '../../../market/chain-log/chain-event.ts';
import type { Endpoint } from './endpoint.ts';
import { invalidResponse } from './rpc-failure.ts';
import type { BloomedHeader } from './rpc-values.ts';
import { readHeader } from './rpc-values.ts';

/** `tag`: a block number as hexadecimal text (`toQuantity`), `latest` or `finalized`. Null if the endpoint has no such block. Throws RpcFailure. */
export async function fetchBlock(endpoint: Endpoint, tag: string): Promise<BloomedHeader | null> {
  const [result] = await endpoint.send([{ method: 'eth_getBlockByNumber', params: [tag, false] }]);
  return readHeader(result);
}

/** The newest block. Throws RpcFailure. */
export async function fetchHead(endpoint: Endpoint): Promise<BlockHeader> {
  const block = await fetchBlock(endpoint, 'latest');
  if (!block) throw invalidResponse('there is no newest block');
  return block.header;
}
