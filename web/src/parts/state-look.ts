interface StateLook {
  readonly kind: 'good' | 'busy' | 'warn' | 'bad' | 'idle' | 'off';
  readonly word: string;
}

/** How each state of a connection looks and is called. */
export const looks: Readonly<Record<string, StateLook>> = {
  ready: { kind: 'good', word: 'Ready' },
  connecting: { kind: 'busy', word: 'Connecting' },
  idle: { kind: 'idle', word: 'Idle' },
  waiting: { kind: 'warn', word: 'Retrying' },
  'needs-auth': { kind: 'warn', word: 'Needs sign-in' },
  held: { kind: 'warn', word: 'Needs approval' },
  failed: { kind: 'bad', word: 'Failed' },
  closed: { kind: 'off', word: 'Stopped' },
  disabled: { kind: 'off', word: 'Disabled' },
};
