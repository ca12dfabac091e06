import { createStarterConfig, findConfig, locations, stateDirOf } from '../config/paths.ts';
import type { Locations } from '../config/paths.ts';
import { readRecord } from '../attach/gateway-record.ts';
import { isAlive } from '../attach/is-alive.ts';
import { isTrusted } from '../config/file/trust.ts';
import type { CliContext } from './context.ts';

export interface FoundFor {
  /** Absolute. */
  readonly file: string;
  readonly stateDir: string;
  /** Where it is written what a person trusts; absent where the person has named the file. */
  readonly trustedIn?: string;
  readonly places: Locations;
  /** Where there is no file and none can be made: what stands in for it; or what a variable holds. */
  readonly text?: string;
  /** Whether the text is that of a variable. */
  readonly isInline?: boolean;
}

/** The one configuration that a command works with; the user's own is made when there is none, unless it is only looked for. */
export async function foundConfig(
  flag: string | undefined,
  context: CliContext,
  {
    isMade = true,
    isTold = true,
    isReached = false,
  }: {
    readonly isMade?: boolean;
    /** Whether it is said that none can be made. */
    readonly isTold?: boolean;
    /** Whether a gateway of a project's file is enough, however the file has changed since: whoever serves it asks for trust by itself. */
    readonly isReached?: boolean;
  } = {},
): Promise<FoundFor> {
  const places = locations(context);
  const { file, from, text } = await findConfig({
    flag,
    env: context.env,
    cwd: context.cwd,
    locations: places,
    isTrusted: async (project) =>
      (isReached && isServed(stateDirOf(project, places))) || isTrusted(project, places.stateDir),
  });
  const isMissing = isMade && from === 'user' && !(await madeOrThere(file, context, isTold));
  return {
    ...{ file, stateDir: stateDirOf(file, places), places },
    ...(from === 'project' && { trustedIn: places.stateDir }),
    ...(isMissing && { text: '{}' }),
    ...(text !== undefined && { text, isInline: true }),
  };
}

/** Whether a gateway that runs has written itself down there. */
function isServed(stateDir: string): boolean {
  const record = readRecord(stateDir);
  return record !== undefined && isAlive(record.pid);
}

/** False where there is no configuration and none can be written, as in a home that is read-only. */
async function madeOrThere(file: string, { out }: CliContext, isTold: boolean): Promise<boolean> {
  try {
    if (await createStarterConfig(file))
      out.note(`Wrote a first configuration to ${file}; add your servers to it.`);
    return true;
  } catch (error) {
    if (!isTold) return false;
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error);
    out.note(
      `There is no configuration, and none can be written to ${file} (${code}): going on without any server. Name a file with --config, or a folder that can be written to with TRUNKLINE_HOME.`,
    );
    return false;
  }
}
