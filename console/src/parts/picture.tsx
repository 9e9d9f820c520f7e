// A picture that a record names, in a box of fixed size. A picture that is missing or cannot be loaded leaves the colour of its subject.
// docs/security.md says why pictures are loaded from their own hosts.

import { useState } from 'preact/hooks';

/** Where pictures of decentralised storage are read by a browser. Browsers cannot open these schemes themselves. */
const SCHEMES_OF_GATEWAYS = /^(ipfs|ar):/i;

type PictureProps = {
  url: string | null;
  /** The text alternative. Empty if the name stands beside the picture. */
  alt: string;
  /** What the colour of the empty box follows from, such as the id of the collection. */
  seed: string;
  class?: string;
  /** Loaded at once, because the picture is visible when the page opens. */
  isEager?: boolean;
};

export function Picture({ url, alt, seed, class: className = '', isEager = false }: PictureProps) {
  const [failedUrl, setFailedUrl] = useState<string | null>(null);
  const isShown = url !== null && url !== failedUrl && !SCHEMES_OF_GATEWAYS.test(url);
  return (
    <span class={`picture ${className}`} style={{ '--hue': String(hueOf(seed)) }}>
      {isShown && (
        <img
          src={url}
          alt={alt}
          loading={isEager ? 'eager' : 'lazy'}
          decoding="async"
          referrerpolicy="no-referrer"
          draggable={false}
          onError={() => setFailedUrl(url)}
        />
      )}
      {!isShown && alt !== '' && <span class="visually-hidden">{alt}</span>}
    </span>
  );
}

/** A hue from 0 to 359 that is always the same for a subject. */
export function hueOf(seed: string): number {
  let hash = 0;
  for (const character of seed) hash = (hash * 31 + (character.codePointAt(0) ?? 0)) % 3_600;
  return hash % 360;
}
