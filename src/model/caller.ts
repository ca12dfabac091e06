/** Who is asking, established from verified credentials. */
export interface Caller {
  readonly id: string;
  readonly via: 'stdio' | 'http' | 'cli' | 'admin';
  readonly profile: string;
}
