package holidays

import (
	"github.com/rickar/cal/v2"
	"github.com/rickar/cal/v2/ar"
	"github.com/rickar/cal/v2/at"
	"github.com/rickar/cal/v2/au"
	"github.com/rickar/cal/v2/be"
	"github.com/rickar/cal/v2/bg"
	"github.com/rickar/cal/v2/br"
	"github.com/rickar/cal/v2/ca"
	"github.com/rickar/cal/v2/ch"
	"github.com/rickar/cal/v2/cz"
	"github.com/rickar/cal/v2/de"
	"github.com/rickar/cal/v2/dk"
	"github.com/rickar/cal/v2/es"
	"github.com/rickar/cal/v2/fr"
	"github.com/rickar/cal/v2/gb"
	"github.com/rickar/cal/v2/gr"
	"github.com/rickar/cal/v2/hr"
	"github.com/rickar/cal/v2/ie"
	"github.com/rickar/cal/v2/it"
	"github.com/rickar/cal/v2/jp"
	"github.com/rickar/cal/v2/lt"
	"github.com/rickar/cal/v2/lv"
	"github.com/rickar/cal/v2/mw"
	"github.com/rickar/cal/v2/nc"
	"github.com/rickar/cal/v2/nl"
	"github.com/rickar/cal/v2/no"
	"github.com/rickar/cal/v2/nz"
	"github.com/rickar/cal/v2/pl"
	"github.com/rickar/cal/v2/ro"
	"github.com/rickar/cal/v2/ru"
	"github.com/rickar/cal/v2/se"
	"github.com/rickar/cal/v2/si"
	"github.com/rickar/cal/v2/sk"
	"github.com/rickar/cal/v2/ua"
	"github.com/rickar/cal/v2/us"
	"github.com/rickar/cal/v2/za"
)

// country is what the library knows of one: its holidays, or those of its parts, by the
// second half of their codes of ISO 3166-2.
type country struct {
	all   []*cal.Holiday
	parts map[string][]*cal.Holiday
}

// countries are those that the library knows, by their codes of ISO 3166-1. Those whose
// parts have different holidays have no list of their own where the library's is that of all
// parts together.
func countries() map[string]country {
	return map[string]country{
		"AR": {all: ar.Holidays},
		"AT": {all: at.Holidays},
		"AU": {parts: map[string][]*cal.Holiday{
			"ACT": au.HolidaysACT, "NSW": au.HolidaysNSW, "NT": au.HolidaysNT, "QLD": au.HolidaysQLD,
			"SA": au.HolidaysSA, "TAS": au.HolidaysTAS, "VIC": au.HolidaysVIC, "WA": au.HolidaysWA,
		}},
		"BE": {all: be.Holidays},
		"BG": {all: bg.Holidays},
		"BR": {all: br.Holidays},
		"CA": {all: ca.Holidays},
		"CH": {parts: map[string][]*cal.Holiday{
			"ZH": ch.HolidaysZH, "BE": ch.HolidaysBE, "LU": ch.HolidaysLU, "UR": ch.HolidaysUR, "SZ": ch.HolidaysSZ,
			"OW": ch.HolidaysOW, "NW": ch.HolidaysNW, "GL": ch.HolidaysGL, "ZG": ch.HolidaysZG, "FR": ch.HolidaysFR,
			"SO": ch.HolidaysSO, "BS": ch.HolidaysBS, "BL": ch.HolidaysBL, "SH": ch.HolidaysSH, "AR": ch.HolidaysAR,
			"AI": ch.HolidaysAI, "SG": ch.HolidaysSG, "GR": ch.HolidaysGR, "AG": ch.HolidaysAG, "TG": ch.HolidaysTG,
			"VD": ch.HolidaysVD, "TI": ch.HolidaysTI, "VS": ch.HolidaysVS, "NE": ch.HolidaysNE, "GE": ch.HolidaysGE,
			"JU": ch.HolidaysJU,
		}},
		"CZ": {all: cz.Holidays},
		"DE": {all: de.Holidays, parts: map[string][]*cal.Holiday{
			"BW": de.HolidaysBW, "BY": de.HolidaysBY, "BE": de.HolidaysBE, "BB": de.HolidaysBB, "HB": de.HolidaysHB,
			"HH": de.HolidaysHH, "HE": de.HolidaysHE, "MV": de.HolidaysMV, "NI": de.HolidaysNI, "NW": de.HolidaysNW,
			"RP": de.HolidaysRP, "SL": de.HolidaysSL, "SN": de.HolidaysSN, "ST": de.HolidaysST, "SH": de.HolidaysSH,
			"TH": de.HolidaysTH,
		}},
		"DK": {all: dk.Holidays},
		"ES": {all: es.Holidays},
		"FR": {all: fr.Holidays},
		"GB": {all: gb.Holidays},
		"GR": {all: gr.Holidays},
		"HR": {all: hr.Holidays},
		"IE": {all: ie.Holidays},
		"IT": {all: it.Holidays},
		"JP": {all: jp.Holidays},
		"LT": {all: lt.Holidays},
		"LV": {all: lv.Holidays},
		"MW": {all: mw.Holidays},
		"NC": {all: nc.Holidays},
		"NL": {all: nl.Holidays},
		"NO": {all: no.Holidays},
		"NZ": {all: nz.Holidays},
		"PL": {all: pl.Holidays},
		"RO": {all: ro.Holidays},
		"RU": {all: ru.Holidays},
		"SE": {all: se.Holidays},
		"SI": {all: si.Holidays},
		"SK": {all: sk.Holidays},
		"UA": {all: ua.Holidays},
		"US": {all: us.Holidays},
		"ZA": {all: za.Holidays},
	}
}
