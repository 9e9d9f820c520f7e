// The parts of a page. The chosen part stands in the URL, so each tab is a link.

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
  return (
    <nav class="tabs" aria-label={label}>
      {tabs.map(({ id, name, count }) => (
        <Link key={id} href={hrefOf(id)} replace {...(id === current && { 'aria-current': 'page' as const })}>
          {name}
          {count && <span class="tab-count">{count}</span>}
        </Link>
      ))}
    </nav>
  );
}
