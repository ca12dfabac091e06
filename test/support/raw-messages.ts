import type { SendOptions } from './raw-transports.ts';

export type Era = 'legacy' | 'modern';
export type JsonObject = Record<string, unknown>;
/** A `bigint` is written as a number that a double cannot represent. */
export type MessageId = string | number | bigint;

export interface Notification {
  readonly method: string;
  readonly params: JsonObject;
}
export interface IncomingRequest extends Notification {
  readonly id: string | number;
}
export interface RequestOptions extends SendOptions {
  readonly id?: MessageId;
  /** Added to `params._meta`, in addition to what the era requires. */
  readonly meta?: JsonObject;
  readonly withinMs?: number;
}
export interface RawClientOptions {
  readonly era?: Era;
  /** The protocol version in `initialize`, or in every modern request. */
  readonly version?: string;
  readonly capabilities?: JsonObject;
  readonly clientInfo?: JsonObject;
}
export interface ContentBlock extends JsonObject {
  readonly type: string;
  readonly text?: string;
}
export interface ToolResult extends JsonObject {
  readonly content: readonly ContentBlock[];
  readonly isError?: boolean;
  readonly structuredContent?: unknown;
  readonly _meta?: JsonObject;
}
export interface ListedTool extends JsonObject {
  readonly name: string;
  readonly description?: string;
}
export interface Message {
  readonly id?: string | number | null;
  readonly method?: string;
  readonly params?: JsonObject;
  readonly result?: JsonObject;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}
/** The peer answered a request with an error. */
export class RpcError extends Error {
  readonly code: number;
  readonly data: unknown;
  /** The HTTP status it came with, if any. */
  readonly status: number | undefined;

  constructor(error: { code: number; message: string; data?: unknown }, status?: number) {
    super(`${error.message} (${error.code})`);
    this.code = error.code;
    this.data = error.data;
    this.status = status;
  }
}
