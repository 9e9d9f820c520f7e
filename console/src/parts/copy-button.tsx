// A button that copies a text to the clipboard, and shows a confirmation for a moment.

import { useState } from 'preact/hooks';
import { texts } from '../texts.ts';
import { CheckIcon, CopyIcon } from './icons.tsx';

const CONFIRMATION_MS = 1_500;

export function CopyButton({ text, label }: { text: string; label: string }) {
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
    setTimeout(() => setCopied(false), CONFIRMATION_MS);
  };
  const name = isCopied ? texts.copy.copied : `${texts.copy.copy}: ${label}`;
  return (
    <button
      type="button"
      class="icon-button icon-button-small"
      aria-label={name}
      data-tip={name}
      onClick={() => void copy()}
    >
      {isCopied ? <CheckIcon /> : <CopyIcon />}
    </button>
  );
}
