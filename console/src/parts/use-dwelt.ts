// A hook that reports whether an element has stayed visible for a moment. An element that the user only scrolls past is not reported.

import { useCallback, useRef, useState } from 'preact/hooks';

const MOMENT_MS = 400;

/** The second result is the `ref` callback for the element. The element may be rendered later than the component. */
export function useDwelt<Target extends Element>(): [boolean, (element: Target | null) => void] {
  const [hasDwelt, setDwelt] = useState(false);
  const stop = useRef<() => void>();
  const observe = useCallback((element: Target | null) => {
    stop.current?.();
    stop.current = element ? whenDwelt(element, () => setDwelt(true)) : undefined;
  }, []);
  return [hasDwelt, observe];
}

/** Calls `onDwelt` once, when the element has stayed visible for MOMENT_MS. Returns a function that prevents this call. */
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
