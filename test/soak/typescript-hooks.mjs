// Lets Node load TypeScript files in place, so that `import.meta.url` in them stays correct, unlike in a bundle.

import { fileURLToPath } from 'node:url';

import { build } from 'rolldown';

/** The `load` hook of `node:module`: bundles each file by itself, with the helpers that `using` needs. */
export async function load(url, context, next) {
  if (!url.endsWith('.ts')) return next(url, context);
  const file = fileURLToPath(url);
  const { output } = await build({
    input: file,
    platform: 'node',
    external: (id) => id !== file && !id.startsWith('@oxc-project/'),
    transform: { target: 'node20' },
    treeshake: false,
    write: false,
    output: { file, sourcemap: 'inline', codeSplitting: false },
    logLevel: 'silent',
  });
  return { format: 'module', source: output[0].code, shortCircuit: true };
}
