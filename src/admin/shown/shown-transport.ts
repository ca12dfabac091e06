import type { TransportConfig } from '../../config/config.ts';
import { maskedArgs, maskedUrl, maskedValues } from '../../config/masked.ts';
import type { AdminTransport } from '../contract/contract.ts';

/** How a server is reached, without anything that may be a secret: references are shown, values are not. */
export function shownTransport(transport: TransportConfig): AdminTransport {
  if (transport.kind === 'http') {
    const { url, flavour, headers } = transport;
    return { kind: 'http', url: maskedUrl(url), flavour, headers: maskedValues(headers) };
  }
  const { kind, command, args, env, cwd } = transport;
  return {
    kind,
    command,
    args: maskedArgs(args),
    env: maskedValues(env),
    ...(cwd !== undefined && { cwd }),
  };
}
