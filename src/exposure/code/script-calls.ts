import { randomUUID } from 'node:crypto';
import type { CallRequest } from '../../gateway/calls/call-request.ts';
import type { CatalogView } from '../../gateway/catalog-view.ts';
import { Cancellation } from '../../core/lib/cancellation.ts';
import { parseExact } from '../../core/lib/exact-json.ts';
import type { Payload } from '../../core/lib/payload.ts';
import { GatewayError, RpcError } from '../../core/errors.ts';
import type { JsonObject } from '../../core/json.ts';
import type { LearnedShapes } from '../results/learned-shapes.ts';
import type { ExposureContext } from '../exposure.ts';
import { parseObject } from '../meta-arguments.ts';
import { ScriptCallClient } from './script-call-client.ts';
import type { ScriptCallAnswer, ScriptCall } from './worker-messages.ts';
import { MAX_NESTING, measureNesting } from './measure-nesting.ts';
import { indexToolNames } from './tool-names.ts';
import type { ToolNameIndex } from './tool-names.ts';
import { createFailure, toScriptValue } from './to-script-value.ts';

interface CallsOptions {
  readonly request: CallRequest;
  readonly context: ExposureContext;
  readonly separator: string;
  /** The name index of each view. */
  readonly names: WeakMap<CatalogView, ToolNameIndex>;
  readonly shapes?: LearnedShapes | undefined;
  /** The largest result that a script may receive, in characters. */
  readonly maxChars: number;
}

/**
 * Makes the calls of one script. Each call passes through the same guards as any other call of the script's
 * caller. All calls share one group id in the audit log.
 */
export class ScriptCalls {
  readonly #options: CallsOptions;
  readonly #group = randomUUID();
  readonly #running = new Set<Cancellation>();
  readonly #callsWithQuestions = new Set<ScriptCallClient>();
  #progress = 0;
  #stopping: GatewayError | undefined;

  constructor(options: CallsOptions) {
    this.#options = options;
  }

  get names(): ToolNameIndex {
    const { view } = this.#options.context;
    const { names: cache } = this.#options;
    let names = cache.get(view);
    if (names === undefined) cache.set(view, (names = indexToolNames(view)));
    return names;
  }

  /** The error of a call that failed because the gateway is shutting down, which is not the script's fault. */
  get stopping(): GatewayError | undefined {
    return this.#stopping;
  }

  /** Never rejects: a failed call resolves to an error answer. */
  async call(call: ScriptCall): Promise<ScriptCallAnswer> {
    const cancellation = new Cancellation();
    this.#running.add(cancellation);
    try {
      const { payload, tool } = await this.#send(call, cancellation);
      const { context, shapes } = this.#options;
      shapes?.observe(context.view.tool(tool), payload);
      const answer = toScriptValue(payload, { tool, raw: call.raw });
      return answer.json.length > this.#options.maxChars ? tooLarge(answer.json.length) : answer;
    } catch (error) {
      if (error instanceof GatewayError && error.code === 'SHUTTING_DOWN') this.#stopping = error;
      return toErrorAnswer(error, call);
    } finally {
      this.#running.delete(cancellation);
    }
  }

  /** Cancels the calls that are still running when the script has ended. */
  cancel(reason: Error): void {
    for (const cancellation of [...this.#running]) cancellation.cancel(reason);
  }

  async #send(
    { server, tool, args }: ScriptCall,
    cancellation: Cancellation,
  ): Promise<{ readonly payload: Payload; readonly tool: string }> {
    const params = measureNesting(args) > MAX_NESTING ? undefined : parseObject(parseExact(args));
    if (params === undefined) {
      const message = `The arguments must be an object with at most ${MAX_NESTING} levels.`;
      throw new GatewayError('ARGUMENTS_INVALID', message);
    }
    const known = this.names.find(server, tool)?.name;
    const callByName = (name: string): Promise<Payload> =>
      this.#options.context.callUntilResult(name, this.#request(name, params, cancellation));
    if (known !== undefined) return { payload: await callByName(known), tool: known };
    const unlisted = this.names.unlisted(server);
    if (server !== undefined && unlisted === undefined)
      throw toolNotFound(this.names.describeUnknown(server, tool));
    // The tool may belong to a server whose tools have not been fetched yet. A call with the presumed exposed name fetches them.
    const guessed = unlisted === undefined ? tool : `${unlisted}${this.#options.separator}${tool}`;
    try {
      return { payload: await callByName(guessed), tool: guessed };
    } catch (error) {
      if (!(error instanceof GatewayError) || error.code !== 'ENTRY_NOT_FOUND') throw error;
      // The tools have been fetched now, and the tool may have another exposed name than presumed.
      const found = this.names.find(server, tool)?.name;
      if (found === undefined) throw toolNotFound(this.names.describeUnknown(server, tool));
      return { payload: await callByName(found), tool: found };
    }
  }

  #request(name: string, args: JsonObject, cancellation: Cancellation): CallRequest {
    const { session, client, params, onProgress, requestingClient } = this.#options.request;
    const { _meta } = params;
    return {
      session,
      client,
      cancellation,
      group: this.#group,
      params: { name, arguments: args, _meta },
      shouldValidateArguments: true,
      requestingClient: requestingClient && new ScriptCallClient(requestingClient, this.#callsWithQuestions),
      onProgress: onProgress && ((progress) => onProgress(this.#toScriptProgress(name, progress))),
    };
  }

  /**
   * Counts the progress of all calls as steps of the script. The numbers of a single call go into the
   * message, because the progress of a request must increase.
   */
  #toScriptProgress(name: string, { progress, total, message }: JsonObject): JsonObject {
    const of = typeof total === 'number' ? `/${total}` : '';
    const text = typeof message === 'string' ? ` ${message}` : '';
    this.#progress += 1;
    return { progress: this.#progress, message: `${name} ${String(progress)}${of}${text}` };
  }
}

function toolNotFound(message: string): GatewayError {
  return new GatewayError('ENTRY_NOT_FOUND', `${message} Find tools with search_tools.`);
}

function tooLarge(chars: number): ScriptCallAnswer {
  const message = `The result has ${chars} characters, which is more than the script's memory can take; ask the tool for less.`;
  return createFailure({ message, code: 'SCRIPT_STOPPED' });
}

/** Converts an error of the gateway or a JSON-RPC error of the server. */
function toErrorAnswer(error: unknown, { tool }: ScriptCall): ScriptCallAnswer {
  if (error instanceof GatewayError) return createFailure({ message: error.message, code: error.code, tool });
  if (error instanceof RpcError)
    return createFailure({ message: error.message, code: error.body.code, tool });
  return createFailure({ message: 'Internal error.', code: 'INVARIANT', tool });
}
