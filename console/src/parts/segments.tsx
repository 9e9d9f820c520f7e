// A row of links with which the user chooses one of a few values. The URL contains the chosen value.

import type { ComponentChildren } from 'preact';
import { Link } from './link.tsx';

export type Segment<Value extends string> = { value: Value; name: ComponentChildren; label?: string };

type SegmentsProps<Value extends string> = {
  label: string;
  segments: readonly Segment<Value>[];
  value: Value;
  hrefOf: (value: Value) => string;
};

export function Segments<Value extends string>({ label, segments, value, hrefOf }: SegmentsProps<Value>) {
  return (
    <nav class="segments" aria-label={label}>
      {segments.map((segment) => (
        <Link
          key={segment.value}
          href={hrefOf(segment.value)}
          replace
          {...(segment.label !== undefined && { 'aria-label': segment.label, 'data-tip': segment.label })}
          {...(segment.value === value && { 'aria-current': 'true' as const })}
        >
          {segment.name}
        </Link>
      ))}
    </nav>
  );
}
