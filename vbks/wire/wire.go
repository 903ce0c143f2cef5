// Package wire encodes plain values for another process of the same build: numbers,
// texts, pointers, slices and structs of these, every bit of them, little-endian.
//
// A message is
//
//	"kws" version fingerprint(8) value
//
// where the fingerprint is of the value's type, all names in it: what was encoded as one
// type cannot be decoded as another. A value is
//
//	bool, uint8      1 byte
//	int, int32, ...  8 bytes, 4 of 32 bits
//	float64          its 8 bytes
//	string, slice    length + 1 as a varint, 0 for nil, and what is in it
//	map of strings   the same, keys and values in the order of the keys
//	pointer          1 byte, 0 for nil, and what it points to
//	struct           its fields in their order
//
// A slice of n x n numbers from 8 x 8 on has a byte before them: the whole, or its lower
// triangle where the rest is zeros or its mirror image.
package wire

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"sync"
)

// version of the encoding.
const version = 1

const headLen = 4 + 8

// ErrDamaged is below the errors of Decode.
var ErrDamaged = errors.New("damaged message")

// codec is how values of a type are encoded.
type codec struct {
	put  func(b []byte, v reflect.Value) []byte
	take func(r *reader, v reflect.Value)
	// least is how many bytes a value has at least, size what one takes in memory.
	least, size int
}

// made are the codecs and fingerprints of types, each made once.
var made, prints sync.Map

// Fingerprint is a number for the structure of the types of values, with all names of
// fields: another one for any change. It panics where a type is not a plain value.
func Fingerprint(values ...any) uint64 {
	text := ""
	for _, v := range values {
		text += describe(reflect.TypeOf(v)) + "\n"
	}
	sum := sha256.Sum256([]byte(text))
	return binary.LittleEndian.Uint64(sum[:])
}

func printOf(t reflect.Type) uint64 {
	if p, ok := prints.Load(t); ok {
		return p.(uint64)
	}
	sum := sha256.Sum256([]byte(describe(t)))
	p := binary.LittleEndian.Uint64(sum[:])
	prints.Store(t, p)
	return p
}

// describe writes a type out.
func describe(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Pointer:
		return "*" + describe(t.Elem())
	case reflect.Slice:
		return "[]" + describe(t.Elem())
	case reflect.Map:
		return "map[" + describe(t.Key()) + "]" + describe(t.Elem())
	case reflect.Struct:
		text := t.Name() + "{"
		for i := range t.NumField() {
			if f := t.Field(i); carried(f) {
				text += f.Name + " " + describe(f.Type) + ";"
			}
		}
		return text + "}"
	}
	return t.Kind().String()
}

// carried reports whether a field is encoded: all are but those with the tag wire:"-".
func carried(f reflect.StructField) bool { return f.Tag.Get("wire") != "-" }

// Encode returns the message of a value. It panics where its type is not plain, which is
// a mistake of the program.
func Encode[T any](v *T) []byte {
	t := reflect.TypeFor[T]()
	b := append(make([]byte, 0, 512), 'k', 'w', 's', version)
	b = binary.LittleEndian.AppendUint64(b, printOf(t))
	return codecOf(t).put(b, reflect.ValueOf(v).Elem())
}

// Decode reads a message of a T. However it is damaged, no more memory is taken than some
// ten times its length. Errors: ErrDamaged, with what is wrong.
func Decode[T any](b []byte) (*T, error) {
	t := reflect.TypeFor[T]()
	switch {
	case len(b) < headLen || string(b[:3]) != "kws":
		return nil, fmt.Errorf("%w: not one of this program", ErrDamaged)
	case b[3] != version || binary.LittleEndian.Uint64(b[4:]) != printOf(t):
		return nil, fmt.Errorf("%w: of another version of the program", ErrDamaged)
	}
	v, r := new(T), &reader{left: b[headLen:]}
	codecOf(t).take(r, reflect.ValueOf(v).Elem())
	if r.err == nil && len(r.left) > 0 {
		r.fail("%d bytes too many", len(r.left))
	}
	if r.err != nil {
		return nil, r.err
	}
	return v, nil
}

// reader keeps its first error, after which it returns zeros.
type reader struct {
	left []byte
	err  error
}

func (r *reader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("%w: "+format, append([]any{ErrDamaged}, args...)...)
	}
	r.left = nil
}

var zeros [8]byte

// bytes takes n bytes.
func (r *reader) bytes(n int) []byte {
	if n > len(r.left) {
		r.fail("it ends too early")
		if n <= len(zeros) {
			return zeros[:n]
		}
		return nil
	}
	b := r.left[:n]
	r.left = r.left[n:]
	return b
}

// length takes the length of what has at least so many bytes each; −1 is nil.
func (r *reader) length(least int) int {
	n, used := binary.Uvarint(r.left)
	if used <= 0 {
		r.fail("it has no length where one belongs")
		return -1
	}
	r.left = r.left[used:]
	if n == 0 {
		return -1
	}
	if n--; n > uint64(len(r.left))/uint64(max(1, least)) {
		r.fail("%d entries where there is no room for them", n)
		return -1
	}
	return int(n)
}

func codecOf(t reflect.Type) *codec {
	if c, ok := made.Load(t); ok {
		return c.(*codec)
	}
	c := newCodec(t)
	made.Store(t, c)
	return c
}

// integer is a codec of whole numbers of so many bytes.
func integer(size int, get func(reflect.Value) uint64, set func(reflect.Value, uint64)) *codec {
	return &codec{
		put: func(b []byte, v reflect.Value) []byte {
			var word [8]byte
			binary.LittleEndian.PutUint64(word[:], get(v))
			return append(b, word[:size]...)
		},
		take: func(r *reader, v reflect.Value) {
			var word [8]byte
			copy(word[:], r.bytes(size))
			set(v, binary.LittleEndian.Uint64(word[:]))
		},
		least: size, size: size,
	}
}

func newCodec(t reflect.Type) *codec {
	signed := func(v reflect.Value) uint64 { return uint64(v.Int()) }
	unsigned := reflect.Value.Uint
	switch t.Kind() {
	case reflect.Bool:
		return integer(1, func(v reflect.Value) uint64 {
			if v.Bool() {
				return 1
			}
			return 0
		}, func(v reflect.Value, n uint64) { v.SetBool(n != 0) })
	case reflect.Int, reflect.Int64:
		return integer(8, signed, func(v reflect.Value, n uint64) { v.SetInt(int64(n)) })
	case reflect.Int32:
		return integer(4, signed, func(v reflect.Value, n uint64) { v.SetInt(int64(int32(uint32(n)))) })
	case reflect.Uint8:
		return integer(1, unsigned, reflect.Value.SetUint)
	case reflect.Uint64:
		return integer(8, unsigned, reflect.Value.SetUint)
	case reflect.Float64:
		return integer(8, func(v reflect.Value) uint64 { return math.Float64bits(v.Float()) },
			func(v reflect.Value, n uint64) { v.SetFloat(math.Float64frombits(n)) })
	case reflect.String:
		return text()
	case reflect.Pointer:
		return pointer(t)
	case reflect.Slice:
		return slice(t)
	case reflect.Map:
		if t.Key().Kind() == reflect.String {
			return byName(t)
		}
	case reflect.Struct:
		return structure(t)
	}
	panic(fmt.Sprintf("wire: %v is not a plain value", t))
}

func text() *codec {
	return &codec{
		put: func(b []byte, v reflect.Value) []byte {
			s := v.String()
			return append(binary.AppendUvarint(b, uint64(len(s))+1), s...)
		},
		take: func(r *reader, v reflect.Value) {
			if n := r.length(1); n > 0 {
				v.SetString(string(r.bytes(n)))
			}
		},
		least: 1, size: 16,
	}
}

func pointer(t reflect.Type) *codec {
	of := codecOf(t.Elem())
	return &codec{
		put: func(b []byte, v reflect.Value) []byte {
			if v.IsNil() {
				return append(b, 0)
			}
			return of.put(append(b, 1), v.Elem())
		},
		take: func(r *reader, v reflect.Value) {
			if r.bytes(1)[0] == 0 {
				return
			}
			p := reflect.New(t.Elem())
			of.take(r, p.Elem())
			v.Set(p)
		},
		least: 1, size: 8,
	}
}

func slice(t reflect.Type) *codec {
	switch t.Elem().Kind() {
	case reflect.Float64:
		if t.Elem() == reflect.TypeFor[float64]() && t == reflect.TypeFor[[]float64]() {
			return numbers()
		}
	case reflect.Uint8:
		if t == reflect.TypeFor[[]byte]() {
			return octets()
		}
	}
	of := codecOf(t.Elem())
	return &codec{
		put: func(b []byte, v reflect.Value) []byte {
			if v.IsNil() {
				return append(b, 0)
			}
			b = binary.AppendUvarint(b, uint64(v.Len())+1)
			for i := range v.Len() {
				b = of.put(b, v.Index(i))
			}
			return b
		},
		take: func(r *reader, v reflect.Value) {
			n := r.length(of.least)
			if n < 0 {
				return
			}
			// What is large in memory but may be short here grows with what is read.
			v.Set(reflect.MakeSlice(t, 0, min(n, 1+8*len(r.left)/max(1, of.size))))
			for i := 0; i < n && r.err == nil; i++ {
				e := reflect.New(t.Elem()).Elem()
				of.take(r, e)
				v.Set(reflect.Append(v, e))
			}
		},
		least: 1, size: 24,
	}
}

// byName is the codec of a map whose keys are strings.
func byName(t reflect.Type) *codec {
	key, of := codecOf(t.Key()), codecOf(t.Elem())
	return &codec{
		put: func(b []byte, v reflect.Value) []byte {
			if v.IsNil() {
				return append(b, 0)
			}
			b = binary.AppendUvarint(b, uint64(v.Len())+1)
			keys := v.MapKeys()
			slices.SortFunc(keys, func(x, y reflect.Value) int { return strings.Compare(x.String(), y.String()) })
			for _, k := range keys {
				b = of.put(key.put(b, k), v.MapIndex(k))
			}
			return b
		},
		take: func(r *reader, v reflect.Value) {
			n := r.length(key.least + of.least)
			if n < 0 {
				return
			}
			v.Set(reflect.MakeMap(t))
			for last := ""; v.Len() < n && r.err == nil; {
				k, e := reflect.New(t.Key()).Elem(), reflect.New(t.Elem()).Elem()
				key.take(r, k)
				of.take(r, e)
				if v.Len() > 0 && k.String() <= last {
					r.fail("keys that are not in their order")
					return
				}
				last = k.String()
				v.SetMapIndex(k, e)
			}
		},
		least: 1, size: 8,
	}
}

func octets() *codec {
	return &codec{
		put: func(b []byte, v reflect.Value) []byte {
			if v.IsNil() {
				return append(b, 0)
			}
			return append(binary.AppendUvarint(b, uint64(v.Len())+1), v.Bytes()...)
		},
		take: func(r *reader, v reflect.Value) {
			if n := r.length(1); n >= 0 {
				v.SetBytes(append(make([]byte, 0, n), r.bytes(n)...))
			}
		},
		least: 1, size: 24,
	}
}

func structure(t reflect.Type) *codec {
	c := &codec{size: int(t.Size())}
	var fields []int
	var of []*codec
	for i := range t.NumField() {
		f := t.Field(i)
		if !carried(f) {
			continue
		}
		if !f.IsExported() {
			panic(fmt.Sprintf("wire: %v.%s would be left out", t, f.Name))
		}
		fields, of = append(fields, i), append(of, codecOf(f.Type))
		c.least += of[len(of)-1].least
	}
	c.put = func(b []byte, v reflect.Value) []byte {
		for j, i := range fields {
			b = of[j].put(b, v.Field(i))
		}
		return b
	}
	c.take = func(r *reader, v reflect.Value) {
		for j, i := range fields {
			of[j].take(r, v.Field(i))
		}
	}
	return c
}
