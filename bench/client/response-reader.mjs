/**
 * Reads HTTP/1.1 responses from a socket, with a length or chunked; passes on the headers as text and the body in pieces.
 * Returns the handler for the socket's data.
 */
export function responseReader(onResponse) {
  let rest = Buffer.alloc(0);
  /** What the next bytes are. */
  let state = 'headers';
  let headers = '';
  let answer = [];
  let missing = 0;

  const finish = () => {
    const response = { headers, answer };
    state = 'headers';
    answer = [];
    onResponse(response);
  };

  const begin = (text) => {
    headers = text;
    const status = text.slice(9, 12);
    if (!status.startsWith('2')) throw new Error(`HTTP status ${status}: ${text}`);
    missing = Number.parseInt(/^content-length: *(\d+)/im.exec(text)?.[1] ?? '0', 10);
    if (/^transfer-encoding: *chunked/im.test(text)) state = 'chunk size';
    else if (missing === 0) finish();
    else state = 'body';
  };

  /** Consumes bytes of a body, which can be split anywhere; returns how many. */
  const takeBody = (bytes) => {
    const used = Math.min(bytes.length, missing);
    if (used > 0) answer.push(bytes.subarray(0, used));
    missing -= used;
    if (missing === 0) {
      if (state === 'body') finish();
      else state = 'chunk end';
    }
    return used;
  };

  const takeLine = (bytes) => {
    const end = state === 'headers' ? '\r\n\r\n' : '\r\n';
    const at = bytes.indexOf(end);
    if (at === -1) return 0;
    const line = bytes.latin1Slice(0, at);
    if (state === 'headers') begin(line);
    else if (state === 'chunk end') state = 'chunk size';
    else if (state === 'last line') finish();
    else {
      missing = Number.parseInt(line, 16);
      state = missing === 0 ? 'last line' : 'chunk';
    }
    return at + end.length;
  };

  return (chunk) => {
    let bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    for (let used = -1; used !== 0;) {
      used = state === 'body' || state === 'chunk' ? takeBody(bytes) : takeLine(bytes);
      bytes = bytes.subarray(used);
    }
    rest = bytes;
  };
}
