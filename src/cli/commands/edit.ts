import { spawn } from 'node:child_process';
import { readFile, rm } from 'node:fs/promises';
import { basename } from 'node:path';
import { checkText, documentFrom, serversIn } from '../../config/file/edit.ts';
import { nodeAt, parseDocument, positionAt } from '../../config/file/document.ts';
import { STARTER } from '../../config/paths.ts';
import { splitWords } from '../../lib/split-words.ts';
import { entryIn, sharesDatabase } from '../../manage/entry-in.ts';
import { GatewayError } from '../../model/errors.ts';
import type { ExitCode } from '../../model/errors.ts';
import type { CliContext } from '../context.ts';
import type { GlobalOptions } from '../declare.ts';
import { askAtTerminal, isTerminal } from './set-up/ask.ts';
import { tellRunning } from './set-up/config-change.ts';
import { draftChange } from './set-up/draft-change.ts';
import type { DraftChange } from './set-up/draft-change.ts';
import { draftOf, olderDrafts, writeDraft } from './set-up/drafts.ts';
import { OF_ONE_FILE } from './set-up/server-verbs.ts';

/** Opens a copy of the configuration in the person's editor, and saves what can be used only. */
export async function edit(
  options: GlobalOptions,
  context: CliContext,
  [name]: readonly string[],
): Promise<ExitCode> {
  const { out } = context;
  const editor = editorOf(context);
  const change = await draftChange(options.config, context);
  const { file, text: before } = change;
  const start = before ?? STARTER;
  if (name !== undefined) refuseUnknown(file, start, name);
  const draft = draftOf(file, start);
  for (const older of await olderDrafts(draft))
    out.note(`The draft in ${older} was begun before ${file} changed, and is left there.`);
  if (!(await isContinued(draft, context))) await writeDraft(draft, start);
  for (;;) {
    try {
      await inEditor(editor, { draft, name }, context);
    } catch (error) {
      throw await whatIsLeft(error, { draft, start });
    }
    const text = await readFile(draft, 'utf8');
    if (text === before) {
      await rm(draft, { force: true });
      if (out.style.format === 'json') out.json({ saved: false, config: file });
      else out.line('Nothing was changed.');
      return 0;
    }
    const problem = problemOf(file, { text, before }, context.version);
    if (problem === undefined) {
      await save(change, { text, draft });
      await rm(draft, { force: true });
      if (out.style.format === 'json') out.json({ saved: true, config: file });
      else out.line(`Saved ${file}`);
      await tellRunning(change, context);
      if (sharesDatabase(text)) out.note(OF_ONE_FILE);
      return 0;
    }
    out.problem(problem);
    if (!(await isReopened(context)))
      throw new GatewayError(
        'CONFIG_INVALID',
        `${file} was left as it is. Your draft is in ${draft}; trunkline edit goes on with it.`,
        { details: { file, draft } },
      );
  }
}

/** Nobody is taken to a server that is not there; a file that is broken as a whole is opened all the same, to be mended. */
function refuseUnknown(file: string, text: string, name: string): void {
  if ('problem' in parseDocument(text) || serversIn(text).has(name)) return;
  entryIn(documentFrom(file, text), name);
}

/** What somebody else wrote meanwhile is not overwritten, and what was typed here is not lost. */
async function save(
  change: DraftChange,
  { text, draft }: { readonly text: string; readonly draft: string },
): Promise<void> {
  try {
    await change.save(text);
  } catch (error) {
    if (!(error instanceof GatewayError) || error.code !== 'REVISION_CONFLICT') throw error;
    throw new GatewayError(
      'REVISION_CONFLICT',
      `${change.file} was changed by somebody else while you edited it, and was left as it is. Your draft is in ${draft}; trunkline edit begins with the file as it is now.`,
      { cause: error, details: { file: change.file, draft } },
    );
  }
}

/** A draft in which nothing was written is no draft. */
async function whatIsLeft(
  error: unknown,
  { draft, start }: { readonly draft: string; readonly start: string },
): Promise<unknown> {
  if ((await readFile(draft, 'utf8').catch(() => undefined)) !== start) {
    if (!(error instanceof GatewayError)) return error;
    return new GatewayError(error.code, `${error.message} Your draft is in ${draft}.`, { cause: error });
  }
  await rm(draft, { force: true });
  return error;
}

/** Why a text is not saved: it is no configuration, or a server would be left out that was not before. */
function problemOf(
  file: string,
  { text, before }: { readonly text: string; readonly before: string | undefined },
  version: string,
): GatewayError | undefined {
  try {
    const { unusable } = checkText(file, text, version);
    const [first] = unusable.filter(({ name }) => !leftOut(file, before, version).includes(name));
    return first === undefined ? undefined : new GatewayError('CONFIG_INVALID', first.message);
  } catch (error) {
    if (error instanceof GatewayError) return error;
    throw error;
  }
}

function leftOut(file: string, text: string | undefined, version: string): readonly string[] {
  if (text === undefined) return [];
  try {
    return checkText(file, text, version).unusable.map(({ name }) => name);
  } catch {
    return []; // It was broken as a whole.
  }
}

async function isContinued(draft: string, context: CliContext): Promise<boolean> {
  const left = await readFile(draft, 'utf8').catch(() => undefined);
  if (left === undefined) return false;
  using ask = askAtTerminal(context);
  // Awaited here, since the questions end with this block.
  if (ask !== undefined) {
    context.out.note(`There is a draft from before in ${draft}`);
    return await ask.confirm('Go on with it?');
  }
  context.out.note(`Going on with the draft from before in ${draft}`);
  return true;
}

async function isReopened(context: CliContext): Promise<boolean> {
  using ask = askAtTerminal(context);
  return ask === undefined ? false : await ask.confirm('It was not saved. Open it again?');
}

/** The words of the person's editor. */
function editorOf(context: CliContext): readonly [string, ...string[]] {
  const { env, platform } = context;
  const said = [env['VISUAL'], env['EDITOR']].find((each) => each !== undefined && each.trim() !== '');
  if (said === undefined && !isTerminal(context))
    throw new GatewayError(
      'USAGE',
      'There is no terminal for an editor; set VISUAL or EDITOR to one that needs none.',
    );
  const [command, ...args] = splitWords(said ?? (platform === 'win32' ? 'notepad' : 'vi')) ?? [];
  if (command === undefined) throw new GatewayError('USAGE', 'VISUAL or EDITOR names no program.');
  return [command, ...args];
}

async function inEditor(
  [command, ...args]: readonly [string, ...string[]],
  { draft, name }: { readonly draft: string; readonly name: string | undefined },
  context: CliContext,
): Promise<void> {
  const line = name === undefined ? undefined : lineOf(await readFile(draft, 'utf8'), name);
  const place = line === undefined ? [draft] : placed(command, draft, line);
  // Ctrl-C belongs to the editor while it is open.
  context.onStopSignal(() => {});
  const code = await new Promise<number | null>((resolve, reject) => {
    // An editor is a program of the person, who gave it the terminal.
    const child = spawn(command, [...args, ...place], { stdio: 'inherit', env: { ...context.env } });
    child.once('error', (error) =>
      reject(
        new GatewayError(
          'USAGE',
          `The editor "${command}" cannot be started; set VISUAL or EDITOR to another one.`,
          {
            cause: error,
          },
        ),
      ),
    );
    child.once('close', resolve);
  });
  if (code !== 0)
    throw new GatewayError('USAGE', `The editor "${command}" ended with ${code}; nothing was saved.`);
}

/** Where the entry of a server begins. */
function lineOf(text: string, name: string): number | undefined {
  const parsed = parseDocument(text);
  const node = 'problem' in parsed ? undefined : nodeAt(parsed.root, ['mcpServers', name]);
  return node === undefined ? undefined : positionAt(text, node.offset).line;
}

function placed(command: string, draft: string, line: number): readonly string[] {
  const program = basename(command).replace(/\.(?:exe|cmd)$/i, '');
  if (/^(?:n?vim?|nano|emacs|micro|kak|mg|ne|joe)$/.test(program)) return [`+${line}`, draft];
  if (/^(?:code|codium|code-insiders|cursor|windsurf)$/.test(program))
    return ['--wait', '--goto', `${draft}:${line}`];
  if (/^(?:hx|helix|zed|subl)$/.test(program)) return [`${draft}:${line}`];
  return [draft];
}
