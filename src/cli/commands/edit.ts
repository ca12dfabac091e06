import { spawn } from 'node:child_process';
import { readFile, rm } from 'node:fs/promises';
import { basename } from 'node:path';
import { checkConfigText, parseConfigDocument, readServerEntries } from '../../config/file/edit-config.ts';
import { findNode, parseDocument, toPosition } from '../../config/file/document.ts';
import { STARTER_CONFIG } from '../../config/starter-config.ts';
import { splitShellWords } from '../../core/lib/split-shell-words.ts';
import { findEntry, sharesDatabase } from '../../setup/manage/config-entries.ts';
import { GatewayError } from '../../core/errors.ts';
import type { ExitCode } from '../../core/errors.ts';
import type { CliContext } from '../context.ts';
import type { GlobalOptions } from '../declare.ts';
import { openTerminalPrompt, isInteractive } from './setup/terminal-prompt.ts';
import { reloadRunningGateway } from './setup/editable-config.ts';
import { openEditableConfigText, getDraftPath, findOlderDrafts, writeDraft } from './setup/config-draft.ts';
import type { EditableConfigText } from './setup/config-draft.ts';
import { LOCAL_FILE_NOTE } from './setup/server-changes.ts';

/** Opens a draft of the configuration in the user's editor. Saves it only if it is valid. */
export async function runEdit(
  options: GlobalOptions,
  context: CliContext,
  [name]: readonly string[],
): Promise<ExitCode> {
  const { out } = context;
  const editor = findEditor(context);
  const change = await openEditableConfigText(options.config, context);
  const { file, text: before } = change;
  const start = before ?? STARTER_CONFIG;
  if (name !== undefined) assertServerExists(file, start, name);
  const draft = getDraftPath(file, start);
  for (const older of await findOlderDrafts(draft))
    out.note(
      `There is an older draft in ${older}, which was started before ${file} changed. It is not used.`,
    );
  if (!(await shouldContinueDraft(draft, context))) await writeDraft(draft, start);
  for (;;) {
    try {
      await openInEditor(editor, { draft, name }, context);
    } catch (error) {
      throw await keepOrRemoveDraft(error, { draft, start });
    }
    const text = await readFile(draft, 'utf8');
    if (text === before) {
      await rm(draft, { force: true });
      if (out.style.format === 'json') out.json({ saved: false, config: file });
      else out.line('Nothing was changed.');
      return 0;
    }
    const problem = findProblem(file, { text, before }, context.version);
    if (problem === undefined) {
      await saveDraft(change, { text, draft });
      await rm(draft, { force: true });
      if (out.style.format === 'json') out.json({ saved: true, config: file });
      else out.line(`Saved ${file}`);
      await reloadRunningGateway(change, context);
      if (sharesDatabase(text)) out.note(LOCAL_FILE_NOTE);
      return 0;
    }
    out.problem(problem);
    if (!(await shouldReopen(context)))
      throw new GatewayError(
        'CONFIG_INVALID',
        `${file} was not changed. Your draft is in ${draft}. Continue with: trunkline edit`,
        { details: { file, draft } },
      );
  }
}

/** Throws if the server is unknown. Accepts a file that cannot be parsed, so that the user can open and correct it. */
function assertServerExists(file: string, text: string, name: string): void {
  if ('problem' in parseDocument(text) || readServerEntries(text).has(name)) return;
  // Throws an error that suggests similar names.
  findEntry(parseConfigDocument(file, text), name);
}

/** Saves the draft. If the file was changed in the meantime, keeps both the file and the draft. */
async function saveDraft(
  change: EditableConfigText,
  { text, draft }: { readonly text: string; readonly draft: string },
): Promise<void> {
  try {
    await change.save(text);
  } catch (error) {
    if (!(error instanceof GatewayError) || error.code !== 'REVISION_CONFLICT') throw error;
    throw new GatewayError(
      'REVISION_CONFLICT',
      `${change.file} was changed while you edited it, so your version was not saved. Your draft is in ${draft}. Run trunkline edit to start again from the current file.`,
      { cause: error, details: { file: change.file, draft } },
    );
  }
}

/** Called when the editor failed. Removes an unchanged draft. Keeps a changed one and adds its path to the error. */
async function keepOrRemoveDraft(
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

/** Returns why a text cannot be saved: it is invalid, or it makes a usable server unusable. */
function findProblem(
  file: string,
  { text, before }: { readonly text: string; readonly before: string | undefined },
  version: string,
): GatewayError | undefined {
  try {
    const { unusable } = checkConfigText(file, text, version);
    const [first] = unusable.filter(({ name }) => !findUnusableServers(file, before, version).includes(name));
    return first === undefined ? undefined : new GatewayError('CONFIG_INVALID', first.message);
  } catch (error) {
    if (error instanceof GatewayError) return error;
    throw error;
  }
}

function findUnusableServers(file: string, text: string | undefined, version: string): readonly string[] {
  if (text === undefined) return [];
  try {
    return checkConfigText(file, text, version).unusable.map(({ name }) => name);
  } catch {
    return []; // The file could not be parsed before.
  }
}

async function shouldContinueDraft(draft: string, context: CliContext): Promise<boolean> {
  const left = await readFile(draft, 'utf8').catch(() => undefined);
  if (left === undefined) return false;
  using ask = openTerminalPrompt(context);
  // The answer must be awaited here, because `using` closes the prompt when the function returns.
  if (ask !== undefined) {
    context.out.note(`There is an earlier draft in ${draft}`);
    return await ask.confirm('Continue with it?');
  }
  context.out.note(`Continuing with the earlier draft in ${draft}`);
  return true;
}

async function shouldReopen(context: CliContext): Promise<boolean> {
  using ask = openTerminalPrompt(context);
  return ask === undefined ? false : await ask.confirm('The draft was not saved. Open it again?');
}

/** Returns the command line of the user's editor. */
function findEditor(context: CliContext): readonly [string, ...string[]] {
  const { env, platform } = context;
  const configured = [env['VISUAL'], env['EDITOR']].find(
    (value) => value !== undefined && value.trim() !== '',
  );
  if (configured === undefined && !isInteractive(context))
    throw new GatewayError(
      'USAGE',
      'There is no terminal for an editor. Set VISUAL or EDITOR to an editor that opens its own window.',
    );
  const [command, ...args] = splitShellWords(configured ?? (platform === 'win32' ? 'notepad' : 'vi')) ?? [];
  if (command === undefined)
    throw new GatewayError('USAGE', 'VISUAL or EDITOR has an unclosed quote. Correct the variable.');
  return [command, ...args];
}

async function openInEditor(
  [command, ...args]: readonly [string, ...string[]],
  { draft, name }: { readonly draft: string; readonly name: string | undefined },
  context: CliContext,
): Promise<void> {
  const line = name === undefined ? undefined : findEntryLine(await readFile(draft, 'utf8'), name);
  const fileArguments = line === undefined ? [draft] : editorArguments(command, draft, line);
  // Ctrl-C belongs to the editor while it is open.
  context.onStopSignal(() => {});
  const code = await new Promise<number | null>((resolve, reject) => {
    const child = spawn(command, [...args, ...fileArguments], { stdio: 'inherit', env: { ...context.env } });
    child.once('error', (error) =>
      reject(
        new GatewayError(
          'USAGE',
          `The editor "${command}" cannot be started. Set VISUAL or EDITOR to another one.`,
          {
            cause: error,
          },
        ),
      ),
    );
    child.once('close', resolve);
  });
  if (code !== 0)
    throw new GatewayError(
      'USAGE',
      `The editor "${command}" ended with exit code ${code}, so nothing was saved.`,
    );
}

/** Returns the line at which the entry of a server starts. */
function findEntryLine(text: string, name: string): number | undefined {
  const parsed = parseDocument(text);
  const node = 'problem' in parsed ? undefined : findNode(parsed.root, ['mcpServers', name]);
  return node === undefined ? undefined : toPosition(text, node.offset).line;
}

/** Returns the arguments with which an editor opens the draft at a line. Unknown editors open it at the top. */
function editorArguments(command: string, draft: string, line: number): readonly string[] {
  const program = basename(command).replace(/\.(?:exe|cmd)$/i, '');
  if (/^(?:n?vim?|nano|emacs|micro|kak|mg|ne|joe)$/.test(program)) return [`+${line}`, draft];
  if (/^(?:code|codium|code-insiders|cursor|windsurf)$/.test(program))
    return ['--wait', '--goto', `${draft}:${line}`];
  if (/^(?:hx|helix|zed|subl)$/.test(program)) return [`${draft}:${line}`];
  return [draft];
}
