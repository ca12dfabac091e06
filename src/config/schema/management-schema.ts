import { z } from 'zod';

/** `management`: tools that let a model change servers. */
export const managementSchema = z
  .boolean()
  .prefault(false)
  .describe(
    'Whether clients get the tools `manage_servers` and `tool_stats`, which let a model list, add, change and remove servers. A server that a model adds is held for approval before anything is started.',
  );

/** `readOnly`: only people change the file. */
export const readOnlySchema = z
  .boolean()
  .prefault(false)
  .describe(
    'Whether this file is only edited by hand: commands, the admin API and models cannot add, change or remove servers.',
  );
