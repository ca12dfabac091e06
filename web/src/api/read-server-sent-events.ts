export interface ServerSentEvent {
  readonly event: string;
  readonly data: string;
}

/** The maximum length of one event, in characters. All events of the gateway are shorter. */
const MAX_CHARS = 64 * 1024 * 1024;

/** Yields the name and data of each server-sent event. Ids and retry times are ignored. */
export async function* readServerSentEvents(
  body: ReadableStream<Uint8Array>,
): AsyncGenerator<ServerSentEvent> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = '';
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      rest = (rest + decoder.decode(value, { stream: true })).replaceAll('\r\n', '\n');
      // Events are separated by empty lines. The last block may be incomplete.
      const blocks = rest.split('\n\n');
      rest = blocks.pop() ?? '';
      if (rest.length > MAX_CHARS) throw new RangeError('The gateway sent an event that is too long.');
      for (const block of blocks) {
        const event = parseEvent(block);
        if (event !== undefined) yield event;
      }
    }
  } finally {
    // Best effort: the rest of the stream is not needed.
    await reader.cancel().catch(() => {});
  }
}

/** Parses the lines of one event. Returns undefined for a block without data, such as a comment that keeps the connection alive. */
function parseEvent(block: string): ServerSentEvent | undefined {
  let event = 'message';
  const data: string[] = [];
  for (const line of block.split('\n')) {
    if (line.startsWith('event:')) event = line.slice(6).trimStart();
    else if (line.startsWith('data:')) data.push(line.slice(line[5] === ' ' ? 6 : 5));
  }
  return data.length === 0 ? undefined : { event, data: data.join('\n') };
}
