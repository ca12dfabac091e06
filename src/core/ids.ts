type Brand<T, Name extends string> = T & { readonly __brand: Name };

/** Name of a configured upstream, as written in `mcpServers`. */
export type UpstreamName = Brand<string, 'UpstreamName'>;
/** Name under which a client sees an entry. */
export type ExposedName = Brand<string, 'ExposedName'>;
/** Hash of a definition or of a configuration. */
export type Fingerprint = Brand<string, 'Fingerprint'>;

/** The server name under which policies and profiles refer to Trunkline's own tools. */
export const OWN_SERVER_NAME = 'trunkline' as UpstreamName;
