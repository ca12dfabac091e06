import { transform } from 'sucrase';
import type { CompileError } from './compile-script.ts';

/** Removes the types from TypeScript; every line keeps its number. */
export function stripTypes(source: string): { readonly source: string } | CompileError {
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
    return { name: 'SyntaxError', message, line: line === undefined ? undefined : Number(line) };
  }
}
