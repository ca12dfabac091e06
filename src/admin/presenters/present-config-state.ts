import type { AdminDeps } from '../admin-deps.ts';
import type { AdminConfigState } from '../contract/management-contract.ts';

/** Returns the state of the configuration file and whether the running configuration matches it. */
export async function presentConfigState({ management, config }: AdminDeps): Promise<AdminConfigState> {
  const { problem, needsRestart } = management.configStatus();
  if (management.isFixed) {
    const { file, revision } = config();
    return { file, revision, readOnly: true, management: false, needsRestart };
  }
  const editor = await management.editor();
  return { ...(await editor.state()), needsRestart, problem };
}
