import type { Caller } from '../../model/caller.ts';
import type { ClientChannel, Connection } from '../../wire/serving.ts';
import type { SessionFacts } from './session-facts.ts';
import type { SessionChange, SessionState } from './session-state.ts';

/** A session that goes on wherever its id is shown, as the side that answers sees it. */
export interface KeptSession {
  readonly id: string;
  /** There when it was opened elsewhere, or before a restart. */
  readonly before?: { readonly facts: SessionFacts; readonly state: SessionState };
  /** Writes down what the client set; resolves also where that cannot be, since it holds here. */
  change(change: SessionChange): Promise<void>;
}

/** The side that answers, with what it must hear of where else the session is served. */
export interface SessionConnection extends Connection {
  /** What the client has set, here or elsewhere; resolves when it is in force. */
  adopt?(state: SessionState): Promise<void>;
  /** The client listens again, and nobody knows what it has heard since it last listed. */
  returned?(): void;
}

/** Makes the side that answers: one per session of the older protocol, one per POST of the modern one. */
export type Connect = (options: {
  readonly caller: Caller;
  readonly channel: ClientChannel;
  readonly transport: 'http';
  readonly path: string;
  readonly kept?: KeptSession | undefined;
}) => SessionConnection;

/** What is written down of sessions, for whoever serves them next. */
export interface SessionMemory {
  /** Undefined when nothing was. */
  read(session: OldSession): Promise<SessionState | 'ended' | undefined>;
  change(id: string, change: SessionChange, expiresAt: number): Promise<void>;
  end(id: string, expiresAt: number): Promise<void>;
  /** All sessions of a caller that were opened until now. */
  endOf(caller: string, expiresAt: number): Promise<void>;
  /** Tells of what others have written; also without any news when some may have been missed. */
  follow?(listener: (news: readonly SessionNews[]) => void): void;
}

export interface OldSession {
  readonly id: string;
  readonly caller: string;
  readonly issuedAt: number;
}

export interface SessionNews {
  readonly id: string;
  readonly state: SessionState | 'ended';
}
