package picture

import (
	"bytes"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"testing"
)

// TestPhotosLoseTheirLocation adds a camera's metadata to real pictures and checks the stored ones: the location is
// gone, the orientation and the picture stay.
func TestPhotosLoseTheirLocation(t *testing.T) {
	small := image.NewRGBA(image.Rect(0, 0, 24, 16))
	small.Set(3, 3, color.RGBA{200, 30, 30, 255})
	var jpg, pic bytes.Buffer
	if err := jpeg.Encode(&jpg, small, nil); err != nil {
		t.Fatal(err)
	}
	if err := png.Encode(&pic, small); err != nil {
		t.Fatal(err)
	}
	exif := "Exif\x00\x00MM\x00\x2a\x00\x00\x00\x08\x00\x01\x01\x12\x00\x03\x00\x00\x00\x01\x00\x06\x00\x00\x00\x00\x00\x00GPS 48.1372 N"
	segment := append([]byte{0xff, 0xe1, 0, byte(len(exif) + 2)}, exif...)
	taken := append(append(append([]byte{}, jpg.Bytes()[:2]...), segment...), jpg.Bytes()[2:]...)
	taken = append(taken, "GPS of a second picture"...)
	kept := WithoutPlace("image/jpeg", taken)
	if bytes.Contains(kept, []byte("GPS")) {
		t.Error("the place is still in the JPEG")
	}
	if got := orientation(kept[12:]); got != 6 {
		t.Errorf("it is turned by %d, want 6", got)
	}
	if _, err := jpeg.Decode(bytes.NewReader(kept)); err != nil {
		t.Errorf("what is kept is no JPEG any more: %v", err)
	}
	if plain := WithoutPlace("image/jpeg", jpg.Bytes()); !bytes.Equal(plain, jpg.Bytes()) {
		t.Error("a JPEG without anything beside it was changed")
	}
	text := []byte("\x00\x00\x00\x05tEXtGPS\x00x\x00\x00\x00\x00")
	at := len(pic.Bytes()) - 12 // before IEND
	noted := append(append(append([]byte{}, pic.Bytes()[:at]...), text...), pic.Bytes()[at:]...)
	if kept := WithoutPlace("image/png", noted); !bytes.Equal(kept, pic.Bytes()) {
		t.Error("the PNG is not as it was before it was noted in")
	}
	for _, odd := range []string{"", "\xff\xd8", "\xff\xd8\xff\xe1\xff\xff", "\xff\xd8\xff\xda\x00\x02"} {
		WithoutPlace("image/jpeg", []byte("\xff\xd8"+odd)) // must not panic
	}
	webp := []byte("RIFF\x00\x00\x00\x00WEBPVP8X\x0a\x00\x00\x00\x0c\x00\x00\x00\x00\x00\x00\x00\x00\x00EXIF\x04\x00\x00\x00GPS!")
	if kept := WithoutPlace("image/webp", webp); bytes.Contains(kept, []byte("GPS")) || kept[20] != 0 || kept[4] != byte(len(kept)-8) {
		t.Errorf("the WebP is kept as %q", kept)
	}
}
