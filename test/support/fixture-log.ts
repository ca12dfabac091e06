import { existsSync, readFileSync } from 'node:fs';

import { waitForValue } from './eventually.ts';

/** One event in the log of a fixture server. */
export interface FixtureEvent {
  /** `started`, `initialize`, `discover`, `request`, `call`, `called`, `cancelled`, `session-opened`, `http`, `ended`, … */
  readonly event: string;
  readonly preset: string;
  readonly pid: number;
  readonly at: number;
  readonly [field: string]: unknown;
}

/** The log of a fixture server. Every access reads the file again, because the server keeps writing. */
export interface FixtureLog {
  readonly file: string;
  all(): readonly FixtureEvent[];
  of(event: string): readonly FixtureEvent[];
  /** Returns the protocol violations of its client. */
  violations(): readonly FixtureEvent[];
  waitFor(
    wanted: string | ((event: FixtureEvent) => boolean),
    options?: { readonly withinMs?: number },
  ): Promise<FixtureEvent>;
}

export function fixtureLogIn(file: string): FixtureLog {
  const all = (): FixtureEvent[] => {
    if (!existsSync(file)) return [];
    // A line without a line break is still being written.
    const lines = readFileSync(file, 'utf8').split('\n').slice(0, -1);
    return lines.map((line) => JSON.parse(line) as FixtureEvent);
  };
  const of = (event: string): FixtureEvent[] => all().filter((one) => one.event === event);
  return {
    file,
    all,
    of,
    violations: () => of('violation'),
    waitFor(wanted, options = {}) {
      const matches = typeof wanted === 'string' ? (one: FixtureEvent) => one.event === wanted : wanted;
      const what = `An event ${typeof wanted === 'string' ? wanted : 'as wanted'} in the fixture's log`;
      return waitForValue(() => all().find(matches), { what, ...options });
    },
  };
}
