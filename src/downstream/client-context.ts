import type { ExposureContext } from '../exposure/exposure.ts';
import type { CallRequest } from '../gateway/calls/call-request.ts';
import type { Served } from '../gateway/served.ts';
import type { View } from '../gateway/view.ts';
import type { Payload } from '../lib/payload.ts';
import type { Caller } from '../model/caller.ts';
import type { JsonObject } from '../model/json.ts';
import type { Era } from '../model/server-facts.ts';
import type { IncomingRequest } from '../wire/serving.ts';
import { pagesFirst } from './pages-first.ts';
import { isInputRequired, questionRounds } from './question-rounds.ts';
import type { SessionExposure } from './session-exposure.ts';
import { mended } from './sign-in-offers.ts';
import type { SignInOffers } from './sign-in-offers.ts';

interface ContextBinding {
  readonly gateway: Served;
  readonly caller: Caller;
  readonly signIns?: SignInOffers | undefined;
}

/** What an exposure may do for the client of one call; a class, since there is one for every call. */
export class ClientContext implements ExposureContext {
  readonly #binding: ContextBinding;
  readonly #exposure: SessionExposure;
  readonly #call: { readonly client: IncomingRequest; readonly era: Era };

  constructor(
    binding: ContextBinding,
    exposure: SessionExposure,
    call: { readonly client: IncomingRequest; readonly era: Era },
  ) {
    this.#binding = binding;
    this.#exposure = exposure;
    this.#call = call;
  }

  get caller(): Caller {
    return this.#binding.caller;
  }

  get view(): View {
    return this.#binding.gateway.view(this.#binding.caller);
  }

  async settled(): Promise<View> {
    await this.#binding.gateway.settled();
    return this.view;
  }

  call(name: string, request: CallRequest): Promise<Payload> {
    const { gateway, caller } = this.#binding;
    return mended(this.#binding, this.#call.era, request, () => gateway.callTool(caller, name, request));
  }

  async callToEnd(name: string, request: CallRequest): Promise<Payload> {
    const { params, behind, cancellation } = request;
    if (behind === undefined) return this.call(name, request);
    const repeat = (repeated: JsonObject): Promise<Payload> =>
      pagesFirst(() => this.call(name, { ...request, params: repeated }), { behind, cancellation });
    const first = await repeat(params);
    if (!isInputRequired(first)) return first;
    return questionRounds(first, { params, behind, cancellation, repeat });
  }

  reveal(names: readonly string[]): void {
    const { client, era } = this.#call;
    // A list may not vary between requests of modern clients.
    if (era === 'modern' || !this.#exposure.reveal(names)) return;
    // On the stream of the search, so that it comes before the answer.
    client.notify('notifications/tools/list_changed', undefined);
  }
}
