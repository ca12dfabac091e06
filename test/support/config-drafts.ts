import { readdirSync } from 'node:fs';
import { join } from 'node:path';

/** Returns the draft files that `trunkline edit` left next to a configuration. */
export function findConfigDrafts(folder: string): readonly string[] {
  return readdirSync(folder)
    .filter((name) => name.includes('.draft'))
    .map((name) => join(folder, name));
}
