// `node inventory-readers.ts URL AUTHORIZATION READS PRODUCTS` reads the URL many times at once and prints the numbers of complete, rejected
// and other responses. A complete response ends with the number of products.

const [url = '', authorization = '', reads, products] = process.argv.slice(2);
const counts = { complete: 0, rejected: 0, other: 0 };
await Promise.all(Array.from({ length: Number(reads) }, read));
process.stdout.write(JSON.stringify(counts));

async function read(): Promise<void> {
  try {
    const response = await fetch(url, { headers: { authorization } });
    let end = '';
    for await (const chunk of response.body ?? []) end = (end + Buffer.from(chunk).toString('latin1')).slice(-100);
    if (response.status === 503) counts.rejected += 1;
    else if (response.status === 200 && end.endsWith(`"count":${products}}`)) counts.complete += 1;
    else counts.other += 1;
  } catch {
    counts.other += 1;
  }
}
