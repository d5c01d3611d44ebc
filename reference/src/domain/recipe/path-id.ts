/**
 * The id of a recipe file (GA 11.1): SipHash-1-3 (Aumasson and Bernstein) with a zero key, over the bytes of the path and a byte
 * 0xFF, in hexadecimal.
 */
export function pathId(path: string): string {
  return sipHash13(Buffer.concat([Buffer.from(path), Buffer.of(0xff)])).toString(16).padStart(16, '0')
}

type State = [bigint, bigint, bigint, bigint]

function sipHash13(bytes: Uint8Array): bigint {
  // The constants spell "somepseudorandomlygeneratedbytes". The key would be combined with them, but it is zero.
  const state: State = [0x736f6d6570736575n, 0x646f72616e646f6dn, 0x6c7967656e657261n, 0x7465646279746573n]
  const padded = new Uint8Array(bytes.length - (bytes.length % 8) + 8)
  padded.set(bytes)
  padded[padded.length - 1] = bytes.length % 256
  const words = new DataView(padded.buffer)
  for (let at = 0; at < padded.length; at += 8) {
    const word = words.getBigUint64(at, true)
    state[3] ^= word
    round(state)
    state[0] ^= word
  }
  state[2] ^= 0xffn
  for (let i = 0; i < 3; i++) round(state)
  return state[0] ^ state[1] ^ state[2] ^ state[3]
}

function round(state: State): void {
  let [a, b, c, d] = state
  a = add(a, b)
  b = rotate(b, 13n) ^ a
  a = rotate(a, 32n)
  c = add(c, d)
  d = rotate(d, 16n) ^ c
  a = add(a, d)
  d = rotate(d, 21n) ^ a
  c = add(c, b)
  b = rotate(b, 17n) ^ c
  c = rotate(c, 32n)
  state.splice(0, 4, a, b, c, d)
}

function add(a: bigint, b: bigint): bigint {
  return BigInt.asUintN(64, a + b)
}

function rotate(value: bigint, by: bigint): bigint {
  return BigInt.asUintN(64, (value << by) | (value >> (64n - by)))
}
