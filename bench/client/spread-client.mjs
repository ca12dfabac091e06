import { httpClient } from './http-client.mjs';

/** Returns the session that makes call number n and the gateway that receives it: each call of a session goes to the next gateway. */
export function turnOf(call, { sessions, gateways }) {
  const session = call % sessions;
  return { session, gateway: (session + Math.floor(call / sessions)) % gateways };
}

/** Several clients of one era in front of several gateways, without stickiness: each call of a session goes to the next gateway. */
export function spreadClient(addresses, onError, { era = 'legacy', sessions = 4 } = {}) {
  const all = Array.from({ length: sessions }, () =>
    addresses.map((address) => httpClient(address, onError, { era })),
  );
  let calls = 0;
  return {
    call(body, onAnswer) {
      const { session, gateway } = turnOf(calls++, { sessions, gateways: addresses.length });
      all[session][gateway].call(body, onAnswer);
    },
    /** Opens each session at one gateway; the others continue it. */
    async open() {
      for (const [number, clients] of all.entries()) {
        const first = clients[number % clients.length];
        await first.open();
        for (const client of clients) client.goOn(first.session);
      }
    },
    close() {
      for (const client of all.flat()) client.close();
    },
  };
}
