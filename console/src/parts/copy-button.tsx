// A button that copies a text to the clipboard, and shows a confirmation for a moment.

import { useRef, useState } from 'preact/hooks';
import { texts } from '../texts.ts';
import { CheckIcon, CopyIcon, WarningIcon } from './icons.tsx';

const CONFIRMATION_MS = 1_500;

export function CopyButton({ text, label }: { text: string; label: string }) {
  const [outcome, setOutcome] = useState<'copied' | 'failed' | null>(null);
  const button = useRef<HTMLButtonElement>(null);
  const copy = async () => {
    const isDone = (await copyThroughClipboard(text)) || copyThroughSelection(text, button.current);
    setOutcome(isDone ? 'copied' : 'failed');
    setTimeout(() => setOutcome(null), CONFIRMATION_MS);
  };
  const name = outcome === null ? `${texts.copy.copy}: ${label}` : texts.copy[outcome];
  return (
    <button
      ref={button}
      type="button"
      class="icon-button icon-button-small"
      aria-label={name}
      data-tip={name}
      onClick={() => void copy()}
    >
      {outcome === 'copied' ? <CheckIcon /> : outcome === 'failed' ? <WarningIcon /> : <CopyIcon />}
    </button>
  );
}

/** False if the browser does not allow it. A page that is served by plain http from another host has no `navigator.clipboard`. */
async function copyThroughClipboard(text: string): Promise<boolean> {
  if (!isSecureContext) return false;
  return navigator.clipboard.writeText(text).then(
    () => true,
    () => false,
  );
}

/** Selects the text in a field beside the button, because in a modal dialog the fields outside of it cannot have the focus. */
function copyThroughSelection(text: string, button: HTMLElement | null): boolean {
  const field = document.createElement('textarea');
  field.className = 'visually-hidden';
  field.value = text;
  button?.after(field);
  field.select();
  const isDone = document.execCommand('copy');
  field.remove();
  button?.focus();
  return isDone;
}
