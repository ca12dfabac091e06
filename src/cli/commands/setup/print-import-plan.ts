import { isSecretReferenceName, parseReferences } from '../../../config/resolve-references.ts';
import type { ServerAddition } from '../../../setup/import/import-edits.ts';
import type { FoundFile } from '../../../setup/import/find-servers.ts';
import type { ImportStep } from '../../../setup/import/plan-import.ts';
import { formatCount } from '../../../core/lib/format-count.ts';
import { quoteShellWord } from '../../../core/lib/quote-shell-word.ts';
import type { JsonObject } from '../../../core/json.ts';
import type { CliContext } from '../../context.ts';
import { toOneLine } from '../../sanitize.ts';
import { describeEntry, detailsToJson, printEntryDetails } from './describe-entry.ts';

/** Prints the plan as a table, then the whole command of every new server with the names of its variables. */
export function printImportPlan(steps: readonly ImportStep[], context: CliContext): void {
  const { out } = context;
  const { bold, dim, green, yellow, red } = out.paint;
  const colours = { new: green, same: dim, own: dim, conflicting: yellow, unusable: red };
  const rows = steps.map((step) => [
    { text: step.state === 'own' ? 'skipped' : step.state, paint: colours[step.state] },
    { text: step.name === step.as ? step.name : `${step.name} as ${step.as}`, paint: bold },
    toOneLine(formatOrigin(step)),
    toOneLine(step.reason),
  ]);
  out.table([['', 'server', 'from', ''].map((text) => ({ text, paint: dim })), ...rows]);
  for (const { state, as, entry, from } of steps)
    if (state === 'new' && entry !== undefined) {
      out.line(`  ${bold(toOneLine(as))}${from.scope === 'project' ? ` of ${toOneLine(from.path)}` : ''}`);
      printEntryDetails(describeEntry(entry, from.scope), context);
    }
}

/** Prints the remarks about servers, and the unset variables that new servers refer to. */
export function noteRemarks(steps: readonly ImportStep[], { out, env }: CliContext): void {
  for (const { as, remarks, state, entry } of steps) {
    if (state !== 'new' && state !== 'same') continue;
    for (const remark of remarks) out.note(`${toOneLine(as)}: ${toOneLine(remark)}`);
    for (const name of state === 'new' ? listVariables(entry) : [])
      if ((env[name] ?? '') === '') {
        // Another name may be a command for the shell, and cannot be stored.
        const fix = isSecretReferenceName(name) ? ` Store its value with: trunkline secret set ${name}` : '';
        out.note(`${toOneLine(as)}: the environment variable ${toOneLine(name)} is not set.${fix}`);
      }
  }
}

/** Returns the variables without a default that the texts of an entry refer to. */
function listVariables(value: unknown): readonly string[] {
  if (typeof value === 'object' && value !== null)
    return [...new Set(Object.values(value).flatMap(listVariables))];
  if (typeof value !== 'string') return [];
  return parseReferences(value).flatMap((part) =>
    typeof part !== 'string' && part.from === 'env' && part.fallback === undefined ? [part.name] : [],
  );
}

/** Returns the client, or the path of a file that others may have written. */
function formatOrigin({ from }: ImportStep): string {
  if (from.scope === 'project') return `project file ${from.path}`;
  return from.title + (from.project === undefined ? '' : ` (${from.project})`);
}

/** Reports the files of the current folder whose servers were left out, and how to import them. */
export function noteLeftOutFiles(leftOut: readonly FoundFile[], { out }: CliContext): void {
  for (const { path, servers } of leftOut)
    if (servers.length > 0)
      out.note(
        `Left out ${formatCount(servers.length, 'server')} of ${toOneLine(path)}. The file belongs to the current folder, so others may have written it. To import it, name it: trunkline import --from ${toOneLine(quoteShellWord(path))}`,
      );
}

/** Converts the plan to JSON. Secrets are named, but their values are left out. */
export function importPlanToJson(steps: readonly ImportStep[]): readonly JsonObject[] {
  return steps.map(({ state, name, as, from, entry, reason, remarks, secrets }) => ({
    state,
    name,
    as,
    from,
    reason,
    shown:
      state === 'new' && entry !== undefined ? detailsToJson(describeEntry(entry, from.scope)) : undefined,
    remarks: remarks.length > 0 ? remarks : undefined,
    secrets: secrets.length > 0 ? secrets.map(secretToJson) : undefined,
  }));
}

/** Returns the locations of plaintext secrets in new servers for JSON output, or undefined if there are none. */
export function secretsToJson(servers: readonly ServerAddition[]): readonly JsonObject[] | undefined {
  const secrets = servers.flatMap(({ name, secrets: own }) =>
    own.map((secret) => ({ server: name, ...secretToJson(secret) })),
  );
  return secrets.length === 0 ? undefined : secrets;
}

function secretToJson({ path, variable }: ImportStep['secrets'][number]): JsonObject {
  return { at: path.join('.'), variable };
}

/** Reports where plaintext secrets would be written, without their values. */
export function notePlaintextSecrets(
  servers: readonly { readonly name: string; readonly secrets: ImportStep['secrets'] }[],
  { out }: CliContext,
): void {
  for (const { name, secrets } of servers)
    for (const { path } of secrets)
      out.note(`${name}: ${path.join('.')} holds a secret in plain text. To move it out, use --references`);
}

/** Reports files that cannot be read. They do not stop the command. */
export function noteUnreadableFiles(found: readonly FoundFile[], { out }: CliContext): void {
  for (const { path, problem } of found)
    if (problem !== undefined) out.note(`${path} cannot be read: ${toOneLine(problem)}`);
}
