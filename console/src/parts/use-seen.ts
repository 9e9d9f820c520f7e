// Whether an element has come near the window.

import type { RefObject } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

/** Elements this far outside of the window count as seen, so that they are complete when they come into view. */
const MARGIN = '200px';

export function useSeen<Target extends Element>(): [boolean, RefObject<Target>] {
  const ref = useRef<Target>(null);
  const [isSeen, setSeen] = useState(false);
  useEffect(() => {
    const element = ref.current;
    if (isSeen || !element) return undefined;
    const observer = new IntersectionObserver(
      ([entry]) => {
        if (entry?.isIntersecting) setSeen(true);
      },
      { rootMargin: MARGIN },
    );
    observer.observe(element);
    return () => observer.disconnect();
  }, [isSeen]);
  return [isSeen, ref];
}
