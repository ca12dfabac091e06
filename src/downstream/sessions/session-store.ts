import type { Caller } from '../../core/caller.ts';
import type { ClientChannel, ClientConnection } from '../../protocol/client-connection.ts';
import type { SessionFacts } from './session-facts.ts';
import type { ClientSettingsChange, ClientSettings } from './client-settings.ts';

/** Stores the settings of legacy sessions, for other replicas and for the time after a restart. */
export interface SessionStore {
  /** Resolves with undefined if nothing was stored for the session. */
  read(session: SessionReference): Promise<ClientSettings | 'ended' | undefined>;
  saveChange(id: string, change: ClientSettingsChange, expiresAt: number): Promise<void>;
  markEnded(id: string, expiresAt: number): Promise<void>;
  /** Ends all sessions that the caller has opened so far. */
  markCallerEnded(caller: string, expiresAt: number): Promise<void>;
  /** Reports rows that any replica has stored. The list can be empty, which still shows that the store can be read. */
  onUpdate?(listener: (updates: readonly SessionUpdate[]) => void): void;
}

export interface SessionReference {
  readonly id: string;
  readonly caller: string;
  readonly issuedAt: number;
}

export interface SessionUpdate {
  readonly id: string;
  readonly state: ClientSettings | 'ended';
}

/** The stored part of a session, for the connection that answers its client. */
export interface StoredSession {
  readonly id: string;
  /** Present if the session was opened at another replica or before a restart. */
  readonly restored?: { readonly facts: SessionFacts; readonly state: ClientSettings } | undefined;
  /** Stores a changed setting; resolves even if storing fails, since the setting is already in effect here. */
  saveChange(change: ClientSettingsChange): Promise<void>;
}

/** A connection whose session can also be served by other replicas. */
export interface SessionConnection extends ClientConnection {
  /** Applies the settings that the client made here or at another replica; resolves when they are in effect. */
  adopt?(settings: ClientSettings): Promise<void>;
  /** Called when the client opens a stream again and it is unknown which changes it has missed. */
  onClientReturned?(): void;
}

/** Creates the connection that answers a client: one per legacy session, and one per POST of a modern client. */
export type ConnectSession = (options: {
  readonly caller: Caller;
  readonly channel: ClientChannel;
  readonly transport: 'http';
  readonly path: string;
  readonly stored?: StoredSession | undefined;
}) => SessionConnection;
