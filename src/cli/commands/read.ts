import { GatewayError } from '../../core/errors.ts';
import type { ExitCode } from '../../core/errors.ts';
import { isJsonObject } from '../../core/json.ts';
import type { JsonObject } from '../../core/json.ts';
import type { CliContext } from '../context.ts';
import type { AdHocOptions } from '../declare.ts';
import { withGateway } from '../gateway-client/with-gateway.ts';
import { formatResource } from './call/format-content.ts';
import { prepareOutFolder, saveContent } from './call/save-content.ts';

interface ReadOptions extends AdHocOptions {
  readonly out?: string;
  readonly server?: string;
}

/** Prints the content of a resource. A pipe gets the content unchanged; `--json` prints the whole answer of the server. */
export async function runRead(
  options: ReadOptions,
  context: CliContext,
  [uri = '']: readonly string[],
): Promise<ExitCode> {
  const folder = await prepareOutFolder(options.out, context.cwd);
  return withGateway(options, context, async (gateway) => {
    const { out } = context;
    if (gateway.onlyServer !== undefined && options.server !== undefined)
      throw new GatewayError(
        'USAGE',
        '--url and a command after -- already select the server. Remove --server.',
      );
    const server = gateway.onlyServer ?? options.server;
    const result = await out.withProgress(`Reading ${uri}`, () =>
      gateway.client.requestPayload('POST /api/read', { uri, server }, gateway),
    );
    if (out.style.isJsonRequested) out.jsonText(result.text);
    const { contents } = isJsonObject(result.peek) ? result.peek : ({} as JsonObject);
    const parts = Array.isArray(contents) ? contents.filter(isJsonObject) : [];
    if (folder !== undefined) await saveParts(parts, folder, context);
    else if (!out.style.isJsonRequested) await printParts(parts, context);
    return 0;
  });
}

async function saveParts(parts: readonly JsonObject[], folder: string, { out }: CliContext): Promise<void> {
  for (const part of parts) {
    const { uri, mimeType } = part;
    const path = await saveContent(folder, {
      bytes: partBytes(part),
      nameHint: String(uri),
      mimeType: typeof mimeType === 'string' ? mimeType : undefined,
    });
    // With --json, standard output holds only the answer.
    if (out.style.isJsonRequested) out.note(path);
    else out.line(path);
  }
}

async function printParts(parts: readonly JsonObject[], { out, stdout }: CliContext): Promise<void> {
  if (stdout.isTTY === true) {
    for (const [at, part] of parts.entries())
      out.line(await formatResource(part, { at: at + 1, folder: undefined }));
    return;
  }
  if (parts.length > 1 && parts.some(({ blob }) => typeof blob === 'string'))
    throw new GatewayError(
      'USAGE',
      'The resource has several parts, which cannot be written to one stream. Save them with --out FOLDER, or use --json.',
    );
  for (const part of parts) stdout.write(partBytes(part));
}

function partBytes({ text, blob }: JsonObject): Buffer {
  return typeof blob === 'string'
    ? Buffer.from(blob, 'base64')
    : Buffer.from(typeof text === 'string' ? text : '');
}
