// A separate process that simulates an EVM node with the blocks of a file. Usage: stored-chain.ts FIRST FILE. Each line of the file is a JSON
// array of the logs of one block; the first line is block FIRST. A PUT sets the number of the newest block. Before the first PUT, this number
// is FIRST - 1. The port is printed to standard output.

import { readFileSync } from 'node:fs';
import { serveChain } from './chain-node.ts';

const first = Number(process.argv[2]);
const file = process.argv[3] ?? '';
const blocks = readFileSync(file, 'utf8')
  .trimEnd()
  .split('\n')
  .map((line) => {
    const logs = JSON.parse(line) as { address: string }[];
    return logs.map((log) => ({ address: log.address, text: JSON.stringify(log) }));
  });
let head = first - 1;

serveChain({
  head: () => head,
  logsOf: (number, addresses) =>
    (blocks[number - first] ?? []).filter(({ address }) => addresses.has(address)).map(({ text }) => text),
  onPut: (body) => {
    head = Number(body);
  },
});
