// A name and its value in a list of the class `rows`.

import type { ComponentChildren } from 'preact';

export function Row({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <div class="row">
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
