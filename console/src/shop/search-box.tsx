// The search box of a list of the shop. The arrow key down leads from the box to the first row of the list.

import type { RefObject } from 'preact';
import { SearchIcon } from '../parts/icons.tsx';
import { moveRow } from '../shell/keyboard.ts';

type SearchBoxProps = {
  /** What can be searched for. It is visible while the box is empty. */
  hint: string;
  /** The name for screen readers. Without a label, it is the hint. */
  label?: string;
  text: string;
  onText: (text: string) => void;
  /** The key Enter was pressed. The text has no blanks at its ends. */
  onEnter: (text: string) => void;
  field?: RefObject<HTMLInputElement> | null;
};

export function SearchBox({ hint, label = hint, text, onText, onEnter, field = null }: SearchBoxProps) {
  return (
    <form
      class="search-box"
      role="search"
      aria-label={label}
      onSubmit={(event) => {
        event.preventDefault();
        onEnter(text.trim());
      }}
    >
      <SearchIcon />
      <input
        ref={field}
        type="search"
        class="input"
        name="find"
        value={text}
        placeholder={hint}
        aria-label={label}
        autocomplete="off"
        spellcheck={false}
        onInput={(event) => onText(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== 'ArrowDown') return;
          moveRow(1);
          event.preventDefault();
        }}
      />
      <kbd aria-hidden="true">/</kbd>
    </form>
  );
}
