import type { CliConfig, TransportConfig, UpstreamConfig } from './config.ts';
import { readEnvFile } from './file/env-file.ts';
import { HTTP_URL_HINT, isHttpUrl, referenceError, resolveReferences } from './resolve-references.ts';
import type { ReferenceReader } from './resolve-references.ts';

interface ResolvedProgram {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd?: string | undefined;
}

/** A transport with the values of its references. It holds secrets: keep it out of logs and errors. */
export type ResolvedTransport =
  | (ResolvedProgram & { readonly kind: 'stdio' })
  | (ResolvedProgram & { readonly kind: 'cli'; readonly cli: CliConfig })
  | Extract<TransportConfig, { kind: 'http' }>;

/** Resolves all references of the upstream's transport. Called for every start, so that changed values are used. */
export async function resolveTransport(
  upstream: Pick<UpstreamConfig, 'name' | 'transport'>,
  reader: ReferenceReader,
  /** Working directory of a program without `cwd`. Defaults to that of this process. */
  defaultCwd?: string,
): Promise<ResolvedTransport> {
  const { name: server, transport } = upstream;
  const resolveText = (text: string, field: string): Promise<string> =>
    resolveReferences(text, { server, field, read: (reference) => reader.read(reference) });
  const resolveRecord = async (record: Readonly<Record<string, string>>, field: string) => {
    const resolved: [string, string][] = [];
    for (const [key, text] of Object.entries(record)) {
      resolved.push([key, await resolveText(text, `${field}.${key}`)]);
    }
    return Object.fromEntries(resolved);
  };
  if (transport.kind === 'http') {
    const url = await resolveText(transport.url, 'url');
    if (!isHttpUrl(url)) throw referenceError('CONFIG_INVALID', { server, field: 'url' }, HTTP_URL_HINT);
    return { ...transport, url, headers: await resolveRecord(transport.headers, 'headers') };
  }
  const command = await resolveText(transport.command, 'command');
  const args: string[] = [];
  for (const [at, text] of transport.args.entries()) args.push(await resolveText(text, `args[${at}]`));
  const { envFile, cwd } = transport;
  const fileEnv =
    envFile === undefined ? {} : await readEnvFile(await resolveText(envFile, 'envFile'), { server, reader });
  const env = { ...fileEnv, ...(await resolveRecord(transport.env, 'env')) };
  const folder = cwd === undefined ? defaultCwd : reader.resolve(await resolveText(cwd, 'cwd'));
  const program = { command, args, env, cwd: folder };
  return transport.kind === 'cli'
    ? { kind: 'cli', ...program, cli: transport.cli }
    : { kind: 'stdio', ...program };
}
