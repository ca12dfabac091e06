// Lets Node read TypeScript files where they are, so that `import.meta.url` in them stays true, which a bundle would not keep.

import { fileURLToPath } from 'node:url';

import { build } from 'rolldown';

/** The hook `load` of `node:module`: each file is a bundle of itself, with what `using` needs in it. */
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
