export interface Statement {
  /** Process id of the server; each connection has its own. */
  readonly process: string;
  readonly text: string;
}

export function loggedDatabase(name: string): readonly string[];
export function statementsOf(log: string, database: string): readonly Statement[];

export interface KnownStatement extends Statement {
  readonly kind: 'record' | 'beat' | 'upkeep' | 'other';
}

export function withKinds(statements: readonly Statement[]): readonly KnownStatement[];
export function countKinds(
  statements: readonly KnownStatement[],
): Readonly<Record<KnownStatement['kind'] | 'batches', number>>;
