import type { AdminDeps } from '../deps.ts';
import { askedIn } from '../route.ts';
import type { AdminApp } from '../route.ts';
import type { EventHub } from './event-hub.ts';

/** Everything that changes, as server-sent events. */
export function eventRoutes(app: AdminApp, { browsers }: AdminDeps, hub: EventHub): void {
  app.get('/api/events', async (context) => {
    const { proof, query } = await askedIn(context);
    // A page that opens its stream anew by itself cannot set the header.
    const lastId =
      context.req.header('last-event-id') ??
      (typeof query['after'] === 'string' ? query['after'] : undefined);
    const { session } = proof;
    const isAllowed = (): boolean => session === undefined || browsers.isSignedIn(session.id);
    return new Response(hub.open({ lastId, isAllowed }), {
      headers: { 'content-type': 'text/event-stream', 'cache-control': 'no-store' },
    });
  });
}
