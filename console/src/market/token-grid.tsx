// Tokens as cards: the picture first, then the name, the rank and the price.

import type { Listing, Token } from '../../../client/src/market.ts';
import { formatCount } from '../format/amount.ts';
import { openRow } from '../parts/open-row.ts';
import { Picture } from '../parts/picture.tsx';
import { Price } from '../parts/price.tsx';
import { Skeleton } from '../parts/states.tsx';
import { texts as shared } from '../texts.ts';
import { tokenPath } from './paths.ts';
import { tokenName } from './token-name.ts';
import { Link } from '../parts/link.tsx';
import { marketplaceName } from './outside-links.ts';
import { texts } from './texts.ts';
import './token-grid.css';

/** The price on a card is what a buyer pays. The note has what the seller asks, if this is less. */
function CardNote({ listing: { price, buyerTotal, marketplace } }: { listing: Listing }) {
  if (buyerTotal !== null && buyerTotal.raw === price.raw) return <>{marketplaceName(marketplace)}</>;
  return (
    <>
      {buyerTotal === null ? (
        <span data-tip={shared.unknown.buyerTotal}>{texts.listings.askOnly}</span>
      ) : (
        <>
          {texts.listings.ask} <Price price={price} isNativeOnly />
        </>
      )}{' '}
      · {marketplaceName(marketplace)}
    </>
  );
}

function LastSale({ token: { lastSale } }: { token: Token }) {
  if (!lastSale?.price) return <> </>;
  return (
    <>
      {texts.token.lastSale} <Price price={lastSale.price} isNativeOnly />
    </>
  );
}

export function TokenGrid({
  label,
  tokens,
  skeletons = 0,
}: {
  label: string;
  tokens: readonly Token[];
  skeletons?: number;
}) {
  return (
    <ul class="grid" aria-label={label} aria-busy={skeletons > 0}>
      {tokens.map((token) => (
        <li key={tokenPath(token)} class="card" onClick={openRow}>
          <Picture url={token.image} alt="" seed={token.collectionId} class="card-picture" />
          <div class="card-text">
            <p class="card-name">
              <Link href={tokenPath(token)} class="row-link card-title" data-row>
                {tokenName(token)}
              </Link>
              {token.rarity.rank !== null && (
                <span class="card-rank">{texts.listings.rank(formatCount(token.rarity.rank))}</span>
              )}
            </p>
            <p class="card-price">
              {token.listing ? (
                <Price price={token.listing.buyerTotal ?? token.listing.price} />
              ) : (
                <span class="muted">{texts.listings.notListed}</span>
              )}
            </p>
            <p class="card-note">{token.listing ? <CardNote listing={token.listing} /> : <LastSale token={token} />}</p>
          </div>
        </li>
      ))}
      {Array.from({ length: skeletons }, (_, index) => (
        <li key={`skeleton-${index}`} class="card" aria-hidden="true">
          <Picture url={null} alt="" seed="" class="card-picture" />
          <div class="card-text">
            <Skeleton width="70%" />
            <Skeleton width="40%" />
          </div>
        </li>
      ))}
    </ul>
  );
}
