// The search field in the header of the page. While the user types, it lists links to the found collections and tokens below the field.

import { keepPreviousData, useQuery } from '@tanstack/preact-query';
import { useEffect, useRef, useState } from 'preact/hooks';
import { useLocation } from 'wouter-preact';
import type { SearchResult } from '../../../client/src/market.ts';
import { searchQuery } from '../data/market-queries.ts';
import { ChainMark } from '../parts/chain-mark.tsx';
import { SearchIcon } from '../parts/icons.tsx';
import { Picture } from '../parts/picture.tsx';
import { leave } from '../shell/leaving.ts';
import { texts } from '../texts.ts';
import { collectionName } from './collection-name.tsx';
import { collectionPath, tokenPath } from './paths.ts';
import { tokenName } from './token-name.ts';
import { Link } from '../parts/link.tsx';

/** A search begins when the user has not typed for this long. */
const PAUSE_MS = 200;
const LENGTH_MIN = 2;

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
  useEffect(() => setOpen(false), [path]);
  const hasText = wanted.length >= LENGTH_MIN;
  const { data, isError } = useQuery({
    ...searchQuery(wanted),
    enabled: isOpen && hasText,
    placeholderData: keepPreviousData,
  });
  const results = data?.data ?? [];

  const openFirst = (event: Event) => {
    event.preventDefault();
    const typed = text.trim();
    if (typed === '') return;
    const [first] = typed === wanted ? results : [];
    // Without a result, the text may still be the id, slug or address of a collection.
    leave(() => {
      navigate(first ? pathOf(first) : `/c/${encodeURIComponent(typed)}`);
      setText('');
      setOpen(false);
    });
  };
  const closeOutside = (event: FocusEvent) => {
    if (!(event.relatedTarget instanceof Node && box.current?.contains(event.relatedTarget))) setOpen(false);
  };
  return (
    <form class="search" role="search" ref={box} onSubmit={openFirst} onFocusOut={closeOutside}>
      <SearchIcon />
      <input
        type="search"
        name="q"
        value={text}
        placeholder={texts.shell.search}
        aria-label={texts.shell.searchLabel}
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
        {isOpen && hasText && data && texts.search.found(results.length)}
      </div>
      {isOpen && hasText && (data ?? isError) && (
        <div class="search-results">
          {isError && <p class="search-note">{texts.search.failed}</p>}
          {!isError && results.length === 0 && <p class="search-note">{texts.search.nothing}</p>}
          {results.length > 0 && (
            <ul>
              {results.map((result) => (
                <li key={pathOf(result)}>
                  <Found result={result} />
                </li>
              ))}
            </ul>
          )}
        </div>
      )}
    </form>
  );
}

function Found({ result }: { result: SearchResult }) {
  const { collection, token } = result;
  const chain = collection?.chain ?? token?.chain ?? null;
  return (
    <Link href={pathOf(result)} class="search-result">
      <Picture
        url={(collection ?? token)?.image ?? null}
        alt=""
        seed={collection?.id ?? token?.collectionId ?? ''}
        class="picture-row"
      />
      <span class="search-name truncate">{collection ? collectionName(collection) : token && tokenName(token)}</span>
      {chain !== null && <ChainMark chain={chain} />}
    </Link>
  );
}

function pathOf({ collection, token }: SearchResult): string {
  if (collection) return collectionPath(collection);
  return token ? tokenPath(token) : '/';
}
