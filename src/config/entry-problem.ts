import type { UpstreamName } from '../model/ids.ts';
import { parseDocument } from './document.ts';
import { schemaProblems } from './problems.ts';
import { fileSchema, serverSchema } from './schema.ts';
import { readUpstream } from './upstream-config.ts';
import { nameProblem } from './validate.ts';

/** Why an entry could not be used if it were in the configuration under that name; undefined when it could. */
export function entryProblem(name: string, entry: unknown, file: string): string | undefined {
  const wrongName = nameProblem(name);
  if (wrongName !== undefined) return `its name ${wrongName}`;
  const result = serverSchema.safeParse(entry);
  if (!result.success) {
    const parsed = parseDocument(JSON.stringify(entry) ?? 'null');
    if ('problem' in parsed) return 'it is not an object';
    return schemaProblems(result.error.issues, { schema: serverSchema, node: parsed.root })[0]?.message;
  }
  const settings = fileSchema.parse({});
  return readUpstream(name as UpstreamName, result.data, { file, settings }).problems[0]?.message; // The name was just checked.
}
