import type { UpstreamName } from '../model/ids.ts';
import type { UpstreamConfig } from './config.ts';
import { parseDocument } from './file/document.ts';
import { schemaProblems } from './problems.ts';
import { fileSchema, serverSchema } from './schema/schema.ts';
import { readUpstream } from './upstream-config.ts';
import { nameProblem } from './validate.ts';

/** Why an entry could not be used if it were in the configuration under that name; undefined when it could. */
export function entryProblem(name: string, entry: unknown, file: string): string | undefined {
  const read = readEntry(name, entry, file);
  return 'problem' in read ? read.problem : undefined;
}

/** What an entry would be in the configuration under that name, by the settings that are not said; or why it cannot be used. */
export function readEntry(
  name: string,
  entry: unknown,
  file: string,
): { readonly upstream: UpstreamConfig } | { readonly problem: string } {
  const wrongName = nameProblem(name);
  if (wrongName !== undefined) return { problem: `its name ${wrongName}` };
  const result = serverSchema.safeParse(entry);
  if (!result.success) {
    const parsed = parseDocument(JSON.stringify(entry) ?? 'null');
    if ('problem' in parsed) return { problem: 'it is not an object' };
    const [first] = schemaProblems(result.error.issues, { schema: serverSchema, node: parsed.root });
    return { problem: first?.message ?? 'it is not as the schema has it' };
  }
  const settings = fileSchema.parse({});
  const { upstream, problems } = readUpstream(name as UpstreamName, result.data, { file, settings }); // The name was just checked.
  return upstream === undefined ? { problem: problems[0]?.message ?? 'it cannot be used' } : { upstream };
}
