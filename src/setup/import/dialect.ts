import { escapeReferences } from '../../config/resolve-references.ts';
import { isJsonObject } from '../../core/json.ts';
import { pathModuleFor } from './client-paths.ts';
import type { SourceContext } from './import-source.ts';

/** Translates the variables of a client, such as `${NAME}`, to our references. */
export type Dialect = (text: string) => TranslatedText;

interface TranslatedText {
  readonly text: string;
  /** A note for the user about the translation. */
  readonly remark?: string | undefined;
  /** Why the text cannot be translated. */
  readonly problem?: string | undefined;
}

/** The dialect of a client without variables: every text is literal. */
export const literalDialect: Dialect = (text) => ({ text: escapeReferences(text) });

interface ShellDialectOptions {
  /** `empty`: the client replaces an unset variable by an empty text. */
  readonly unset?: 'missing' | 'empty';
  /** Whether the client also replaces `$NAME` without braces. */
  readonly hasBareNames?: boolean;
}

/** Translates `${NAME}` and `${NAME:-default}` as in a shell, and `${env:NAME}`. */
export function shellDialect({ unset = 'missing', hasBareNames = false }: ShellDialectOptions = {}): Dialect {
  return (value) =>
    replaceVariables(hasBareNames ? value.replaceAll(/\$([A-Za-z_]\w*)/g, '${$1}') : value, (body) => {
      const [, kind = '', name, fallback] = /^(env:)?([A-Za-z_]\w*)(?::-(.*))?$/s.exec(body) ?? [];
      if (name === undefined) return undefined;
      if (fallback !== undefined) return { text: `\${${kind}${name}:-${fallback}}` };
      return { text: unset === 'empty' ? `\${${kind}${name}:-}` : `\${${kind}${name}}` };
    });
}

/** Translates the variables of a client that also replaces `$(command)` by the output of the command. */
export function commandDialect(): Dialect {
  const translate = shellDialect({ hasBareNames: true });
  return (text) =>
    text.includes('$(') ? { text: '', problem: '$(…) runs a command in that client' } : translate(text);
}

/** Translates `{env:NAME}`, which is empty if the variable is unset, and `{file:path}`. */
export function bracesDialect({ environment, path }: SourceContext): Dialect {
  const folder = pathModuleFor(environment).dirname(path);
  return (text) => ({
    text: text
      .split(/\{((?:env|file):[^{}]+)\}/)
      .map((part, at) => {
        if (at % 2 === 0) return escapeReferences(part);
        if (part.startsWith('env:')) return `\${${part}:-}`;
        const file = part.slice('file:'.length);
        return `\${file:${file.startsWith('~') ? file : pathModuleFor(environment).resolve(folder, file)}}`;
      })
      .join(''),
  });
}

/**
 * Translates the variables of editors: `${env:NAME}`, `${userHome}`, `${workspaceFolder}`, `${input:id}`. `inputs` are descriptions by id.
 */
export function editorDialect(
  { environment, scope }: SourceContext,
  inputs: ReadonlyMap<string, string> = new Map(),
): Dialect {
  const path = pathModuleFor(environment);
  return (text) =>
    replaceVariables(text, (body) => {
      const [, kind, rest = ''] = /^(\w+|\/)(?::(.*))?$/s.exec(body) ?? [];
      if (kind === 'env' && rest !== '') return { text: `\${env:${rest}}` };
      if (kind === 'userHome') return { text: escapeReferences(environment.home) };
      if (kind === 'pathSeparator' || kind === '/') return { text: path.sep };
      if (kind === 'workspaceFolder' || kind === 'workspaceFolderBasename') {
        if (scope === 'user') {
          return { text: '', problem: `\${${body}} is a different folder in every project` };
        }
        const folder = environment.cwd;
        return { text: escapeReferences(kind === 'workspaceFolder' ? folder : path.basename(folder)) };
      }
      if (kind === 'input' && rest !== '') {
        const name = toVariableName(rest);
        const description = inputs.get(rest);
        const label = description === undefined ? '' : ` (${description})`;
        const remark = `it needs a value${label}: trunkline secret set ${name}`;
        return { text: `\${secret:${name}}`, remark };
      }
      return { text: '', problem: `\${${body}} has a meaning in that client only` };
    });
}

/** Returns the descriptions of the values that an editor asks its user for, by id. */
export function readEditorInputs(inputs: unknown): ReadonlyMap<string, string> {
  const objects = Array.isArray(inputs) ? inputs.filter(isJsonObject) : [];
  return new Map(
    objects.flatMap(({ id, description }) => {
      if (typeof id !== 'string' || id === '') return [];
      const text = typeof description === 'string' && description !== '' ? description.slice(0, 200) : id;
      return [[id, text] as const];
    }),
  );
}

/** Converts words to the name of an environment variable. */
export function toVariableName(...words: readonly string[]): string {
  const name = words
    .join('_')
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replaceAll(/[^A-Za-z0-9]+/g, '_')
    .replaceAll(/^_+|_+$/g, '')
    .toUpperCase();
  return /^\d/.test(name) || name === '' ? `_${name}` : name;
}

/** Replaces every `${…}`. A variable for which `translate` returns undefined stays as literal text. */
export function replaceVariables(
  text: string,
  translate: (body: string) => TranslatedText | undefined,
): TranslatedText {
  let remark: string | undefined;
  let problem: string | undefined;
  let result = '';
  let from = 0;
  for (const match of text.matchAll(/\$\{([^{}]*)\}/g)) {
    const translated = translate(match[1] ?? '');
    result += escapeReferences(text.slice(from, match.index));
    result += translated?.text ?? escapeReferences(match[0]);
    remark ??= translated?.remark;
    problem ??= translated?.problem;
    from = match.index + match[0].length;
  }
  result += escapeReferences(text.slice(from));
  return { text: result, remark, problem };
}
