// Describes a parsed record in words, with units.

import { toDecimalText } from '../../platform/core/amount.ts';
import type { Chains } from '../../platform/core/chains.ts';
import type { IntakeRecord } from '../../intake/records/parse.ts';

export function describeRecord(chains: Chains, record: IntakeRecord): string {
  const parts = describeParts(chains, record).filter((part) => part !== null);
  return parts.join(', ');
}

type Parts = (string | null)[];

function describeParts(chains: Chains, record: IntakeRecord): Parts {
  switch (record.kind) {
    case 'sale': {
      const { asset, price, priceRaw, soldAt, seller, buyer, source } = record.row;
      const paid = priceRaw === null ? `${price} (not served by /v1)` : toAmount(chains, record.row.chain, priceRaw);
      return [
        `sale of ${asset === null ? 'several tokens' : toToken(record.row)} for ${paid}`,
        toTime(soldAt),
        seller && `from ${seller}`,
        buyer && `to ${buyer}`,
        `source ${source}`,
      ];
    }
    case 'listing':
    case 'order': {
      const { priceRaw, seller, expiresAt } = record.row;
      const asset = record.kind === 'listing' ? record.row.asset : record.row.tokenId;
      const ask = toAmount(chains, record.row.chain, priceRaw);
      const from = toTime(record.kind === 'listing' ? record.row.listedAt : record.row.createdAt);
      return [
        `${record.kind} of ${toToken({ ...record.row, asset })} for ${ask}`,
        `by ${seller}`,
        `from ${from}`,
        expiresAt === null ? 'without expiry' : `until ${toTime(expiresAt)}`,
      ];
    }
    case 'bid': {
      const { asset, set, priceRaw, proceedsRaw, bidder, createdAt, expiresAt, source } = record.row;
      const wanted = asset ?? (set ? `${set.tokenIds?.length ?? 'several'} tokens` : 'any token');
      return [
        `bid for ${toToken({ ...record.row, asset: wanted })} of ${toAmount(chains, record.row.chain, priceRaw)}`,
        proceedsRaw === priceRaw ? null : `the seller keeps ${toAmount(chains, record.row.chain, proceedsRaw)}`,
        `by ${bidder}`,
        `from ${toTime(createdAt)}`,
        expiresAt === null ? 'without expiry' : `until ${toTime(expiresAt)}`,
        `source ${source}`,
      ];
    }
    case 'token': {
      const { name, rarityRank, image, owner, traits } = record.row;
      return [
        `token ${toToken(record.row)}`,
        name && `name ${name}`,
        rarityRank === null ? null : `rarity rank ${rarityRank}`,
        owner && `owner ${owner}`,
        image && `image ${image}`,
        traits && `traits ${traits.map((trait) => `${trait.name}: ${trait.value}`).join(', ') || 'none'}`,
      ];
    }
    case 'collection': {
      const { id, name, snapshot } = record.row;
      const { supply, owners, volumeAllTime } = snapshot;
      return [
        `collection ${name} (${id})`,
        supply === null ? null : `${supply} tokens`,
        owners === null ? null : `${owners} owners`,
        volumeAllTime === null ? null : `volume of all time ${volumeAllTime} native units`,
      ];
    }
    case 'product': {
      const { shop, slug, input } = record.row;
      return [
        `product ${input.name} (${slug}) of the shop ${shop}`,
        `price ${input.price}`,
        `stock ${input.inventory ?? 0}`,
      ];
    }
    case 'stats':
    case 'analytics':
    case 'rate':
      return [`record of the kind ${record.kind}`];
  }
}

function toToken({ asset, contractAddress, chain }: { asset: string | null; contractAddress: string; chain: string }) {
  return `${asset} of ${contractAddress} on ${chain}`;
}

function toAmount(chains: Chains, chainId: string, raw: bigint): string {
  const chain = chains.get(chainId);
  return chain ? `${toDecimalText(raw, chain.decimals)} ${chain.symbol} (${raw} base units)` : `${raw} base units`;
}

function toTime(ms: number): string {
  return `${new Date(ms)
    .toISOString()
    .replace('T', ' ')
    .replace(/(?:\.000)?Z$/, '')} UTC`;
}
