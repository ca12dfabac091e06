import { randomBytes } from 'node:crypto';

import type { AuthorizationServerConfig } from '../../../config/callers-config.ts';
import { isJsonObject } from '../../../core/json.ts';
import type { Database } from '../../../core/storage/database.ts';
import { BoundedMap } from './bounded-map.ts';
import { isUsableRedirect } from './redirect-uris.ts';

/** A program that asks for access on behalf of a person. The name and redirect addresses are the client's own, unverified claims. */
export interface RegisteredClient {
  readonly id: string;
  readonly name: string;
  readonly redirectUris: readonly string[];
}

/** The reason why the metadata of a client was refused, with an error code of RFC 7591. */
export interface MetadataProblem {
  readonly error: 'invalid_redirect_uri' | 'invalid_client_metadata';
  readonly description: string;
}

/** Fetches a document from an address that a stranger supplied; the implementation must guard against private addresses. */
export type FetchDocument = (url: URL) => Promise<{ readonly status: number; readonly text: string }>;

interface ClientRegistryDeps {
  readonly config: AuthorizationServerConfig;
  readonly database: () => Promise<Database>;
  readonly fetchDocument: FetchDocument;
  readonly now: () => number;
}

const ID_PREFIX = 'tlc_';
/** Time for which a fetched metadata document is cached. */
const CACHE_DOCUMENT_MS = 600_000;
const MAX_DOCUMENTS = 200;
/** Maximum number of concurrent fetches of metadata documents. */
const MAX_FETCHES = 8;
/** Maximum number of registrations per minute. */
const MAX_PER_MINUTE = 30;
const MAX_REDIRECTS = 10;
const MAX_NAME = 80;

/** Finds the clients of our authorization server: registered ones, and those whose id is the address of a metadata document. */
export class ClientRegistry {
  readonly #deps: ClientRegistryDeps;
  readonly #documents: BoundedMap<RegisteredClient>;
  #fetching = 0;
  /** The times of the registrations of the last minute. */
  #registeredAt: readonly number[] = [];

  constructor(deps: ClientRegistryDeps) {
    this.#deps = deps;
    this.#documents = new BoundedMap({ max: MAX_DOCUMENTS, now: deps.now });
  }

  /** Returns the client, or a sentence that says why it cannot be used. */
  async find(id: string): Promise<RegisteredClient | string> {
    if (id.startsWith(ID_PREFIX)) return (await this.#readRegistered(id)) ?? 'There is no such client.';
    if (!this.#deps.config.metadataDocuments || !isDocumentId(id)) return 'There is no such client.';
    return this.#documents.get(id) ?? (await this.#fetchClient(id));
  }

  /** Registers a client. Returns the client, the problem in its metadata, or undefined if the rate limit is reached. */
  async register(metadata: unknown): Promise<RegisteredClient | MetadataProblem | undefined> {
    const client = parseClientMetadata(metadata, `${ID_PREFIX}${randomBytes(16).toString('base64url')}`);
    if ('error' in client) return client;
    const { config, database, now } = this.#deps;
    this.#registeredAt = this.#registeredAt.filter((time) => time > now() - 60_000);
    if (this.#registeredAt.length >= MAX_PER_MINUTE) return undefined;
    this.#registeredAt = [...this.#registeredAt, now()];
    const { query } = await database();
    await query.transaction().execute(async (transaction) => {
      const { id, ...body } = client;
      await transaction
        .insertInto('client_registrations')
        .values({ id, body: JSON.stringify(body), created_at: now(), agreed_at: null })
        .execute();
      // Clients without consent are evicted first, so strangers cannot push out the clients that people use.
      const retained = transaction
        .selectFrom('client_registrations')
        .select('id')
        .where('id', '!=', id)
        .orderBy('agreed_at', (by) => by.desc().nullsLast())
        .orderBy('created_at', 'desc')
        .limit(config.maxClients - 1);
      await transaction
        .deleteFrom('client_registrations')
        .where('id', '!=', id)
        .where('id', 'not in', retained)
        .execute();
    });
    return client;
  }

  /** Records that a person gave consent, which protects a registered client from eviction. Clients with a document are not stored. */
  async recordConsent(id: string): Promise<void> {
    if (!id.startsWith(ID_PREFIX)) return;
    const { query } = await this.#deps.database();
    const agreed_at = this.#deps.now();
    await query.updateTable('client_registrations').set({ agreed_at }).where('id', '=', id).execute();
  }

  /** Whether a person has consented to this registered client; always false for clients with a document, which are not stored. */
  async hasConsent(id: string): Promise<boolean> {
    if (!id.startsWith(ID_PREFIX)) return false;
    const { query } = await this.#deps.database();
    const row = await query
      .selectFrom('client_registrations')
      .select('agreed_at')
      .where('id', '=', id)
      .executeTakeFirst();
    return row !== undefined && row.agreed_at !== null;
  }

  async #readRegistered(id: string): Promise<RegisteredClient | undefined> {
    const { query } = await this.#deps.database();
    const row = await query
      .selectFrom('client_registrations')
      .select('body')
      .where('id', '=', id)
      .executeTakeFirst();
    return row && parseStoredClient(row.body, id);
  }

  async #fetchClient(id: string): Promise<RegisteredClient | string> {
    if (this.#fetching >= MAX_FETCHES) return 'Too many clients are being looked up; try again.';
    this.#fetching++;
    try {
      const { status, text } = await this.#deps.fetchDocument(new URL(id));
      if (status !== 200) return "The client's metadata document cannot be fetched.";
      const metadata = JSON.parse(text) as Record<string, unknown> | null;
      if (metadata?.['client_id'] !== id) return "The client's metadata document describes another client.";
      const client = parseClientMetadata(metadata, id);
      if ('error' in client) return client.description;
      this.#documents.set(id, client, CACHE_DOCUMENT_MS);
      return client;
    } catch {
      // The reason is withheld, because it would reveal to a stranger which hosts exist in our network.
      return "The client's metadata document cannot be fetched.";
    } finally {
      this.#fetching--;
    }
  }
}

/** Whether the id is an http(s) address with a path in canonical form. */
function isDocumentId(id: string): boolean {
  if (id.length > 2000 || !/^https?:\/\//.test(id) || !URL.canParse(id)) return false;
  const { pathname, hash, username, password, href } = new URL(id);
  return pathname !== '/' && hash === '' && username === '' && password === '' && href === id;
}

/** Returns undefined for a row that `register` cannot have written, for example one with a `javascript:` redirect address. */
function parseStoredClient(body: string, id: string): RegisteredClient | undefined {
  try {
    const stored: unknown = JSON.parse(body);
    if (!isJsonObject(stored)) return undefined;
    const { name: client_name, redirectUris: redirect_uris } = stored;
    const client = parseClientMetadata({ client_name, redirect_uris }, id);
    return 'error' in client ? undefined : client;
  } catch {
    return undefined;
  }
}

function parseClientMetadata(metadata: unknown, id: string): RegisteredClient | MetadataProblem {
  if (!isJsonObject(metadata))
    return { error: 'invalid_client_metadata', description: 'The client metadata must be an object.' };
  const uris = metadata['redirect_uris'];
  if (!Array.isArray(uris) || uris.length === 0 || uris.length > MAX_REDIRECTS)
    return invalidRedirect(`"redirect_uris" must be a list of 1 to ${MAX_REDIRECTS} addresses.`);
  const isUsable = (uri: unknown): uri is string => typeof uri === 'string' && isUsableRedirect(uri);
  if (!uris.every(isUsable))
    return invalidRedirect(
      'Each of "redirect_uris" must be https, http on this machine, or the scheme of a program, without a fragment.',
    );
  const name = metadata['client_name'];
  return { id, name: typeof name === 'string' ? sanitizeName(name) : '', redirectUris: uris };
}

function invalidRedirect(description: string): MetadataProblem {
  return { error: 'invalid_redirect_uri', description };
}

/**
 * Reduces a name to one short line without invisible characters, direction marks, double quotes and stacked combining marks. The name then
 * cannot imitate or cover other text.
 */
function sanitizeName(name: string): string {
  const plain = name
    .replaceAll(/[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu, ' ')
    .replaceAll(/["\u201C-\u201F]/g, "'")
    .replaceAll(/(?<=\p{M}{6})\p{M}/gu, '')
    .replaceAll(/\s+/g, ' ')
    .trim();
  return plain.length > MAX_NAME ? `${plain.slice(0, MAX_NAME)}…` : plain;
}
