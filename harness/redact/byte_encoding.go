package redact

import (
	"bytes"
	"iter"
	"unicode/utf8"
)

// Base64 and hexadecimal digits pack bytes into characters of fewer bits. A run of such characters that is long enough
// for a secret is unpacked at every alignment. What precedes the secret shifts it, and what precedes the packed text
// may look like a part of it.

// A byteEncoding says how characters encode bits.
type byteEncoding struct {
	value      [256]byte               // of a character; noDigit, or ignored
	bits       int                     // number of bits of a character
	alignments int                     // number of alignments: this many characters hold whole bytes
	minRun     int                     // number of characters that can hold a secret
	digits     func(run []byte) string // the alphabet that a run uses
	fileStarts []string                // the first characters of packed files: in gzip, of archives, and in zstd
	// asciiAt says whether a byte that begins in a character can be ASCII. It depends on the character's index modulo
	// alignments and on its value. The bits of the result are grouped by alignment, and this is the lowest bit of each
	// group.
	asciiAt      [4][64]uint32
	full, lowest uint32
}

const (
	noDigit = 0xff
	ignored = 0xfe // Base64 in mail has line ends; hexadecimal bytes are often separated
)

const (
	base64Digits    = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
	base64URLDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	hexDigits       = "0123456789abcdef"
	upperHexDigits  = "0123456789ABCDEF"
)

var byteEncodings = [...]*byteEncoding{
	newByteEncoding(6, 4, func(run []byte) string {
		if bytes.ContainsAny(run, "-_") {
			return base64URLDigits
		}
		return base64Digits
	}, []string{"H4sI", "UEsDB", "KLUv/", "KLUv_"}, "\r\n", base64Digits, base64URLDigits),
	newByteEncoding(4, 2, func(run []byte) string {
		if bytes.ContainsAny(run, "ABCDEF") {
			return upperHexDigits
		}
		return hexDigits
	}, []string{"1f8b08", "1F8B08", "504b0304", "504B0304", "28b52ffd", "28B52FFD"}, " \t\r\n:-+", hexDigits, upperHexDigits),
}

func newByteEncoding(bits, lanes int, digits func([]byte) string, files []string, lineEnds string, alphabets ...string) *byteEncoding {
	p := &byteEncoding{fileStarts: files, bits: bits, alignments: lanes, minRun: (minSecret*8 + bits - 1) / bits, digits: digits}
	for c := range p.value {
		p.value[c] = noDigit
	}
	for _, alphabet := range alphabets {
		for v := range len(alphabet) {
			p.value[alphabet[v]] = byte(v)
		}
	}
	for _, c := range []byte(lineEnds) {
		p.value[c] = ignored
	}
	width := 32 / lanes
	for lane := range lanes {
		for i := range lanes {
			begun := (i - lane + lanes) % lanes * bits // bits before this character in its group
			first := (begun + 7) / 8 * 8               // where the next byte begins
			for v := range 1 << bits {
				if first >= begun+bits || v>>(bits-1-(first-begun))&1 == 0 {
					p.asciiAt[i][v] |= 1 << (lane * width)
				}
			}
		}
		p.full |= (1<<(p.minRun-1) - 1) << (lane * width)
		p.lowest |= 1 << (lane * width)
	}
	return p
}

// runs ranges over the runs of characters that are long enough for a secret.
func (p *byteEncoding) runs(text []byte) iter.Seq2[int, int] {
	return func(yield func(from, to int) bool) {
		for i := p.minRun - 1; i < len(text); {
			if p.value[text[i]] == noDigit {
				i += p.minRun
				continue
			}
			from, to := i, i+1
			for from > 0 && from > i-p.minRun+1 && p.value[text[from-1]] != noDigit {
				from--
			}
			for to < len(text) && p.value[text[to]] != noDigit {
				to++
			}
			if to-from >= p.minRun && !yield(from, to) {
				return
			}
			i = to + p.minRun
		}
	}
}

// asciiRuns calls read for each part of a run that may hold a secret: at one alignment, enough bytes in a row are
// ASCII. Few words of a text have such a part. read gets the index to read from, and returns how far it has read.
func (p *byteEncoding) asciiRuns(run []byte, read func(from int) (to int)) {
	width, top := 32/p.alignments, p.lowest<<(32/p.alignments-1)
	var reg uint32
	var done [4]int // how far each alignment has been read
	i := 0          // number of characters so far, without line ends
	for at, c := range run {
		v := p.value[c]
		if v == ignored {
			continue
		}
		reg = reg<<1&^p.lowest | p.asciiAt[i&(p.alignments-1)&3][v&63]
		i++
		if missing := ^reg & p.full; (missing-p.lowest)&^missing&top == 0 {
			continue
		}
		for lane := range p.alignments {
			if (^reg&p.full)>>(lane*width)&(1<<width-1) != 0 || done[lane] > at {
				continue
			}
			back := (i-lane)%p.alignments + (p.minRun+p.alignments-1)/p.alignments*p.alignments // to where a group begins
			for i-back < lane {
				back -= p.alignments
			}
			done[lane] = read(p.stepBack(run, at+1, back))
		}
	}
}

// stepBack returns the index n characters before an index of a run, not counting line ends.
func (p *byteEncoding) stepBack(run []byte, at, n int) int {
	for n > 0 {
		if at--; p.value[run[at]] != ignored {
			n--
		}
	}
	return at
}

// decode unpacks a run from its first character on. With ascii, it stops at a byte that is not ASCII, unless that is
// near the beginning, and it returns nothing if the bytes cannot be text. It also returns how far it has read.
func (p *byteEncoding) decode(run []byte, ascii bool) (unpacked []byte, to int) {
	var local [64]byte
	unpacked = local[:0]
	var acc uint32
	n, printable, most := 0, 0, 0
	for at, c := range run {
		v := p.value[c]
		if v == ignored {
			continue
		}
		acc = acc<<p.bits | uint32(v)
		if n += p.bits; n < 8 {
			continue
		}
		n -= 8
		b := byte(acc >> n)
		if printable++; b < ' ' && b != 0 && b != '\t' && b != '\n' && b != '\r' || b > '~' {
			printable = 0
		}
		most = max(most, printable)
		if ascii && b >= utf8.RuneSelf && at > 2*p.minRun {
			run = run[:at]
			break
		}
		unpacked = append(unpacked, b)
	}
	if ascii && most < minSecret {
		return nil, len(run)
	}
	return bytes.Clone(unpacked), len(run)
}

// encode packs bytes into a run, from its first character on. Characters whose bits do not change are kept.
func (p *byteEncoding) encode(run, made []byte, digits string) {
	mask := uint32(1)<<p.bits - 1
	var acc uint32
	n, next := 0, 0 // bits that are not written yet, and the index of the next byte
	for at := 0; at < len(run) && (n > 0 || next < len(made)); at++ {
		was := p.value[run[at]]
		if was == ignored {
			continue
		}
		if n < p.bits && next < len(made) {
			acc, n, next = acc<<8|uint32(made[next]), n+8, next+1
		}
		n -= p.bits
		value := acc >> max(n, 0) & mask
		if n < 0 { // some bits of this character belong to other bytes
			value = acc<<-n&mask | uint32(was)&(1<<-n-1)
		}
		if value != uint32(was) {
			run[at] = digits[value]
		}
	}
}
