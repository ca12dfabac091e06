import type { RunningGateway } from '../gateway.ts';
import type { RawClient } from '../raw-client.ts';
import type { JsonObject, RawClientOptions, ToolResult } from '../raw-messages.ts';

/** What a hostile server says, and what a hostile caller sends. */
export interface Attack {
  readonly tools?: readonly object[];
  /** Further results of the server by method; a call returns a short text unless said. */
  readonly results?: Readonly<Record<string, object>>;
  /** Sent before the result of a call. */
  readonly notifications?: readonly object[];
  readonly requests?: readonly object[];
  /** Arguments of the call; `{}` unless said. */
  readonly args?: JsonObject;
  /** A further message of the caller as text, which is sent before the call. */
  readonly body?: string;
  readonly client?: RawClientOptions;
  /** Further keys of the configuration, and of the hostile server in it. */
  readonly config?: JsonObject;
  readonly server?: JsonObject;
  readonly servers?: JsonObject;
  readonly expose?: 'direct' | 'search';
  /** Whether only `npm run test:all` runs it. */
  readonly isSlow?: boolean;
  /** What the caller does besides listing and calling. */
  readonly act?: (attacker: Attacker) => Promise<unknown>;
  /** Checks that the attack reached the gateway, where the list and the call do not show it. */
  readonly verifyArrival?: (aftermath: Aftermath) => unknown;
}

export interface Attacker {
  readonly client: RawClient;
  readonly gateway: RunningGateway;
}

/** What the caller can see after the attack. */
export interface Aftermath extends Attacker {
  readonly toolNames: readonly string[];
  /** The result of the call, or the error. */
  readonly called: ToolResult | Error;
}

export const times = <T>(count: number, make: (at: number) => T): T[] =>
  Array.from({ length: count }, (_, at) => make(at));

export const membersOf = (count: number, name: (at: number) => string, value: unknown): JsonObject =>
  Object.fromEntries(times(count, (at) => [name(at), value]));

export const tool = (inputSchema: object, more: object = {}): object => ({
  name: 'tool',
  description: 'A tool.',
  annotations: { readOnlyHint: true },
  inputSchema: { type: 'object', ...inputSchema },
  ...more,
});

export const text = (value: string): object => ({ content: [{ type: 'text', text: value }] });

export const nested = (levels: number): unknown => JSON.parse(`${'['.repeat(levels)}${']'.repeat(levels)}`);
