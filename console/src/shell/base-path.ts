// The path below which the service is published, without a trailing slash. The service writes it into the page's `<base>`.

export const basePath = new URL(document.baseURI).pathname.replace(/\/$/, '');

/** The URL of a path of the service, such as `/docs`. */
export function serviceUrl(path: string): string {
  return `${basePath}${path}`;
}
