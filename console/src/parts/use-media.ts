// A hook that returns whether a CSS media query matches, for example a query about the width of the window.

import { useEffect, useState } from 'preact/hooks';

export function useMedia(condition: string): boolean {
  const [holds, setHolds] = useState(() => matchMedia(condition).matches);
  useEffect(() => {
    const query = matchMedia(condition);
    const onChange = () => setHolds(query.matches);
    onChange();
    query.addEventListener('change', onChange);
    return () => query.removeEventListener('change', onChange);
  }, [condition]);
  return holds;
}
