/** The schema as queries see it; `migrations.ts` makes it. */
export interface Tables {
  readonly listings: ListingsTable;
  readonly eras: ErasTable;
}

interface ListingsTable {
  upstream: string;
  /** Of the upstream's config, so that a changed entry discards its own listing only. */
  fingerprint: string;
  listed_at: number;
  body: string;
}

interface ErasTable {
  fingerprint: string;
  era: string;
  protocol: string;
  decided_at: number;
}
