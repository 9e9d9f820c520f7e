// `npm run bench [NAME…]` prints the figures of docs/performance.md and bench/results: ratios or medians from one run on one machine. The exit
// code is 0 if every aim is reached, 1 if an aim is missed or could not be measured, and 2 for an unknown name.

import { cpus, totalmem } from 'node:os';
import { benchBids } from './reads/bids.ts';
import { benchBusy } from './reads/busy.ts';
import { benchCommands } from './commands/commands.ts';
import { benchCitus } from './large/citus.ts';
import { benchConsole } from './reads/console.ts';
import { benchConsoleWatch } from './reads/console-watch.ts';
import { benchDeadSources } from './reads/dead-sources.ts';
import { benchDecode } from './chains/decode.ts';
import { benchDeliveries } from './store/deliveries.ts';
import { benchDevnetFollowing } from './chains/devnet-following.ts';
import { benchExplore } from './reads/explore.ts';
import { benchFillLatency } from './chains/fill-latency.ts';
import { benchFollowing, benchProtocols } from './chains/following.ts';
import { benchHotListings } from './reads/hot-listings.ts';
import { benchImport } from './imports/import.ts';
import { benchKeyTiming } from './store/key-timing.ts';
import { benchLarge } from './large/large.ts';
import { benchChurn, benchLargeImport } from './large/large-churn.ts';
import { benchLargeFollowing } from './large/large-following.ts';
import { benchLargeInventory } from './store/large-inventory.ts';
import { benchPeers } from './peers/peers.ts';
import { benchPonder } from './peers/ponder.ts';
import { benchReads } from './reads/reads.ts';
import { benchRecordedImports } from './imports/recorded-imports.ts';
import { benchRanking } from './reads/ranking.ts';
import { benchRarity } from './reads/rarity.ts';
import { benchSharedLimits } from './reads/shared-limits.ts';
import { benchSmallMachine } from './large/small-machine.ts';
import { benchStart } from './commands/start.ts';
import { benchStore } from './store/store.ts';
import { benchStream } from './reads/stream.ts';
import { benchWindow } from './reads/window.ts';
import { benchWorkers } from './reads/workers.ts';
import { say } from './support/measure.ts';
import { runBenchmarks } from './support/verdict.ts';

const BENCHMARKS = {
  hot: benchHotListings,
  busy: benchBusy,
  limits: benchSharedLimits,
  workers: benchWorkers,
  citus: benchCitus,
  console: benchConsole,
  'console-watch': benchConsoleWatch,
  window: benchWindow,
  ranking: benchRanking,
  rarity: benchRarity,
  import: benchImport,
  recorded: benchRecordedImports,
  reads: benchReads,
  large: benchLarge,
  small: benchSmallMachine,
  'large-import': benchLargeImport,
  'large-following': benchLargeFollowing,
  churn: benchChurn,
  explore: benchExplore,
  bids: benchBids,
  start: benchStart,
  commands: benchCommands,
  store: benchStore,
  inventory: benchLargeInventory,
  peers: benchPeers,
  'key-timing': benchKeyTiming,
  deliveries: benchDeliveries,
  decode: benchDecode,
  following: benchFollowing,
  devnet: benchDevnetFollowing,
  protocols: benchProtocols,
  ponder: benchPonder,
  latency: benchFillLatency,
  dead: benchDeadSources,
  stream: benchStream,
};

say(
  `${cpus().length} cores, ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.version}, ${new Date().toISOString().slice(0, 10)}`,
);
process.exit(await runBenchmarks(BENCHMARKS, process.argv.slice(2)));
