import type { UpstreamName } from '../core/ids.ts';
import type { UpstreamConfig } from './config.ts';
import { describeSchemaIssues } from './describe-schema-issues.ts';
import { parseDocument } from './file/document.ts';
import { readUpstream } from './read-upstream.ts';
import { fileSchema, serverSchema } from './schema/schema.ts';
import { findNameProblem } from './validate-config.ts';

/** Reads an entry as if the configuration had it under this name, with default settings. Returns the reason if it cannot be used. */
export function readServerEntry(
  name: string,
  entry: unknown,
  file: string,
): { readonly upstream: UpstreamConfig } | { readonly problem: string } {
  const nameProblem = findNameProblem(name);
  if (nameProblem !== undefined) return { problem: `its name ${nameProblem}` };
  const result = serverSchema.safeParse(entry);
  if (!result.success) {
    const parsed = parseDocument(JSON.stringify(entry) ?? 'null');
    if ('problem' in parsed) return { problem: 'it is not an object' };
    const [first] = describeSchemaIssues(result.error.issues, { schema: serverSchema, node: parsed.root });
    return { problem: first?.message ?? 'it does not match the schema' };
  }
  const settings = fileSchema.parse({});
  const { upstream, problems } = readUpstream(name as UpstreamName, result.data, { file, settings }); // The name was just checked.
  return upstream === undefined ? { problem: problems[0]?.message ?? 'it cannot be used' } : { upstream };
}

/** Returns why an entry cannot be used under this name, or undefined if it can. */
export function findEntryProblem(name: string, entry: unknown, file: string): string | undefined {
  const result = readServerEntry(name, entry, file);
  return 'problem' in result ? result.problem : undefined;
}
