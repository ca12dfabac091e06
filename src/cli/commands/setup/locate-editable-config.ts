import { INLINE_CONFIG_VARIABLE } from '../../../config/file/inline-config.ts';
import { GatewayError } from '../../../core/errors.ts';
import type { CliContext } from '../../context.ts';
import { locateConfig } from '../../locate-config.ts';
import type { ConfigLocation } from '../../locate-config.ts';

/** Finds the configuration for a command that changes it. Rejects a configuration that is in a variable. */
export async function locateEditableConfig(
  flag: string | undefined,
  context: CliContext,
): Promise<ConfigLocation> {
  const location = await locateConfig(flag, context, { canCreate: false });
  if (location.isTextFromEnvironment !== true) return location;
  throw new GatewayError(
    'CONFIG_READ_ONLY',
    `The configuration is in the variable ${INLINE_CONFIG_VARIABLE}, which a command cannot change. Change the variable yourself, or name a file with --config.`,
    { details: { variable: INLINE_CONFIG_VARIABLE } },
  );
}
