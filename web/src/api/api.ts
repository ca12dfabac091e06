import type { AdminContract, AdminProblem, AdminRoute } from '../../../src/admin/contract/contract.ts';
import { Problem, problemFrom, unreachable } from './problem.ts';

type Parameters<Path> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? { readonly [key in Name]: string } & Parameters<`/${Rest}`>
  : Path extends `${string}:${infer Name}`
    ? { readonly [key in Name]: string }
    : object;

/** What goes into a request: parts of the path, query and body, as far as the route has them. */
export type Input<Route extends AdminRoute> = Parameters<Route> &
  (AdminContract[Route] extends { query: infer Query } ? Query : object) &
  (AdminContract[Route] extends { body: infer Body } ? Body : object);

export type Answer<Route extends AdminRoute> = AdminContract[Route]['answer'];

export interface Api {
  /** Fails with a `Problem`, whatever went wrong. */
  readonly ask: <Route extends AdminRoute>(
    route: Route,
    input: Input<Route>,
    options?: { readonly signal?: AbortSignal },
  ) => Promise<Answer<Route>>;
  /** The response itself, for what is read in pieces; its status is a success. */
  readonly send: (route: AdminRoute, input: object, init?: RequestInit) => Promise<Response>;
}

interface ApiOptions {
  readonly fetch: typeof fetch;
  /** Called when the gateway does not know who asks any more. */
  readonly onSignedOut: () => void;
}

export function makeApi({ fetch, onSignedOut }: ApiOptions): Api {
  const send = async (route: AdminRoute, input: object, init: RequestInit = {}): Promise<Response> => {
    let response: Response;
    try {
      response = await fetch(...requestFor(route, input, init));
    } catch (error) {
      throw init.signal?.aborted === true ? error : unreachable(error);
    }
    if (response.ok) return response;
    const problem = problemFrom(response.status, await bodyOf(response));
    if (problem.isSignedOut) onSignedOut();
    throw problem;
  };
  return {
    send,
    ask: async (route, input, options = {}) => {
      const response = await send(route, input, options);
      // The contract is what the routes are compiled against.
      return (await jsonOf(response)) as never;
    },
  };
}

/** Every part of the path that is named is taken from the input; the rest is the query or the body. */
function requestFor(route: AdminRoute, input: object, init: RequestInit): [string, RequestInit] {
  const [method = 'GET', pattern = ''] = route.split(' ');
  const rest = new Map<string, unknown>(Object.entries(input));
  const path = pattern.replaceAll(/:(\w+)/g, (_, name: string) => {
    const value = rest.get(name);
    rest.delete(name);
    return encodeURIComponent(text(value));
  });
  // A page elsewhere cannot send this header, so that it proves that we ask.
  const headers = new Headers(init.headers);
  headers.set('x-trunkline', '1');
  const shared = { ...init, method, headers, credentials: 'same-origin', cache: 'no-store' } as const;
  if (method === 'GET') {
    const query = new URLSearchParams();
    for (const [name, value] of rest) if (value !== undefined && value !== '') query.set(name, text(value));
    return [query.size === 0 ? path : `${path}?${query.toString()}`, shared];
  }
  headers.set('content-type', 'application/json');
  return [path, { ...shared, body: JSON.stringify(Object.fromEntries(rest)) }];
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

async function jsonOf(response: Response): Promise<unknown> {
  try {
    return await response.json();
  } catch (error) {
    throw new Problem({ message: 'The gateway gave an answer that is not JSON.', cause: error });
  }
}

async function bodyOf(response: Response): Promise<AdminProblem | undefined> {
  try {
    return (await response.json()) as AdminProblem;
  } catch {
    // A proxy in between answers in its own words; the status says enough.
    return undefined;
  }
}
