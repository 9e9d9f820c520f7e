// Whether an element has been in the window for a moment. What a reader only scrolls past does not count.

import { useEffect, useState } from 'preact/hooks';

const MOMENT_MS = 400;

/** The second result is the `ref` of the element, which may come later than the component. */
export function useDwelt<Target extends Element>(): [boolean, (element: Target | null) => void] {
  const [element, setElement] = useState<Target | null>(null);
  const [hasDwelt, setDwelt] = useState(false);
  useEffect(() => {
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
  }, [element, hasDwelt]);
  return [hasDwelt, setElement];
}
