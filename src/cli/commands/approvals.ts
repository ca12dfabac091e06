import type {
  AdminApprovals,
  AdminHeldItem,
  AdminItemReference,
  AdminHeldCall,
} from '../../admin/contract/approval-contract.ts';
import { compareDefinitions, NO_COMPARE_LIMITS } from '../../admin/presenters/compare-definitions.ts';
import { quoteShellWord } from '../../core/lib/quote-shell-word.ts';
import { GatewayError } from '../../core/errors.ts';
import type { ExitCode } from '../../core/errors.ts';
import type { CliContext } from '../context.ts';
import type { GlobalOptions } from '../declare.ts';
import { locateConfig } from '../locate-config.ts';
import { sanitize, toOneLine } from '../sanitize.ts';
import { withGateway } from '../gateway-client/with-gateway.ts';
import type { CommandConnection } from '../gateway-client/with-gateway.ts';
import { formatChanges } from './approvals/format-changes.ts';
import { selectHeldItems } from './approvals/select-held-items.ts';
import {
  assertListedUnchanged,
  assertShownWhole,
  rememberListedApprovals,
} from './approvals/listed-approvals.ts';

interface ListOptions extends GlobalOptions {
  readonly full?: boolean;
}

interface DecideOptions extends GlobalOptions {
  readonly fingerprint?: string;
  readonly all?: boolean;
}

/**
 * Lists what is held for approval: servers, their tools and prompts, and calls. Long definitions are printed in part and cannot be
 * accepted until `--full` has printed all of them.
 */
export function runApprovals(options: ListOptions, context: CliContext): Promise<ExitCode> {
  return withGateway(options, context, async (gateway) => {
    const found = await gateway.client.request('GET /api/approvals', {}, gateway);
    const { stateDir } = await locateConfig(options.config, context, LOOKUP_ONLY);
    const isJson = context.out.style.format === 'json';
    const formatted = found.held.map((held) => formatHeld(held, options, context));
    // JSON output contains all definitions in full.
    await rememberListedApprovals(
      stateDir,
      formatted.map(({ held, isWhole }) => ({ ...held, isWhole: isWhole || isJson })),
    );
    if (isJson) context.out.json(found);
    else printApprovals(found, formatted, context);
    return 0;
  });
}

export function runApprovalsAccept(
  options: DecideOptions,
  context: CliContext,
  names: readonly string[],
): Promise<ExitCode> {
  return withGateway(options, context, async (gateway) => {
    const { stateDir } = await locateConfig(options.config, context, LOOKUP_ONLY);
    const check = async (
      items: readonly AdminItemReference[],
      fingerprint: string | undefined,
    ): Promise<void> => {
      await assertShownWhole(stateDir, items);
      if (fingerprint === undefined) await assertListedUnchanged(stateDir, items);
    };
    const environment = { gateway, context, check };
    const decisions = [await decide('accept', names, options, environment)];
    const servers = decisions.flatMap(({ items }) => items).filter(({ kind }) => kind === 'server');
    try {
      for (const { server } of servers)
        decisions.push(...(await startAcceptedServer(server, options, environment)));
    } finally {
      // The decisions are printed even if one of the servers cannot be started.
      printDecisionsJson('accept', decisions, context);
    }
    return 0;
  });
}

export function runApprovalsRefuse(
  options: DecideOptions,
  context: CliContext,
  names: readonly string[],
): Promise<ExitCode> {
  return withGateway(options, context, async (gateway) => {
    printDecisionsJson('refuse', [await decide('refuse', names, options, { gateway, context })], context);
    return 0;
  });
}

interface DecisionEnvironment {
  readonly gateway: CommandConnection;
  readonly context: CliContext;
  /** Throws if an item differs from what the user saw, or was not shown in full. */
  readonly check?: (items: readonly AdminItemReference[], fingerprint: string | undefined) => Promise<void>;
}

interface Decision {
  readonly items: readonly AdminItemReference[];
  /** The number of items that are still held. */
  readonly left: number;
}

/** Finds the state folder without creating a configuration. Accepts an untrusted project configuration that a gateway serves. */
const LOOKUP_ONLY = { canCreate: false, canWarn: false, isGatewayEnough: true };

/**
 * Accepts or refuses the current definitions of the named items. A fingerprint limits the decision to one definition. Only `accept` passes
 * `check`, which throws if a definition is not the one that the user saw.
 */
async function decide(
  decision: 'accept' | 'refuse',
  names: readonly string[],
  { fingerprint }: DecideOptions,
  { gateway, context, check }: DecisionEnvironment,
): Promise<Decision> {
  if (fingerprint !== undefined && names.length > 1)
    throw new GatewayError('USAGE', '--fingerprint belongs to one entry. Give one name with it.');
  const { held } = await gateway.client.request('GET /api/approvals', {}, gateway);
  const chosen = names.flatMap((name) => selectHeldItems(held, name, fingerprint));
  // Removes duplicates: a tool is selected twice if both the tool and its server are named.
  const items = [...new Map(chosen.map((item) => [JSON.stringify(item), item])).values()];
  await check?.(items, fingerprint);
  const after = await gateway.client.request('POST /api/approvals', { decision, items }, gateway);
  const { out } = context;
  if (out.style.format === 'text')
    for (const item of items)
      out.line(
        `${decision === 'accept' ? out.paint.green('accepted') : out.paint.red('refused')}  ${formatTitle(item)}  ${out.paint.dim(item.fingerprint)}`,
      );
  return { items, left: after.held.length };
}

/** Prints all decisions of a command as one document. */
function printDecisionsJson(
  decision: 'accept' | 'refuse',
  done: readonly Decision[],
  { out }: CliContext,
): void {
  if (out.style.format === 'json')
    out.json({ decision, items: done.flatMap(({ items }) => items), left: done.at(-1)?.left ?? 0 });
}

/** Starts a server that was accepted, so that its tools and prompts can be reviewed. */
async function startAcceptedServer(
  name: string,
  { all }: DecideOptions,
  environment: DecisionEnvironment,
): Promise<readonly Decision[]> {
  const { gateway, context } = environment;
  await context.out.withProgress(`Starting ${name}`, () =>
    gateway.client.request('POST /api/servers/:name/refresh', { name }, gateway),
  );
  const { held } = await gateway.client.request('GET /api/approvals', {}, gateway);
  const own = held.filter(({ server }) => server === name);
  if (own.length === 0) return [];
  if (all === true) return [await decide('accept', [name], {}, environment)];
  context.out.note(
    `Started ${name}. ${own.length} of its entries ${own.length === 1 ? 'is' : 'are'} held for approval. Review with: trunkline approvals\nAccept all with: trunkline approvals accept ${quoteShellWord(name)}`,
  );
  return [];
}

interface FormattedHeld extends ReturnType<typeof formatChanges> {
  readonly held: AdminHeldItem;
}

function formatHeld(held: AdminHeldItem, { full }: ListOptions, { out }: CliContext): FormattedHeld {
  // The response contains a limited list of changes but complete definitions, so the changes are computed again.
  const changes = compareDefinitions(held.approved?.definition, held.offered, NO_COMPARE_LIMITS);
  const advice = 'It can be accepted after you have seen all of it with: trunkline approvals --full';
  return { held, ...formatChanges(changes, out.paint, { isFull: full === true, advice }) };
}

function printApprovals(
  { calls, lock }: AdminApprovals,
  held: readonly FormattedHeld[],
  { out }: CliContext,
): void {
  const { bold, dim, yellow } = out.paint;
  if (held.length + calls.length === 0) return out.line('Nothing is held for approval.');
  for (const call of calls) printCall(call, out);
  for (const { held: item, lines } of held) {
    out.line(`${bold(formatTitle(item))}  ${yellow(item.reason)}  ${dim(item.fingerprint)}`);
    for (const line of lines) out.line(`  ${line}`);
    for (const { rule, where, excerpt } of item.findings)
      out.line(`  ${yellow(`! ${rule}`)} ${dim(toOneLine(where))} ${toOneLine(excerpt)}`);
    out.line('');
  }
  if (held.length === 0) return;
  out.prose(
    lock === undefined
      ? 'Accept an entry, or all held entries of a server, with: trunkline approvals accept NAME\nRefuse with: trunkline approvals refuse NAME'
      : `${sanitize(lock)} decides what is accepted. Review the change, then write it there with: trunkline lock`,
  );
}

function printCall(
  { id, caller, name, server, arguments: args, rule, until, isOpen }: AdminHeldCall,
  out: CliContext['out'],
): void {
  const { bold, dim, yellow } = out.paint;
  const left = Math.max(0, Math.round((until - Date.now()) / 1000));
  out.line(
    `${bold(`call ${id}`)}  ${yellow('held')}  ${toOneLine(name)} of ${toOneLine(server)}, for ${toOneLine(caller)}, ${left} s left${isOpen ? '' : ', its client has disconnected'}`,
  );
  out.line(`  ${sanitize(JSON.stringify(args, null, 2)).replaceAll('\n', '\n  ')}`);
  out.line(
    dim(`  rule "${toOneLine(rule)}"; trunkline approve ${id}, or refuse: trunkline approve --refuse ${id}`),
  );
  out.line('');
}

function formatTitle({ server, kind, name, ...rest }: AdminItemReference & Partial<AdminHeldItem>): string {
  const { exposed } = rest;
  if (kind === 'server') return `server ${toOneLine(server)}`;
  if (kind === 'words') return `${toOneLine(server)}: title, description and instructions`;
  return `${kind} ${toOneLine(exposed ?? `${server}: ${name}`)}`;
}

/** Approves or refuses a held call. */
export function runApprove(
  options: GlobalOptions & { readonly refuse?: boolean },
  context: CliContext,
  [call = '']: readonly string[],
): Promise<ExitCode> {
  return withGateway(options, context, async (gateway) => {
    if (gateway.target === 'in-process')
      throw new GatewayError('ENTRY_NOT_FOUND', 'No gateway is running, so no call is held for approval.', {
        details: { kind: 'call' },
      });
    const decision = options.refuse === true ? 'refuse' : 'accept';
    const decided = await gateway.client.request('POST /api/approve', { call, decision }, gateway);
    const { out } = context;
    if (out.style.format === 'json') out.json({ decision, ...decided });
    else
      out.line(
        `${decision === 'accept' ? out.paint.green('approved') : out.paint.red('refused')}  ${toOneLine(decided.name)} for ${toOneLine(decided.caller)}${decided.isOpen ? '' : '; its client has disconnected, and the decision applies when it repeats the call'}`,
      );
    return 0;
  });
}
