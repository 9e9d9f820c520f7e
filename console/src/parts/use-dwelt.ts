// Whether an element has been in the window for a moment. What a reader only scrolls past does not count.

import { useCallback, useRef, useState } from 'preact/hooks';

const MOMENT_MS = 400;

/** The second result is the `ref` of the element, which may come later than the component. */
export function useDwelt<Target extends Element>(): [boolean, (element: Target | null) => void] {
  const [hasDwelt, setDwelt] = useState(false);
  const stop = useRef<() => void>();
  const observe = useCallback((element: Target | null) => {
    stop.current?.();
    stop.current = element ? whenDwelt(element, () => setDwelt(true)) : undefined;
  }, []);
  return [hasDwelt, observe];
}

/** Calls `onDwelt` once, unless the returned function is called before. */
function whenDwelt(element: Element, onDwelt: () => void): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const stop = () => {
    clearTimeout(timer);
    observer.disconnect();
  };
  const observer = new IntersectionObserver(([entry]) => {
    clearTimeout(timer);
    if (!entry?.isIntersecting) return;
    timer = setTimeout(() => {
      stop();
      onDwelt();
    }, MOMENT_MS);
  });
  observer.observe(element);
  return stop;
}
