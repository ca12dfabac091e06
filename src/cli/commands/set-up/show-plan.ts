import type { Addition } from '../../../import/apply-plan.ts';
import type { FoundFile } from '../../../import/find-servers.ts';
import { strings } from '../../../import/foreign-entry.ts';
import type { Step } from '../../../import/plan.ts';
import type { JsonObject } from '../../../model/json.ts';
import type { CliContext } from '../../context.ts';
import { inOneLine } from '../../harmless.ts';

/** What would happen, as a table. */
export function showPlan(steps: readonly Step[], { out }: CliContext): void {
  const { bold, dim, green, yellow, red } = out.paint;
  const colours = { new: green, same: dim, own: dim, conflicting: yellow, unusable: red };
  const rows = steps.map((step) => [
    { text: step.state === 'own' ? 'skipped' : step.state, paint: colours[step.state] },
    { text: step.name === step.as ? step.name : `${step.name} as ${step.as}`, paint: bold },
    step.from.title + (step.from.project === undefined ? '' : ` (${step.from.project})`),
    inOneLine(step.reason ?? reachedBy(step.entry)),
  ]);
  out.table([['', 'server', 'from', ''].map((text) => ({ text, paint: dim })), ...rows]);
}

/** The same for programs; secrets are named, never shown. */
export function planJson(steps: readonly Step[]): readonly JsonObject[] {
  return steps.map(({ state, name, as, from, reason, remarks, secrets }) => ({
    state,
    name,
    as,
    from,
    ...(reason !== undefined && { reason }),
    ...(remarks.length > 0 && { remarks }),
    ...(secrets.length > 0 && { secrets: secrets.map(secretJson) }),
  }));
}

/** Of servers that would be added, where secrets stand in plain text. */
export function secretsJson(servers: readonly Addition[]): JsonObject {
  const secrets = servers.flatMap(({ name, secrets: own }) =>
    own.map((secret) => ({ server: name, ...secretJson(secret) })),
  );
  return secrets.length === 0 ? {} : { secrets };
}

function secretJson({ path, variable }: Step['secrets'][number]): JsonObject {
  return { at: path.join('.'), variable };
}

/** Which secrets would be written in plain text; never what they are. */
export function tellSecrets(
  servers: readonly { readonly name: string; readonly secrets: Step['secrets'] }[],
  { out }: CliContext,
): void {
  for (const { name, secrets } of servers)
    for (const { path } of secrets)
      out.note(`${name}: ${path.join('.')} holds a secret in plain text; --references moves it out`);
}

/** Files that could not be read are told, and stop nothing. */
export function tellBroken(found: readonly FoundFile[], { out }: CliContext): void {
  for (const { path, problem } of found)
    if (problem !== undefined) out.note(`${path} cannot be read: ${inOneLine(problem)}`);
}

/** Only what can hold no secret: the program and the package that it runs, or the host. */
function reachedBy(entry: JsonObject | undefined): string {
  if (entry === undefined) return '';
  const { url, command } = entry;
  if (typeof url === 'string') return url.replace(/^(\w+:\/\/)(?:[^/@]*@)?([^/?#]*).*$/s, '$1$2');
  const args = strings(entry['args']);
  const at = args.findIndex((word) => !/^(?:-y|--yes|-q|--quiet|run|dlx|exec|x)$/.test(word));
  const shown = args[at] === undefined || /^-|:\/\//.test(args[at]) ? [] : [args[at]];
  const isMore = args.length > at + 1 && at >= 0;
  return [...strings([command]), ...shown, ...(isMore || (at >= 0 && shown.length === 0) ? ['…'] : [])].join(
    ' ',
  );
}
