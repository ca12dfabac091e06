interface Stated {
  readonly state: string;
  readonly problem?: { readonly code: string };
}

/** The state of a server as people see it: one that only waits for their approval has not failed. */
export function shownState({ state, problem }: Stated): string {
  return problem?.code === 'QUARANTINED' ? 'held' : state;
}
