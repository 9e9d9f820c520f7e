// The environment of the programs that tests start. It has only two variables of this process, because others may be settings of Mercat.

/** The variables that every program gets: where programs are, and where compiled code is kept, so that each process need not compile it again. */
export function programEnvironment(): Record<string, string> {
  const { PATH = '', NODE_COMPILE_CACHE } = process.env;
  return { PATH, ...(NODE_COMPILE_CACHE !== undefined && { NODE_COMPILE_CACHE }) };
}
