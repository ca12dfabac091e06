import { readdirSync } from 'node:fs';
import { join } from 'node:path';

/** What `trunkline edit` left beside a configuration. */
export function findConfigDrafts(folder: string): readonly string[] {
  return readdirSync(folder)
    .filter((name) => name.includes('.draft'))
    .map((name) => join(folder, name));
}
