import type { ComponentChildren } from 'preact';

import { stateStyles } from './state-styles.ts';

interface StateDotProps {
  /** The state of a connection, or `disabled` or `held`. */
  readonly state: string;
  /** Replaces the label of the state. */
  readonly children?: ComponentChildren;
}

/** Shows a state by colour, shape and label, so that users never depend on the colour alone. */
export function StateDot({ state, children }: StateDotProps) {
  const style = stateStyles[state];
  return (
    <span class={`state ${style?.kind ?? 'idle'}`}>
      <span class="dot" aria-hidden="true" />
      <span>{children ?? style?.label ?? state}</span>
    </span>
  );
}
