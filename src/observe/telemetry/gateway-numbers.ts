/** Numbers that are looked up when somebody asks for them. */
export interface GatewayNumbers {
  readonly clients: number;
  readonly servers: readonly {
    readonly name: string;
    readonly isReady: boolean;
    readonly inFlight: number;
  }[];
  /** Operations that could not be recorded. */
  readonly unrecorded: number;
  readonly residentBytes: number;
}
