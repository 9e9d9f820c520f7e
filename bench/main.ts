// `npm run bench [NAME…]` prints the figures of docs/performance.md: ratios or medians from one run on one machine. The exit code is 0 if
// every aim is reached, 1 if an aim is missed or could not be measured, and 2 for an unknown name.

import { cpus, totalmem } from 'node:os';
import { benchCommands } from './commands.ts';
import { benchCitus } from './citus.ts';
import { benchConsole } from './console.ts';
import { benchDeadSources } from './dead-sources.ts';
import { benchDecode } from './decode.ts';
import { benchDeliveries } from './deliveries.ts';
import { benchDevnetFollowing } from './devnet-following.ts';
import { benchExplore } from './explore.ts';
import { benchFillLatency } from './fill-latency.ts';
import { benchFollowing, benchProtocols } from './following.ts';
import { benchHotListings } from './hot-listings.ts';
import { benchImport } from './import.ts';
import { benchKeyTiming } from './key-timing.ts';
import { benchLarge } from './large.ts';
import { benchChurn, benchLargeImport } from './large-churn.ts';
import { benchLargeFollowing } from './large-following.ts';
import { benchLargeInventory } from './large-inventory.ts';
import { benchPeers } from './peers.ts';
import { benchPonder } from './ponder.ts';
import { benchReads } from './reads.ts';
import { benchRecordedImports } from './recorded-imports.ts';
import { benchRanking } from './ranking.ts';
import { benchRarity } from './rarity.ts';
import { benchSharedLimits } from './shared-limits.ts';
import { benchSmallMachine } from './small-machine.ts';
import { benchStart } from './start.ts';
import { benchStore } from './store.ts';
import { benchStream } from './stream.ts';
import { benchWindow } from './window.ts';
import { benchWorkers } from './workers.ts';
import { say } from './measure.ts';
import { runBenchmarks } from './verdict.ts';

const BENCHMARKS = {
  hot: benchHotListings,
  limits: benchSharedLimits,
  workers: benchWorkers,
  citus: benchCitus,
  console: benchConsole,
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
