import { transform } from 'sucrase';
import type { Mistake } from './compile.ts';

/** TypeScript without its types; every line stays where it was. */
export function stripTypes(source: string): { readonly source: string } | Mistake {
  try {
    const { code } = transform(source, {
      transforms: ['typescript'],
      disableESTransforms: true,
      preserveDynamicImport: true,
      keepUnusedImports: true,
    });
    return { source: code };
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    const [, message = text, line] =
      /^(?:Error transforming \S+: )?(.*?)(?: \((\d+):\d+\))?$/s.exec(text) ?? [];
    return { name: 'SyntaxError', message, ...(line === undefined ? {} : { line: Number(line) }) };
  }
}
