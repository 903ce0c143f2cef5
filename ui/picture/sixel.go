package picture

import (
	"image"
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

const (
	mostColours = 255 // of a picture in sixels; VT340s have 16, terminals of today 256 and more
	bandRows    = 6   // of pixels in a row of sixels
)

// sixels are a picture in DEC's sixel graphics: rows of six pixels, of each colour in turn;
// where nothing is painted what is there stays (P2 = 1). They are w x h pixels, whatever the
// picture has: not every terminal takes an aspect ratio.
func sixels(img *image.RGBA, w, h int) string {
	wide, high := img.Rect.Dx(), img.Rect.Dy()
	places, colours := reduce(img)
	from := make([]int, w)
	for x := range from {
		from[x] = x * wide / w
	}
	var b strings.Builder
	b.WriteString("\"1;1;" + number(w) + ";" + number(h))
	for i, c := range colours {
		percent := func(v uint8) string { return number((int(v)*100 + 127) / 255) }
		b.WriteString("#" + number(i) + ";2;" + percent(c[0]) + ";" + percent(c[1]) + ";" + percent(c[2]))
	}
	row := make([]byte, w)
	has := make([]bool, len(colours))
	band := make([]int16, 0, bandRows*w)
	for y := 0; y < h; y += bandRows {
		band = band[:0]
		for row := y; row < min(y+bandRows, h); row++ {
			line := places[row*high/h*wide:]
			for _, x := range from {
				band = append(band, line[x])
			}
		}
		clear(has)
		for _, at := range band {
			if at >= 0 {
				has[at] = true
			}
		}
		for i := range colours {
			if !has[i] {
				continue
			}
			clear(row)
			for k, at := range band {
				if int(at) == i {
					row[k%w] |= 1 << (k / w)
				}
			}
			b.WriteString("#" + number(i))
			runs(&b, row)
			b.WriteByte('$')
		}
		b.WriteByte('-')
	}
	return ansi.SixelGraphics(0, 1, 0, []byte(b.String()))
}

// runs writes a row of sixels, "!n" before one that stands n times.
func runs(b *strings.Builder, row []byte) {
	for i := 0; i < len(row); {
		n := 1
		for i+n < len(row) && row[i+n] == row[i] {
			n++
		}
		c := string(rune('?' + row[i]))
		switch {
		case i+n == len(row) && row[i] == 0: // nothing up to the end
		case n > 3:
			b.WriteString("!" + strconv.Itoa(n) + c)
		default:
			b.WriteString(strings.Repeat(c, n))
		}
		i += n
	}
}

// reduce gives every pixel one of few colours, −1 to those without: as exact as leaves
// few enough.
func reduce(img *image.RGBA) (places []int16, colours [][3]uint8) {
	places = make([]int16, 0, len(img.Pix)/4)
	for _, bits := range []int{0, 2, 3, 4, 5, 6} {
		index := map[[3]uint8]int16{}
		places, colours = places[:0], colours[:0]
		for i := 0; i < len(img.Pix); i += 4 {
			p := img.Pix[i : i+4]
			if p[3] < 128 {
				places = append(places, -1)
				continue
			}
			var c [3]uint8
			for k := range c {
				c[k] = p[k]>>bits<<bits | (1<<bits)>>1
			}
			at, ok := index[c]
			if !ok {
				at = int16(len(colours))
				index[c] = at
				if colours = append(colours, c); len(colours) > mostColours {
					break
				}
			}
			places = append(places, at)
		}
		if len(colours) <= mostColours {
			break
		}
	}
	return places, colours
}
