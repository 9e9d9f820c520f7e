// A link to a wallet. The text of the link is the short form of the address.

import { shortAddress } from '../format/address.ts';
import { texts } from '../texts.ts';
import { Unknown } from './unknown.tsx';
import { Link } from './link.tsx';

export function Account({ address, reason = texts.unknown.account }: { address: string | null; reason?: string }) {
  if (address === null) return <Unknown reason={reason} />;
  return (
    <Link href={`/w/${encodeURIComponent(address)}`} class="link mono inner-link" data-tip={address}>
      {shortAddress(address)}
    </Link>
  );
}
