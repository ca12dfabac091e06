import { findEntryProblem } from '../../../config/read-server-entry.ts';
import { SECRET_MASK } from '../../../config/mask-secrets.ts';
import type { JsonObject } from '../../../core/json.ts';
import { splitShellWords } from '../../../core/lib/split-shell-words.ts';
import type { CliContext } from '../../context.ts';
import { toOneLine } from '../../sanitize.ts';
import { describeEntry } from './describe-entry.ts';
import type { TerminalPrompt } from './terminal-prompt.ts';

interface CorrectionScope {
  readonly configFile: string;
  readonly context: CliContext;
  readonly prompt: TerminalPrompt;
}

/** Asks for the right command or URL of each of these servers. Returns the corrected entries by name. */
export async function correctEntries(
  entries: Readonly<Record<string, JsonObject>>,
  scope: CorrectionScope,
): Promise<ReadonlyMap<string, JsonObject>> {
  const corrected = new Map<string, JsonObject>();
  for (const [name, entry] of Object.entries(entries)) {
    const details = describeEntry(entry, 'user');
    const detail = details.find(({ label }) => label === 'command' || label === 'url');
    if (detail === undefined) continue;
    const question = `\nCorrect the ${detail.label} of ${toOneLine(name)}? Now: ${detail.text} [Enter to leave it]`;
    const result = await askForEntry(name, { entry, question }, scope);
    if (result !== undefined) corrected.set(name, result);
  }
  return corrected;
}

/** Repeats the question until the answer is empty or describes a valid entry. */
async function askForEntry(
  name: string,
  { entry, question }: { readonly entry: JsonObject; readonly question: string },
  { configFile, context, prompt }: CorrectionScope,
): Promise<JsonObject | undefined> {
  for (;;) {
    const answer = await prompt.text(question);
    if (answer === '') return undefined;
    const result = parseAnswer(answer, entry);
    const problem = typeof result === 'string' ? result : findEntryProblem(name, result, configFile);
    if (typeof result !== 'string' && problem === undefined) return result;
    context.out.note(problem ?? '');
  }
}

/** Returns the entry with another command or URL, or what is wrong with the answer. The other settings stay if they still apply. */
function parseAnswer(answer: string, entry: JsonObject): JsonObject | string {
  if (answer.includes(SECRET_MASK)) return `Replace ${SECRET_MASK} by the value that it hides.`;
  const { serverUrl, ...rest } = entry;
  const isRemote = rest['url'] !== undefined || serverUrl !== undefined;
  if (/^https?:\/\//i.test(answer)) return isRemote ? { ...rest, url: answer } : { url: answer };
  const [command, ...args] = splitShellWords(answer) ?? [];
  if (command === undefined) return 'A quotation mark is not closed. Enter the whole command again.';
  return isRemote ? { command, args } : { ...rest, command, args };
}
