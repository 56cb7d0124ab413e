// Phone numbers: choosing a country writes its calling code into the field. The answer is
// what the field shows; the country itself is not sent.

// Calling codes (ITU-T E.164) by country (ISO 3166), the largest country of a code first.
const codes = `US1 CA1 AG1268 AI1264 AS1684 BB1246 BM1441 BS1242 DM1767 DO1809 GD1473 GU1671 JM1876 KN1869 KY1345 LC1758 MP1670 MS1664 PR1787 SX1721 TC1649 TT1868 VC1784 VG1284 VI1340
RU7 KZ7 EG20 SS211 MA212 EH212 DZ213 TN216 LY218 GM220 SN221 MR222 ML223 GN224 CI225 BF226 NE227 TG228 BJ229 MU230 LR231 SL232 GH233 NG234 TD235 CF236 CM237 CV238 ST239 GQ240 GA241 CG242 CD243 AO244 GW245 IO246 AC247 SC248 SD249
RW250 ET251 SO252 DJ253 KE254 TZ255 UG256 BI257 MZ258 ZM260 MG261 RE262 YT262 ZW263 NA264 MW265 LS266 BW267 SZ268 KM269 ZA27 SH290 ER291 AW297 FO298 GL299 GR30 NL31 BE32 FR33 ES34 GI350 PT351 LU352 IE353 IS354 AL355 MT356 CY357 FI358 AX358 BG359
HU36 LT370 LV371 EE372 MD373 AM374 BY375 AD376 MC377 SM378 VA379 UA380 RS381 ME382 XK383 HR385 SI386 BA387 MK389 IT39 RO40 CH41 CZ420 SK421 LI423 AT43 GB44 GG44 IM44 JE44 DK45 SE46 NO47 SJ47 PL48 DE49
FK500 BZ501 GT502 SV503 HN504 NI505 CR506 PA507 PM508 HT509 PE51 MX52 CU53 AR54 BR55 CL56 CO57 VE58 GP590 BL590 MF590 BO591 GY592 EC593 GF594 PY595 MQ596 SR597 UY598 CW599 BQ599 MY60 AU61 CC61 CX61 ID62 PH63 NZ64 SG65 TH66
TL670 NF672 BN673 NR674 PG675 TO676 SB677 VU678 FJ679 PW680 WF681 CK682 NU683 WS685 KI686 NC687 TV688 PF689 TK690 FM691 MH692 JP81 KR82 VN84 KP850 HK852 MO853 KH855 LA856 CN86 BD880 TW886
TR90 IN91 PK92 AF93 LK94 MM95 MV960 LB961 JO962 SY963 IQ964 KW965 SA966 YE967 OM968 PS970 AE971 IL972 BH973 QA974 BT975 MN976 NP977 IR98 TJ992 TM993 AZ994 GE995 KG996 UZ998`
  .split(/\s+/).map((entry) => [entry.slice(0, 2), entry.slice(2)]);
const codeOf = new Map(codes);

const language = document.documentElement.lang || "en";
const names = new Intl.DisplayNames([language], { type: "region" });
const collator = new Intl.Collator(language);
const region = new Intl.Locale(navigator.language || "en").region;

// countryOf finds the country of a number. Countries that share a code keep the chosen one.
function countryOf(text, chosen) {
  const digits = text.replace(/[^+\d]/g, "");
  const matching = codes.filter(([, code]) => digits.startsWith(`+${code}`)).sort((a, b) => b[1].length - a[1].length);
  const longest = matching.filter(([, code]) => code === matching[0][1]).map(([country]) => country);
  return longest.includes(chosen) ? chosen : longest[0];
}

const keepsZero = ["IT", "SM", "VA", "CI", "CG", "BF", "BJ"]; // behind the calling code

// international puts the calling code of a country in front of a number, without the prefix
// for calls inside of the country. The server does the same without scripts.
export function international(country, number) {
  const code = codeOf.get(country);
  if (!code || !/^[+(\d]/.test(number)) return number;
  if (number.startsWith("00")) return `+${number.slice(2)}`;
  const hasCode = number.startsWith(`+${code}`);
  if (!hasCode && number.startsWith("+")) return number;
  const rest = (hasCode ? number.slice(code.length + 1) : number).trim();
  const national = keepsZero.includes(country) ? rest : rest.replace(country === "HU" ? /^(06\s*)()/ : /^(\(0\)\s*|0\s*|(\()0)/, "$2");
  return hasCode && national === rest ? number : `+${code} ${national}`;
}

function enhance(box) {
  const input = box.querySelector("input");
  const select = box.querySelector("select");
  const shown = box.querySelector("bdi");
  select.append(new Option("", ""));
  for (const [name, country, code] of codes.map(([country, code]) => [names.of(country), country, code]).sort((a, b) => collator.compare(a[0], b[0]))) {
    select.append(new Option(`${name} +${code}`, country));
  }
  const prefix = () => select.value ? `+${codeOf.get(select.value)} ` : "";
  const choose = (country) => {
    select.value = country ?? "";
    shown.textContent = select.value ? `${select.value} +${codeOf.get(select.value)}` : "+";
  };
  const read = () => {
    const last = input.value.lastIndexOf("+");
    if (last > 0) input.value = input.value.slice(last); // a whole number was pasted behind the code
    const country = countryOf(input.value, select.value);
    if (country) choose(country);
  };
  select.addEventListener("change", (event) => {
    event.stopPropagation();
    const old = input.value.startsWith("+") ? countryOf(input.value) : undefined;
    const rest = old ? input.value.slice(codeOf.get(old).length + 1).trimStart() : input.value.replace(/^\++\d*/, "");
    choose(select.value);
    input.value = rest.trim() ? international(select.value, rest) : prefix();
    input.focus();
    input.dispatchEvent(new Event("input", { bubbles: true }));
  });
  select.addEventListener("input", (event) => event.stopPropagation());
  input.addEventListener("focus", () => { if (!input.value) input.value = prefix(); });
  // A code alone is no answer.
  const finished = () => input.value.trim() === prefix().trim() ? "" : international(select.value, input.value.trim());
  input.addEventListener("blur", () => { input.value = finished(); });
  input.form.addEventListener("formdata", ({ formData }) => formData.set(input.name, finished()));
  input.addEventListener("input", read);
  input.addEventListener("restored", read);
  choose(codeOf.has(region) ? region : undefined);
  read();
  select.disabled = false;
  box.classList.add("ready");
}

for (const box of document.querySelectorAll(".phone")) enhance(box);
