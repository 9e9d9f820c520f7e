// Ponder reads the transfers of one ERC-721 collection. handlers.js stores the owners of its tokens.

import { createConfig } from 'ponder';
import { parseAbi } from 'viem';

export default createConfig({
  database: { kind: 'postgres', connectionString: process.env.DATABASE_URL },
  chains: { bench: { id: 1, rpc: process.env.RPC_URL } },
  contracts: {
    Collection: {
      chain: 'bench',
      abi: parseAbi(['event Transfer(address indexed from, address indexed to, uint256 indexed tokenId)']),
      address: process.env.COLLECTION,
      startBlock: 1,
    },
  },
});
