package wire

import (
	"bytes"
	"errors"
	"math"
	"reflect"
	"testing"
)

type inner struct {
	Text  string
	Of    []inner2
	Empty struct{}
}

type inner2 struct {
	N    int32
	Done bool
}

type sample struct {
	A      int
	B      uint64
	C      float64
	D      []float64
	E      []int32
	F      *inner
	G      []byte
	H      []string
	I      []*inner
	J      uint8
	K      map[string][]float64
	hidden int `wire:"-"`
}

// full is a value of which no field is zero.
func full() *sample {
	s := &sample{A: -7, B: math.MaxUint64, C: math.Copysign(0, -1), D: []float64{math.NaN(), math.Inf(-1), 5e-324},
		E: []int32{-1, math.MaxInt32}, F: &inner{Text: "ä\x00", Of: []inner2{{-3, true}, {}}},
		G: []byte{0, 255}, H: []string{"", "x"}, I: []*inner{nil, {}}, J: 200,
		K: map[string][]float64{"b": {1}, "a": nil, "": {2, 3}}}
	s.hidden = 3
	return s
}

// bits is a value with its floating-point numbers as bits, so that NaN equals itself.
func bits(s *sample) (out []uint64) {
	for _, v := range append([]float64{s.C}, s.D...) {
		out = append(out, math.Float64bits(v))
	}
	return out
}

func TestRoundTrip(t *testing.T) {
	for _, want := range []*sample{full(), {},
		{D: []float64{}, E: []int32{}, G: []byte{}, H: []string{}, I: []*inner{}, K: map[string][]float64{}}} {
		b := Encode(want)
		got, err := Decode[sample](b)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(bits(got), bits(want)) || got.hidden != 0 {
			t.Errorf("%+v became %+v", want, got)
		}
		if !bytes.Equal(Encode(got), b) {
			t.Errorf("%+v is encoded in another way after a round trip", want)
		}
		g, w := *got, *want
		g.C, g.D, w.C, w.D, w.hidden = 0, nil, 0, nil, 0
		if !reflect.DeepEqual(g, w) || (got.D == nil) != (want.D == nil) {
			t.Errorf("%+v became %+v", w, g)
		}
	}
}

// A triangle is enough where the rest of a matrix follows from it, bit by bit.
func TestTriangles(t *testing.T) {
	const n = 9
	square := func(f func(i, j int) float64) []float64 {
		x := make([]float64, n*n)
		for i := range n {
			for j := range n {
				x[i*n+j] = f(i, j)
			}
		}
		return x
	}
	half := n * (n + 1) / 2
	for name, c := range map[string]struct {
		x      []float64
		stored int
	}{
		"symmetric": {square(func(i, j int) float64 { return float64(i*j) + 0.1 }), half},
		"lower": {square(func(i, j int) float64 {
			if j > i {
				return 0
			}
			return float64(i - n*j)
		}), half},
		"minus zero above": {square(func(i, j int) float64 {
			if j > i {
				return math.Copysign(0, -1)
			}
			return 1
		}), n * n},
		"any": {square(func(i, j int) float64 { return float64(i) - 2.5*float64(j) }), n * n},
	} {
		b := Encode(&c.x)
		if want := headLen + 2 + 8*c.stored; len(b) != want { // the length, the form
			t.Errorf("%s: %d bytes, want %d", name, len(b), want)
		}
		got, err := Decode[[]float64](b)
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range *got {
			if math.Float64bits(v) != math.Float64bits(c.x[i]) {
				t.Fatalf("%s: entry %d is %v, was %v", name, i, v, c.x[i])
			}
		}
	}
}

func TestDamaged(t *testing.T) {
	b := Encode(full())
	for n := range b {
		if _, err := Decode[sample](b[:n]); !errors.Is(err, ErrDamaged) {
			t.Fatalf("cut at %d: %v", n, err)
		}
	}
	if _, err := Decode[sample](append(bytes.Clone(b), 0)); !errors.Is(err, ErrDamaged) {
		t.Error(err)
	}
	if _, err := Decode[inner](b); !errors.Is(err, ErrDamaged) {
		t.Error("decoded as another type")
	}
	// A length of what is not there takes no memory for it.
	huge := append(Encode(&[]inner2{})[:headLen], 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f)
	if _, err := Decode[[]inner2](huge); !errors.Is(err, ErrDamaged) {
		t.Error(err)
	}
}

// Maps have one encoding, and keys that come twice or in another order are refused.
func TestMaps(t *testing.T) {
	type m = map[string]int
	one, two := Encode(&m{"a": 1, "b": 2, "c": 3}), Encode(&m{"c": 3, "b": 2, "a": 1})
	if !bytes.Equal(one, two) {
		t.Error("equal maps are encoded in different ways")
	}
	for _, at := range []int{headLen + 2, headLen + 12} { // the keys a and b
		bad := bytes.Clone(one)
		bad[at] = 'b'
		if at > headLen+2 {
			bad[at] = 'a'
		}
		if _, err := Decode[m](bad); !errors.Is(err, ErrDamaged) {
			t.Errorf("%x: %v", bad, err)
		}
	}
}

func TestFingerprintKnowsNames(t *testing.T) {
	type a struct{ X, Y float64 }
	type b struct{ Y, X float64 }
	if Fingerprint(a{}) == Fingerprint(b{}) {
		t.Error("fields that have changed places are not noticed")
	}
	defer func() {
		if recover() == nil {
			t.Error("a field that would be lost is not noticed")
		}
	}()
	Encode(&struct{ lost int }{1})
}

func FuzzDecode(f *testing.F) {
	f.Add(Encode(full()))
	f.Add(Encode(&sample{}))
	f.Fuzz(func(t *testing.T, b []byte) {
		v, err := Decode[sample](b)
		if err != nil {
			return
		}
		again := Encode(v)
		if w, err := Decode[sample](again); err != nil || !bytes.Equal(Encode(w), again) {
			t.Errorf("%v: %x", err, b)
		}
	})
}
