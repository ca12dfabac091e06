interface ServerSentEvent {
  readonly event: string;
  readonly data: string;
}

/** The events of a body that our own routes wrote: each has one line of data. */
export async function* eventsIn(body: ReadableStream<Uint8Array>): AsyncGenerator<ServerSentEvent> {
  const decoder = new TextDecoder();
  let parts: string[] = [];
  let event = 'message';
  const reader = body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const text = decoder.decode(value, { stream: true });
      parts.push(text);
      // Joined once per line, so that a large result stays linear.
      if (!text.includes('\n')) continue;
      const lines = parts.join('').split('\n');
      parts = [lines.pop() ?? ''];
      for (const line of lines) {
        if (line.startsWith('event: ')) event = line.slice(7);
        else if (line.startsWith('data: ')) yield { event, data: line.slice(6) };
      }
    }
  } finally {
    await reader.cancel().catch(() => {}); // Best effort: nobody reads the rest.
  }
}
