// Marks a value that has changed while it was displayed, by a background that fades once.

import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';

export function Flash({ value, children }: { value: string | number | bigint | null; children: ComponentChildren }) {
  const element = useRef<HTMLSpanElement>(null);
  const previous = useRef(value);
  useLayoutEffect(() => {
    if (previous.current === value) return;
    previous.current = value;
    // A second change restarts the animation.
    element.current?.classList.remove('flash');
    void element.current?.offsetWidth;
    element.current?.classList.add('flash');
  }, [value]);
  return <span ref={element}>{children}</span>;
}
