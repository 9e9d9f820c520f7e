// `mercat audit --fillable`: the oracle compares the listings of `/v1`, and the bids, with the chain. The oracle shares no rule with the service.

import { createHash } from 'node:crypto';
import { auditFillable } from '../../oracle/audit.ts';
import type { FillableAudit } from '../../oracle/audit.ts';
import { createEndpoint } from '../../oracle/rpc.ts';
import { createServedApi } from '../../oracle/served.ts';
import type { AuditedBook } from '../sources/chains/audit/signed-orders.ts';
import { parseEndpointUrl } from '../sources/chains/rpc/endpoint-url.ts';
import type { Config } from '../service/config.ts';
import { readConfig, toChainSetting } from '../service/config.ts';
import { OperatorError } from '../platform/core/errors.ts';
import { parseHttpUrl } from '../platform/core/setting.ts';
import type { CommandIo } from './command.ts';
import { connect } from './connect.ts';
import { formatTable, printable } from './output.ts';

type Options = {
  chain?: string;
  sample?: number;
  seed?: string;
  url?: string;
  endpoint?: string;
  json?: true;
};

type Followed = { collectionId: string; chain: string; state: string };
type ChainResult = FillableAudit & { chain: string };

const COLLECTIONS_DEFAULT = 20;

export async function runFillableAudit(options: Options, io: CommandIo): Promise<void> {
  const config = readConfig();
  if (options.endpoint !== undefined && options.chain === undefined)
    throw new OperatorError('--endpoint needs --chain', { exitCode: 2 });
  const api = createServedApi(serviceUrlOf(options, config));
  await using service = await connect(io.signal, { migrations: 'require' });
  const seed = options.seed ?? String(Date.now());
  const followed = ((await service.call('collections.list', {})) as Followed[]).filter(
    ({ state, chain }) => state === 'live' && (options.chain ?? chain) === chain,
  );
  if (followed.length === 0)
    throw new OperatorError('no collection is followed live on its chain: see mercat collections list');
  const results: ChainResult[] = [];
  for (const [chain, collections] of Map.groupBy(followed, (each) => each.chain)) {
    const { url, headers } = parseEndpointUrl(endpointOf(options, config, chain));
    const collectionIds = drawSample(collections, options.sample ?? COLLECTIONS_DEFAULT, seed);
    const audit = await auditFillable({
      api,
      endpoint: createEndpoint(url, headers),
      collectionIds,
      readBook: async (collectionId) => (await service.call('audit.signed', { collectionId })) as AuditedBook,
      clock: Date.now,
    });
    results.push({ chain, ...audit });
  }
  io.stdout.write(options.json ? `${JSON.stringify({ chains: results, seed })}\n` : describe(results, seed, io.stdout));
  if (results.some(({ findings, uncompared }) => findings.length + uncompared.length > 0)) io.exitCode = 1;
}

function serviceUrlOf({ url }: Options, { host, port }: Config): string {
  if (url === undefined) return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
  const parsed = parseHttpUrl(url);
  if (parsed === undefined)
    throw new OperatorError(`${JSON.stringify(url)} is not the URL of a service`, { exitCode: 2 });
  return parsed;
}

function endpointOf({ endpoint }: Options, { rpcUrls }: Config, chain: string): string {
  const url = endpoint === undefined ? rpcUrls.get(chain)?.[0] : parseHttpUrl(endpoint, { bare: false });
  if (url !== undefined) return url;
  throw new OperatorError(
    endpoint === undefined
      ? `no endpoint of ${chain}: set ${toChainSetting(chain)}, or use --endpoint`
      : `${JSON.stringify(endpoint)} is not the URL of an endpoint`,
    { exitCode: 2 },
  );
}

/** Draws collections at random. The same seed draws the same collections. A size of 0 draws all. */
function drawSample(collections: readonly Followed[], size: number, seed: string): string[] {
  const rankOf = (id: string) => createHash('sha256').update(`${seed} ${id}`).digest('hex');
  const ids = collections.map(({ collectionId }) => collectionId);
  const ranked = ids.toSorted((a, b) => (rankOf(a) < rankOf(b) ? -1 : 1));
  return size === 0 ? ranked : ranked.slice(0, size);
}

function describe(results: readonly ChainResult[], seed: string, stdout: CommandIo['stdout']): string {
  const count = ({ findings }: ChainResult, kind: string) => findings.filter((finding) => finding.kind === kind).length;
  const rows = results.map((result) => [
    result.chain,
    result.collections,
    result.listings,
    result.bids,
    count(result, 'phantom') + count(result, 'unknown'),
    count(result, 'hidden'),
    count(result, 'wrong'),
    result.undecided,
    result.uncompared.length,
  ]);
  const heads = ['chain', 'collections', 'listings', 'bids', 'phantoms', 'hidden', 'wrong', 'undecided', 'unreadable'];
  const lines = [
    '',
    ...results.flatMap(({ chain, findings, uncompared, tooLarge }) => [
      ...findings.map(({ block, kind, collectionId, asset, detail }) => {
        return `${chain} at block ${block}: ${kind}: ${collectionId} ${asset}: ${detail}`;
      }),
      ...uncompared.map((id) => {
        const reason = tooLarge.includes(id) ? ': it has too many orders' : '';
        return `${chain}: ${id} could not be compared${reason}`;
      }),
    ]),
    `drawn with --seed ${seed}`,
  ];
  return `${formatTable(heads, rows, stdout)}${lines.map((line) => `${printable(line)}\n`).join('')}`;
}
