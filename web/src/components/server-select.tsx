interface ServerSelectProps {
  readonly servers: readonly string[];
  /** An empty value selects all servers. */
  readonly value: string;
  readonly onChange: (server: string) => void;
}

/** Selects one server or all servers. */
export function ServerSelect({ servers, value, onChange }: ServerSelectProps) {
  return (
    <select aria-label="Server" value={value} onChange={(event) => onChange(event.currentTarget.value)}>
      <option value="">All servers</option>
      {servers.map((name) => (
        <option key={name} value={name}>
          {name}
        </option>
      ))}
    </select>
  );
}
