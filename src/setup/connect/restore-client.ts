import { GatewayError } from '../../core/errors.ts';
import type { ConnectableClient } from './connectable-clients.ts';
import { readFileIfPresent, replaceFile } from './connection-history.ts';
import type { ConnectionHistory, ConnectionRecord } from './connection-history.ts';
import { planMergedUndo } from './plan-connection.ts';

/** `removed`: there was no file before. `merged`: the servers were restored, and later changes of the file were kept. */
export type RestoreResult = 'restored' | 'removed' | 'merged';

/** Undoes the newest change of a client's file. Without `isMerged`, rejects if the file has changed since. */
export async function restoreClient(
  history: ConnectionHistory,
  client: ConnectableClient,
  record: ConnectionRecord,
  isMerged: boolean,
): Promise<RestoreResult> {
  const { id } = client.source;
  const before = await history.before(record);
  if (!isMerged) {
    await history.undo(id, record);
    return before === undefined ? 'removed' : 'restored';
  }
  const now = await readFileIfPresent(record.file);
  const text = mergeTexts(client, record, { before, now });
  await replaceFile(record.file, now, Buffer.from(text));
  await history.forget(id);
  return 'merged';
}

function mergeTexts(
  client: ConnectableClient,
  { file, written }: ConnectionRecord,
  { before, now }: { readonly before: Buffer | undefined; readonly now: Buffer | undefined },
): string {
  try {
    return planMergedUndo(client, {
      before: before?.toString('utf8') ?? '',
      now: now?.toString('utf8') ?? '',
      written,
    });
  } catch (error) {
    const reason = error instanceof Error ? (error.message.split('\n')[0] ?? '') : '';
    throw new GatewayError('CONFIG_INVALID', `${file} was not changed: ${reason}.`, { cause: error });
  }
}
