// The tab with the holders of a collection's tokens. If some holders are unknown, the tab shows only a hint.

import { useQuery } from '@tanstack/preact-query';
import type { MarketCollection, Holders } from '../../../../client/src/market.ts';
import { holdersQuery } from '../../data/market-queries.ts';
import { formatCount, formatShare } from '../../format/amount.ts';
import { Account } from '../../parts/account.tsx';
import { EmptyState, ErrorPanel, PartSkeleton } from '../../parts/states.tsx';
import { texts } from '../texts.ts';
import './holders-tab.css';

export function HoldersTab({ collection }: { collection: MarketCollection }) {
  const query = useQuery(holdersQuery(collection.id));
  if (query.isError && !query.data) return <ErrorPanel error={query.error} onRetry={() => void query.refetch()} />;
  if (!query.data) return <PartSkeleton />;
  const { holders, tokens, distribution, largest } = query.data.data;
  if (holders === null || tokens === null) {
    return (
      <EmptyState title={texts.holders.unknown}>
        <p class="muted">{texts.holders.unknownHint}</p>
      </EmptyState>
    );
  }
  return (
    <section class="tab tab-columns">
      <Distribution holders={holders} distribution={distribution} />
      <Largest largest={largest} tokens={tokens} />
    </section>
  );
}

function Distribution({ holders, distribution }: { holders: number } & Pick<Holders, 'distribution'>) {
  const greatest = Math.max(...distribution.map((range) => range.holders));
  return (
    <div class="panel">
      <h2 class="panel-title">{texts.holders.distribution}</h2>
      <table class="plain-table">
        <thead>
          <tr>
            <th scope="col">{texts.holders.tokens}</th>
            <th scope="col">{texts.holders.holders}</th>
            <th scope="col">{texts.holders.share}</th>
          </tr>
        </thead>
        <tbody>
          {distribution.map(({ from, to, holders: count }) => (
            <tr key={from}>
              <td>{texts.holders.range(formatCount(from), to === null ? null : formatCount(to))}</td>
              <td>{formatCount(count)}</td>
              <td>
                <ShareBar count={count} all={holders} greatest={greatest} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Largest({ largest, tokens }: { tokens: number } & Pick<Holders, 'largest'>) {
  return (
    <div class="panel">
      <h2 class="panel-title">{texts.holders.largest}</h2>
      <table class="plain-table">
        <thead>
          <tr>
            <th scope="col">{texts.holders.holder}</th>
            <th scope="col">{texts.holders.tokens}</th>
            <th scope="col">{texts.holders.share}</th>
          </tr>
        </thead>
        <tbody>
          {largest.map(({ address, label, tokens: count }) => (
            <tr key={address ?? label}>
              <td>{address === null ? texts.holders.custody(label ?? '') : <Account address={address} />}</td>
              <td>{formatCount(count)}</td>
              <td>
                <ShareBar count={count} all={tokens} greatest={largest[0]?.tokens ?? 0} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** The bar of the greatest count is full. As shares of all, the bars of the largest holders would all be too short to be compared. */
function ShareBar({ count, all, greatest }: { count: number; all: number; greatest: number }) {
  return (
    <span class="share-bar">
      <span class="share-bar-track" aria-hidden="true">
        <span style={{ width: `${greatest === 0 ? 0 : (count / greatest) * 100}%` }} />
      </span>
      <span class="share-bar-text">{formatShare(all === 0 ? 0 : count / all)}</span>
    </span>
  );
}
