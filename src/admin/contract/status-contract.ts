import type { ConfigProblem } from '../../config/reload/config-state.ts';
import type { AuditHealth } from '../../observe/audit/recorder.ts';
import type { AdminHealth, AdminPause, AdminServer } from './contract.ts';

export interface AdminStatus extends AdminHealth, AdminPause {
  /** When the gateway was started, in milliseconds since 1970. */
  readonly since: number;
  /** Whether it outlives the command that asks. */
  readonly kind: 'background' | 'http' | 'own';
  readonly config: string;
  /** Where HTTP clients find it. */
  readonly url?: string;
  /** Client sessions that are connected now. */
  readonly clients: number;
  readonly warnings: readonly string[];
  /** Why the configuration file as it is now is not what runs; absent when it is. */
  readonly configProblem?: ConfigProblem;
  /** Settings that are written otherwise than they are in use until the gateway is started again; absent when none is. */
  readonly needsRestart?: readonly string[];
  /** The gateways on the same database; absent where there is none of its own. */
  readonly fleet?: AdminFleet;
  readonly tools: number;
  /** How the record of operations fares; absent where there is none. */
  readonly audit?: AuditHealth;
  /** How much waits for a person. */
  readonly held: {
    readonly servers: number;
    readonly entries: number;
    readonly calls: number;
    /** Why nothing new is approved for the time being. */
    readonly problem?: string;
  };
  readonly servers: readonly AdminServer[];
}

/** This gateway as one of those that share a database. */
export interface AdminFleet {
  /** Its id, which is another one after each start. */
  readonly replica: string;
  /** Where the others reach it. */
  readonly address: string;
  readonly others: readonly { readonly id: string; readonly address: string; readonly version: string }[];
  /** Why it is not one of them. */
  readonly problem?: string;
}
