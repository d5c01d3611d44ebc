import { describe, expect, it } from 'vitest'
import { RequestLineEscaper } from './request-line.ts'

const ż = '\xc5\xbc' // its two bytes in UTF-8

const conversation =
  `GET /${ż}?${ż} HTTP/1.1\r\nHost: x\r\nX-Name: ${ż}\r\n\r\n` +
  `\r\nPOST /a HTTP/1.1\r\nhost: x\r\ncontent-length:  20 \r\n\r\nGET /${ż} HTTP/1.1\r\n\r\n` +
  `POST /${ż} HTTP/1.1\r\nTransfer-Encoding: gzip, Chunked\r\n\r\n` +
  `A;x=${ż}\r\n0123${ż}\n\r\n\n\r\n00\r\nX-Trailer: ${ż}\r\n\r\n` +
  `DELETE /${ż} HTTP/1.1\r\nContent-Length: 0\r\n\r\nGET /${ż} HTTP/1.0\r\n\r\n`

const escaped =
  `GET /%C5%BC?%C5%BC HTTP/1.1\r\nHost: x\r\nX-Name: ${ż}\r\n\r\n` +
  `\r\nPOST /a HTTP/1.1\r\nhost: x\r\ncontent-length:  20 \r\n\r\nGET /${ż} HTTP/1.1\r\n\r\n` +
  `POST /%C5%BC HTTP/1.1\r\nTransfer-Encoding: gzip, Chunked\r\n\r\n` +
  `A;x=${ż}\r\n0123${ż}\n\r\n\n\r\n00\r\nX-Trailer: ${ż}\r\n\r\n` +
  `DELETE /%C5%BC HTTP/1.1\r\nContent-Length: 0\r\n\r\nGET /%C5%BC HTTP/1.0\r\n\r\n`

function feed(pieces: string[]): string {
  const escaper = new RequestLineEscaper()
  return pieces.map((piece) => Buffer.from(escaper.feed(Buffer.from(piece, 'latin1'))).toString('latin1')).join('')
}

describe('RequestLineEscaper', () => {
  it('escapes bytes above 0x7F in request lines, and changes neither headers nor bodies', () => {
    expect(feed([conversation])).toBe(escaped)
  })

  it('does so wherever the bytes are split', () => {
    expect(feed(Array.from(conversation))).toBe(escaped)
    for (let i = 1; i < conversation.length; i++) {
      expect(feed([conversation.slice(0, i), conversation.slice(i)])).toBe(escaped)
    }
  })

  it.each([
    ['a length that is not a number', `POST / HTTP/1.1\r\nContent-Length: 1x\r\n\r\nGET /${ż} HTTP/1.1\r\n\r\n`],
    ['a coding that is not chunked', `POST / HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\nGET /${ż} HTTP/1.1\r\n\r\n`],
    ['a chunk without a size', `POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nx\r\nGET /${ż} HTTP/1.1\r\n\r\n`],
  ])('leaves everything after %s to the parser', (_, text) => {
    expect(feed([text])).toBe(text)
  })

  it('passes on unchanged bytes without a copy', () => {
    const chunk = Buffer.from('GET / HTTP/1.1\r\n')
    expect(new RequestLineEscaper().feed(chunk).buffer).toBe(chunk.buffer)
  })
})
