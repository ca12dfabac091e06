import type {
  AdminApprovals,
  AdminHeld,
  AdminNamed,
  AdminWaitingCall,
} from '../../admin/contract/approval-contract.ts';
import { shellWord } from '../../lib/shell-word.ts';
import { GatewayError } from '../../model/errors.ts';
import type { ExitCode } from '../../model/errors.ts';
import type { CliContext } from '../context.ts';
import type { GlobalOptions } from '../declare.ts';
import { foundConfig } from '../found-config.ts';
import { harmless, inOneLine } from '../harmless.ts';
import { onLine } from '../line/on-line.ts';
import type { Work } from '../line/on-line.ts';
import { changeLines } from './approvals/change-lines.ts';
import { chosenItems } from './approvals/chosen-items.ts';
import { counted } from './listing.ts';
import { checkShown, noteShown } from './approvals/shown-items.ts';

interface DecideOptions extends GlobalOptions {
  readonly fingerprint?: string;
  readonly all?: boolean;
}

/** What waits for a person: servers, what they offer, and calls. */
export function approvals(options: GlobalOptions, context: CliContext): Promise<ExitCode> {
  return onLine(options, context, async (line) => {
    const found = await line.client.ask('GET /api/approvals', {}, line);
    const { stateDir } = await foundConfig(options.config, context, LOOKING);
    await noteShown(stateDir, found.held);
    if (context.out.style.format === 'json') context.out.json(found);
    else print(found, context);
    return 0;
  });
}

export function accept(
  options: DecideOptions,
  context: CliContext,
  names: readonly string[],
): Promise<ExitCode> {
  return onLine(options, context, async (line) => {
    const { stateDir } = await foundConfig(options.config, context, LOOKING);
    const check = (items: readonly AdminNamed[]): Promise<void> => checkShown(stateDir, items);
    const world = { line, context, check };
    const done = [await decided('accept', names, options, world)];
    const servers = done.flatMap(({ items }) => items).filter(({ kind }) => kind === 'server');
    try {
      for (const { server } of servers) done.push(...(await acceptedServer(server, options, world)));
    } finally {
      // What was accepted is told also when one of the servers cannot be started.
      tellJson('accept', done, context);
    }
    return 0;
  });
}

export function refuse(
  options: DecideOptions,
  context: CliContext,
  names: readonly string[],
): Promise<ExitCode> {
  return onLine(options, context, async (line) => {
    tellJson('refuse', [await decided('refuse', names, options, { line, context })], context);
    return 0;
  });
}

interface World {
  readonly line: Work;
  readonly context: CliContext;
  /** Throws when it is not what the person was shown. */
  readonly check?: (items: readonly AdminNamed[]) => Promise<void>;
}

interface Decided {
  readonly items: readonly AdminNamed[];
  /** How much waits afterwards. */
  readonly left: number;
}

const LOOKING = { isMade: false, isTold: false, isReached: true };

/** Decides about exactly the bytes that the person was shown, or names, or that were just read where they did not look. */
async function decided(
  decision: 'accept' | 'refuse',
  names: readonly string[],
  { fingerprint }: DecideOptions,
  { line, context, check }: World,
): Promise<Decided> {
  if (fingerprint !== undefined && names.length > 1)
    throw new GatewayError('USAGE', '--fingerprint is that of one entry; give one name with it.');
  const { held } = await line.client.ask('GET /api/approvals', {}, line);
  const chosen = names.flatMap((name) => chosenItems(held, name, fingerprint));
  // A tool and its server may both be named.
  const items = [...new Map(chosen.map((item) => [JSON.stringify(item), item])).values()];
  if (fingerprint === undefined) await check?.(items);
  const after = await line.client.ask('POST /api/approvals', { decision, items }, line);
  const { out } = context;
  if (out.style.format === 'text')
    for (const item of items)
      out.line(
        `${decision === 'accept' ? out.paint.green('accepted') : out.paint.red('refused')}  ${titleOf(item)}  ${out.paint.dim(item.fingerprint)}`,
      );
  return { items, left: after.held.length };
}

/** All that a command decided, as one document. */
function tellJson(decision: 'accept' | 'refuse', done: readonly Decided[], { out }: CliContext): void {
  if (out.style.format === 'json')
    out.json({ decision, items: done.flatMap(({ items }) => items), left: done.at(-1)?.left ?? 0 });
}

/** A server that may be started now is started, so that what it offers can be looked at. */
async function acceptedServer(
  name: string,
  { all }: DecideOptions,
  world: World,
): Promise<readonly Decided[]> {
  const { line, context } = world;
  await context.out.during(`Starting ${name}`, () =>
    line.client.ask('POST /api/servers/:name/refresh', { name }, line),
  );
  const { held } = await line.client.ask('GET /api/approvals', {}, line);
  const own = held.filter(({ server }) => server === name);
  if (own.length === 0) return [];
  if (all === true) return [await decided('accept', [name], {}, world)];
  context.out.note(
    `It was started. ${counted(own.length, 'part')} of what it offers ${own.length === 1 ? 'is' : 'are'} held: look at them with trunkline approvals, take them all with trunkline approvals accept ${shellWord(name)}`,
  );
  return [];
}

function print({ held, calls, lock }: AdminApprovals, { out }: CliContext): void {
  const { bold, dim, yellow } = out.paint;
  if (held.length + calls.length === 0) return out.line('Nothing waits for you.');
  for (const call of calls) printCall(call, out);
  for (const item of held) {
    out.line(`${bold(titleOf(item))}  ${yellow(item.reason)}  ${dim(item.fingerprint)}`);
    for (const each of changeLines(item.changes, out.paint)) out.line(`  ${each}`);
    for (const { rule, where, excerpt } of item.findings)
      out.line(`  ${yellow(`! ${rule}`)} ${dim(inOneLine(where))} ${inOneLine(excerpt)}`);
    out.line('');
  }
  if (held.length === 0) return;
  out.prose(
    lock === undefined
      ? 'trunkline approvals accept NAME takes one of them, or all of a server; refuse NAME keeps it away.'
      : `${harmless(lock)} decides. Review the change; trunkline lock writes it there.`,
  );
}

function printCall(
  { id, caller, name, server, arguments: args, rule, until, isOpen }: AdminWaitingCall,
  out: CliContext['out'],
): void {
  const { bold, dim, yellow } = out.paint;
  const left = Math.max(0, Math.round((until - Date.now()) / 1000));
  out.line(
    `${bold(`call ${id}`)}  ${yellow('waits')}  ${inOneLine(name)} of ${inOneLine(server)}, for ${inOneLine(caller)}, ${left} s left${isOpen ? '' : ', its client has gone'}`,
  );
  out.line(`  ${harmless(JSON.stringify(args, null, 2)).replaceAll('\n', '\n  ')}`);
  out.line(dim(`  rule "${inOneLine(rule)}"; trunkline approve ${id}, or trunkline approve --refuse ${id}`));
  out.line('');
}

function titleOf({ server, kind, name, ...rest }: AdminNamed & Partial<AdminHeld>): string {
  const { exposed } = rest;
  if (kind === 'server') return `server ${inOneLine(server)}`;
  if (kind === 'words') return `${inOneLine(server)}: what it says of itself`;
  return `${kind} ${inOneLine(exposed ?? `${server}: ${name}`)}`;
}

/** Lets a waiting call go on, or refuses it. */
export function approve(
  options: GlobalOptions & { readonly refuse?: boolean },
  context: CliContext,
  [call = '']: readonly string[],
): Promise<ExitCode> {
  return onLine(options, context, async (line) => {
    if (line.to === 'own')
      throw new GatewayError('ENTRY_NOT_FOUND', 'No gateway is running, so that no call waits.', {
        details: { kind: 'call' },
      });
    const decision = options.refuse === true ? 'refuse' : 'accept';
    const done = await line.client.ask('POST /api/approve', { call, decision }, line);
    const { out } = context;
    if (out.style.format === 'json') out.json({ decision, ...done });
    else
      out.line(
        `${decision === 'accept' ? out.paint.green('approved') : out.paint.red('refused')}  ${inOneLine(done.name)} for ${inOneLine(done.caller)}${done.isOpen ? '' : '; its client has gone, the same call again finds the answer'}`,
      );
    return 0;
  });
}
