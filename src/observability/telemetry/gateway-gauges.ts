/** Current values that are read when metrics are exported. */
export interface GatewayGauges {
  readonly clients: number;
  readonly servers: readonly {
    readonly name: string;
    readonly isReady: boolean;
    readonly inFlight: number;
  }[];
  /** Operations that are missing from the audit log. */
  readonly unrecorded: number;
  readonly residentBytes: number;
}
