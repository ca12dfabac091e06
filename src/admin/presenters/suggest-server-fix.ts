import { quoteShellWord } from '../../core/lib/quote-shell-word.ts';
import type { AdminServer } from '../contract/contract.ts';

/** Returns the command or edit that makes an unusable server usable again. Most errors name it themselves. */
export function suggestServerFix({ name, problem }: AdminServer): string {
  if (problem?.fix !== undefined) return problem.fix;
  const quotedName = quoteShellWord(name);
  switch (problem?.code) {
    case 'QUARANTINED':
      return 'trunkline approvals';
    case 'UPSTREAM_NEEDS_AUTH':
      return `trunkline login ${quotedName}`;
    case 'CONFIG_INVALID':
    case 'SECRET_MISSING':
    case 'UPSTREAM_REFUSED':
      return `Correct mcpServers.${name} in the configuration: trunkline edit ${quotedName}`;
    default:
      return `trunkline restart ${quotedName}`;
  }
}
