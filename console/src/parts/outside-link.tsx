// A link to a page of another website. The page opens in a new tab and does not learn from where it was opened.

import type { ComponentChildren } from 'preact';
import { ExternalIcon } from './icons.tsx';
import './outside-link.css';

export function OutsideLink({ href, label, children }: { href: string; label?: string; children?: ComponentChildren }) {
  return (
    <a
      href={href}
      class="link outside-link inner-link"
      target="_blank"
      rel="noreferrer noopener"
      {...(label !== undefined && { 'aria-label': label, 'data-tip': label })}
    >
      {children}
      <ExternalIcon />
    </a>
  );
}
