// Tabs for the parts of a page. The URL names the open part, so each tab is a link.

import { useLayoutEffect, useRef } from 'preact/hooks';
import { Link } from './link.tsx';

export type Tab = { id: string; name: string; count?: string | null };

export function Tabs({
  label,
  tabs,
  current,
  hrefOf,
}: {
  label: string;
  tabs: readonly Tab[];
  current: string;
  hrefOf: (id: string) => string;
}) {
  const bar = useRef<HTMLElement>(null);
  useLayoutEffect(() => {
    const tab = bar.current?.querySelector<HTMLElement>('[aria-current]');
    // On a phone, the bar can be wider than the screen. It is scrolled so that the open tab is in the middle.
    if (bar.current && tab) bar.current.scrollLeft = tab.offsetLeft - (bar.current.clientWidth - tab.offsetWidth) / 2;
  }, [current]);
  return (
    <nav ref={bar} class="tabs" aria-label={label}>
      {tabs.map(({ id, name, count }) => (
        <Link key={id} href={hrefOf(id)} replace {...(id === current && { 'aria-current': 'page' as const })}>
          {name}
          {count && <span class="tab-count">{count}</span>}
        </Link>
      ))}
    </nav>
  );
}
