import type { SecretPlace } from '../../import/apply-plan.ts';
import { planImport } from '../../import/plan.ts';
import type { OnConflict, Step } from '../../import/plan.ts';
import { nearest } from '../../lib/nearest.ts';
import { GatewayError } from '../../model/errors.ts';
import type { ExitCode } from '../../model/errors.ts';
import type { CliContext } from '../context.ts';
import type { GlobalOptions } from '../declare.ts';
import { counted } from './listing.ts';
import { askAtTerminal, cannotAsk } from './set-up/ask.ts';
import { configChange } from './set-up/config-change.ts';
import { foundServers, ownProgram } from './set-up/found-servers.ts';
import { addedByOthers, heldServers, tellHeld } from './set-up/held-servers.ts';
import { addPlanned } from './set-up/plain-secrets.ts';
import { keptIn, tellApplied } from './set-up/server-verbs.ts';
import { planJson, showPlan, tellBroken, tellSecrets } from './set-up/show-plan.ts';

export interface ImportOptions extends GlobalOptions {
  readonly from?: readonly string[];
  readonly only?: readonly string[];
  readonly conflicts?: OnConflict;
  readonly references?: SecretPlace | true;
  readonly dryRun?: boolean;
  readonly trust?: boolean;
  readonly yes?: boolean;
}

/** Shows what other clients have and takes over what is new. */
export async function importServers(options: ImportOptions, context: CliContext): Promise<ExitCode> {
  const { out } = context;
  const isJson = out.style.format === 'json';
  const change = await configChange(options.config, context);
  const found = await foundServers(options.from, context);
  tellBroken(found, context);
  const all = planImport(found, {
    servers: change.document.servers,
    own: ownProgram(context, change.document.text),
    onConflict: options.conflicts ?? 'keep',
    configFile: change.file,
  });
  const steps = options.only === undefined ? all : chosenOf(all, options.only);
  const wanted = steps.flatMap(({ state, as, entry, secrets }) =>
    state === 'new' && entry !== undefined ? [{ name: as, entry, secrets }] : [],
  );
  const result = (applied: boolean) => ({ config: change.file, applied, plan: planJson(steps) });
  if (!isJson) tellPlan(steps, options, context);
  const same = steps.filter(({ state }) => state === 'same').map(({ as }) => as);
  tellHeld(await heldServers(addedByOthers(same, change), { config: options.config, context }), context);
  if (wanted.length === 0 || options.dryRun === true) {
    if (isJson) out.json(result(false));
    else if (steps.length > 0)
      out.line(
        wanted.length === 0
          ? '\nNothing is new.'
          : `\n${counted(wanted.length, 'server')} would be added to ${change.file}`,
      );
    return 0;
  }
  using ask = askAtTerminal(context);
  if (options.yes !== true) {
    if (ask === undefined) {
      if (isJson) out.json(result(false));
      throw cannotAsk(
        `${counted(wanted.length, 'server')} would be added to ${change.file}.`,
        '--yes adds them, --dry-run only shows them',
      );
    }
    if (!(await ask.confirm(`Add ${counted(wanted.length, 'server')} to ${change.file}?`))) {
      out.note('Nothing was changed.');
      return 0;
    }
  }
  const { applied, trust } = await addPlanned(change, wanted, options, { context, ask });
  const { place, ...kept } = keptIn(change.file, applied);
  if (isJson) out.json({ ...result(true), ...kept, trust });
  else out.line(`Added ${counted(wanted.length, 'server')} to ${place}`);
  tellApplied(applied, change, context);
  return 0;
}

/** A name that nothing has is a mistake, which would go unnoticed otherwise. */
function chosenOf(steps: readonly Step[], only: readonly string[]): readonly Step[] {
  const names = new Set(steps.map(({ name }) => name));
  const [missing] = only.filter((name) => !names.has(name));
  if (missing === undefined) return steps.filter(({ name }) => only.includes(name));
  const [meant] = nearest(missing, names, 1);
  const hint = meant === undefined ? '' : ` Did you mean ${meant}?`;
  throw new GatewayError('ENTRY_NOT_FOUND', `No server "${missing}" was found to be taken over.${hint}`, {
    details: { kind: 'server', server: missing },
  });
}

function tellPlan(steps: readonly Step[], { conflicts, dryRun }: ImportOptions, context: CliContext): void {
  const { out } = context;
  if (steps.length === 0) out.line('No servers of other clients were found.');
  else showPlan(steps, context);
  if (conflicts === undefined && steps.some(({ state }) => state === 'conflicting'))
    out.note('--conflicts rename adds those whose name is taken under another one.');
  for (const { as, remarks, state } of steps)
    for (const remark of state === 'new' ? remarks : []) out.note(`${as}: ${remark}`);
  // Without --dry-run it is said, and asked, when they are added.
  if (dryRun === true)
    tellSecrets(
      steps.flatMap(({ as, secrets, state }) => (state === 'new' ? [{ name: as, secrets }] : [])),
      context,
    );
}
