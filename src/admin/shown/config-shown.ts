import type { AdminDeps } from '../deps.ts';
import type { AdminConfigState } from '../contract/manage-contract.ts';

/** The file that everything comes from, and how it is to what runs. */
export async function configShown({ management, config }: AdminDeps): Promise<AdminConfigState> {
  const { problem, needsRestart } = management.inUse();
  if (management.isFixed) {
    const { file, revision } = config();
    return { file, revision, readOnly: true, management: false, needsRestart };
  }
  const state = await (await management.changes()).state();
  return { ...state, needsRestart, ...(problem !== undefined && { problem }) };
}
