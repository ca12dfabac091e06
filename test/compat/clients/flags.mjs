/** Arguments with which most clients take the variables of a program and the headers of a server at a URL. */
export const commonFlags = {
  variable: (name, value) => ['--env', `${name}=${value}`],
  header: (name, value) => ['--header', `${name}: ${value}`],
};
