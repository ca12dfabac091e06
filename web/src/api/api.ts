import type { AdminContract, AdminProblem, AdminRoute } from '../../../src/admin/contract/contract.ts';
import { parseProblem, Problem, unreachableProblem } from './problem.ts';

/** A typed client of the admin API. All methods reject with a `Problem`, or with the abort reason if the signal is aborted. */
export interface Api {
  readonly request: <Route extends AdminRoute>(
    route: Route,
    input: RouteInput<Route>,
    options?: { readonly signal?: AbortSignal },
  ) => Promise<RouteResponse<Route>>;
  /** Returns the successful response itself, to read it as a stream. */
  readonly send: (route: AdminRoute, input: object, init?: RequestInit) => Promise<Response>;
}

/** The path parameters, query and body of a route, merged into one object. */
export type RouteInput<Route extends AdminRoute> = PathParameters<Route> &
  (AdminContract[Route] extends { query: infer Query } ? UndefinedAllowed<Query> : object) &
  (AdminContract[Route] extends { body: infer Body } ? UndefinedAllowed<Body> : object);

/** Allows undefined for optional members, because requests omit undefined values. */
type UndefinedAllowed<Input> = {
  [Key in keyof Input]: object extends Pick<Input, Key> ? Input[Key] | undefined : Input[Key];
};

type PathParameters<Path> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? { readonly [key in Name]: string } & PathParameters<`/${Rest}`>
  : Path extends `${string}:${infer Name}`
    ? { readonly [key in Name]: string }
    : object;

export type RouteResponse<Route extends AdminRoute> = AdminContract[Route]['response'];

interface ApiOptions {
  readonly fetch: typeof fetch;
  /** Called when the session of this browser has ended. */
  readonly onSignedOut: () => void;
}

export function createApi({ fetch, onSignedOut }: ApiOptions): Api {
  const send = async (route: AdminRoute, input: object, init: RequestInit = {}): Promise<Response> => {
    let response: Response;
    try {
      response = await fetch(...createRequest(route, input, init));
    } catch (error) {
      throw init.signal?.aborted === true ? error : unreachableProblem(error);
    }
    if (response.ok) return response;
    const problem = parseProblem(response.status, await readProblem(response));
    if (problem.isSignedOut) onSignedOut();
    throw problem;
  };
  return {
    send,
    request: async (route, input, options = {}) => {
      const response = await send(route, input, options);
      // The routes are compiled against the same contract, so the response has the type of the route.
      return (await readJson(response)) as never;
    },
  };
}

/** Fills the path parameters from the input. The rest of the input becomes the query of a GET request, or the body. */
function createRequest(route: AdminRoute, input: object, init: RequestInit): [string, RequestInit] {
  const [method = 'GET', pattern = ''] = route.split(' ');
  const rest = new Map<string, unknown>(Object.entries(input));
  const path = pattern.replaceAll(/:(\w+)/g, (_, name: string) => {
    const value = rest.get(name);
    rest.delete(name);
    return encodeURIComponent(formatValue(value));
  });
  // Pages of other sites cannot send this header without permission, so it proves that the request comes from the dashboard.
  const headers = new Headers(init.headers);
  headers.set('x-trunkline', '1');
  const shared = { ...init, method, headers, credentials: 'same-origin', cache: 'no-store' } as const;
  if (method === 'GET') {
    const query = new URLSearchParams();
    for (const [name, value] of rest)
      if (value !== undefined && value !== '') query.set(name, formatValue(value));
    return [query.size === 0 ? path : `${path}?${query.toString()}`, shared];
  }
  headers.set('content-type', 'application/json');
  return [path, { ...shared, body: JSON.stringify(Object.fromEntries(rest)) }];
}

function formatValue(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

async function readJson(response: Response): Promise<unknown> {
  try {
    return await response.json();
  } catch (error) {
    throw new Problem({ message: 'The gateway sent a response that is not JSON.', cause: error });
  }
}

async function readProblem(response: Response): Promise<AdminProblem | undefined> {
  try {
    return (await response.json()) as AdminProblem;
  } catch {
    // The response is not JSON and may come from a proxy. Its status is enough for a message.
    return undefined;
  }
}
