import { entryProblem } from '../config/entry-problem.ts';
import type { JsonObject } from '../model/json.ts';
import type { FoundFile } from './find-servers.ts';
import { ownEntry } from './own-entry.ts';
import type { OwnProgram } from './own-entry.ts';
import { isSameEntry } from './same-entry.ts';
import { plainSecrets } from './secrets.ts';
import type { PlainSecret } from './secrets.ts';

/** What becomes of one server. */
export interface Step {
  readonly state: 'new' | 'same' | 'conflicting' | 'unusable' | 'own';
  /** In the file it comes from. */
  readonly name: string;
  /** Under which it is or would be in our configuration. */
  readonly as: string;
  readonly from: {
    readonly id: string;
    readonly title: string;
    readonly path: string;
    readonly project?: string;
  };
  readonly entry?: JsonObject;
  /** Why it is not taken over. */
  readonly reason?: string;
  readonly remarks: readonly string[];
  readonly secrets: readonly PlainSecret[];
}

/** What to do about a server whose name means another one with us. */
export type OnConflict = 'keep' | 'rename' | 'replace';

/** Decides about every server that was found; the first of a name wins. */
export function planImport(
  found: readonly FoundFile[],
  options: {
    readonly servers: ReadonlyMap<string, unknown>;
    readonly own: OwnProgram;
    readonly onConflict: OnConflict;
    readonly configFile: string;
  },
): readonly Step[] {
  const taken = new Map(options.servers);
  const replaced = new Set<string>();
  const steps: Step[] = [];
  for (const file of found) {
    for (const server of file.servers) {
      const { id, title } = file.source;
      const { name, remarks, project } = server;
      const from = { id, title, path: file.path, ...(project !== undefined && { project }) };
      const base = { name, as: name, from, remarks, secrets: [] };
      const step = decide(server.entry, server.problem);
      steps.push(step);
      if (step.state === 'new' && step.entry !== undefined) taken.set(step.as, step.entry);

      function decide(read: JsonObject | undefined, problem: string | undefined): Step {
        const own = read === undefined ? undefined : ownEntry(read, options.own);
        if (own === 'own') return { ...base, state: 'own', reason: 'it is Trunkline itself' };
        const entry = own?.wrapped ?? read;
        if (entry === undefined || problem !== undefined)
          return { ...base, state: 'unusable', reason: problem ?? 'it cannot be read' };
        const twin = [...taken].find(([, ours]) => isSameEntry(ours, entry))?.[0];
        if (twin !== undefined) return { ...base, state: 'same', as: twin };
        const state = conflict(name);
        if (state.reason !== undefined) return { ...base, state: 'conflicting', reason: state.reason, entry };
        const wrong = entryProblem(state.as, entry, options.configFile);
        if (wrong !== undefined) return { ...base, state: 'unusable', reason: wrong };
        const secrets = plainSecrets(state.as, entry);
        return { ...base, state: 'new', as: state.as, entry, secrets };
      }

      function conflict(wanted: string): { readonly as: string; readonly reason?: string } {
        if (!taken.has(wanted)) return { as: wanted };
        if (options.onConflict === 'rename') return { as: freeName(`${wanted}-${id}`, taken) };
        if (options.onConflict === 'replace' && !replaced.has(wanted) && options.servers.has(wanted)) {
          replaced.add(wanted);
          return { as: wanted };
        }
        return { as: wanted, reason: 'another server has this name' };
      }
    }
  }
  return steps;
}

function freeName(wanted: string, taken: ReadonlyMap<string, unknown>): string {
  if (!taken.has(wanted)) return wanted;
  for (let count = 2; ; count++) if (!taken.has(`${wanted}-${count}`)) return `${wanted}-${count}`;
}
