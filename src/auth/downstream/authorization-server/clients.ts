import { randomBytes } from 'node:crypto';

import type { AuthorizationServerConfig } from '../../../config/callers-config.ts';
import type { Database } from '../../../storage/database.ts';
import { BoundedMap } from './bounded-map.ts';
import { readClient } from './client.ts';
import type { OauthClient } from './client.ts';

/** Gets a document from an address that a stranger gave us; whoever makes it guards it. */
export type FetchDocument = (url: URL) => Promise<{ readonly status: number; readonly text: string }>;

interface ClientsDeps {
  readonly config: AuthorizationServerConfig;
  readonly database: () => Promise<Database>;
  readonly fetchDocument: FetchDocument;
  readonly now: () => number;
}

const ID_PREFIX = 'tlc_';
const KEEP_DOCUMENT_MS = 600_000;
const MAX_DOCUMENTS = 200;
const MAX_FETCHES = 8;
const MAX_PER_MINUTE = 30;

/** The clients of our authorization server: those that registered themselves, and those whose id is an address. */
export class Clients {
  readonly #deps: ClientsDeps;
  readonly #documents: BoundedMap<OauthClient>;
  #fetching = 0;
  #registered: readonly number[] = [];

  constructor(deps: ClientsDeps) {
    this.#deps = deps;
    this.#documents = new BoundedMap({ max: MAX_DOCUMENTS, now: deps.now });
  }

  /** A text is what is wrong. */
  async find(id: string): Promise<OauthClient | string> {
    if (id.startsWith(ID_PREFIX)) return (await this.#registeredAs(id)) ?? 'There is no such client.';
    if (!this.#deps.config.metadataDocuments || !isDocumentId(id)) return 'There is no such client.';
    return this.#documents.get(id) ?? (await this.#fetched(id));
  }

  /** Undefined when there were too many lately; a text is what is wrong with it. */
  async register(value: unknown): Promise<OauthClient | string | undefined> {
    const client = readClient(value, `${ID_PREFIX}${randomBytes(16).toString('base64url')}`);
    if (typeof client === 'string') return client;
    const { config, database, now } = this.#deps;
    this.#registered = this.#registered.filter((at) => at > now() - 60_000);
    if (this.#registered.length >= MAX_PER_MINUTE) return undefined;
    this.#registered = [...this.#registered, now()];
    const { query } = await database();
    await query.transaction().execute(async (transaction) => {
      const { id, ...body } = client;
      await transaction
        .insertInto('client_registrations')
        .values({ id, body: JSON.stringify(body), created_at: now(), agreed_at: null })
        .execute();
      // Those that nobody agreed to go first, so that strangers cannot push out what people use.
      const kept = transaction
        .selectFrom('client_registrations')
        .select('id')
        .where('id', '!=', id)
        .orderBy('agreed_at', (by) => by.desc().nullsLast())
        .orderBy('created_at', 'desc')
        .limit(config.maxClients - 1);
      await transaction
        .deleteFrom('client_registrations')
        .where('id', '!=', id)
        .where('id', 'not in', kept)
        .execute();
    });
    return client;
  }

  /** Somebody agreed to it, so that it is not the next to make room. */
  async noteConsent(id: string): Promise<void> {
    if (!id.startsWith(ID_PREFIX)) return;
    const { query } = await this.#deps.database();
    const agreed_at = this.#deps.now();
    await query.updateTable('client_registrations').set({ agreed_at }).where('id', '=', id).execute();
  }

  async #registeredAs(id: string): Promise<OauthClient | undefined> {
    const { query } = await this.#deps.database();
    const row = await query
      .selectFrom('client_registrations')
      .select('body')
      .where('id', '=', id)
      .executeTakeFirst();
    // Our own writing.
    return row && { id, ...(JSON.parse(row.body) as Omit<OauthClient, 'id'>) };
  }

  async #fetched(id: string): Promise<OauthClient | string> {
    if (this.#fetching >= MAX_FETCHES) return 'Too many clients are being looked up; try again.';
    this.#fetching++;
    try {
      const { status, text } = await this.#deps.fetchDocument(new URL(id));
      if (status !== 200) return 'The document of this client cannot be had.';
      const value = JSON.parse(text) as Record<string, unknown> | null;
      if (value?.['client_id'] !== id) return 'The document of this client is about another client.';
      const client = readClient(value, id);
      if (typeof client !== 'string') this.#documents.set(id, client, KEEP_DOCUMENT_MS);
      return client;
    } catch {
      // Why stays here: it would tell a stranger what there is in our network.
      return 'The document of this client cannot be had.';
    } finally {
      this.#fetching--;
    }
  }
}

/** An address with a path, written in the one way that it can be written in. */
function isDocumentId(id: string): boolean {
  if (id.length > 2000 || !/^https?:\/\//.test(id) || !URL.canParse(id)) return false;
  const { pathname, hash, username, password, href } = new URL(id);
  return pathname !== '/' && hash === '' && username === '' && password === '' && href === id;
}
