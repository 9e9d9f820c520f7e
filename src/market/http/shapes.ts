// From what the market read to what goes over the wire. Every field is always present; unknown is null.

import { toAssetNames } from '../../core/address.ts';
import type { Address, SoldAsset } from '../../core/address.ts';
import type { Chain } from '../../core/chains.ts';
import { toCollectionId } from '../../core/collection.ts';
import type { Collection } from '../../core/collection.ts';
import { toServedImage } from '../image-url.ts';
import type { Price, Rates } from '../../core/price.ts';
import { toPrice } from '../../core/price.ts';
import type { CollectionDetail } from '../collection.ts';
import type { CollectionSummary } from '../collections.ts';
import type { Floor } from '../floor.ts';
import type { Listing } from '../listings.ts';
import type { InterpretableSale } from '../sales.ts';
import type { Token } from '../token.ts';
import { RESPONSE_TIME } from '../../http/cached-response.ts';
import type { WireCollectionDetail, WireCollectionSummary, WireFloor, WireMarketItem, WireToken } from './schemas.ts';

/** What turns amounts into prices at one moment, and names the service's own rows. */
export type PriceContext = { rates: Rates; now: number; ownCode: string };

type Place = { chain: Chain; contractAddress: Address };

export function toWireListing(listing: Listing, place: Place, wording: PriceContext): WireMarketItem {
  return {
    ...toSubject(place, listing.asset),
    price: toPrice(listing.raw, place.chain, wording.rates, wording.now),
    seller: listing.seller,
    buyer: null,
    marketplace: listing.source ?? wording.ownCode,
    status: 'active',
    expiresAt: toTimeOrNull(listing.expiresAt),
    timestamp: toTime(listing.listedAt),
    orderId: listing.orderId,
    tx: listing.tx,
  };
}

export function toWireSale(
  sale: InterpretableSale,
  place: Place,
  wording: PriceContext,
  serviceName: string,
): WireMarketItem {
  return {
    ...toSubject(place, sale.asset),
    price: toPrice(sale.raw, place.chain, wording.rates, wording.now),
    seller: sale.seller,
    buyer: sale.buyer,
    marketplace: sale.source === serviceName ? wording.ownCode : sale.source,
    status: 'sold',
    expiresAt: null,
    timestamp: toTime(sale.soldAt),
    orderId: sale.listingId,
    tx: sale.tx,
  };
}

export function toWireSummary(
  summary: CollectionSummary,
  chain: Chain | null,
  wording: PriceContext,
): WireCollectionSummary {
  return {
    ...toIdentity(summary.collection),
    stats: {
      floor: toPriceOrNull(summary.askFloorRaw, chain, wording),
      volumeAllTime: summary.volumeAllTime,
      supply: summary.supply,
      owners: summary.owners,
    },
  };
}

export function toWireDetail(
  detail: CollectionDetail,
  chain: Chain | null,
  wording: PriceContext,
): WireCollectionDetail {
  const { volume, sales, supply, owners, listedCount } = detail;
  return {
    ...toIdentity(detail.collection),
    stats: { floor: toPriceOrNull(detail.askFloorRaw, chain, wording), volume, sales, supply, owners, listedCount },
    stale: detail.stale,
  };
}

export function toWireFloor(floor: Floor, wording: PriceContext): WireFloor {
  return {
    collectionId: floor.collection.id,
    askFloor: toPriceOrNull(floor.askFloorRaw, floor.chain, wording),
    buyerFloor: toPriceOrNull(floor.buyerFloorRaw, floor.chain, wording),
    aggregated: true,
    updatedAt: RESPONSE_TIME,
    stale: floor.stale,
  };
}

export function toWireToken(token: Token, wording: PriceContext): WireToken {
  return {
    ...toSubject(token, token.asset),
    name: token.name,
    image: toServedImage(token.image),
    rarity: { rank: token.rarityRank },
    owner: token.owner,
    listing: token.listing && toWireListing(token.listing, token, wording),
    lastSale:
      token.lastSaleRaw === null
        ? null
        : { price: toPrice(token.lastSaleRaw, token.chain, wording.rates, wording.now) },
  };
}

function toSubject(place: Place, asset: SoldAsset) {
  return {
    chain: place.chain.id,
    ...toAssetNames(place.chain.family, place.contractAddress, asset),
    collectionId: toCollectionId(place.chain.id, place.contractAddress),
  };
}

function toIdentity(collection: Collection) {
  const { id, chain, contractAddress, name, slug, description, tokenStandard, royaltyBps } = collection;
  const image = toServedImage(collection.image);
  const banner = toServedImage(collection.banner);
  return { id, chain, contractAddress, name, slug, image, banner, description, tokenStandard, royaltyBps };
}

function toPriceOrNull(raw: bigint | null, chain: Chain | null, wording: PriceContext): Price | null {
  return raw === null || !chain ? null : toPrice(raw, chain, wording.rates, wording.now);
}

function toTime(ms: number): string {
  return new Date(ms).toISOString();
}

function toTimeOrNull(ms: number | null): string | null {
  return ms === null ? null : toTime(ms);
}
