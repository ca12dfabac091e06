import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

export interface SiteFile {
  /** Header names and values, alternating. */
  readonly headers: readonly string[];
  readonly body: Buffer;
  /** The ETag of the content. */
  readonly tag: string;
}

const MAX_FILES = 500;
const INDEX = '/index.html';
/** Paths that the dashboard renders in the browser. All of them, and the paths below them, get index.html. */
const PAGES = ['/', '/servers', '/tools', '/approvals', '/clients', '/activity', '/access'];
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

const CONTENT_SECURITY_POLICY = [
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

/** The security headers of every page: no resources from other origins, no framing, and no referrer. */
export const PAGE_HEADERS: readonly string[] = Object.entries({
  'Content-Security-Policy': CONTENT_SECURITY_POLICY,
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
}).flat();

/** Serves the built dashboard. A request path is looked up in the list of files and never used as a file path. */
export class SiteFiles {
  readonly #folder: string;
  #files: ReadonlyMap<string, string> | undefined;
  readonly #cache = new Map<string, SiteFile>();

  constructor(folder: URL) {
    this.#folder = fileURLToPath(folder);
  }

  has(path: string): boolean {
    return this.#listFiles().has(resolvePage(path));
  }

  get(path: string): SiteFile | undefined {
    const name = resolvePage(path);
    const file = this.#listFiles().get(name);
    if (file === undefined) return undefined;
    let cached = this.#cache.get(name);
    if (cached === undefined) this.#cache.set(name, (cached = readSiteFile(name, file)));
    return cached;
  }

  /** Lists the files once, because a build is complete before it is served. */
  #listFiles(): ReadonlyMap<string, string> {
    return (this.#files ??= listFolder(this.#folder));
  }
}

function resolvePage(path: string): string {
  return PAGES.some((page) => path === page || (page !== '/' && path.startsWith(`${page}/`))) ? INDEX : path;
}

function readSiteFile(name: string, file: string): SiteFile {
  const body = readFileSync(file);
  const tag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`;
  const type = TYPES[name.slice(name.lastIndexOf('.') + 1)] ?? 'application/octet-stream';
  // The names of assets contain a hash of their content, so browsers may cache them forever.
  const caching = name.startsWith('/assets/') ? 'public, max-age=31536000, immutable' : 'no-cache';
  const headers = [...PAGE_HEADERS, 'Content-Type', type, 'Cache-Control', caching, 'ETag', tag];
  return { headers, body, tag };
}

function listFolder(folder: string): ReadonlyMap<string, string> {
  try {
    const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
      entry.isFile(),
    );
    return new Map(
      files.slice(0, MAX_FILES).map((entry) => {
        const file = join(entry.parentPath, entry.name);
        return [`/${relative(folder, file).replaceAll('\\', '/')}`, file];
      }),
    );
  } catch {
    return new Map(); // The build contains no dashboard.
  }
}
