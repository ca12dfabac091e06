import { GatewayError } from '../../core/errors.ts';
import type { Fingerprint, UpstreamName } from '../../core/ids.ts';
import { isJsonObject } from '../../core/json.ts';
import type { JsonObject } from '../../core/json.ts';
import type { ReviewedEntry } from '../../gateway/held-entries.ts';
import { addRoute, requireText } from '../add-route.ts';
import type { AdminApp } from '../add-route.ts';
import type { AdminAuthentication } from '../admin-authentication.ts';
import type { AdminDeps } from '../admin-deps.ts';
import type { AdminApprovalKind } from '../contract/approval-contract.ts';
import { presentApprovals, presentHeldCall } from '../presenters/present-approvals.ts';

const KINDS: readonly AdminApprovalKind[] = ['server', 'words', 'tool', 'prompt'];
const MAX_ITEMS = 10_000;

/** Adds the routes to list held items and to decide about them. No MCP tool uses these routes, so a model cannot approve anything. */
export function addApprovalRoutes(app: AdminApp, deps: AdminDeps): void {
  const { heldEntries, heldCalls } = deps.gateway;
  addRoute(app, 'GET /api/approvals', () => presentApprovals(deps));
  addRoute(app, 'POST /api/approvals', async ({ body, caller, authentication }) => {
    const decision = parseDecision(body, authentication);
    const items = parseItems(body);
    await heldEntries.decide(items, decision === 'accept' ? 'approved' : 'refused', caller.id);
    for (const { server, kind, name, fingerprint } of items)
      deps.audit.record({
        kind: 'approval',
        action: decision,
        caller,
        server,
        fingerprint,
        entry: name === '' ? undefined : name,
        details: { kind },
      });
    return presentApprovals(deps);
  });
  addRoute(app, 'POST /api/approve', ({ body, caller, authentication }) => {
    const decision = parseDecision(body, authentication);
    const decided = heldCalls.decide(
      requireText(body, 'call'),
      decision === 'accept' ? 'approved' : 'refused',
    );
    if (decided === undefined)
      throw new GatewayError(
        'ENTRY_NOT_FOUND',
        'No call with this id is held for approval. List the held calls with: trunkline approvals',
        { details: { kind: 'call' } },
      );
    const { entry, rule } = decided.call;
    deps.audit.record({
      kind: 'approval',
      action: decision,
      caller,
      server: entry.upstream,
      rule,
      fingerprint: entry.fingerprint,
      details: { call: decided.id, of: decided.call.caller.id },
    });
    return presentHeldCall(decided);
  });
}

/** Reads the decision. A program with the admin key may refuse items, but not accept them, because it may have added them itself. */
function parseDecision(body: JsonObject, { isPerson, method }: AdminAuthentication): 'accept' | 'refuse' {
  const decision = requireText(body, 'decision');
  if (decision !== 'accept' && decision !== 'refuse')
    throw new GatewayError('USAGE', '"decision" must be "accept" or "refuse".');
  // Over the socket, only `trunkline approvals`, `trunkline approve` and the tray send this request, on behalf of their user.
  if (decision === 'refuse' || isPerson || method === 'socket') return decision;
  throw new GatewayError(
    'ARGUMENTS_REFUSED',
    'Only a person can accept. Accept in the dashboard, or with `trunkline approvals accept` or `trunkline approve`.',
  );
}

function parseItems({ items }: JsonObject): readonly ReviewedEntry[] {
  if (!Array.isArray(items) || items.length === 0 || items.length > MAX_ITEMS)
    throw new GatewayError('USAGE', `"items" must be a list of 1 to ${MAX_ITEMS} items.`);
  return items.map((item: unknown) => {
    const { server, kind, name, fingerprint } = isJsonObject(item) ? item : {};
    const known = KINDS.find((candidate) => candidate === kind);
    if (
      typeof server !== 'string' ||
      typeof name !== 'string' ||
      typeof fingerprint !== 'string' ||
      known === undefined
    )
      throw new GatewayError('USAGE', 'Each item needs "server", "kind", "name" and "fingerprint".');
    // The casts are safe: both are only compared and used as map keys.
    return { server: server as UpstreamName, kind: known, name, fingerprint: fingerprint as Fingerprint };
  });
}
