import type { Cell } from './cell.ts';
import { type GatewayOptions, gatewayCommand, startGateway } from './gateway.ts';
import type { Era, ToolResult } from './raw-messages.ts';
import { type SdkTarget, sdkV1Client, sdkV2Client } from './sdk-clients.ts';

interface CallOptions {
  readonly onprogress?: (report: { readonly progress: number }) => void;
  readonly signal?: AbortSignal;
}

/** A common interface for both versions of the official client. */
export interface SdkClient {
  readonly version: 'v1' | 'v2';
  readonly era: Era;
  /** Returns the names in the list. */
  tools(): Promise<readonly string[]>;
  prompts(): Promise<readonly string[]>;
  resources(): Promise<readonly string[]>;
  templates(): Promise<readonly string[]>;
  call(name: string, args?: Record<string, unknown>, options?: CallOptions): Promise<ToolResult>;
  /** Returns the texts of a prompt's messages. */
  prompt(name: string, args?: Record<string, string>): Promise<readonly unknown[]>;
  read(uri: string): Promise<readonly Record<string, unknown>[]>;
  complete(ref: PromptReference, argument: { name: string; value: string }): Promise<readonly string[]>;
  onNotification(take: (method: string) => void): void;
  close(): Promise<void>;
}

interface PromptReference {
  readonly type: 'ref/prompt';
  readonly name: string;
}

/** Runs a scenario with every SDK client that supports the cell, each with its own gateway. */
export async function withSdkClients(
  { downstream }: Pick<Cell, 'downstream'>,
  options: Omit<GatewayOptions, 'listen'>,
  use: (client: SdkClient) => Promise<void>,
): Promise<void> {
  const [over, era] = downstream.split('/') as ['stdio' | 'http' | 'sse', Era];
  const versions = era === 'modern' ? (['v2'] as const) : (['v1', 'v2'] as const);
  if (over === 'stdio') {
    for (const version of versions) await run(gatewayCommand(options), { version, era }, use);
    return;
  }
  await using gateway = await startGateway({ ...options, listen: 'http' });
  const target = over === 'sse' ? { sse: new URL('/sse', gateway.url).href } : { url: gateway.url };
  for (const version of versions) await run(target, { version, era }, use);
  await gateway.stop();
}

async function run(
  target: SdkTarget,
  which: { readonly version: 'v1' | 'v2'; readonly era: Era },
  use: (client: SdkClient) => Promise<void>,
): Promise<void> {
  const client = which.version === 'v1' ? await connectV1(target) : await connectV2(target, which.era);
  try {
    await use(client);
  } finally {
    await client.close();
  }
}

async function connectV1(target: SdkTarget): Promise<SdkClient> {
  const client = await sdkV1Client(target);
  return {
    ...sharedBy(client),
    version: 'v1',
    era: 'legacy',
    call: async (name, args = {}, options = {}) =>
      (await client.callTool({ name, arguments: args }, undefined, options)) as ToolResult,
  };
}

async function connectV2(target: SdkTarget, era: Era): Promise<SdkClient> {
  const client = await sdkV2Client(target, { era });
  return {
    ...sharedBy(client),
    version: 'v2',
    era,
    call: async (name, args = {}, options = {}) =>
      (await client.callTool({ name, arguments: args }, options)) as unknown as ToolResult,
  };
}

/** The methods that have the same signature in both clients. */
interface Shared {
  listTools(): Promise<{ tools: { name: string }[] }>;
  listPrompts(): Promise<{ prompts: { name: string }[] }>;
  listResources(): Promise<{ resources: { uri: string }[] }>;
  listResourceTemplates(): Promise<{ resourceTemplates: { uriTemplate: string }[] }>;
  getPrompt(params: { name: string; arguments: Record<string, string> }): Promise<{
    messages: { content: unknown }[];
  }>;
  readResource(params: { uri: string }): Promise<{ contents: Record<string, unknown>[] }>;
  complete(params: {
    ref: PromptReference;
    argument: { name: string; value: string };
  }): Promise<{ completion: { values: string[] } }>;
  fallbackNotificationHandler?: (notification: { method: string }) => Promise<void>;
  close(): Promise<void>;
}

function sharedBy(client: Shared): Omit<SdkClient, 'version' | 'era' | 'call'> {
  return {
    tools: async () => (await client.listTools()).tools.map(({ name }) => name),
    prompts: async () => (await client.listPrompts()).prompts.map(({ name }) => name),
    resources: async () => (await client.listResources()).resources.map(({ uri }) => uri),
    templates: async () =>
      (await client.listResourceTemplates()).resourceTemplates.map(({ uriTemplate }) => uriTemplate),
    prompt: async (name, args = {}) =>
      (await client.getPrompt({ name, arguments: args })).messages.map(({ content }) => content),
    read: async (uri) => (await client.readResource({ uri })).contents,
    complete: async (ref, argument) => (await client.complete({ ref, argument })).completion.values,
    onNotification(take) {
      client.fallbackNotificationHandler = async ({ method }) => take(method);
    },
    close: () => client.close(),
  };
}
