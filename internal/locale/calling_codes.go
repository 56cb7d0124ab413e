package locale

import (
	"strings"
	"sync"
)

// callingCodes are the calling codes (ITU-T E.164) of countries (ISO 3166), the largest
// country of a code first. The script phone.js has the same list.
const callingCodes = `US1 CA1 AG1268 AI1264 AS1684 BB1246 BM1441 BS1242 DM1767 DO1809 GD1473 GU1671 JM1876 KN1869 KY1345 LC1758 MP1670 MS1664 PR1787 SX1721 TC1649 TT1868 VC1784 VG1284 VI1340
RU7 KZ7 EG20 SS211 MA212 EH212 DZ213 TN216 LY218 GM220 SN221 MR222 ML223 GN224 CI225 BF226 NE227 TG228 BJ229 MU230 LR231 SL232 GH233 NG234 TD235 CF236 CM237 CV238 ST239 GQ240 GA241 CG242 CD243 AO244 GW245 IO246 AC247 SC248 SD249
RW250 ET251 SO252 DJ253 KE254 TZ255 UG256 BI257 MZ258 ZM260 MG261 RE262 YT262 ZW263 NA264 MW265 LS266 BW267 SZ268 KM269 ZA27 SH290 ER291 AW297 FO298 GL299 GR30 NL31 BE32 FR33 ES34 GI350 PT351 LU352 IE353 IS354 AL355 MT356 CY357 FI358 AX358 BG359
HU36 LT370 LV371 EE372 MD373 AM374 BY375 AD376 MC377 SM378 VA379 UA380 RS381 ME382 XK383 HR385 SI386 BA387 MK389 IT39 RO40 CH41 CZ420 SK421 LI423 AT43 GB44 GG44 IM44 JE44 DK45 SE46 NO47 SJ47 PL48 DE49
FK500 BZ501 GT502 SV503 HN504 NI505 CR506 PA507 PM508 HT509 PE51 MX52 CU53 AR54 BR55 CL56 CO57 VE58 GP590 BL590 MF590 BO591 GY592 EC593 GF594 PY595 MQ596 SR597 UY598 CW599 BQ599 MY60 AU61 CC61 CX61 ID62 PH63 NZ64 SG65 TH66
TL670 NF672 BN673 NR674 PG675 TO676 SB677 VU678 FJ679 PW680 WF681 CK682 NU683 WS685 KI686 NC687 TV688 PF689 TK690 FM691 MH692 JP81 KR82 VN84 KP850 HK852 MO853 KH855 LA856 CN86 BD880 TW886
TR90 IN91 PK92 AF93 LK94 MM95 MV960 LB961 JO962 SY963 IQ964 KW965 SA966 YE967 OM968 PS970 AE971 IL972 BH973 QA974 BT975 MN976 NP977 IR98 TJ992 TM993 AZ994 GE995 KG996 UZ998`

var codesByCountry = sync.OnceValue(func() map[string]string {
	list := map[string]string{}
	for entry := range strings.FieldsSeq(callingCodes) {
		list[entry[:2]] = entry[2:]
	}
	return list
})

// CallingCode is the code of a country in telephone numbers, without the plus sign; empty
// for an unknown country.
func CallingCode(country string) string { return codesByCountry()[country] }

// keepsZero are the countries whose numbers keep a leading zero behind the calling code.
const keepsZero = "IT SM VA CI CG BF BJ"

// InternationalNumber puts the calling code of a country in front of a number, without the
// prefix for calls inside of the country: 0171 becomes +49 171. Numbers with another code and
// those of unknown countries stay as they are. The script phone.js does the same.
func InternationalNumber(country, number string) string {
	code := CallingCode(country)
	if code == "" || strings.IndexAny(number, "+(0123456789") != 0 {
		return number
	}
	if rest, ok := strings.CutPrefix(number, "00"); ok {
		return "+" + rest
	}
	rest, hasCode := strings.CutPrefix(number, "+"+code)
	if !hasCode && strings.HasPrefix(number, "+") {
		return number
	}
	rest = strings.TrimSpace(rest)
	national := rest
	if !strings.Contains(keepsZero, country) {
		national = withoutTrunk(country, rest)
	}
	if hasCode && national == rest {
		return number
	}
	return "+" + code + " " + national
}

// withoutTrunk cuts the prefix for calls inside of a country: 0, in Hungary 06.
func withoutTrunk(country, number string) string {
	if rest, ok := strings.CutPrefix(number, "06"); ok && country == "HU" {
		return strings.TrimSpace(rest)
	}
	if rest, ok := strings.CutPrefix(number, "(0)"); ok {
		return strings.TrimSpace(rest)
	}
	if rest, ok := strings.CutPrefix(number, "(0"); ok {
		return "(" + rest
	}
	return strings.TrimSpace(strings.TrimPrefix(number, "0"))
}
