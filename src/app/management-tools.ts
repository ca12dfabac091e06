import { createHash } from 'node:crypto';

import type { ManagementAccess } from '../admin/admin-deps.ts';
import type { ConfigSnapshot } from '../config/config.ts';
import { SECRET_MASK } from '../config/mask-secrets.ts';
import type { Caller } from '../core/caller.ts';
import type { ToolEntry } from '../core/entry.ts';
import type { UpstreamName } from '../core/ids.ts';
import { isJsonObject } from '../core/json.ts';
import type { JsonObject } from '../core/json.ts';
import { canonicalJson } from '../core/lib/canonical-json.ts';
import type { Payload } from '../core/lib/payload.ts';
import type { ExposureChoice } from '../exposure/exposure.ts';
import { withGatewayTools } from '../exposure/gateway-tools.ts';
import type { GatewayTool } from '../exposure/gateway-tools.ts';
import type { Gateway } from '../gateway/gateway.ts';
import type { AuditTrail } from '../observability/audit/audit-trail.ts';
import { createManageServersEntry, createToolStatsEntry } from '../setup/manage/tools/tool-definitions.ts';

interface ManagementToolsDeps {
  readonly config: () => ConfigSnapshot;
  readonly gateway: Gateway;
  readonly audit: AuditTrail;
  readonly management: ManagementAccess;
}

interface ManagementTool {
  readonly entry: ToolEntry;
  readonly tool: GatewayTool;
}

type ToolHandler = (args: JsonObject, caller: Caller) => Promise<Payload>;

const NO_TOOLS: readonly GatewayTool[] = [];

/**
 * Returns a function that adds `manage_servers` and `tool_stats` to the tools of a caller, if the configuration enables them and policy
 * allows them. The code that executes the tools is loaded on their first call.
 */
export function createManagementToolDecorator(
  deps: ManagementToolsDeps,
): (caller: Caller, choice: ExposureChoice) => ExposureChoice {
  const { config, gateway } = deps;
  let created: readonly ManagementTool[] | undefined;
  const getTools = () =>
    (created ??= [
      createTool(createManageServersEntry(), gateway, (args, caller) => manageServers(args, caller, deps)),
      createTool(createToolStatsEntry(), gateway, (args, caller) => readToolStats(args, caller, deps)),
    ]);
  return (caller, choice) =>
    withGatewayTools(choice, () => {
      const { management, readOnly } = config().value;
      if (!management || readOnly) return NO_TOOLS;
      const { decide } = gateway.visibility.policyFor(caller);
      return getTools().flatMap(({ entry, tool }) => (decide(entry).verdict === 'hide' ? [] : [tool]));
    });
}

function createTool(entry: ToolEntry, gateway: Gateway, handler: ToolHandler): ManagementTool {
  const { definition } = entry;
  const tool: GatewayTool = {
    definition,
    call: async (caller, request) => {
      const { maskEntry } = await import('../setup/manage/mask-entry.ts');
      const requestArgs = request.params['arguments'];
      const args = isJsonObject(requestArgs) ? requestArgs : {};
      // The audit log and approval requests contain the masked arguments; only the handler gets the secrets.
      const masked = maskEntry({ ...args, ...(args['text'] !== undefined && { text: SECRET_MASK }) });
      return gateway.callGatewayTool(
        caller,
        {
          kind: 'tool',
          upstream: entry.upstream,
          entry,
          method: 'tools/call',
          params: { ...request.params, arguments: masked },
          // Approving a call approves exactly these arguments, not others that look the same when masked.
          argumentsDigest: createHash('sha256').update(canonicalJson(args)).digest('base64url'),
          handler: () => handler(args, caller),
        },
        { ...request, shouldValidateArguments: true },
      );
    },
  };
  return { entry, tool };
}

async function manageServers(args: JsonObject, caller: Caller, deps: ManagementToolsDeps): Promise<Payload> {
  const { gateway, management } = deps;
  const { servers, visibility } = gateway;
  const { handleManageServers } = await import('../setup/manage/tools/handle-manage-servers.ts');
  const policy = visibility.policyFor(caller);
  // The casts are safe: the names are only looked up.
  const canSee = (name: string): boolean => visibility.canKnowServer(caller, name as UpstreamName);
  // Whether the caller would see a new server of this name. A server that a model adds has no tags.
  const canSeeNew = (name: string): boolean => policy.canKnowServer(name as UpstreamName, []);
  return handleManageServers(
    args,
    {
      caller,
      kind: 'model',
      canSee,
      canSeeNew,
      // If policy hides servers by tag, a name that looks free to the caller may belong to a hidden server.
      mayCollideWithHidden: policy.hidesByTag,
    },
    {
      editor: await management.editor(),
      states: () => gateway.status(),
      restart: (name) => servers.restart(name as UpstreamName),
      refresh: (name) => servers.refresh(name as UpstreamName, 'anew'),
      log: (name, lines) => management.log(name, { lines }),
      canSee,
    },
  );
}

async function readToolStats(
  args: JsonObject,
  caller: Caller,
  { gateway, audit }: ManagementToolsDeps,
): Promise<Payload> {
  const { formatToolStats } = await import('../setup/manage/tools/format-tool-stats.ts');
  const visibleNames = new Map(
    gateway.view(caller).tools.map((entry) => [toKey(entry.upstream, entry.definition.name), entry.name]),
  );
  const rows = (await audit.query('stats', {})).flatMap((row) => {
    const name = row.kind === 'tool' ? visibleNames.get(toKey(row.server, row.entry)) : undefined;
    return name === undefined ? [] : [{ ...row, name }];
  });
  return formatToolStats(args, rows);
}

function toKey(server: string, entry: string): string {
  return JSON.stringify([server, entry]);
}
