import { createStarterConfig, findConfig, locations, stateDirOf } from '../config/paths.ts';
import type { Locations } from '../config/paths.ts';
import { isTrusted } from '../config/trust.ts';
import type { CliContext } from './context.ts';

export interface FoundFor {
  /** Absolute. */
  readonly file: string;
  readonly stateDir: string;
  readonly places: Locations;
}

/** The one configuration that a command works with; the user's own is made when there is none, unless it is only looked for. */
export async function foundConfig(
  flag: string | undefined,
  context: CliContext,
  { isMade = true }: { readonly isMade?: boolean } = {},
): Promise<FoundFor> {
  const places = locations(context);
  const { file, from } = await findConfig({
    flag,
    env: context.env,
    cwd: context.cwd,
    locations: places,
    isTrusted: (project) => isTrusted(project, places.stateDir),
  });
  if (isMade && from === 'user' && (await createStarterConfig(file))) {
    context.out.note(`Wrote a first configuration to ${file}; add your servers to it.`);
  }
  return { file, stateDir: stateDirOf(file, places), places };
}
