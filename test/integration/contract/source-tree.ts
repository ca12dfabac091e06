import { readFileSync, readdirSync } from 'node:fs';
import { dirname, join, posix, relative, sep } from 'node:path';

import { parseAst } from 'vitest/node';

export const root = join(import.meta.dirname, '..', '..', '..');

export interface SourceFile {
  /** From the root of the repository, with forward slashes. */
  readonly path: string;
  readonly text: string;
  readonly imports: readonly Import[];
  readonly nodes: readonly Node[];
}

export interface Import {
  readonly line: number;
  /** As written for packages, from the root of the repository for files. */
  readonly target: string;
  readonly isFile: boolean;
}

/** Any node of a syntax tree; the fields are those of ESTree with TypeScript. */
export interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [field: string]: unknown;
}

export function sourceFiles(folder: string): readonly SourceFile[] {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)).split(sep).join('/'))
    .toSorted()
    .map((path) => parse(path, readFileSync(join(root, path), 'utf8')));
}

export function parse(path: string, text: string): SourceFile {
  // oxlint-disable-next-line typescript/no-deprecated -- its successor is exported by a package that only vitest depends on
  const nodes = descendants(parseAst(text, { lang: path.endsWith('.tsx') ? 'tsx' : 'ts' }));
  const imports = nodes.flatMap((node) => {
    const written = importedBy(node);
    if (written === undefined) return [];
    const isFile = written.startsWith('.');
    return [
      { line: lineOf(text, node), target: isFile ? posix.join(dirname(path), written) : written, isFile },
    ];
  });
  return { path, text, imports, nodes };
}

export function lineOf(text: string, node: Node): number {
  return text.slice(0, node.start).split('\n').length;
}

/** Static, type-only and dynamic imports, `export … from` and `import('…').Type`. */
function importedBy(node: Node): string | undefined {
  switch (node.type) {
    case 'ImportDeclaration':
    case 'ExportAllDeclaration':
    case 'ExportNamedDeclaration':
    case 'ImportExpression':
    case 'TSImportType': {
      const source = node['source'] as { readonly value?: unknown } | null;
      return typeof source?.value === 'string' ? source.value : undefined;
    }
    default:
      return undefined;
  }
}

function descendants(value: unknown): Node[] {
  if (Array.isArray(value)) return value.flatMap(descendants);
  if (typeof value !== 'object' || value === null) return [];
  const below = Object.values(value).flatMap(descendants);
  return 'type' in value && typeof value.type === 'string' ? [value as Node, ...below] : below;
}
