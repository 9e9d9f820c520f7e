// The search of the header: opens a collection by slug, id or address, or a wallet by address.

import { useState } from 'preact/hooks';
import { useLocation } from 'wouter-preact';
import { SearchIcon } from '../parts/icons.tsx';
import { texts } from '../texts.ts';

export function SearchField() {
  const [text, setText] = useState('');
  const [, navigate] = useLocation();
  const open = (event: Event) => {
    event.preventDefault();
    const wanted = text.trim();
    if (wanted === '') return;
    navigate(`/c/${encodeURIComponent(wanted)}`);
    setText('');
  };
  return (
    <form class="search" role="search" onSubmit={open}>
      <SearchIcon />
      <input
        type="search"
        name="q"
        value={text}
        placeholder={texts.shell.search}
        aria-label={texts.shell.searchLabel}
        autocomplete="off"
        spellcheck={false}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      <kbd aria-hidden="true">/</kbd>
    </form>
  );
}
