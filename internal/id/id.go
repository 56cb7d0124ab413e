// Package id creates and parses TypeIDs, the IDs of everything that is stored: a prefix
// that names the type, and a UUIDv7 whose text sorts by time.
package id

import (
	"crypto/rand"
	"encoding/binary"
	"strings"
	"time"
	"unicode/utf8"
)

// Prefixes of IDs that users and applications see.
const (
	User     = "usr_"
	App      = "app_"
	Form     = "frm_"
	Response = "rsp_"
	Webhook  = "whk_"
	Delivery = "dlv_"
	Event    = "evt_"
	File     = "fil_"
	Theme    = "thm_"
	View     = "viw_"
	Note     = "nte_"
	Space    = "spc_"
	Audit    = "aud_"
)

// Prefixes of IDs that stay in the database or appear only in the workspace.
const (
	Consent = "con_"
	Secret  = "sec_"
	Request = "cal_" // an entry of an application's request log
	Mail    = "eml_"
)

// UUID is the 128 bits behind a TypeID.
type UUID [16]byte

// alphabet is Crockford's base32 in lower case. It sorts like the bits, so IDs sort by
// time as text.
const alphabet = "0123456789abcdefghjkmnpqrstvwxyz"

const encodedLen = 26

var decoded = func() (table [256]byte) {
	for i := range table {
		table[i] = 0xff
	}
	for i := range len(alphabet) {
		table[alphabet[i]] = byte(i)
	}
	return table
}()

// NewUUID returns a new UUIDv7 for the time.
func NewUUID(now time.Time) UUID {
	var u UUID
	rand.Read(u[:])
	putTime(&u, now.UnixMilli())
	return u
}

func putTime(u *UUID, milli int64) {
	var ms [8]byte
	binary.BigEndian.PutUint64(ms[:], uint64(milli))
	copy(u[:6], ms[2:])
	u[6] = 0x70 | u[6]&0x0f
	u[8] = 0x80 | u[8]&0x3f
}

// Time returns the time of creation, in milliseconds.
func (u UUID) Time() time.Time {
	var ms [8]byte
	copy(ms[2:], u[:6])
	return time.UnixMilli(int64(binary.BigEndian.Uint64(ms[:]))).UTC()
}

// New returns a new TypeID: the prefix and a UUIDv7.
func New(prefix string, now time.Time) string {
	return NewUUID(now).String(prefix)
}

// Tick is a time at the resolution of IDs: 1/4096 of a millisecond.
type Tick int64

// NewTick returns the tick of a time.
func NewTick(t time.Time) Tick {
	milli := t.UnixMilli()
	return Tick(milli<<tickBits | t.Sub(time.UnixMilli(milli)).Nanoseconds()<<tickBits/int64(time.Millisecond))
}

const tickBits = 12

// ID returns a TypeID of the tick and the time it contains. It sorts after those of
// earlier ticks; the rest of it is random.
func (t Tick) ID(prefix string) (string, time.Time) {
	var u UUID
	rand.Read(u[8:])
	binary.BigEndian.PutUint16(u[6:], uint16(t&(1<<tickBits-1)))
	putTime(&u, int64(t>>tickBits))
	return u.String(prefix), u.Time()
}

// First returns the smallest TypeID of the tick.
func (t Tick) First(prefix string) string {
	var u UUID
	binary.BigEndian.PutUint16(u[6:], uint16(t&(1<<tickBits-1)))
	putTime(&u, int64(t>>tickBits))
	return u.String(prefix)
}

// TickOf returns the tick of an ID that Tick.ID made.
func TickOf(u UUID) Tick {
	return Tick(u.Time().UnixMilli()<<tickBits | int64(binary.BigEndian.Uint16(u[6:])&(1<<tickBits-1)))
}

// First returns the smallest ID of a time: IDs from it on are of that time or later.
func First(prefix string, at time.Time) string {
	var u UUID
	putTime(&u, max(0, min(at.UnixMilli(), 1<<48-1)))
	return u.String(prefix)
}

// Next returns a TypeID that sorts after last, even if the clock stood still or went
// back, and the time it contains. The step is random, so the next ID cannot be guessed.
func Next(prefix string, now time.Time, last string) (string, time.Time) {
	u := NewUUID(now)
	if prev, ok := Parse(prefix, last); ok && u.String(prefix) <= last {
		u = successor(prev)
	}
	return u.String(prefix), u.Time()
}

// successor adds a random step of up to 61 bits to the random part of u, and moves to
// the next millisecond when that part overflows.
func successor(u UUID) UUID {
	var step [8]byte
	rand.Read(step[:])
	low := binary.BigEndian.Uint64(u[8:]) & (1<<62 - 1)
	high := uint64(binary.BigEndian.Uint16(u[6:]) & 0x0fff)
	low += binary.BigEndian.Uint64(step[:])>>3 + 1
	high += low >> 62
	if high > 0x0fff {
		return NewUUID(u.Time().Add(time.Millisecond))
	}
	binary.BigEndian.PutUint16(u[6:], uint16(0x7000|high))
	binary.BigEndian.PutUint64(u[8:], 1<<63|low&(1<<62-1))
	return u
}

// String returns the ID with its prefix.
func (u UUID) String(prefix string) string {
	out := make([]byte, len(prefix)+encodedLen)
	copy(out, prefix)
	hi, lo := binary.BigEndian.Uint64(u[:8]), binary.BigEndian.Uint64(u[8:])
	for i := len(out) - 1; i >= len(prefix); i-- {
		out[i] = alphabet[lo&31]
		lo = lo>>5 | hi<<59
		hi >>= 5
	}
	return string(out)
}

// IsStorable reports whether every database can store the text. Nothing has an ID or
// address that it cannot store, and PostgreSQL refuses to look for one.
func IsStorable(text string) bool {
	return utf8.ValidString(text) && strings.IndexByte(text, 0) < 0
}

// Parse parses a TypeID with the given prefix. It accepts only the canonical spelling,
// so a parsed ID is safe for any database.
func Parse(prefix, text string) (UUID, bool) {
	var u UUID
	digits, ok := strings.CutPrefix(text, prefix)
	if !ok || len(digits) != encodedLen || digits[0] > '7' {
		return u, false
	}
	var hi, lo uint64
	for i := range len(digits) {
		v := decoded[digits[i]]
		if v == 0xff {
			return u, false
		}
		hi = hi<<5 | lo>>59
		lo = lo<<5 | uint64(v)
	}
	binary.BigEndian.PutUint64(u[:8], hi)
	binary.BigEndian.PutUint64(u[8:], lo)
	return u, true
}
