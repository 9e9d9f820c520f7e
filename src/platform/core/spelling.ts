// Recognises a name that differs from a known name by a single typing mistake.

/** Whether one letter is missing, added or replaced, or two adjacent letters are swapped. */
export function isOneTypoApart(a: string, b: string): boolean {
  let prefixLength = 0;
  while (prefixLength < a.length && a[prefixLength] === b[prefixLength]) prefixLength += 1;
  const [restOfA, restOfB] = [a.slice(prefixLength), b.slice(prefixLength)];
  if (restOfA === restOfB) return false;
  const isReplaced = restOfA.slice(1) === restOfB.slice(1);
  const isAdded = restOfA.slice(1) === restOfB || restOfA === restOfB.slice(1);
  const isSwapped = restOfA[0] === restOfB[1] && restOfA[1] === restOfB[0] && restOfA.slice(2) === restOfB.slice(2);
  return isReplaced || isAdded || isSwapped;
}
