// Lets Node read TypeScript files where they are, so that `import.meta.url` in them stays true, which a bundle would not keep.

import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

import { transform } from 'esbuild';

/** The hook `load` of `node:module`. */
export async function load(url, context, next) {
  if (!url.endsWith('.ts')) return next(url, context);
  const text = await readFile(fileURLToPath(url), 'utf8');
  const { code } = await transform(text, {
    loader: 'ts',
    target: 'node20',
    sourcemap: 'inline',
    sourcefile: url,
  });
  return { format: 'module', source: code, shortCircuit: true };
}
