// Shows a picture in a box of fixed size. If the picture is missing or cannot be loaded, the box shows a colour instead. docs/security.md
// says why pictures are loaded from their own hosts.

import { useState } from 'preact/hooks';
import { parseGateways, toPictureUrl } from './picture-url.ts';
import './picture.css';

const gateways = parseGateways(document.querySelector<HTMLMetaElement>('meta[name=image-gateways]')?.content ?? '');

type PictureProps = {
  url: string | null;
  /** The text alternative. Empty if the name stands beside the picture. */
  alt: string;
  /** The text from which the colour of the empty box is computed, such as the id of the collection. */
  seed: string;
  class?: string;
  /** Whether the picture is loaded at once. Set for a picture that is visible when the page opens. */
  isEager?: boolean;
};

export function Picture({ url: recordUrl, alt, seed, class: className = '', isEager = false }: PictureProps) {
  const [failedUrl, setFailedUrl] = useState<string | null>(null);
  const url = recordUrl === null ? null : toPictureUrl(recordUrl, gateways);
  const isShown = url !== null && url !== failedUrl;
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

/** Computes a hue from 0 to 359. The hue is always the same for the same seed. */
function hueOf(seed: string): number {
  let hash = 0;
  for (const character of seed) hash = (hash * 31 + (character.codePointAt(0) ?? 0)) % 3_600;
  return hash % 360;
}
