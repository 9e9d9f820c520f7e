// Highlights a displayed value when it changes: its background is coloured, and fades once.

import type { ComponentChildren } from 'preact';
import { Component, createRef } from 'preact';
import './flash.css';

type FlashProps = { value: string | number | bigint | null; children: ComponentChildren };

/** A class component, because a table can have thousands of these components. With hooks, each of them would run an effect when it is drawn. */
export class Flash extends Component<FlashProps> {
  readonly #element = createRef<HTMLSpanElement>();

  override componentDidUpdate({ value }: FlashProps): void {
    const element = this.#element.current;
    if (!element || value === this.props.value) return;
    // A second change restarts the animation.
    element.classList.remove('flash');
    void element.offsetWidth;
    element.classList.add('flash');
  }

  override render() {
    return <span ref={this.#element}>{this.props.children}</span>;
  }
}
