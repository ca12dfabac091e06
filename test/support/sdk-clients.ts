import {
  Client as ClientV2,
  SSEClientTransport as SseV2,
  StreamableHTTPClientTransport as HttpV2,
} from '@modelcontextprotocol/client';
import { StdioClientTransport as StdioV2 } from '@modelcontextprotocol/client/stdio';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport as SseV1 } from '@modelcontextprotocol/sdk/client/sse.js';
import { StdioClientTransport as StdioV1 } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

import type { Era } from './raw-messages.ts';

/** A command that the SDK starts, an MCP endpoint, or an endpoint of the old HTTP+SSE transport. */
export type SdkTarget =
  | {
      readonly command: string;
      readonly args: readonly string[];
      readonly env: Readonly<Record<string, string>>;
    }
  | { readonly url: string }
  | { readonly sse: string };

const info = { name: 'sdk-client', version: '1.0.0' };

/** Connects a client of SDK v1, which supports only the legacy protocol. */
export async function sdkV1Client(
  target: SdkTarget,
  capabilities: Record<string, object> = {},
): Promise<ClientV1> {
  const client = new ClientV1(info, { capabilities });
  await client.connect(transportV1(target));
  return client;
}

/** Connects a client of SDK v2 that uses the given era. */
export async function sdkV2Client(
  target: SdkTarget,
  { era, capabilities = {} }: { readonly era: Era; readonly capabilities?: Record<string, object> },
): Promise<ClientV2> {
  const mode = era === 'legacy' ? 'legacy' : { pin: '2026-07-28' };
  const client = new ClientV2(info, { capabilities, versionNegotiation: { mode } });
  await client.connect(transportV2(target));
  return client;
}

function transportV1(target: SdkTarget) {
  if ('url' in target) return new HttpV1(new URL(target.url));
  // oxlint-disable-next-line typescript/no-deprecated -- old clients still speak it, so one has to be driven
  if ('sse' in target) return new SseV1(new URL(target.sse));
  return new StdioV1({ ...target, args: [...target.args], env: { ...target.env }, stderr: 'ignore' });
}

function transportV2(target: SdkTarget) {
  if ('url' in target) return new HttpV2(new URL(target.url));
  // oxlint-disable-next-line typescript/no-deprecated -- old clients still speak it, so one has to be driven
  if ('sse' in target) return new SseV2(new URL(target.sse));
  return new StdioV2({ ...target, args: [...target.args], env: { ...target.env }, stderr: 'ignore' });
}
