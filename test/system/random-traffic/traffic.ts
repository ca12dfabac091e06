import fc from 'fast-check';

/** Transport of a client and its negotiated legacy version; modern clients negotiate nothing. */
export type ClientKind = 'stdio' | 'stdio-batching' | 'http' | 'http-batching' | 'sse' | 'http-modern';

export const SERVERS = ['one', 'two'] as const;
export type ServerName = (typeof SERVERS)[number];

/** Requests of both eras, each with the answer of a correct server. */
const SHARED = [
  'tools/list',
  'prompts/list',
  'resources/list',
  'resources/templates/list',
  'list-with-cursor',
  'echo',
  'progress',
  'fail',
  'rpc-error',
  'unknown-tool',
  'tool-without-name',
  'prompt',
  'unknown-prompt',
  'read',
  'unknown-resource',
  'read-without-uri',
  'complete',
  'complete-nothing',
] as const;
/** Requests of one era, which the other rejects. */
const ONE_ERA = [
  'ping',
  'set-level',
  'set-no-level',
  'subscribe',
  'subscribe-unknown',
  'unsubscribe',
  'discover',
  'listen',
] as const;
const INVALID = [
  'garbage',
  'truncated',
  'number',
  'empty-object',
  'old-version',
  'no-version',
  'params-array',
  'id-null',
  'id-object',
  'id-true',
  'method-number',
] as const;
const METHODS = [
  'nobody/knows',
  'tools/Call',
  '',
  'rpc.discover',
  'constructor',
  '__proto__',
  'tasks',
  'x'.repeat(5000),
];
const NOTIFICATIONS = [
  'notifications/roots/list_changed',
  'notifications/nobody/knows',
  'notifications/progress',
  '',
];
const ENVELOPES = ['wrong-version', 'no-capabilities', 'version-number', 'meta-only'] as const;

export type RequestKind = (typeof SHARED)[number] | (typeof ONE_ERA)[number];
export type InvalidKind = (typeof INVALID)[number];
export type EnvelopeKind = (typeof ENVELOPES)[number];
export type IdKind = 'number' | 'string' | 'negative' | 'fraction' | 'huge' | 'unicode';
export type TokenKind = 'none' | 'number' | 'string' | 'object';

export interface Request {
  readonly kind: RequestKind;
  readonly server: ServerName;
  readonly id: IdKind;
  readonly token: TokenKind;
  readonly steps: number;
  /** Applies to stdio clients only; it may change with every message. */
  readonly isModern: boolean;
}

export type Step =
  | ({ readonly type: 'request' } & Request)
  | { readonly type: 'twice'; readonly request: Request }
  | {
      readonly type: 'batch';
      readonly requests: readonly Request[];
      /** Calls that end only by cancellation, one after the other, while the rest of the batch waits. */
      readonly slow: readonly ServerName[];
      readonly hasRubbish: boolean;
    }
  | {
      readonly type: 'slow';
      readonly server: ServerName;
      readonly isModern: boolean;
      readonly cancelAfter: number;
    }
  | { readonly type: 'invalid'; readonly kind: InvalidKind }
  | { readonly type: 'unknown-method'; readonly method: string; readonly isModern: boolean }
  | { readonly type: 'envelope'; readonly kind: EnvelopeKind }
  | { readonly type: 'notification'; readonly method: string }
  | { readonly type: 'cancel-nothing' }
  | { readonly type: 'stray-answer'; readonly isError: boolean };

export interface Action {
  /** Index of the client, modulo the number of clients. */
  readonly client: number;
  readonly step: Step;
}

const server = fc.constantFrom(...SERVERS);
const request: fc.Arbitrary<Request> = fc.record({
  kind: fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom(...SHARED) },
    { weight: 1, arbitrary: fc.constantFrom(...ONE_ERA) },
  ),
  server,
  id: fc.constantFrom<IdKind>('number', 'string', 'negative', 'fraction', 'huge', 'unicode'),
  token: fc.constantFrom<TokenKind>('none', 'number', 'string', 'object'),
  steps: fc.nat({ max: 4 }),
  isModern: fc.boolean(),
});

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 12, arbitrary: request.map((one): Step => ({ type: 'request', ...one })) },
  { weight: 1, arbitrary: request.map((one): Step => ({ type: 'twice', request: one })) },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constant('batch' as const),
      requests: fc.array(request, { maxLength: 4 }),
      slow: fc.array(server, { maxLength: 2 }),
      hasRubbish: fc.boolean(),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      type: fc.constant('slow' as const),
      server,
      isModern: fc.boolean(),
      cancelAfter: fc.nat({ max: 5 }),
    }),
  },
  { weight: 2, arbitrary: fc.constantFrom(...INVALID).map((kind): Step => ({ type: 'invalid', kind })) },
  {
    weight: 1,
    arbitrary: fc.record({
      type: fc.constant('unknown-method' as const),
      method: fc.constantFrom(...METHODS),
      isModern: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.constantFrom(...ENVELOPES).map((kind): Step => ({ type: 'envelope', kind })) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(...NOTIFICATIONS).map((method): Step => ({ type: 'notification', method })),
  },
  { weight: 1, arbitrary: fc.constant<Step>({ type: 'cancel-nothing' }) },
  { weight: 1, arbitrary: fc.boolean().map((isError): Step => ({ type: 'stray-answer', isError })) },
);

/** Generates what clients send, in order. */
export const traffic: fc.Arbitrary<readonly Action[]> = fc.array(
  fc.record({ client: fc.nat({ max: 99 }), step }),
  {
    minLength: 1,
    maxLength: 25,
  },
);
