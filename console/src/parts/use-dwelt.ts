// Whether an element has been in the window for a moment. What a reader only scrolls past does not count.

import type { RefObject } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

const MOMENT_MS = 400;

export function useDwelt<Target extends Element>(): [boolean, RefObject<Target>] {
  const ref = useRef<Target>(null);
  const [hasDwelt, setDwelt] = useState(false);
  useEffect(() => {
    const element = ref.current;
    if (hasDwelt || !element) return undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const observer = new IntersectionObserver(([entry]) => {
      clearTimeout(timer);
      if (entry?.isIntersecting) timer = setTimeout(() => setDwelt(true), MOMENT_MS);
    });
    observer.observe(element);
    return () => {
      clearTimeout(timer);
      observer.disconnect();
    };
  }, [hasDwelt]);
  return [hasDwelt, ref];
}
