interface ServerSentEvent {
  readonly event: string;
  readonly data: string;
}

/** Reads the server-sent events of a response of the admin API, in which each event has exactly one data line. */
export async function* readServerSentEvents(
  body: ReadableStream<Uint8Array>,
): AsyncGenerator<ServerSentEvent> {
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
      // The parts are joined once per line instead of once per chunk, which keeps the time for a large result linear.
      if (!text.includes('\n')) continue;
      const lines = parts.join('').split('\n');
      parts = [lines.pop() ?? ''];
      for (const line of lines) {
        if (line.startsWith('event: ')) event = line.slice(7);
        else if (line.startsWith('data: ')) yield { event, data: line.slice(6) };
      }
    }
  } finally {
    await reader.cancel().catch(() => {}); // The rest of the stream is not needed.
  }
}
