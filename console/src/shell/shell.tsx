// The shell around every page: the header, the banner about the connection, the help and the tooltips.

import type { ComponentChildren } from 'preact';
import { useCallback, useEffect, useState } from 'preact/hooks';
import { texts } from '../texts.ts';
import { ConnectionBanner } from './connection.tsx';
import { Header } from './header.tsx';
import { HelpDialog } from './help-dialog.tsx';
import { useKeyboard } from './keyboard.ts';
import { TooltipLayer } from './tooltip.tsx';

const CONTENT_ID = 'content';

export function Shell({ children }: { children: ComponentChildren }) {
  const [isHelpOpen, setHelpOpen] = useState(false);
  const openHelp = useCallback(() => setHelpOpen(true), []);
  useKeyboard(openHelp);
  useScrollToTop();
  return (
    <>
      <Header onHelp={openHelp} onSkip={() => document.getElementById(CONTENT_ID)?.focus()} />
      <ConnectionBanner />
      <main id={CONTENT_ID} class="content" tabIndex={-1}>
        {children}
      </main>
      <HelpDialog isOpen={isHelpOpen} onClose={() => setHelpOpen(false)} />
      <TooltipLayer />
    </>
  );
}

/** Scrolls to the top of a page that a link opens. When the user goes back, the browser restores the scroll position. */
function useScrollToTop(): void {
  useEffect(() => {
    let path = location.pathname;
    const onNavigate = () => {
      if (path !== location.pathname) window.scrollTo(0, 0);
      path = location.pathname;
    };
    const onBack = () => (path = location.pathname);
    window.addEventListener('pushState', onNavigate);
    window.addEventListener('popstate', onBack);
    return () => {
      window.removeEventListener('pushState', onNavigate);
      window.removeEventListener('popstate', onBack);
    };
  }, []);
}

/** Sets the title of the browser's tab while a page is open. `parts`: the names of what is open, the most specific one first. */
export function usePageTitle(...parts: readonly (string | null)[]): void {
  const title = [...parts.filter((part) => part !== null), texts.name].join(' · ');
  useEffect(() => {
    document.title = title;
  }, [title]);
}
