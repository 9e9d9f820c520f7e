// The figures of a collection. The name of a figure is a button that shows where the figure comes from.

import { useQuery } from '@tanstack/preact-query';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { MarketCollection, Provenance } from '../../../../client/src/market.ts';
import { provenanceQuery } from '../../data/market-queries.ts';
import { formatChange, formatCount } from '../../format/amount.ts';
import { formatLocal } from '../../format/time.ts';
import { Change } from '../../parts/change.tsx';
import { Flash } from '../../parts/flash.tsx';
import { ClockIcon } from '../../parts/icons.tsx';
import { Price, Volume } from '../../parts/price.tsx';
import { Skeleton } from '../../parts/states.tsx';
import { Time } from '../../parts/time.tsx';
import { Unknown } from '../../parts/unknown.tsx';
import { texts as shared } from '../../texts.ts';
import { BuyerFloor } from '../buyer-floor.tsx';
import { currencyOf } from '../currency.ts';
import { texts } from '../texts.ts';
import './figure-strip.css';

type FigureName = Provenance['figures'][number]['figure'];

export function FigureStrip({ collection }: { collection: MarketCollection }) {
  const { id, stats, stale } = collection;
  /** On a phone, the strip has only the first figures until the user opens it. */
  const [isOpen, setOpen] = useState(false);
  const currency = currencyOf(collection);
  const volume = (value: number | null) => <Volume value={value} currency={currency} reason={shared.unknown.figure} />;
  return (
    <section class="figures" aria-label={texts.collection.figures}>
      {stale && (
        <p class="figures-note stale">
          <ClockIcon />
          {texts.stale.collection}
        </p>
      )}
      <dl class={isOpen ? 'figure-list figure-list-open' : 'figure-list'}>
        <Figure id={id} name={texts.collection.floor} figure="floor" change={stats.floorChange.twentyFourHour}>
          <Price price={stats.floor} reason={shared.unknown.floor} isStacked />
        </Figure>
        <Figure id={id} name={texts.collection.buyerFloor} figure={null}>
          <BuyerFloor collection={collection} />
        </Figure>
        <Figure
          id={id}
          name={texts.collection.topBid}
          figure={null}
          note={stats.spread === null ? null : { text: formatChange(-stats.spread), tip: texts.collection.spread }}
        >
          <Price price={stats.topBid?.proceeds ?? null} reason={texts.collection.noTopBid} isStacked />
        </Figure>
        <Figure
          id={id}
          name={texts.collection.volumeDay}
          figure="volume.twentyFourHour"
          change={stats.volumeChange.twentyFourHour}
        >
          {volume(stats.volume.twentyFourHour)}
        </Figure>
        <Figure
          id={id}
          name={texts.collection.volumeWeek}
          figure="volume.sevenDay"
          change={stats.volumeChange.sevenDay}
        >
          {volume(stats.volume.sevenDay)}
        </Figure>
        <Figure id={id} name={texts.collection.volumeAll} figure="volume.allTime">
          {volume(stats.volume.allTime)}
        </Figure>
        <Figure id={id} name={texts.collection.salesWeek} figure="sales.sevenDay">
          <Count value={stats.sales.sevenDay} />
        </Figure>
        <Figure id={id} name={texts.collection.owners} figure="owners">
          <Count value={stats.owners} />
        </Figure>
        <Figure id={id} name={texts.collection.listed} figure="listedCount">
          <Count value={stats.listedCount} />
        </Figure>
        <Figure id={id} name={texts.collection.supply} figure="supply">
          <Count value={stats.supply} />
        </Figure>
      </dl>
      <button type="button" class="text-button figures-more" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        {isOpen ? texts.collection.fewerFigures : texts.collection.allFigures}
      </button>
    </section>
  );
}

function Count({ value }: { value: number | null }) {
  if (value === null) return <Unknown reason={shared.unknown.figure} />;
  return <Flash value={value}>{formatCount(value)}</Flash>;
}

type FigureProps = {
  id: string;
  name: string;
  /** The name of the figure in the provenance. Null if the provenance does not cover it. */
  figure: FigureName | null;
  /** The change of the figure since one period ago, as a ratio: 0.05 is +5 %. If it is null, no change is shown. */
  change?: number | null;
  /** A text beside the figure, with its tooltip. */
  note?: { text: string; tip: string } | null;
  children: ComponentChildren;
};

function Figure({ id, name, figure, change = null, note = null, children }: FigureProps) {
  return (
    <div class="figure">
      <dt>{figure === null ? name : <ProvenanceButton id={id} name={name} figure={figure} />}</dt>
      <dd>
        <span>{children}</span>
        {change !== null && (
          <span class="figure-change" data-tip={texts.collection.changes[figure ?? ''] ?? ''}>
            <Change ratio={change} reason={shared.unknown.change} />
          </span>
        )}
        {note && (
          <span class="figure-change muted" data-tip={note.tip}>
            {note.text}
          </span>
        )}
      </dd>
    </div>
  );
}

function ProvenanceButton({ id, name, figure }: { id: string; name: string; figure: FigureName }) {
  const [isOpen, setOpen] = useState(false);
  const box = useRef<HTMLSpanElement>(null);
  useEffect(() => {
    if (!isOpen) return undefined;
    const closeOnEscape = (event: KeyboardEvent) => {
      if (event.key !== 'Escape') return;
      setOpen(false);
      event.preventDefault();
    };
    const closeOutside = (event: Event) => {
      if (event.target instanceof Node && !box.current?.contains(event.target)) setOpen(false);
    };
    document.addEventListener('keydown', closeOnEscape, { capture: true });
    document.addEventListener('pointerdown', closeOutside);
    return () => {
      document.removeEventListener('keydown', closeOnEscape, { capture: true });
      document.removeEventListener('pointerdown', closeOutside);
    };
  }, [isOpen]);
  return (
    <span class="provenance" ref={box}>
      <button type="button" class="figure-name" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        {name}
      </button>
      {isOpen && <Origin id={id} name={name} figure={figure} />}
    </span>
  );
}

function Origin({ id, name, figure }: { id: string; name: string; figure: FigureName }) {
  const { data, isError, isPending } = useQuery(provenanceQuery(id));
  const origin = data?.data.figures.find((one) => one.figure === figure);
  return (
    <span class="popover" role="dialog" aria-label={`${name}: ${texts.provenance.title}`}>
      <span class="popover-title">{texts.provenance.title}</span>
      {isPending && <Skeleton width="180px" />}
      {(isError || (data && !origin)) && <span>{texts.provenance.unread}</span>}
      {origin && (
        <>
          <span>{texts.provenance.kinds[origin.kind]}.</span>
          {origin.source !== null && (
            <span class="popover-row">
              <span class="muted">{texts.provenance.source}</span> {origin.source}
            </span>
          )}
          {origin.at !== null && (
            <span class="popover-row">
              <span class="muted">{texts.provenance.at}</span>
              <span>
                {formatLocal(origin.at)} (<Time at={origin.at} />)
              </span>
            </span>
          )}
          {!origin.complete && <span class="popover-warning">{texts.provenance.incomplete}</span>}
        </>
      )}
    </span>
  );
}
