// The columns with the picture and the name of a token, for lists whose rows may have only the ids of their tokens.

import { useQuery } from '@tanstack/preact-query';
import type { ComponentChildren } from 'preact';
import { tokenNameQuery } from '../data/market-queries.ts';
import type { Column } from '../parts/data-table.tsx';
import { RowLink } from '../parts/data-table.tsx';
import { toVisibleName } from '../format/strangers-text.ts';
import { Picture } from '../parts/picture.tsx';
import { texts as shared } from '../texts.ts';
import { CollectionName } from './collection-name.tsx';
import { tokenPath } from './paths.ts';
import { tokenName } from './token-name.ts';
import { texts } from './texts.ts';

type Known = { name: string | null; image: string | null };
type Row = {
  chain: string;
  collectionId: string | null;
  contractAddress?: string | null;
  tokenId: string | null;
  mint: string | null;
  /** What the list itself has of the token. Null or absent if it has nothing. */
  name?: string | null;
  image?: string | null;
};

type Options<Listed> = {
  /** Whether the rows are of several collections, so that each row names its own. */
  isOfMany: boolean;
  /** What a row shows that concerns no single token. */
  others?: (row: Listed) => ComponentChildren;
};

export function tokenColumns<Listed extends Row>({ isOfMany, others }: Options<Listed>): readonly Column<Listed>[] {
  return [
    {
      id: 'picture',
      head: shared.columns.picture,
      isHeadHidden: true,
      width: '28px',
      place: 'picture',
      cell: (row) => <TokenPicture row={row} />,
    },
    {
      id: 'token',
      head: texts.listings.columns.token,
      width: 'minmax(120px, 1.6fr)',
      place: 'top-left',
      cell: (row) => (
        <span class="truncate">{isOfOneToken(row) ? <TokenLink row={row} isOfMany={isOfMany} /> : others?.(row)}</span>
      ),
    },
    ...(isOfMany ? [collection as Column<Listed>] : []),
  ];
}

const collection: Column<Row> = {
  id: 'collection',
  head: shared.columns.collection,
  width: 'minmax(110px, 1.2fr)',
  from: 'desktop',
  cell: ({ collectionId }) =>
    collectionId !== null && (
      <span class="truncate">
        <CollectionName id={collectionId} />
      </span>
    ),
};

function isOfOneToken(row: Row): row is Row & { collectionId: string } {
  return row.collectionId !== null && (row.mint ?? row.tokenId) !== null;
}

function TokenPicture({ row }: { row: Row }) {
  const { token } = useTokenOf(row);
  return <Picture url={token?.image ?? null} alt="" seed={row.collectionId ?? ''} class="picture-row" />;
}

/** `isOfMany`: then the id of a token without a name stands after the name of its collection. */
function TokenLink({ row, isOfMany }: { row: Row & { collectionId: string }; isOfMany: boolean }) {
  const { tokenId, mint, contractAddress = null, collectionId } = row;
  const { token } = useTokenOf(row);
  const name = toVisibleName(token?.name ?? null);
  return (
    <RowLink href={tokenPath({ ...row, contractAddress })}>
      {isOfMany && name === null && (
        <>
          <CollectionName id={collectionId} />{' '}
        </>
      )}
      {tokenName({ name, tokenId, mint })}
    </RowLink>
  );
}

/** Reads the token of a row, if the list itself has nothing of it. `token`: null if nothing is known of it. */
export function useTokenOf(row: Row): { token: Known | null; isLoading: boolean } {
  const { name = null, image = null } = row;
  const listed = name === null && image === null ? null : { name, image };
  const { data, isLoading } = useQuery({
    ...tokenNameQuery(row.chain, row.collectionId ?? '', row.mint ?? row.tokenId ?? ''),
    enabled: listed === null && isOfOneToken(row),
  });
  return { token: listed ?? data ?? null, isLoading };
}
