// A link to a page of the console. It does not follow the location as the link of the router does, which would draw all links of a page again
// at each navigation.

import type { ComponentChildren, JSX } from 'preact';
import { navigate } from 'wouter-preact/use-browser-location';
import { serviceUrl } from '../shell/base-path.ts';

type LinkProps = Omit<JSX.HTMLAttributes<HTMLAnchorElement>, 'href'> & {
  href: string;
  class?: string;
  /** Whether the page takes the place of the present one in the history of the browser. */
  replace?: boolean;
  children: ComponentChildren;
  'data-row'?: boolean;
};

export function Link({ href, replace = false, children, ...attributes }: LinkProps) {
  const url = serviceUrl(href);
  const open = (event: MouseEvent) => {
    // The browser opens these in another tab or window.
    if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey || event.button !== 0) return;
    event.preventDefault();
    navigate(url, { replace });
  };
  return (
    <a {...attributes} href={url} onClick={open}>
      {children}
    </a>
  );
}
