import { GatewayError } from '../../model/errors.ts';
import type { ExitCode } from '../../model/errors.ts';
import { isJsonObject } from '../../model/json.ts';
import type { JsonObject } from '../../model/json.ts';
import type { CliContext } from '../context.ts';
import type { AdHocOptions } from '../declare.ts';
import { onLine } from '../line/on-line.ts';
import { resourceLine } from './call/content.ts';
import { outFolder, saved } from './call/saved.ts';

interface ReadOptions extends AdHocOptions {
  readonly out?: string;
  readonly server?: string;
}

/** The content of a resource. A resource is a document, so a pipe gets it as it is unless `--json` asks for the answer. */
export async function read(
  options: ReadOptions,
  context: CliContext,
  [uri = '']: readonly string[],
): Promise<ExitCode> {
  const folder = await outFolder(options.out, context.cwd);
  return onLine(options, context, async (line) => {
    const { out } = context;
    if (line.only !== undefined && options.server !== undefined)
      throw new GatewayError(
        'USAGE',
        'With --url or a command after -- there is that server alone; leave --server out.',
      );
    const server = line.only ?? options.server;
    const result = await out.during(`Reading ${uri}`, () =>
      line.client.pass('POST /api/read', { uri, ...(server !== undefined && { server }) }, line),
    );
    if (out.style.isJsonAsked) out.line(result.text);
    const { contents } = isJsonObject(result.peek) ? result.peek : ({} as JsonObject);
    const parts = Array.isArray(contents) ? contents.filter(isJsonObject) : [];
    if (folder !== undefined) await save(parts, folder, context);
    else if (!out.style.isJsonAsked) await show(parts, context);
    return 0;
  });
}

async function save(parts: readonly JsonObject[], folder: string, { out }: CliContext): Promise<void> {
  for (const part of parts) {
    const { uri, mimeType } = part;
    const path = await saved(folder, {
      bytes: bytesOf(part),
      wish: String(uri),
      mimeType: typeof mimeType === 'string' ? mimeType : undefined,
    });
    // Where the answer itself is printed, nothing else may be among it.
    if (out.style.isJsonAsked) out.note(path);
    else out.line(path);
  }
}

async function show(parts: readonly JsonObject[], { out, stdout }: CliContext): Promise<void> {
  if (stdout.isTTY === true) {
    for (const [at, part] of parts.entries())
      out.line(await resourceLine(part, { at: at + 1, folder: undefined }));
    return;
  }
  if (parts.length > 1 && parts.some(({ blob }) => typeof blob === 'string'))
    throw new GatewayError(
      'USAGE',
      'The resource has several parts; save them with --out DIR, or use --json.',
    );
  for (const part of parts) stdout.write(bytesOf(part));
}

function bytesOf({ text, blob }: JsonObject): Buffer {
  return typeof blob === 'string'
    ? Buffer.from(blob, 'base64')
    : Buffer.from(typeof text === 'string' ? text : '');
}
