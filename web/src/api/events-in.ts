export interface StreamEvent {
  readonly event: string;
  readonly data: string;
}

/** A larger event is no answer of ours. */
const MOST_CHARS = 64 * 1024 * 1024;

/** Server-sent events of a response, as far as we send them: names and data, no ids. */
export async function* eventsIn(body: ReadableStream<Uint8Array>): AsyncGenerator<StreamEvent> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = '';
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      rest = (rest + decoder.decode(value, { stream: true })).replaceAll('\r\n', '\n');
      const blocks = rest.split('\n\n');
      rest = blocks.pop() ?? '';
      if (rest.length > MOST_CHARS) throw new RangeError('An event of the gateway is too long.');
      for (const block of blocks) {
        const event = eventOf(block);
        if (event !== undefined) yield event;
      }
    }
  } finally {
    // Whoever stops reading does not want the rest.
    await reader.cancel().catch(() => {});
  }
}

function eventOf(block: string): StreamEvent | undefined {
  let event = 'message';
  const data: string[] = [];
  for (const line of block.split('\n')) {
    if (line.startsWith('event:')) event = line.slice(6).trimStart();
    else if (line.startsWith('data:')) data.push(line.slice(line[5] === ' ' ? 6 : 5));
  }
  return data.length === 0 ? undefined : { event, data: data.join('\n') };
}
