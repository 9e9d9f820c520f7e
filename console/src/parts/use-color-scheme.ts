// The colour scheme that the system prefers.

import { useEffect, useState } from 'preact/hooks';

const DARK = '(prefers-color-scheme: dark)';

export function useColorScheme(): 'light' | 'dark' {
  const [isDark, setDark] = useState(() => matchMedia(DARK).matches);
  useEffect(() => {
    const query = matchMedia(DARK);
    const onChange = () => setDark(query.matches);
    query.addEventListener('change', onChange);
    return () => query.removeEventListener('change', onChange);
  }, []);
  return isDark ? 'dark' : 'light';
}
