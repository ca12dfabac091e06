import type { ConfigProblem } from '../../config/reload/config-state.ts';
import type { AuditHealth } from '../../observability/audit/audit-queue.ts';
import type { AdminHealth, AdminPause, AdminServer } from './contract.ts';

export interface AdminStatus extends AdminHealth, AdminPause {
  /** When the gateway was started, in milliseconds since 1970. */
  readonly since: number;
  /** `own` for a gateway that ends with the command that started it. */
  readonly kind: 'background' | 'http' | 'own';
  readonly config: string;
  /** The URL for HTTP clients. */
  readonly url?: string | undefined;
  /** The number of connected client sessions. */
  readonly clients: number;
  readonly warnings: readonly string[];
  /** Why the current content of the configuration file is not active; absent if it is. */
  readonly configProblem?: ConfigProblem | undefined;
  /** Settings in the file that take effect after the next restart; absent if there are none. */
  readonly needsRestart?: readonly string[] | undefined;
  /** The environment variables of which a connected client has another value than this gateway uses; absent if there are none. */
  readonly differingVariables?: readonly AdminDifferingVariable[] | undefined;
  /** The gateways that share a database; absent for a single gateway. */
  readonly fleet?: AdminFleet | undefined;
  readonly tools: number;
  /** The state of the audit log; absent if it is off. */
  readonly audit?: AuditHealth | undefined;
  /** The number of items that are held for approval. */
  readonly held: {
    readonly servers: number;
    readonly entries: number;
    readonly calls: number;
    /** Why the stored approvals cannot be read. Until they can be read, new items stay held. */
    readonly problem?: string | undefined;
  };
  readonly servers: readonly AdminServer[];
}

export interface AdminDifferingVariable {
  readonly name: string;
  /** Whether the configuration can refer to a stored secret instead. */
  readonly canBeSecret: boolean;
}

/** This gateway and the others that share its database. */
export interface AdminFleet {
  /** The id of this gateway; it changes with every start. */
  readonly replica: string;
  /** The address at which the others reach this gateway. */
  readonly address: string;
  readonly others: readonly { readonly id: string; readonly address: string; readonly version: string }[];
  /** Why this gateway could not join the others. */
  readonly problem?: string | undefined;
}
