// The header of all pages. It has the search, links to the market, the shop and the service, and buttons for the theme and the help.

import { useLocation } from 'wouter-preact';
import { ExternalIcon, KeyboardIcon, MoonIcon, SunIcon, SystemIcon } from '../parts/icons.tsx';
import { SearchField } from '../market/search-field.tsx';
import { texts } from '../texts.ts';
import { serviceUrl } from './base-path.ts';
import { useStore } from './store.ts';
import { chooseNextTheme, theme } from './theme.ts';
import { Link } from '../parts/link.tsx';
import './header.css';

const WORKPLACES = [
  { path: '/', name: texts.shell.market, isOpen: (path: string) => !/^\/(shop|service)(\/|$)/.test(path) },
  { path: '/shop', name: texts.shell.shop, isOpen: (path: string) => /^\/shop(\/|$)/.test(path) },
  { path: '/service', name: texts.shell.service, isOpen: (path: string) => /^\/service(\/|$)/.test(path) },
];

const THEME_ICONS = { system: SystemIcon, light: SunIcon, dark: MoonIcon };

export function Header({ onHelp, onSkip }: { onHelp: () => void; onSkip: () => void }) {
  const [path] = useLocation();
  return (
    <header class="header">
      <button type="button" class="skip-link" onClick={onSkip}>
        {texts.shell.skip}
      </button>
      <Link href="/" class="wordmark" aria-label={texts.name}>
        <Mark />
        <span>{texts.name}</span>
      </Link>
      <nav class="workplaces" aria-label={texts.shell.workplaces}>
        {WORKPLACES.map((workplace) => (
          <Link
            key={workplace.path}
            href={workplace.path}
            {...(workplace.isOpen(path) && { 'aria-current': 'page' as const })}
          >
            {workplace.name}
          </Link>
        ))}
      </nav>
      <SearchField />
      <div class="header-tools">
        <ThemeButton />
        <button
          type="button"
          class="icon-button from-tablet"
          aria-label={texts.shell.help}
          data-tip={texts.shell.help}
          onClick={onHelp}
        >
          <KeyboardIcon />
        </button>
        <a class="header-link from-desktop" href={serviceUrl('/docs')}>
          {texts.shell.reference}
          <ExternalIcon />
        </a>
      </div>
    </header>
  );
}

function ThemeButton() {
  const chosen = useStore(theme);
  const Icon = THEME_ICONS[chosen];
  const label = texts.shell.theme[chosen];
  return (
    <button type="button" class="icon-button" aria-label={label} data-tip={label} onClick={chooseNextTheme}>
      <Icon />
    </button>
  );
}

/** The logo, a market stall: an awning with three scallops over a counter. */
function Mark() {
  return (
    <svg class="mark" viewBox="0 0 32 32" width="26" height="26" aria-hidden="true">
      <rect width="32" height="32" rx="8" class="mark-ground" />
      <path d="M7 14.5 9.4 8h13.2l2.4 6.5a3 3 0 0 1-6 0 3 3 0 0 1-6 0 3 3 0 0 1-6 0Z" class="mark-figure" />
      <path d="M9.5 19.5V24h13v-4.5" class="mark-line" />
    </svg>
  );
}
