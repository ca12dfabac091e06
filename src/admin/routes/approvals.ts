import { GatewayError } from '../../model/errors.ts';
import type { Fingerprint, UpstreamName } from '../../model/ids.ts';
import { isJsonObject } from '../../model/json.ts';
import type { JsonObject } from '../../model/json.ts';
import type { Named } from '../../gateway/quarantine.ts';
import type { AdminApprovalKind } from '../contract/approval-contract.ts';
import type { AdminDeps } from '../deps.ts';
import type { Proof } from '../proof.ts';
import { approvalsShown, callShown } from '../shown/held-shown.ts';
import { route, text } from '../route.ts';
import type { AdminApp } from '../route.ts';

const KINDS: readonly AdminApprovalKind[] = ['server', 'words', 'tool', 'prompt'];
const MAX_ITEMS = 10_000;

/** What waits for a person, and what the person says. Only people get here: no tool of ours leads to it. */
export function approvalRoutes(app: AdminApp, deps: AdminDeps): void {
  const { quarantine, waiting } = deps.gateway;
  route(app, 'GET /api/approvals', () => approvalsShown(deps));
  route(app, 'POST /api/approvals', async ({ body, caller, proof }) => {
    const decision = decisionIn(body, proof);
    const items = itemsIn(body);
    await quarantine.decide(items, decision === 'accept' ? 'approved' : 'refused', caller.id);
    for (const { server, kind, name, fingerprint } of items)
      deps.audit.record({
        ...{ kind: 'approval', action: decision, caller, server, fingerprint },
        ...(name !== '' && { entry: name }),
        details: { kind },
      });
    return approvalsShown(deps);
  });
  route(app, 'POST /api/approve', ({ body, caller, proof }) => {
    const decision = decisionIn(body, proof);
    const decided = waiting.decide(text(body, 'call'), decision === 'accept' ? 'approved' : 'refused');
    if (decided === undefined)
      throw new GatewayError(
        'ENTRY_NOT_FOUND',
        'No call of that name waits; trunkline approvals lists them.',
        {
          details: { kind: 'call' },
        },
      );
    const { entry, rule } = decided.call;
    deps.audit.record({
      ...{ kind: 'approval', action: decision, caller, server: entry.upstream, rule },
      fingerprint: entry.fingerprint,
      details: { call: decided.id, of: decided.call.caller.id },
    });
    return callShown(decided);
  });
}

/** A program that has the key must not agree to what it added itself; to keep something away is free. */
function decisionIn(body: JsonObject, proof: Proof): 'accept' | 'refuse' {
  const decision = text(body, 'decision');
  if (decision !== 'accept' && decision !== 'refuse')
    throw new GatewayError('USAGE', '"decision" must be "accept" or "refuse".');
  // Over the socket come the commands that do nothing else, and the tray: whoever runs one of them means it.
  if (decision === 'refuse' || proof.isPerson || proof.by === 'socket') return decision;
  throw new GatewayError(
    'ARGUMENTS_REFUSED',
    'Only a person can accept: in the dashboard, or with trunkline approvals accept and trunkline approve.',
  );
}

function itemsIn({ items }: JsonObject): readonly Named[] {
  if (!Array.isArray(items) || items.length === 0 || items.length > MAX_ITEMS)
    throw new GatewayError('USAGE', '"items" must be a list of what is decided about.');
  return items.map((item: unknown) => {
    const { server, kind, name, fingerprint } = isJsonObject(item) ? item : {};
    const known = KINDS.find((each) => each === kind);
    if (
      typeof server !== 'string' ||
      typeof name !== 'string' ||
      typeof fingerprint !== 'string' ||
      known === undefined
    )
      throw new GatewayError('USAGE', 'Each of "items" needs "server", "kind", "name" and "fingerprint".');
    // The casts only ask maps and compare.
    return { server: server as UpstreamName, kind: known, name, fingerprint: fingerprint as Fingerprint };
  });
}
