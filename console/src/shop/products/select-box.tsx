// The checkbox that selects the products of a row, or of all rows.

import { Component } from 'preact';
import type { ProductSummary } from '../../../../client/src/store.ts';
import type { Selection } from './selection.ts';

type SelectBoxProps = { selection: Selection; products: readonly ProductSummary[]; label: string; isHead?: boolean };

/** A class component, because a list can have thousands: each is rendered again only if its own products are selected or not any more. */
export class SelectBox extends Component<SelectBoxProps, { isSelected: boolean }> {
  #unsubscribe: () => void = () => {};

  override state = { isSelected: this.props.selection.has(this.props.products) };

  override componentDidMount(): void {
    this.#unsubscribe = this.props.selection.subscribe(() => this.#update());
    this.#update();
  }

  override componentDidUpdate(): void {
    this.#update();
  }

  override componentWillUnmount(): void {
    this.#unsubscribe();
  }

  #update(): void {
    const isSelected = this.props.selection.has(this.props.products);
    if (isSelected !== this.state.isSelected) this.setState({ isSelected });
  }

  override render() {
    const { selection, products, label, isHead = false } = this.props;
    return (
      <label class="select-box">
        <input
          type="checkbox"
          {...(!isHead && { 'data-select': true })}
          aria-label={label}
          checked={this.state.isSelected}
          onChange={(event) => selection.select(products, event.currentTarget.checked)}
        />
      </label>
    );
  }
}
