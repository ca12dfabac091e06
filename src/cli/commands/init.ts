import { clients } from '../../connect/clients.ts';
import type { SecretPlace } from '../../import/apply-plan.ts';
import { planImport } from '../../import/plan.ts';
import type { Step } from '../../import/plan.ts';
import { GatewayError } from '../../model/errors.ts';
import type { ExitCode } from '../../model/errors.ts';
import type { CliContext } from '../context.ts';
import type { GlobalOptions } from '../declare.ts';
import { counted } from './listing.ts';
import { search } from './search.ts';
import { askAtTerminal } from './set-up/ask.ts';
import type { Ask } from './set-up/ask.ts';
import { configChange } from './set-up/config-change.ts';
import { clientNamed, fileOf, plannedConnection, writeConnection } from './set-up/connect-client.ts';
import { foundServers, ownProgram } from './set-up/found-servers.ts';
import { heldServers, takeHeld, tellHeld, tellWaiting } from './set-up/held-servers.ts';
import { addServers } from './set-up/plain-secrets.ts';
import { keptIn, tellApplied } from './set-up/server-verbs.ts';
import { showPlan, tellBroken } from './set-up/show-plan.ts';
import { tellConnection } from './set-up/tell-connection.ts';

export interface InitOptions extends GlobalOptions {
  /** Names of servers, `all` or `none`. */
  readonly import?: readonly string[];
  /** Clients, or `none`. */
  readonly connect?: readonly string[];
  readonly search?: string;
  readonly references?: SecretPlace | true;
  readonly yes?: boolean;
}

/** The first minute: takes over servers, connects a client, finds a first tool. */
export async function init(options: InitOptions, context: CliContext): Promise<ExitCode> {
  const { out } = context;
  // Whether a flag is malformed is known before anything is done.
  for (const name of options.connect ?? []) if (name !== 'none') clientNamed(name);
  let query: string | undefined;
  {
    using ask = askAtTerminal(context);
    if (ask === undefined)
      throw new GatewayError(
        'USAGE',
        'init asks a person, and there is no terminal; nothing was done. In a script use: trunkline import --yes, trunkline connect CLIENT --yes',
      );
    await takeOver(options, context, ask);
    await connectClients(options, context, ask);
    query = await firstQuery(options, context, ask);
  }
  if (query !== undefined) {
    out.line(`\n$ trunkline search ${JSON.stringify(query)}`);
    await search({ ...(options.config !== undefined && { config: options.config }), limit: 5 }, context, [
      query,
    ]);
  }
  await tellWaiting({ config: options.config, context });
  out.line('\nDone. trunkline servers shows what you have, trunkline --help what you can do.');
  return 0;
}

async function takeOver(options: InitOptions, context: CliContext, ask: Ask): Promise<void> {
  const { out } = context;
  const change = await configChange(options.config, context);
  const found = await foundServers(undefined, context);
  tellBroken(found, context);
  const steps = planImport(found, {
    servers: change.document.servers,
    own: ownProgram(context, change.document.text),
    onConflict: 'keep',
    configFile: change.file,
  });
  const fresh = steps.filter(({ state }) => state === 'new');
  if (steps.length === 0) out.line('No servers of other clients were found on this machine.');
  else {
    out.line('Servers of other clients on this machine:\n');
    showPlan(steps, context);
  }
  if (fresh.length === 0) {
    if (steps.length > 0) out.line('\nNothing is new.');
    // There is a file to look at afterwards, whatever was chosen.
    if (change.document.isNew) await change.save([]);
    return;
  }
  const chosen = await chosenSteps(fresh, options, context, ask);
  const wanted = chosen.flatMap(({ as, entry, secrets }) =>
    entry === undefined ? [] : [{ name: as, entry, secrets }],
  );
  if (wanted.length === 0) return;
  const references = options.references ?? (options.yes === true ? 'file' : undefined);
  const applied = await addServers(
    change,
    wanted,
    { trust: 'first-sight', ...(references !== undefined && { references }) },
    { context, ask },
  );
  out.line(`Added ${counted(wanted.length, 'server')} to ${keptIn(change.file, applied).place}`);
  tellApplied(applied, change, context);
}

async function chosenSteps(
  fresh: readonly Step[],
  options: InitOptions,
  { out }: CliContext,
  ask: Ask,
): Promise<readonly Step[]> {
  const said = options.import ?? (options.yes === true ? ['all'] : undefined);
  if (said !== undefined) return said.includes('all') ? fresh : fresh.filter(({ as }) => said.includes(as));
  for (;;) {
    const answer = await ask.text(
      `\nTake over ${counted(fresh.length, 'new server')}? [Y/n, or names with commas]`,
    );
    if (/^(?:y|yes)?$/i.test(answer)) return fresh;
    if (/^(?:n|no)$/i.test(answer)) return [];
    const names = answer.split(/[\s,]+/).filter((name) => name !== '');
    const unknown = names.filter((name) => !fresh.some(({ as }) => as === name));
    if (unknown.length === 0) return fresh.filter(({ as }) => names.includes(as));
    out.note(`There is no new server ${unknown.join(', ')}.`);
  }
}

async function connectClients(options: InitOptions, context: CliContext, ask: Ask): Promise<void> {
  const { out } = context;
  const present: string[] = [];
  for (const client of clients) {
    const { bytes } = await fileOf(client, context);
    if (bytes !== undefined) present.push(client.source.id);
  }
  const said = options.connect ?? (options.yes === true ? [] : undefined);
  const names = said ?? (await chosenClients(present, ask, context));
  for (const name of names) {
    if (name === 'none') continue;
    const client = clientNamed(name);
    // Read anew for each, since the one before has changed it.
    const change = await configChange(options.config, context);
    // What to take over was asked before; the client keeps the rest beside Trunkline.
    const planned = await plannedConnection(client, change, context, { isTakingOver: false });
    if (!planned.isChanged) {
      out.line(`${client.source.title} is connected already.`);
      continue;
    }
    const of = { config: options.config, context };
    const waiting = await heldServers(planned.known, of);
    tellConnection(planned, waiting, context);
    // Who named the client on the command line has answered.
    if (said === undefined && !(await ask.confirm(`Change ${planned.file}?`))) {
      out.note(`${client.source.title} was left as it is.`);
      continue;
    }
    if (change.document.isNew) await change.save([]);
    const held = await takeHeld(waiting, of);
    await writeConnection(planned, context);
    out.line(`${client.source.title} uses Trunkline now (undo: trunkline connect ${name} --undo)`);
    tellHeld(held, context);
  }
}

async function chosenClients(
  present: readonly string[],
  ask: Ask,
  { out }: CliContext,
): Promise<readonly string[]> {
  if (present.length === 0) {
    out.line(
      '\nNo client was found here whose configuration can be written; trunkline connect other prints what to paste.',
    );
    return [];
  }
  for (;;) {
    const answer = await ask.text(
      `\nConnect a client? ${present.join(', ')} [names with commas, Enter for none]`,
    );
    const names = answer.split(/[\s,]+/).filter((name) => name !== '');
    const unknown = names.filter((name) => !clients.some(({ source }) => source.id === name));
    if (unknown.length === 0) return names;
    out.note(`${unknown.join(', ')} is not a client that is known here.`);
  }
}

async function firstQuery(options: InitOptions, context: CliContext, ask: Ask): Promise<string | undefined> {
  if (options.search !== undefined) return options.search === '' ? undefined : options.search;
  const { document } = await configChange(options.config, context);
  if (options.yes === true || document.servers.size === 0) return undefined;
  const answer = await ask.text(
    '\nWhat would you like to do first? A search shows the tools for it [Enter for none]',
  );
  return answer === '' ? undefined : answer;
}
