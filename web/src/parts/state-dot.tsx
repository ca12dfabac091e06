import type { ComponentChildren } from 'preact';

import { looks } from './state-look.ts';

interface StateDotProps {
  /** A state of a connection, or `disabled` or `held`. */
  readonly state: string;
  /** Instead of the state's own word. */
  readonly children?: ComponentChildren;
}

/** Colour, shape and word say the same, so that none of them is needed alone. */
export function StateDot({ state, children }: StateDotProps) {
  const look = looks[state];
  return (
    <span class={`state ${look?.kind ?? 'idle'}`}>
      <span class="dot" aria-hidden="true" />
      <span>{children ?? look?.word ?? state}</span>
    </span>
  );
}
