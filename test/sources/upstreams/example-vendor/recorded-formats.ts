// The formats in which `mercat import` reads recorded responses of the example marketplace.

import type { RecordedFormat } from '../../../../src/sources/upstreams/recorded-format.ts';
import { CHAIN, CONTRACT_ADDRESS, listUnder } from '../../../../src/sources/upstreams/recorded-format.ts';
import { NAME, parseListings } from './mapper.ts';

export const readListings: RecordedFormat = {
  name: `${NAME}-listings`,
  fields: { chain: CHAIN, contractAddress: CONTRACT_ADDRESS },
  createReader: (fields) => {
    const contract = { chain: fields.chain('evm').id, contractAddress: fields.contractAddress('evm') };
    return {
      toRows: (response) => listUnder(response, ['listings']),
      parse: (row) => parseListings([row], contract),
      skipped: 'not listings',
    };
  },
};
