import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

export interface SiteFile {
  /** Names and values in turns. */
  readonly headers: readonly string[];
  readonly body: Buffer;
  /** Of the content. */
  readonly tag: string;
}

const MAX_FILES = 500;
const INDEX = '/index.html';
/** Pages that the dashboard draws itself. */
const PAGES = ['/', '/servers', '/tools', '/approvals', '/activity', '/access'];
const TYPES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
  png: 'image/png',
  ico: 'image/x-icon',
  woff2: 'font/woff2',
  json: 'application/json',
  txt: 'text/plain; charset=utf-8',
};

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  'media-src data: blob:',
  "connect-src 'self'",
  "font-src 'self'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
].join('; ');

/** What every page says: nothing from elsewhere, in no frame, and no word about where one came from. */
export const PAGE_HEADERS: readonly string[] = [
  ...['Content-Security-Policy', POLICY],
  ...['X-Content-Type-Options', 'nosniff'],
  ...['X-Frame-Options', 'DENY'],
  ...['Referrer-Policy', 'no-referrer'],
  ...['Cross-Origin-Opener-Policy', 'same-origin'],
  ...['Cross-Origin-Resource-Policy', 'same-origin'],
];

/** The built dashboard. A path is looked up among the files that are there, and never made into one. */
export class SiteFiles {
  readonly #folder: string;
  #known: ReadonlyMap<string, string> | undefined;
  readonly #read = new Map<string, SiteFile>();

  constructor(folder: URL) {
    this.#folder = fileURLToPath(folder);
  }

  has(path: string): boolean {
    return this.#paths().has(pageOr(path));
  }

  get(path: string): SiteFile | undefined {
    const name = pageOr(path);
    const file = this.#paths().get(name);
    if (file === undefined) return undefined;
    let found = this.#read.get(name);
    if (found === undefined) this.#read.set(name, (found = readSiteFile(name, file)));
    return found;
  }

  /** Looked at once; a build is complete before it is served. */
  #paths(): ReadonlyMap<string, string> {
    return (this.#known ??= listed(this.#folder));
  }
}

function pageOr(path: string): string {
  return PAGES.some((page) => path === page || (page !== '/' && path.startsWith(`${page}/`))) ? INDEX : path;
}

function readSiteFile(name: string, file: string): SiteFile {
  const body = readFileSync(file);
  const tag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`;
  const type = TYPES[name.slice(name.lastIndexOf('.') + 1)] ?? 'application/octet-stream';
  // Names of assets have a hash of their content in them.
  const caching = name.startsWith('/assets/') ? 'public, max-age=31536000, immutable' : 'no-cache';
  const headers = [...PAGE_HEADERS, 'Content-Type', type, 'Cache-Control', caching, 'ETag', tag];
  return { headers, body, tag };
}

function listed(folder: string): ReadonlyMap<string, string> {
  try {
    const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((each) =>
      each.isFile(),
    );
    return new Map(
      files.slice(0, MAX_FILES).map((each) => {
        const file = join(each.parentPath, each.name);
        return [`/${relative(folder, file).replaceAll('\\', '/')}`, file];
      }),
    );
  } catch {
    return new Map(); // A build without pages has none.
  }
}
