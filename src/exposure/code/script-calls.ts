import { randomUUID } from 'node:crypto';
import type { CallRequest } from '../../gateway/calls/call-request.ts';
import type { View } from '../../gateway/view.ts';
import { Cancellation } from '../../lib/cancellation.ts';
import { parseExact } from '../../lib/exact-json.ts';
import type { Payload } from '../../lib/payload.ts';
import { GatewayError, RpcError } from '../../model/errors.ts';
import type { JsonObject } from '../../model/json.ts';
import type { ExposureContext } from '../exposure.ts';
import { asObject } from '../meta-arguments.ts';
import { InnerClient } from './inner-client.ts';
import type { Answer, ScriptCall } from './messages.ts';
import { MAX_NESTING, nesting } from './nesting.ts';
import { toolNames } from './tool-names.ts';
import type { ToolNames } from './tool-names.ts';
import { failure, toolValue } from './tool-value.ts';

interface CallsOptions {
  readonly request: CallRequest;
  readonly context: ExposureContext;
  readonly separator: string;
  /** Kept for as long as the view. */
  readonly names: WeakMap<View, ToolNames>;
  /** Largest result that is handed to a script, in characters. */
  readonly maxChars: number;
}

/** The calls of one script: each goes the way of any other call, in the name of the same caller and under one group. */
export class ScriptCalls {
  readonly #options: CallsOptions;
  readonly #group = randomUUID();
  readonly #running = new Set<Cancellation>();
  readonly #asking = new Set<InnerClient>();
  #progress = 0;
  #stopping: GatewayError | undefined;

  constructor(options: CallsOptions) {
    this.#options = options;
  }

  get names(): ToolNames {
    const { view } = this.#options.context;
    const { names: kept } = this.#options;
    let names = kept.get(view);
    if (names === undefined) kept.set(view, (names = toolNames(view)));
    return names;
  }

  /** Why the gateway refused or ended a call, when that was because it stops: no fault of the script's. */
  get stopping(): GatewayError | undefined {
    return this.#stopping;
  }

  /** Answers with the error where there is one. */
  async call(call: ScriptCall): Promise<Answer> {
    const cancellation = new Cancellation();
    this.#running.add(cancellation);
    try {
      const { payload, tool } = await this.#send(call, cancellation);
      const answer = toolValue(payload, { tool, raw: call.raw });
      return answer.json.length > this.#options.maxChars ? tooLarge(answer.json.length) : answer;
    } catch (error) {
      if (error instanceof GatewayError && error.code === 'SHUTTING_DOWN') this.#stopping = error;
      return errorOf(error, call);
    } finally {
      this.#running.delete(cancellation);
    }
  }

  /** The script is over, so that nobody waits for what is still running. */
  cancel(reason: Error): void {
    for (const cancellation of [...this.#running]) cancellation.cancel(reason);
  }

  async #send(
    { server, tool, args }: ScriptCall,
    cancellation: Cancellation,
  ): Promise<{ readonly payload: Payload; readonly tool: string }> {
    const params = nesting(args) > MAX_NESTING ? undefined : asObject(parseExact(args));
    if (params === undefined) {
      const message = `The arguments must be an object with at most ${MAX_NESTING} levels.`;
      throw new GatewayError('ARGUMENTS_INVALID', message);
    }
    const known = this.names.find(server, tool)?.name;
    const make = (name: string): Promise<Payload> =>
      this.#options.context.callToEnd(name, this.#request(name, params, cancellation));
    if (known !== undefined) return { payload: await make(known), tool: known };
    const unlisted = this.names.unlisted(server);
    if (server !== undefined && unlisted === undefined) throw unknown(this.names.unknown(server, tool));
    // Whoever is called before it has been listed is listed now.
    const guessed = unlisted === undefined ? tool : `${unlisted}${this.#options.separator}${tool}`;
    try {
      return { payload: await make(guessed), tool: guessed };
    } catch (error) {
      if (!(error instanceof GatewayError) || error.code !== 'ENTRY_NOT_FOUND') throw error;
      const found = this.names.find(server, tool)?.name;
      if (found === undefined) throw unknown(this.names.unknown(server, tool));
      return { payload: await make(found), tool: found };
    }
  }

  #request(name: string, args: JsonObject, cancellation: Cancellation): CallRequest {
    const { session, client, params, onProgress, behind } = this.#options.request;
    const { _meta } = params;
    return {
      session,
      client,
      cancellation,
      group: this.#group,
      params: { name, arguments: args, ...(_meta === undefined ? {} : { _meta }) },
      checksArguments: true,
      ...(behind && { behind: new InnerClient(behind, this.#asking) }),
      ...(onProgress && { onProgress: (progress) => onProgress(this.#told(name, progress)) }),
    };
  }

  /** The steps of all calls are steps of the script; their own numbers go into the text, since numbers may only rise. */
  #told(name: string, { progress, total, message }: JsonObject): JsonObject {
    const of = typeof total === 'number' ? `/${total}` : '';
    const text = typeof message === 'string' ? ` ${message}` : '';
    this.#progress += 1;
    return { progress: this.#progress, message: `${name} ${String(progress)}${of}${text}` };
  }
}

function unknown(message: string): GatewayError {
  return new GatewayError('ENTRY_NOT_FOUND', `${message} search_tools finds tools.`);
}

function tooLarge(chars: number): Answer {
  const message = `The result has ${chars} characters, which is more than the script's memory can take; ask the tool for less.`;
  return failure({ message, code: 'SCRIPT_STOPPED' });
}

/** What we ourselves say, or what the server answered as an error of the protocol. */
function errorOf(error: unknown, { tool }: ScriptCall): Answer {
  if (error instanceof GatewayError) return failure({ message: error.message, code: error.code, tool });
  if (error instanceof RpcError) return failure({ message: error.message, code: error.body.code, tool });
  return failure({ message: 'Internal error.', code: 'INVARIANT', tool });
}
