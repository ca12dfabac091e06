interface NodeResult {
  readonly version: string;
  readonly unit: string;
  readonly smoke: string;
}

export const nodeVersions: readonly string[];
export const smokeTests: readonly string[];
export function selectVersions(args: readonly string[]): string[];
export function platformPackage(platform: string, arch: string): string;
export function resultTable(rows: readonly NodeResult[]): string;
