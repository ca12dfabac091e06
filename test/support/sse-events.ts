/** One event of an SSE stream. */
export interface SseEvent {
  readonly event: string;
  readonly data: string;
  readonly id: string | undefined;
}

/** Parses the parts of the SSE format that MCP uses from chunks of text. */
export function sseReader(take: (event: SseEvent) => void): (chunk: string) => void {
  // Kept in parts, because appending every chunk to a line of several megabytes takes minutes.
  let rest: string[] = [];
  let fields: { event: string; data: string[]; id: string | undefined } = {
    event: 'message',
    data: [],
    id: undefined,
  };
  return (chunk) => {
    if (!/[\r\n]/.test(chunk)) {
      rest.push(chunk);
      return;
    }
    const lines = [...rest, chunk].join('').split(/\r\n|\n|\r(?!$)/);
    rest = [lines.pop() ?? ''];
    for (const line of lines) {
      if (line === '') {
        if (fields.data.length > 0)
          take({ event: fields.event, data: fields.data.join('\n'), id: fields.id });
        fields = { event: 'message', data: [], id: fields.id };
        continue;
      }
      const [, name, value = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? [];
      if (name === 'data') fields.data.push(value);
      else if (name === 'event') fields.event = value;
      else if (name === 'id') fields.id = value;
    }
  };
}
