// A link to a wallet, by the short form of its address.

import { Link } from 'wouter-preact';
import { shortAddress } from '../format/address.ts';
import { texts } from '../texts.ts';
import { Unknown } from './unknown.tsx';

export function Account({ address, reason = texts.unknown.account }: { address: string | null; reason?: string }) {
  if (address === null) return <Unknown reason={reason} />;
  return (
    <Link href={`/w/${encodeURIComponent(address)}`} class="link mono inner-link" data-tip={address}>
      {shortAddress(address)}
    </Link>
  );
}
