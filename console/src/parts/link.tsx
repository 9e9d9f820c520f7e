// A link to a page of the console. The link of the router is not used: it depends on the current location, so each navigation would render all
// links of the page again.

import type { ComponentChildren, JSX } from 'preact';
import { navigate } from 'wouter-preact/use-browser-location';
import { serviceUrl } from '../shell/base-path.ts';
import { leave } from '../shell/leaving.ts';

type LinkProps = Omit<JSX.HTMLAttributes<HTMLAnchorElement>, 'href'> & {
  href: string;
  class?: string;
  /** Whether the page replaces the current entry in the history of the browser. */
  replace?: boolean;
  children: ComponentChildren;
  'data-row'?: boolean;
};

export function Link({ href, replace = false, children, ...attributes }: LinkProps) {
  const url = serviceUrl(href);
  const open = (event: MouseEvent) => {
    // With these keys and buttons, the browser itself opens the link, for example in another tab.
    if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey || event.button !== 0) return;
    event.preventDefault();
    leave(() => navigate(url, { replace }));
  };
  return (
    <a {...attributes} href={url} onClick={open}>
      {children}
    </a>
  );
}
