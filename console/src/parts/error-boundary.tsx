// Limits an exception in a component to one page or one part of a page. Without a boundary, an exception while rendering would stop the
// updates of the complete page.

import type { ComponentChildren } from 'preact';
import { Component } from 'preact';
import { queries } from '../data/client.ts';
import { ErrorPanel } from './states.tsx';

type BoundaryProps = {
  /** When this value changes, the children are rendered again after an exception. */
  subject: string;
  /** Whether the panel stands in place of a page, and not of a part of one. */
  isPage?: boolean;
  children: ComponentChildren;
};

export class ErrorBoundary extends Component<BoundaryProps, { failure: { error: unknown } | null }> {
  override state = { failure: null as { error: unknown } | null };

  override componentDidCatch(error: unknown): void {
    this.setState({ failure: { error } });
    // The browser reports the exception like one that nothing has caught.
    reportError(error);
  }

  override componentDidUpdate({ subject }: BoundaryProps): void {
    if (subject !== this.props.subject && this.state.failure) this.setState({ failure: null });
  }

  override render() {
    const { failure } = this.state;
    if (!failure) return this.props.children;
    const retry = () => {
      // What the children have read is read again, because it may be the cause.
      queries.removeQueries({ type: 'inactive' });
      this.setState({ failure: null });
    };
    const panel = <ErrorPanel error={failure.error} onRetry={retry} />;
    return this.props.isPage ? <div class="page">{panel}</div> : panel;
  }
}
