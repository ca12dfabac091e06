/** The subject of requests between replicas for the list of their clients. */
export const CLIENTS_SUBJECT = 'clients';

/** A client of this gateway. */
export interface ConnectedClient {
  readonly id: string;
  /** The name and version that the client states; absent if it states none. They are not verified. */
  readonly name?: string | undefined;
  readonly version?: string | undefined;
  /** The revision of MCP that the client speaks. */
  readonly protocol: string;
  readonly transport: 'stdio' | 'http';
  readonly caller: string;
  readonly profile: string;
  readonly exposure: 'direct' | 'search' | 'code';
  /** The only server that the client uses; absent if it uses the whole gateway. */
  readonly server?: string | undefined;
  /** Whether the client has a session. Without one, it is listed for ten minutes after its last request. */
  readonly hasSession: boolean;
  readonly since: number;
  readonly usedAt: number;
  /** The number of tool calls since `since`, including searches. */
  readonly calls: number;
}
