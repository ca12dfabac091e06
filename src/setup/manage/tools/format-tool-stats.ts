import { Payload } from '../../../core/lib/payload.ts';
import type { JsonObject } from '../../../core/json.ts';
import type { ToolStats } from '../../../observability/audit/tool-stats.ts';

const DEFAULT_TOP = 10;
const MAX_TOP = 100;

interface NamedToolStats extends ToolStats {
  /** The name that the caller sees. */
  readonly name: string;
}

/** Answers `tool_stats`: the most called tools among those that the caller sees. */
export function formatToolStats(args: JsonObject, rows: readonly NamedToolStats[]): Payload {
  const { top } = args;
  const limit = typeof top === 'number' && top >= 1 ? Math.min(Math.floor(top), MAX_TOP) : DEFAULT_TOP;
  const sorted = rows.toSorted((a, b) => b.calls - a.calls || (a.name < b.name ? -1 : 1));
  const tools = sorted.slice(0, limit).map((row) => ({
    name: row.name,
    server: row.server,
    calls: row.calls,
    errors: row.errors,
    refused: row.refused,
    lastUsed: new Date(row.lastAt).toISOString(),
    tokensIn: row.tokensIn,
    tokensOut: row.tokensOut,
    p50Ms: row.p50,
    p95Ms: row.p95,
  }));
  const totals = {
    tools: rows.length,
    calls: rows.reduce((sum, { calls }) => sum + calls, 0),
    errors: rows.reduce((sum, { errors }) => sum + errors, 0),
    refused: rows.reduce((sum, { refused }) => sum + refused, 0),
  };
  const lines = tools.map(
    ({ name, calls, errors, refused, lastUsed }) =>
      `${name}: ${calls} calls, ${errors} errors${refused === 0 ? '' : `, ${refused} refused`}, last ${lastUsed}`,
  );
  return Payload.of({
    content: [{ type: 'text', text: lines.join('\n') || 'No tool has been called yet.' }],
    structuredContent: { totals, tools },
  });
}
