import type { Payload } from '../lib/payload.ts';
import { GatewayError } from '../model/errors.ts';
import type { Results } from '../results/results.ts';
import type { ExposureContext } from './exposure.ts';
import { textResult } from './meta-arguments.ts';
import { READ_RESULT } from './meta-tools.ts';

interface Asked {
  readonly name: string;
  readonly isOffered: boolean;
  readonly context: ExposureContext;
}

/** An answer that is too big for a model is kept, and only its beginning is given. */
export async function fitting(
  results: Results | undefined,
  asked: Asked,
  answer: () => Promise<Payload>,
): Promise<Payload> {
  if (results === undefined || !mayCut(asked)) return answer();
  const owner = asked.context.caller.id;
  try {
    return await results.fit(owner, await answer());
  } catch (error) {
    if (!(error instanceof GatewayError) || !error.traits.toModel) throw error;
    // Such as one that carries a schema.
    const said = textResult(error.message, error.code);
    const fitted = await results.fit(owner, said);
    if (fitted === said) throw error;
    return fitted;
  }
}

/** Pages fit already; and a client that has read a tool's output schema takes nothing less. */
function mayCut({ name, isOffered, context }: Asked): boolean {
  if (isOffered) return name !== READ_RESULT['name'];
  return context.view.tool(name)?.definition['outputSchema'] === undefined;
}
