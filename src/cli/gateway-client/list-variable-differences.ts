import type { AdminStatus } from '../../admin/contract/contract.ts';
import { explainDifferences } from '../../app/shared-gateway/client-variables.ts';
import type { ExplainedDifference } from '../../app/shared-gateway/client-variables.ts';
import type { GatewayRecord } from '../../app/shared-gateway/gateway-record.ts';
import { readConfigText } from '../../config/load-config.ts';
import type { CliContext } from '../context.ts';
import { sendShellVariables } from './send-shell-variables.ts';

/** Returns the variables of which this shell or a connected client has another value than the running gateway uses. */
export async function listVariableDifferences(
  record: GatewayRecord,
  status: Pick<AdminStatus, 'differingVariables'> & {
    readonly file: string;
    readonly text?: string | undefined;
  },
  context: CliContext,
): Promise<readonly ExplainedDifference[]> {
  const { file, differingVariables = [] } = status;
  // A file that cannot be read is reported elsewhere.
  const text = status.text ?? (await readConfigText(file).catch(() => undefined));
  const identity = text === undefined ? undefined : { version: context.version, config: file, text };
  return [
    ...(identity === undefined
      ? []
      : await sendShellVariables(record, { identity, purpose: 'compare' }, context)),
    ...explainDifferences(differingVariables, { place: 'a connected client', kind: record.kind }),
  ];
}
