import { createHash } from 'node:crypto';

import type { ManagementAccess } from '../../admin/deps.ts';
import type { ConfigSnapshot } from '../../config/config.ts';
import { HIDDEN } from '../../config/masked.ts';
import type { ExposureChoice } from '../../exposure/exposure.ts';
import { withOwnTools } from '../../exposure/own-tools.ts';
import type { OwnTool } from '../../exposure/own-tools.ts';
import type { Gateway } from '../../gateway/gateway.ts';
import { canonicalJson } from '../../lib/canonical-json.ts';
import type { Payload } from '../../lib/payload.ts';
import { manageServersEntry, toolStatsEntry } from '../../manage/tools/tool-definitions.ts';
import type { Caller } from '../../model/caller.ts';
import type { ToolEntry } from '../../model/entry.ts';
import type { UpstreamName } from '../../model/ids.ts';
import { isJsonObject } from '../../model/json.ts';
import type { JsonObject } from '../../model/json.ts';
import type { AuditTrail } from '../../observe/audit/audit-trail.ts';

interface ToolsDeps {
  readonly config: () => ConfigSnapshot;
  readonly gateway: Gateway;
  readonly audit: AuditTrail;
  readonly management: ManagementAccess;
}

type Answer = (args: JsonObject, caller: Caller) => Promise<Payload>;

/** Puts the tools with which a model changes servers beside what callers are shown, where the configuration has them. */
export function managementTools(deps: ToolsDeps): (caller: Caller, choice: ExposureChoice) => ExposureChoice {
  const { config, gateway } = deps;
  let made: readonly { readonly entry: ToolEntry; readonly tool: OwnTool }[] | undefined;
  const all = () =>
    (made ??= [
      ownTool(manageServersEntry(), gateway, (args, caller) => manage(args, caller, deps)),
      ownTool(toolStatsEntry(), gateway, (args, caller) => stats(args, caller, deps)),
    ]);
  return (caller, choice) =>
    withOwnTools(choice, () => {
      const { management, readOnly } = config().value;
      if (!management || readOnly) return NONE;
      const { decide } = gateway.sight.of(caller);
      return all().flatMap(({ entry, tool }) => (decide(entry).verdict === 'hide' ? [] : [tool]));
    });
}

const NONE: readonly OwnTool[] = [];

function ownTool(entry: ToolEntry, gateway: Gateway, answer: Answer): { entry: ToolEntry; tool: OwnTool } {
  const { definition } = entry;
  const tool: OwnTool = {
    definition,
    call: async (caller, request) => {
      const { maskedEntry } = await import('../../manage/masked-entry.ts');
      const given = request.params['arguments'];
      const args = isJsonObject(given) ? given : {};
      // What is recorded and shown of the call has no secret in it; the answer gets what was given.
      const shown = maskedEntry({ ...args, ...(args['text'] !== undefined && { text: HIDDEN }) });
      const params = { ...request.params, arguments: shown };
      return gateway.callOwn(
        caller,
        {
          ...{ kind: 'tool', upstream: entry.upstream, entry, method: 'tools/call', params },
          // Whoever agrees to a masked text agrees to this one, and to no other that is masked alike.
          given: createHash('sha256').update(canonicalJson(args)).digest('base64url'),
          answer: () => answer(args, caller),
        },
        { ...request, checksArguments: true },
      );
    },
  };
  return { entry, tool };
}

async function manage(args: JsonObject, caller: Caller, deps: ToolsDeps): Promise<Payload> {
  const { gateway, management } = deps;
  const { servers, sight } = gateway;
  const { manageServers } = await import('../../manage/tools/manage-servers.ts');
  const own = sight.of(caller);
  // The casts only ask maps.
  const sees = (name: string): boolean => sight.knows(caller, name as UpstreamName);
  // What a model adds has no tags.
  const seesNew = (name: string): boolean => own.knows(name as UpstreamName, []);
  return manageServers(
    args,
    { caller, is: 'model', sees, seesNew, mayMeetHidden: own.hidesByTag },
    {
      changes: await management.changes(),
      states: () => gateway.status(),
      restart: (name) => servers.restart(name as UpstreamName),
      refresh: (name) => servers.refresh(name as UpstreamName, 'anew'),
      log: (name, lines) => management.log(name, { lines }),
      sees,
    },
  );
}

async function stats(args: JsonObject, caller: Caller, { gateway, audit }: ToolsDeps): Promise<Payload> {
  const { toolStats } = await import('../../manage/tools/tool-stats.ts');
  const names = new Map(
    gateway.view(caller).tools.map((entry) => [keyOf(entry.upstream, entry.definition.name), entry.name]),
  );
  const rows = (await audit.ask('stats', {})).flatMap((row) => {
    const name = row.kind === 'tool' ? names.get(keyOf(row.server, row.entry)) : undefined;
    return name === undefined ? [] : [{ ...row, name }];
  });
  return toolStats(args, rows);
}

function keyOf(server: string, entry: string): string {
  return JSON.stringify([server, entry]);
}
