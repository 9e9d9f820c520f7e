// A row of links with which the user chooses one of a few values: of a filter, or, as tabs, of the parts of a page. The URL contains the chosen
// value.

import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { Link } from './link.tsx';
import './segments.css';

export type Segment<Value extends string> = {
  value: Value;
  name: ComponentChildren;
  label?: string;
  /** How many things the value stands for. */
  count?: string | null;
};

type SegmentsProps<Value extends string> = {
  label: string;
  segments: readonly Segment<Value>[];
  value: Value;
  hrefOf: (value: Value) => string;
  isTabs?: boolean;
};

export function Segments<Value extends string>({
  label,
  segments,
  value,
  hrefOf,
  isTabs = false,
}: SegmentsProps<Value>) {
  const row = useRef<HTMLElement>(null);
  useLayoutEffect(() => {
    const chosen = row.current?.querySelector<HTMLElement>('[aria-current]');
    // On a phone, the row can be wider than the screen. It is scrolled so that the chosen value is in the middle.
    if (row.current && chosen)
      row.current.scrollLeft = chosen.offsetLeft - (row.current.clientWidth - chosen.offsetWidth) / 2;
  }, [value]);
  return (
    <nav ref={row} class={isTabs ? 'tabs' : 'segments'} aria-label={label}>
      {segments.map((segment) => (
        <Link
          key={segment.value}
          href={hrefOf(segment.value)}
          replace={!isTabs}
          {...(segment.label !== undefined && { 'aria-label': segment.label, 'data-tip': segment.label })}
          {...(segment.value === value && { 'aria-current': isTabs ? ('page' as const) : ('true' as const) })}
        >
          {segment.name}
          {segment.count && <span class="tab-count">{segment.count}</span>}
        </Link>
      ))}
    </nav>
  );
}
