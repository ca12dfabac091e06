import { INLINE_CONFIG } from '../../../config/file/inline.ts';
import { GatewayError } from '../../../model/errors.ts';
import type { CliContext } from '../../context.ts';
import { foundConfig } from '../../found-config.ts';
import type { FoundFor } from '../../found-config.ts';

/** The configuration of a command that is about to change it; one in a variable cannot be changed. */
export async function changeableConfig(flag: string | undefined, context: CliContext): Promise<FoundFor> {
  const found = await foundConfig(flag, context, { isMade: false });
  if (found.isInline !== true) return found;
  throw new GatewayError(
    'CONFIG_READ_ONLY',
    `The configuration is in the variable ${INLINE_CONFIG}, which cannot be changed from here. Change it where it is set, or name a file with --config.`,
    { details: { variable: INLINE_CONFIG } },
  );
}
