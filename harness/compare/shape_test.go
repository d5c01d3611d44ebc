package compare

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestMoreShapesAreBound(t *testing.T) {
	for _, shape := range []struct {
		name string
		ids  [4]string // two of the reference's ids, and two of the candidate's
	}{
		{"KSUID", [4]string{"2Gtv9hVbPcBrJ3Yf7X5Tq1mZs8K", "2Gtv9hVbPcBrJ3Yf7X5Tq1mZs8L", "2HtvAhVbPcBrJ3Yf7X5Tq1mZs8K", "2HtvAhVbPcBrJ3Yf7X5Tq1mZs8L"}},
		{"ObjectID", [4]string{"65f0a1b2c3d4e5f60718293a", "65f0a1b2c3d4e5f60718293b", "65f0a1b3c3d4e5f60718293a", "65f0a1b3c3d4e5f60718293b"}},
		{"compact UUID", [4]string{"0b3f9c1e7d2a4c559a605f1e2d3c4b5a", "0b3f9c1e7d2a4c559a605f1e2d3c4b5b", "1b3f9c1e7d2a4c559a605f1e2d3c4b5a", "1b3f9c1e7d2a4c559a605f1e2d3c4b5b"}},
		{"nanoid", [4]string{"V1StGXR8_Z5jdHi6B-myT", "V1StGXR8_Z5jdHi6B-myU", "W1StGXR8_Z5jdHi6B-myT", "W1StGXR8_Z5jdHi6B-myU"}},
		{"nanoid, two of which could be words", [4]string{"qGhTzRkLmWxPvBnYcJdFs", "V1StGXR8_Z5jdHi6B-myU", "W1StGXR8_Z5jdHi6B-myT", "Abcdefghijklmnop_qrsT"}},
		{"nanoid behind a prefix", [4]string{"usr_V1StGXR8_Z5jdHi6B-myT", "usr_V1StGXR8_Z5jdHi6B-myU", "usr_W1StGXR8_Z5jdHi6B-myT", "usr_W1StGXR8_Z5jdHi6B-myU"}},
		{"temporary path", [4]string{"/tmp/agent-a1/x", "/tmp/agent-a2/x", "/tmp/agent-b1/x", "/tmp/agent-b2/x"}},
		{"traceparent", [4]string{
			"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "00-4bf92f3577b34da6a3ce929d0e0e4737-00f067aa0ba902b8-01",
			"00-5bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "00-5bf92f3577b34da6a3ce929d0e0e4737-00f067aa0ba902b8-01",
		}},
	} {
		t.Run(shape.name, func(t *testing.T) {
			ref := newSide("ref").answers(`{"a":"`+shape.ids[0]+`","b":"`+shape.ids[1]+`"}`, `{"c":"`+shape.ids[0]+`"}`)
			for _, tc := range []struct {
				name string
				cand [3]string // a, b, c
				want []string
			}{
				{"others that are the same everywhere", [3]string{shape.ids[2], shape.ids[3], shape.ids[2]}, nil},
				{"confused", [3]string{shape.ids[2], shape.ids[3], shape.ids[3]}, []string{"identity body /c"}},
				{"one for both", [3]string{shape.ids[2], shape.ids[2], shape.ids[2]}, []string{"identity body /b"}},
			} {
				cand := newSide("cand").answers(`{"a":"`+tc.cand[0]+`","b":"`+tc.cand[1]+`"}`, `{"c":"`+tc.cand[2]+`"}`)
				if diff := cmp.Diff(tc.want, kinds(compared(ref, cand, nil))); diff != "" {
					t.Errorf("%s (-want +got):\n%s", tc.name, diff)
				}
			}
		})
	}
}

func TestConstantPartsAreCompared(t *testing.T) {
	for _, tc := range []struct{ name, ref, cand, want string }{
		{"an MD5 sum", "d41d8cd98f00b204e9800998ecf8427e", "900150983cd24fb0d6963f7d28e17f72", "value body /a"},
		{"a SHA-1 sum", "da39a3ee5e6b4b0d3255bfef95601890afd80709", "a9993e364706816aba3e25717850c26c9cd0d89d", "value body /a"},
		{"a SHA-256 sum", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad", "value body /a"},
		{"a word before what is made up", "/tmp/agent-x1", "/tmp/other-x1", "value body /a"},
		{"what stands below a temporary folder", "/tmp/agent-x1/in.txt", "/tmp/agent-x2/out.txt", "value body /a"},
		{"what kind of file it is", "/tmp/x1.json", "/tmp/x2.yaml", "value body /a"},
		{"another folder for temporary files", "/tmp/x1", "/var/tmp/x1", "value body /a"},
		{"what is traced", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00", "value body /a"},
		{"names with humps", "getUserAccountDetails", "getUserAccountDetalis", "value body /a"},
		{"kebab case", "use-this-name-for-it1", "use-that-name-for-it1", "value body /a"},
		{"a nanoid and a word", "V1StGXR8_Z5jdHi6B-myT", "use-this-name-for-it1", "value body /a"},
		{"ids of two shapes", "65f0a1b2c3d4e5f60718293a", "2Gtv9hVbPcBrJ3Yf7X5Tq1mZs8K", "value body /a"},
		{"a compact UUID in upper case", "0b3f9c1e7d2a4c559a605f1e2d3c4b5a", "1B3F9C1E7D2A4C559A605F1E2D3C4B5A", "id-form body /a"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for _, sides := range [][2]string{{tc.ref, tc.cand}, {tc.cand, tc.ref}} {
				got := kinds(compared(newSide("ref").answers(`{"a":"`+sides[0]+`"}`), newSide("cand").answers(`{"a":"`+sides[1]+`"}`), nil))
				if diff := cmp.Diff([]string{tc.want}, got); diff != "" {
					t.Errorf("%q and %q (-want +got):\n%s", sides[0], sides[1], diff)
				}
			}
		})
	}
}

func TestATraceIDIsFoundByItself(t *testing.T) {
	const trace, other = "0bf92f3577b30da6a3ce929d0e0e4736", "1bf92f3577b30da6a3ce929d0e0e4736"
	parent := func(trace string) string { return `{"a":"00-` + trace + `-00f067aa0ba902b7-01"}` }
	ref := newSide("ref").answers(parent(trace), `{"trace":"`+trace+`"}`)
	if got := kinds(compared(ref, newSide("cand").answers(parent(other), `{"trace":"`+other+`"}`), nil)); got != nil {
		t.Errorf("the same trace: %v", got)
	}
	got := kinds(compared(ref, newSide("cand").answers(parent(other), `{"trace":"`+trace+`"}`), nil))
	if diff := cmp.Diff([]string{"value body /trace"}, got); diff != "" {
		t.Errorf("another trace (-want +got):\n%s", diff)
	}
}

func TestEqualBytesBindIDsAfterAnEscape(t *testing.T) {
	ref := newSide("ref").answers(`{"a":"x\n65f0a1b2c3d4e5f60718293a"}`, `"65f0a1b2c3d4e5f60718293a"`)
	cand := newSide("cand").answers(`{"a":"x\n65f0a1b2c3d4e5f60718293a"}`, `"65f0a1b2c3d4e5f60718293b"`)
	if diff := cmp.Diff([]string{"identity body"}, kinds(compared(ref, cand, nil))); diff != "" {
		t.Errorf("differences (-want +got):\n%s", diff)
	}
}
