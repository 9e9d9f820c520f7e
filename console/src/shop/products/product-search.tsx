// The search of the products. It also takes the text of a scanner, which types a barcode or a SKU and then Enter: if exactly one product has it, the
// product is opened.

import { useEffect, useRef, useState } from 'preact/hooks';
import { useLocation } from 'wouter-preact';
import { queries } from '../../data/client.ts';
import { productsOfCodeQuery } from '../../data/shop-queries.ts';
import { texts } from '../texts.ts';
import { productPath } from '../paths.ts';
import { SearchBox } from '../search-box.tsx';
import type { ShopSession } from '../session.ts';

/** A search begins when the user has not typed for this long. */
const PAUSE_MS = 200;

type ProductSearchProps = {
  session: ShopSession;
  /** The text of the list that is displayed. */
  q: string | null;
  hrefOf: (q: string | null) => string;
};

export function ProductSearch({ session, q, hrefOf }: ProductSearchProps) {
  const [text, setText] = useState(q ?? '');
  const [, navigate] = useLocation();
  /** The last text that was searched for from this field. */
  const searched = useRef(q);
  const field = useRef<HTMLInputElement>(null);
  const search = (typed: string) => {
    const wanted = typed === '' ? null : typed;
    if (wanted === searched.current) return;
    searched.current = wanted;
    navigate(hrefOf(wanted), { replace: true });
  };
  useEffect(() => {
    const timer = setTimeout(() => search(text.trim()), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  // A link has changed the list, and not this field.
  useEffect(() => {
    if (q === searched.current) return;
    searched.current = q;
    setText(q ?? '');
  }, [q]);

  const openOfCode = async (code: string) => {
    search(code);
    // The next code of a scanner replaces this one.
    field.current?.select();
    if (code === '') return;
    // If the products cannot be read, the list below has the same failure and displays it.
    const products = await queries.fetchQuery(productsOfCodeQuery(session, code)).catch(() => []);
    const [product] = products;
    // The field is gone if the user has opened another page meanwhile, and has another text if the user has typed further.
    if (product && products.length === 1 && field.current?.value.trim() === code) navigate(productPath(product.id));
  };
  return (
    <SearchBox
      hint={texts.products.search}
      label={texts.products.searchLabel}
      text={text}
      onText={setText}
      onEnter={(code) => void openOfCode(code)}
      field={field}
    />
  );
}
