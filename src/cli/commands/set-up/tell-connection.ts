import { shellWord } from '../../../lib/shell-word.ts';
import type { CliContext } from '../../context.ts';
import type { PlannedConnection } from './connect-client.ts';

/** What connecting would make of the client's file, before it is written. */
export function tellConnection(
  { client, file, moved, staying, kept, disabled, isChanged, before }: PlannedConnection,
  held: readonly string[],
  { out }: CliContext,
): void {
  if (!isChanged) return;
  out.line(`${file}${before === undefined ? ' (new)' : ''}`);
  out.line(kept === undefined ? '  + trunkline' : `  = ${kept} stays: it is Trunkline already`);
  for (const name of moved) out.line(`  - ${name}, which is behind Trunkline then`);
  for (const { name, reason } of staying) out.line(`  = ${name} stays: ${reason}`);
  for (const name of held) out.line(`  ! ${name} is there already, and held until a person agrees`);
  for (const name of disabled)
    out.line(`  ! ${name} is there already, and disabled: trunkline enable ${shellWord(name)}`);
  if (moved.length + staying.length === 0)
    out.note(`${client.source.title} has no servers of its own to take over.`);
}
