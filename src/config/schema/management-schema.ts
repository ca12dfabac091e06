import { z } from 'zod';

/** `management`: tools for models that change servers. */
export const managementSchema = z
  .boolean()
  .prefault(false)
  .describe(
    'Whether clients get `manage_servers` and `tool_stats`: tools with which a model lists, adds, changes and removes servers. What it adds waits for a person before anything is started.',
  );

/** `readOnly`: nothing is changed by program. */
export const readOnlySchema = z
  .boolean()
  .prefault(false)
  .describe(
    'Whether this file is changed by hand alone: commands, the admin API and models cannot add, change or remove servers.',
  );
