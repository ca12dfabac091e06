import { matchesGlob } from '../core/lib/matches-glob.ts';
import type { ToolEntry } from '../core/entry.ts';
import { GatewayError } from '../core/errors.ts';
import type { JsonObject } from '../core/json.ts';
import type { AuditConditions } from '../observability/audit/audit-record.ts';
import { TEXT_CONDITIONS } from '../observability/audit/filter-records.ts';
import type { AdminDeps } from './admin-deps.ts';
import { readFlag, readNumber, readText } from './add-route.ts';
import type { AdminRequest } from './add-route.ts';

const NUMBER_CONDITIONS = ['after', 'before', 'since', 'until', 'minMs'] as const;

/** Reads the conditions for audit records from a query. `tool` is an exposed name, an original name, or a glob of either. */
export function parseAuditFilter({ query, caller }: AdminRequest, { gateway }: AdminDeps): AuditConditions {
  const conditions: AuditConditions = {
    ...readPresent(TEXT_CONDITIONS, (name) => readText(query, name)),
    ...readPresent(NUMBER_CONDITIONS, (name) => readNumber(query, name)),
    errors: readFlag(query, 'errors'),
  };
  const tool = readText(query, 'tool');
  if (tool === undefined) return conditions;
  const view = gateway.view(caller);
  const known = view.tool(tool);
  if (known !== undefined) return { ...conditions, server: known.upstream, entry: known.definition.name };
  const others = tool.includes('*') ? matchExposedNames(tool, view.tools) : [];
  return { ...conditions, entry: tool, others };
}

/** Returns the current tools that match a glob only by their exposed name, ignoring case. Records contain only original names. */
function matchExposedNames(
  glob: string,
  tools: readonly ToolEntry[],
): NonNullable<AuditConditions['others']> {
  const pattern = glob.toLowerCase();
  const isMatch = (name: string): boolean => matchesGlob(name.toLowerCase(), pattern);
  return (
    tools
      // The query finds tools by their original name anyway. Omitting them here keeps the SQL statement within its limits.
      .filter(({ name, definition }) => isMatch(name) && !isMatch(definition.name))
      .map(({ upstream, definition }) => [upstream, definition.name] as const)
  );
}

function readPresent<Name extends string, Value>(
  names: readonly Name[],
  read: (name: Name) => Value | undefined,
): Readonly<Partial<Record<Name, Value>>> {
  const present: Partial<Record<Name, Value>> = {};
  for (const name of names) {
    const value = read(name);
    if (value !== undefined) present[name] = value;
  }
  return present;
}

export function parseAuditOrder(query: JsonObject): 'asc' | 'desc' {
  const order = readText(query, 'order') ?? 'desc';
  if (order === 'asc' || order === 'desc') return order;
  throw new GatewayError('USAGE', '"order" must be "asc" or "desc".');
}
