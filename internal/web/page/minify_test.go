package page

import "testing"

func TestMinifyJS(t *testing.T) {
	for given, want := range map[string]string{
		"// Why.\nconst a = 1;\n\n  let b = a + +a;\n":    "const a=1;let b=a+ +a;",
		"const f = (a) => {\n  return a\n}\nf(2)\n":       "const f=(a)=>{return a}\nf(2)",
		`say("a  b", 'c  "', x ? /["/] +/g : 1 / 2)`:      `say("a  b",'c  "',x?/["/] +/g:1/2)`,
		"const s = `a  ${ f({ b: `  ${ c }` }) }  d` ;":   "const s=`a  ${f({b:`  ${c}`})}  d`;",
		"if (a) { b(); c = `;}${ d }`; }\ne(\";}\")":      "if(a){b();c=`;}${d}`}\ne(\";}\")",
		"list\n  .map((x) => x)\n  .join()\nnext()":       "list.map((x)=>x).join()\nnext()",
		`link = "https://example.com" // not for readers`: "link=\"https://example.com\"",
	} {
		if got := string(minifyJS([]byte(given))); got != want {
			t.Errorf("%q\nis   %q\nwant %q", given, got, want)
		}
	}
}
