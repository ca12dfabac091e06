import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

import { build } from 'rolldown';

/** Bundles a TypeScript file, named from the root of the repository, and returns its exports. */
export async function bundleSource(file) {
  const folder = mkdtempSync(join(tmpdir(), 'trunkline-bench-'));
  const outfile = join(folder, 'bundle.mjs');
  try {
    await build({
      input: fileURLToPath(new URL(`../../${file}`, import.meta.url)),
      platform: 'node',
      resolve: { mainFields: ['module', 'main'] },
      transform: { target: 'node20' },
      output: { file: outfile, codeSplitting: false },
      logLevel: 'silent',
    });
    return await import(pathToFileURL(outfile).href);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
