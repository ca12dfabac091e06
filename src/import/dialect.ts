import { escapeReferences } from '../config/references.ts';
import { pathsOf } from './paths.ts';
import type { Reading } from './source.ts';

/** A text of a foreign file as we would write it. */
export interface Expanded {
  readonly text: string;
  readonly remark?: string;
  readonly problem?: string;
}

/** What a client makes of `${…}` and the like in its texts. */
export type Dialect = (text: string) => Expanded;

/** Nothing: what is written is meant. */
export const literal: Dialect = (text) => ({ text: escapeReferences(text) });

/** `${NAME}` and `${NAME:-default}` as in a shell; `unset` is what becomes of a variable that is not there. */
export function shellLike({ unset = 'missing' }: { readonly unset?: 'missing' | 'empty' } = {}): Dialect {
  return (text) =>
    replaced(text, (body) => {
      const [, name, fallback] = /^([A-Za-z_]\w*)(?::-(.*))?$/s.exec(body) ?? [];
      if (name === undefined) return undefined;
      if (fallback !== undefined) return { text: `\${${name}:-${fallback}}` };
      return { text: unset === 'empty' ? `\${${name}:-}` : `\${${name}}` };
    });
}

/** The variables of editors: `${env:NAME}`, `${userHome}`, `${workspaceFolder}`, `${input:id}`. */
export function editorLike(reading: Reading, inputs: ReadonlyMap<string, string> = new Map()): Dialect {
  const { places, scope } = reading;
  const path = pathsOf(places);
  return (text) =>
    replaced(text, (body) => {
      const [, kind, rest = ''] = /^(\w+|\/)(?::(.*))?$/s.exec(body) ?? [];
      if (kind === 'env' && rest !== '') return { text: `\${env:${rest}}` };
      if (kind === 'userHome') return { text: escapeReferences(places.home) };
      if (kind === 'pathSeparator' || kind === '/') return { text: path.sep };
      if (kind === 'workspaceFolder' || kind === 'workspaceFolderBasename') {
        if (scope === 'user') return { text: '', problem: `\${${body}} is another folder in every project` };
        const folder = places.cwd;
        return { text: escapeReferences(kind === 'workspaceFolder' ? folder : path.basename(folder)) };
      }
      if (kind === 'input' && rest !== '') {
        const name = variableName(rest);
        const about = inputs.get(rest);
        const remark = `set ${name} in the environment${about === undefined ? '' : `: ${about}`}`;
        return { text: `\${env:${name}}`, remark };
      }
      return { text: '', problem: `\${${body}} means something in that client only` };
    });
}

/** As an environment variable would be called. */
export function variableName(...words: readonly string[]): string {
  const name = words
    .join('_')
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replaceAll(/[^A-Za-z0-9]+/g, '_')
    .replaceAll(/^_+|_+$/g, '')
    .toUpperCase();
  return /^\d/.test(name) || name === '' ? `_${name}` : name;
}

/** Replaces every `${…}`; what is not understood stays literal. */
export function replaced(text: string, replace: (body: string) => Expanded | undefined): Expanded {
  let remark: string | undefined;
  let problem: string | undefined;
  let out = '';
  let from = 0;
  for (const match of text.matchAll(/\$\{([^{}]*)\}/g)) {
    const found = replace(match[1] ?? '');
    out += escapeReferences(text.slice(from, match.index));
    out += found?.text ?? escapeReferences(match[0]);
    remark ??= found?.remark;
    problem ??= found?.problem;
    from = match.index + match[0].length;
  }
  out += escapeReferences(text.slice(from));
  return { text: out, ...(remark !== undefined && { remark }), ...(problem !== undefined && { problem }) };
}
