/** Thrown by a method to answer with a JSON-RPC error; `status` is the HTTP status over HTTP. */
export class RpcError extends Error {
  constructor(code, message, { data, status = 200 } = {}) {
    super(message);
    this.code = code;
    this.data = data;
    this.status = status;
  }
}
