// The search field in the header of the page. While the user types, it lists links to the found collections, tokens and wallets below the field.
// While it is empty, it lists the results that were opened last. The arrow keys move between the field and the links.

import { keepPreviousData, useQuery } from '@tanstack/preact-query';
import { useEffect, useRef, useState } from 'preact/hooks';
import { useLocation } from 'wouter-preact';
import type { SearchResult } from '../../../client/src/market.ts';
import { searchQuery } from '../data/market-queries.ts';
import { shortAddress } from '../format/address.ts';
import { ChainMark } from '../parts/chain-mark.tsx';
import { SearchIcon } from '../parts/icons.tsx';
import { Link } from '../parts/link.tsx';
import { Picture } from '../parts/picture.tsx';
import { leave } from '../shell/leaving.ts';
import { texts as shared } from '../texts.ts';
import { collectionName } from './collection-name.tsx';
import { collectionPath, tokenPath, walletPath } from './paths.ts';
import { addRecent, listRecent } from './recent-searches.ts';
import { tokenName } from './token-name.ts';
import { texts } from './texts.ts';
import './search-field.css';

/** A search begins when the user has not typed for this long. */
const PAUSE_MS = 200;
const LENGTH_MIN = 2;
/** An address of an EVM chain, or of Solana. It may be that of a wallet, although the service does not know the wallet. */
const ADDRESS = /^(0x[0-9a-f]{40}|[1-9A-HJ-NP-Za-km-z]{32,44})$/i;

/** A link of the list. `picture` is null for links without one. */
type Found = {
  path: string;
  name: string;
  chain: string | null;
  kind: string | null;
  picture: { url: string | null; seed: string } | null;
};

export function SearchField() {
  const [text, setText] = useState('');
  const [wanted, setWanted] = useState('');
  const [isOpen, setOpen] = useState(false);
  const box = useRef<HTMLFormElement>(null);
  const [path, navigate] = useLocation();
  useEffect(() => {
    const timer = setTimeout(() => setWanted(text.trim()), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  useEffect(() => {
    setOpen(false);
    setText('');
  }, [path]);
  const typed = text.trim();
  const hasText = wanted.length >= LENGTH_MIN;
  const { data, isError } = useQuery({
    ...searchQuery(wanted),
    enabled: isOpen && hasText,
    placeholderData: keepPreviousData,
  });
  const isAnswered = hasText && (data !== undefined || isError);
  const found: readonly Found[] = [
    ...(typed === '' || !hasText ? [] : (data?.data ?? []).map(toFound)),
    ...(ADDRESS.test(typed) ? [toWallet(typed)] : []),
  ];
  const recent = typed === '' && isOpen ? listRecent() : [];

  const open = ({ path: target, name }: { path: string; name: string }) =>
    leave(() => {
      addRecent({ path: target, name });
      navigate(target);
      setText('');
      setOpen(false);
    });
  const openFirst = (event: Event) => {
    event.preventDefault();
    if (typed === '') return;
    const [first] = typed === wanted || ADDRESS.test(typed) ? found : [];
    // Without a result, the text may still be the id, slug or address of a collection.
    open(first ?? { path: `/c/${encodeURIComponent(typed)}`, name: typed });
  };
  const closeOutside = (event: FocusEvent) => {
    if (!(event.relatedTarget instanceof Node && box.current?.contains(event.relatedTarget))) setOpen(false);
  };
  return (
    <form
      class="search"
      role="search"
      ref={box}
      onSubmit={openFirst}
      onFocusOut={closeOutside}
      onKeyDown={(event) => moveFocus(event, box.current)}
    >
      <SearchIcon />
      <input
        type="search"
        name="q"
        value={text}
        placeholder={shared.shell.search}
        aria-label={shared.shell.searchLabel}
        autocomplete="off"
        spellcheck={false}
        onFocus={() => setOpen(true)}
        onInput={(event) => {
          setText(event.currentTarget.value);
          setOpen(true);
        }}
      />
      <kbd aria-hidden="true">/</kbd>
      <div role="status" class="visually-hidden">
        {isOpen && isAnswered && texts.search.found(found.length)}
      </div>
      {isOpen && (isAnswered || found.length > 0 || recent.length > 0) && (
        <div class="search-results">
          {isError && hasText && <p class="search-note">{texts.search.failed}</p>}
          {isAnswered && !isError && found.length === 0 && typed !== '' && (
            <p class="search-note">{texts.search.nothing}</p>
          )}
          {recent.length > 0 && <p class="search-note">{texts.search.recent}</p>}
          <ul>
            {found.map((one) => (
              <li key={one.path}>
                <FoundLink found={one} onOpen={() => addRecent(one)} />
              </li>
            ))}
            {recent.map((one) => (
              <li key={one.path}>
                <Link href={one.path} class="search-result">
                  <span class="search-name truncate">{one.name}</span>
                </Link>
              </li>
            ))}
          </ul>
        </div>
      )}
    </form>
  );
}

/** Moves the focus with the arrow keys, from the field to the first link and between the links. */
function moveFocus(event: KeyboardEvent, box: HTMLElement | null): void {
  const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
  if (step === 0 || !box) return;
  const stops = [...box.querySelectorAll<HTMLElement>('input, .search-result')];
  const next = stops[stops.findIndex((stop) => stop === document.activeElement) + step];
  next?.focus();
  event.preventDefault();
}

function FoundLink({ found: { path, name, chain, kind, picture }, onOpen }: { found: Found; onOpen: () => void }) {
  return (
    // The click reaches this element before the link opens.
    <span onClickCapture={onOpen}>
      <Link href={path} class="search-result">
        {picture && <Picture url={picture.url} alt="" seed={picture.seed} class="picture-row" />}
        <span class="search-name truncate">{name}</span>
        {kind !== null && <span class="muted">{kind}</span>}
        {chain !== null && <ChainMark chain={chain} />}
      </Link>
    </span>
  );
}

function toFound({ collection, token }: SearchResult): Found {
  const { chain = null, image = null } = collection ?? token ?? {};
  const seed = collection?.id ?? token?.collectionId ?? '';
  const [path, name] = collection
    ? [collectionPath(collection), collectionName(collection)]
    : token
      ? [tokenPath(token), tokenName(token)]
      : ['/', ''];
  return { path, name, chain, kind: null, picture: { url: image, seed } };
}

function toWallet(address: string): Found {
  return {
    path: walletPath(address),
    name: shortAddress(address),
    chain: null,
    kind: texts.wallet.title,
    picture: null,
  };
}
