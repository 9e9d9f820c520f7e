// The short form of a transaction's hash, as a link to a block explorer.

import { useIsLocalChain } from '../data/use-local-chain.ts';
import { shortAddress } from '../format/address.ts';
import { OutsideLink } from '../parts/outside-link.tsx';
import { transactionUrl } from './outside-links.ts';
import { texts } from './texts.ts';

type TransactionProps = {
  chain: string;
  tx: string;
  /** Whether only an icon stands for the link, as in a table. */
  isShort?: boolean;
};

export function Transaction({ chain, tx, isShort = false }: TransactionProps) {
  const isLocal = useIsLocalChain(chain);
  const url = isLocal === false ? transactionUrl(chain, tx) : null;
  const text = isShort ? null : <span class="mono">{shortAddress(tx)}</span>;
  if (url === null) return text && <span data-tip={tx}>{text}</span>;
  return (
    <OutsideLink href={url} label={`${texts.links.transaction}: ${tx}`}>
      {text}
    </OutsideLink>
  );
}
