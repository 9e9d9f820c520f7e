// The tooltip of elements with `data-tip`: shown while the pointer is over the element or the element has the focus. On a touch screen, a tap
// or a long press shows it until the next tap.

import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import './tooltip.css';

type Shown = { text: string; target: Element };

const GAP = 6;
const EDGE = 8;

export function TooltipLayer() {
  const [shown, setShown] = useState<Shown | null>(null);
  const tooltip = useRef<HTMLDivElement>(null);

  useEffect(() => {
    const show = (event: Event) => {
      const target = event.target instanceof Element ? event.target.closest('[data-tip]') : null;
      const text = target?.getAttribute('data-tip');
      setShown(target && text ? { text, target } : null);
    };
    const hide = () => setShown(null);
    // A tap also moves the focus, to the nearest element around that can have it. That element has no tooltip of its own.
    const showOfFocused = (event: Event) => {
      if (event.target instanceof Element && event.target.matches('[data-tip]')) show(event);
    };
    const hideOfFocused = (event: Event) => setShown((now) => (now?.target === event.target ? null : now));
    const hideOnEscape = (event: KeyboardEvent) => event.key === 'Escape' && hide();
    document.addEventListener('pointerover', show);
    document.addEventListener('focusin', showOfFocused);
    document.addEventListener('focusout', hideOfFocused);
    document.addEventListener('scroll', hide, { capture: true, passive: true });
    document.addEventListener('keydown', hideOnEscape);
    return () => {
      document.removeEventListener('pointerover', show);
      document.removeEventListener('focusin', showOfFocused);
      document.removeEventListener('focusout', hideOfFocused);
      document.removeEventListener('scroll', hide, { capture: true });
      document.removeEventListener('keydown', hideOnEscape);
    };
  }, []);

  useLayoutEffect(() => {
    if (!shown || !tooltip.current) return;
    const box = tooltip.current;
    const target = shown.target.getBoundingClientRect();
    const { width, height } = box.getBoundingClientRect();
    const left = Math.min(
      Math.max(EDGE, target.left + target.width / 2 - width / 2),
      document.documentElement.clientWidth - width - EDGE,
    );
    const above = target.top - height - GAP;
    box.style.left = `${Math.round(left)}px`;
    box.style.top = `${Math.round(above >= EDGE ? above : target.bottom + GAP)}px`;
  }, [shown]);

  if (!shown) return null;
  return (
    <div ref={tooltip} class="tooltip" role="tooltip">
      {shown.text}
    </div>
  );
}
