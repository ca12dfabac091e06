import { shellWord } from '../../lib/shell-word.ts';
import type { AdminServer } from '../contract/contract.ts';

/** What programs and interpreters say when a file that they shall start is not there. */
const MISSING =
  /cannot find (?:module|package)|no such file|was not found|not found, or|can't open file|no module named|is not recognized|ENOENT|E404/i;

/** The one command or edit that mends a server that cannot be used. */
export function serverFix({ name, problem, transport }: AdminServer): string {
  const quoted = shellWord(name);
  const isProgram = transport?.kind === 'stdio' || transport?.kind === 'cli';
  const message = problem?.message ?? '';
  switch (problem?.code) {
    case 'QUARANTINED':
      return 'trunkline approvals';
    case 'UPSTREAM_NEEDS_AUTH':
      return `trunkline login ${quoted}`;
    case 'SECRET_MISSING':
      return `Give what it names a value, then: trunkline restart ${quoted}`;
    case 'UPSTREAM_REFUSED':
      return isProgram ? missing() : `Mend mcpServers.${name} in the configuration: trunkline edit ${quoted}`;
    default:
      if (isProgram && MISSING.test(message)) return missing();
      return `trunkline restart ${quoted}`;
  }

  function missing(): string {
    return `Install what is missing, or correct "command" and "args" of mcpServers.${name}: trunkline edit ${quoted}`;
  }
}
