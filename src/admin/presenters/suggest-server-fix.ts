import { quoteShellWord } from '../../core/lib/quote-shell-word.ts';
import type { AdminServer } from '../contract/contract.ts';

/** Returns the command or edit that makes an unusable server usable again. */
export function suggestServerFix({ name, problem, transport }: AdminServer): string {
  const quotedName = quoteShellWord(name);
  const isProgram = transport?.kind === 'stdio' || transport?.kind === 'cli';
  const installProgram = `Install the missing program, or correct "command" and "args" of mcpServers.${name}: trunkline edit ${quotedName}`;
  switch (problem?.code) {
    case 'QUARANTINED':
      return 'trunkline approvals';
    case 'UPSTREAM_NEEDS_AUTH':
      return `trunkline login ${quotedName}`;
    case 'SECRET_MISSING':
      return `Set the missing value, then: trunkline restart ${quotedName}`;
    case 'UPSTREAM_REFUSED':
      return isProgram
        ? installProgram
        : `Correct mcpServers.${name} in the configuration: trunkline edit ${quotedName}`;
    default:
      return isProgram && problem?.isProgramMissing === true
        ? installProgram
        : `trunkline restart ${quotedName}`;
  }
}
