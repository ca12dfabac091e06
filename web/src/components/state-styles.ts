interface StateStyle {
  readonly kind: 'good' | 'busy' | 'warn' | 'bad' | 'idle' | 'off';
  readonly label: string;
}

/** The style and label of each state of a server. */
export const stateStyles: Readonly<Record<string, StateStyle>> = {
  ready: { kind: 'good', label: 'Ready' },
  connecting: { kind: 'busy', label: 'Connecting' },
  installing: { kind: 'busy', label: 'Installing' },
  idle: { kind: 'idle', label: 'Idle' },
  waiting: { kind: 'warn', label: 'Retrying' },
  'needs-auth': { kind: 'warn', label: 'Needs sign-in' },
  held: { kind: 'warn', label: 'Held' },
  failed: { kind: 'bad', label: 'Failed' },
  closed: { kind: 'off', label: 'Stopped' },
  disabled: { kind: 'off', label: 'Disabled' },
};
